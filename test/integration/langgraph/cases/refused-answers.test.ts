// A value that is not a genuine answer to what was shown runs nothing, is kept nowhere that matters, and never stands in
// the way of the right one.
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, defineTool, deny, isAgentAdapterError } from "agent-adapter";
import { isInvalidAnswer, LangGraphApproval } from "agent-adapter/langgraph";
import { isInvalidResume } from "@langchain/langgraph";
import {
  about,
  asking,
  aTaskPerCall,
  call,
  counted,
  failure,
  KEY,
  one,
  Stand,
  table,
  thrownBy,
  type Pending,
} from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

const other = { key: "another secret of 32 bytes, tests" };

/** Everything that is not an answer, made from a genuine one. */
const BAD: Readonly<Record<string, (stand: Stand, pending: Pending) => unknown>> = {
  "the word yes": () => "yes",
  true: () => true,
  null: () => null,
  "a number": () => 1,
  "an empty string": () => "",
  "an empty object": () => ({}),
  "an array": () => [],
  "a bare approval": () => ({ approved: true }),
  "a decision of this process": () => approve({ by: "ana" }),
  "a bare approval under the binding": (_stand, { value }) => ({
    binding: value.binding,
    decision: { approved: true },
  }),
  "forged edited arguments": (stand, pending) => {
    const good = stand.sign(pending, approve({ editedArgs: { n: 2 } }));
    return { ...good, decision: { ...good.decision, editedArgs: { n: 9999 } } };
  },
  "edited arguments added": (stand, pending) => ({
    ...stand.sign(pending),
    decision: { approved: true, by: "ana", editedArgs: { n: 9999 } },
  }),
  "a denial turned around": (stand, pending) => ({ ...stand.sign(pending, deny()), decision: { approved: true } }),
  "a wrong mac": (stand, pending) => {
    const good = stand.sign(pending);
    return { ...good, mac: `${good.mac.startsWith("A") ? "B" : "A"}${good.mac.slice(1)}` };
  },
  "a mac under another key": (_stand, pending) => new LangGraphApproval(other).resumeValue(pending, approve()),
  "a mac under another key that says it is this one": (stand, pending) => ({
    ...new LangGraphApproval(other).resumeValue(pending, approve()),
    keyId: stand.sign(pending).keyId,
  }),
  "a mac under a random key": (_stand, pending) => new LangGraphApproval().resumeValue(pending, approve()),
  "a truncated mac": (stand, pending) => {
    const good = stand.sign(pending);
    return { ...good, mac: good.mac.slice(0, -1) };
  },
  "an upper-case mac": (stand, pending) => {
    const good = stand.sign(pending);
    return { ...good, mac: good.mac.toUpperCase() };
  },
  "a mac in hex": (stand, pending) => {
    const good = stand.sign(pending);
    return { ...good, mac: Buffer.from(good.mac, "base64url").toString("hex") };
  },
  "a mac with padding": (stand, pending) => ({ ...stand.sign(pending), mac: `${stand.sign(pending).mac}=` }),
  "a second spelling of the mac": (stand, pending) => {
    const good = stand.sign(pending);
    // 43 characters carry 258 bits, so two of the last one's say nothing: the next character is the same bytes.
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const next = alphabet[alphabet.indexOf(good.mac.at(-1) ?? "") + 1] ?? "";
    return { ...good, mac: good.mac.slice(0, -1) + next };
  },
  "a mac as a Buffer": (stand, pending) => {
    const good = stand.sign(pending);
    return { ...good, mac: Buffer.from(good.mac, "base64url") };
  },
  "a mac that is missing": (stand, pending) => {
    const { mac: _mac, ...rest } = stand.sign(pending);
    return rest;
  },
  "an answer with one field more": (stand, pending) => ({ ...stand.sign(pending), extra: 1 }),
  "a later end": (stand, pending) => {
    const good = stand.sign(pending);
    return { ...good, expiresAt: good.expiresAt + 1 };
  },
  "an answer in an array": (stand, pending) => [stand.sign(pending)],
  "an answer as text": (stand, pending) => JSON.stringify(stand.sign(pending)),
  "an answer with an inherited mac": (stand, pending) => {
    const { mac, ...rest } = stand.sign(pending);
    return Object.assign(Object.create({ mac }), rest);
  },
  "an edit that does not fit the tool": (_stand, pending) =>
    new LangGraphApproval({ key: KEY }).resumeValue(pending, approve({ editedArgs: { n: "many" } })),
  "the binding of another call": () => undefined,
};

const BAD_COUNT = Object.keys(BAD).length;

async function withPending(options: Partial<ConstructorParameters<typeof Stand>[0]> = {}) {
  const ran: string[] = [];
  const stand = new Stand({ tools: () => [asking(ran, "send")], ...options });
  const pending = one((await stand.start(call("c", 1))).interrupts);
  return { ran, stand, pending };
}

async function bindingOfAnother(): Promise<(stand: Stand, pending: Pending) => unknown> {
  const { stand, pending } = await withPending();
  return () => stand.sign(pending);
}

describe("one bad value (B04)", () => {
  for (const [name, make] of Object.entries(BAD)) {
    it(`B04, L2, N1: ${name} is refused, and the same request takes the right answer`, async () => {
      const { ran, stand, pending } = await withPending();
      const makeBad = name === "the binding of another call" ? await bindingOfAnother() : make;
      const bad = makeBad(stand, pending);
      const error = await failure(stand.resume({ [pending.id]: bad }));
      expect(isInvalidResume(error)).toBe(true);
      expect(isInvalidAnswer(error)).toBe(true);
      expect(String(error)).not.toContain("9999");
      expect(ran).toEqual([]);
      expect((await stand.only()).value).toMatchObject({
        binding: pending.value.binding,
        request: pending.value.request,
      });
      forgetProcess();
      const later = stand.rebuild();
      const end = await later.resume({ [pending.id]: later.sign(await later.only()) });
      expect(ran).toEqual(["send 1"]);
      expect(table(end.tools)).toEqual([["c", "success", "send 1"]]);
      expect((await stand.entries()).map(({ status, attempts }) => [status, attempts])).toEqual([["ok", 1]]);
    });
  }

  it("B04, L2: every bad value one after the other, plain and by id, and then the right answer by id", async () => {
    const { ran, stand, pending } = await withPending();
    const refused: unknown[] = [];
    for (const [name, make] of Object.entries(BAD)) {
      const bad =
        name === "the binding of another call" ? (await bindingOfAnother())(stand, pending) : make(stand, pending);
      await failure(stand.resume({ [pending.id]: bad }));
      // LangGraph takes a plain null for no answer at all.
      if (bad !== null) refused.push(await stand.plain(bad).catch((error: unknown) => isInvalidAnswer(error)));
    }
    expect(refused.filter((each) => each === true).length).toBeGreaterThan(BAD_COUNT / 2);
    expect(ran).toEqual([]);
    expect((await stand.only()).value.binding).toBe(pending.value.binding);
    await stand.decide(await stand.only());
    expect(ran).toEqual(["send 1"]);
  });

  it("B04, A10/check: `check` says in one word what is wrong, without touching anything", async () => {
    const { stand, pending } = await withPending();
    const word = (name: string) => stand.port.check(pending, BAD[name]?.(stand, pending));
    expect(word("the word yes")).toBe("malformed");
    expect(word("forged edited arguments")).toBe("signature");
    expect(word("a wrong mac")).toBe("signature");
    expect(word("a mac under another key")).toBe("signature");
    expect(word("an answer with one field more")).toBe("malformed");
    expect(stand.port.check(pending, (await bindingOfAnother())(stand, pending))).toBe("binding");
    expect(stand.port.check(pending, stand.sign(pending))).toBe("ok");
    expect((await stand.only()).value.binding).toBe(pending.value.binding);
  });
});

describe("how large an answer may be", () => {
  it("A10/check: remarks above the cap cannot be signed, and are malformed when somebody else signed them", async () => {
    const { ran, stand, pending } = await withPending();
    const reason = "x".repeat(70_000);
    const thrown = thrownBy(() => stand.sign(pending, approve({ reason })));
    expect(isAgentAdapterError(thrown, "ToolUsageError")).toBe(true);
    const large = { ...stand.sign(pending), decision: { approved: true, reason } };
    expect(stand.port.check(pending, large)).toBe("malformed");
    expect(isInvalidAnswer(await failure(stand.resume({ [pending.id]: large })))).toBe(true);
    expect(ran).toEqual([]);
  });

  it("A10/check, A7: a large edit is not a remark: it runs", async () => {
    const ran: number[] = [];
    const note = defineTool({
      name: "note",
      description: "d",
      inputSchema: z.object({ text: z.string() }),
      confirm: true,
      execute: ({ text }) => {
        ran.push(text.length);
      },
    });
    const stand = new Stand({ tools: () => [note] });
    const pending = one((await stand.start({ name: "note", args: { text: "short" }, id: "c" })).interrupts);
    await stand.decide(pending, approve({ editedArgs: { text: "x".repeat(100_000) } }));
    expect(ran).toEqual([100_000]);
  });
});

describe("good and bad in one map (B04)", () => {
  it("B04, L1, L2: the good one runs once and is not run again when the bad one is repaired", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")], graph: aTaskPerCall });
    const { interrupts } = await stand.start(call("c1", 1), call("c2", 2));
    const [first, second] = [about(interrupts, "c1"), about(interrupts, "c2")];
    const error = await failure(stand.resume({ [first.id]: stand.sign(first), [second.id]: { approved: true } }));
    expect(isInvalidAnswer(error)).toBe(true);
    expect(ran).toEqual(["send 1"]);
    const waiting = one(await stand.pending());
    expect(waiting.value.binding).toBe(second.value.binding);
    forgetProcess();
    const end = await stand.rebuild().decide(waiting);
    expect(ran).toEqual(["send 1", "send 2"]);
    expect(table(end.tools)).toEqual([
      ["c1", "success", "send 1"],
      ["c2", "success", "send 2"],
    ]);
  });

  it("L2: two bad answers at once are recognised as such, and both requests stay answerable", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")], graph: aTaskPerCall });
    const { interrupts } = await stand.start(call("c1", 1), call("c2", 2));
    const error = await failure(stand.resume(Object.fromEntries(interrupts.map(({ id }) => [id, "yes"]))));
    expect(isInvalidAnswer(error)).toBe(true);
    expect(await stand.pending()).toHaveLength(2);
    await stand.resume(Object.fromEntries(interrupts.map((pending) => [pending.id, stand.sign(pending)])));
    expect(ran.toSorted()).toEqual(["send 1", "send 2"]);
  });

  it("L2, N1: an error that is not a refused answer is not taken for one", () => {
    expect(isInvalidAnswer(new Error("x"))).toBe(false);
    expect(isInvalidAnswer(new AggregateError([new Error("x")]))).toBe(false);
    expect(isInvalidAnswer(undefined)).toBe(false);
  });
});

describe("a plain value that was refused", () => {
  for (const restart of [false, true]) {
    const then = restart ? ", after a restart" : "";
    const next = (stand: Stand) => {
      if (restart) forgetProcess();
      return stand.rebuild();
    };

    it(`L2, B04: the good answer by id works after it${then}`, async () => {
      const { ran, stand, pending } = await withPending();
      expect(isInvalidAnswer(await failure(stand.plain("yes")))).toBe(true);
      await next(stand).decide(pending);
      expect(ran).toEqual(["send 1"]);
    });

    it(`L2, B04: going on with null shows the same request${then}, and a good plain answer works`, async () => {
      const { ran, stand, pending } = await withPending();
      await failure(stand.plain("yes"));
      const later = next(stand);
      const again = one((await later.again()).interrupts);
      expect([again.id, again.value.binding]).toEqual([pending.id, pending.value.binding]);
      await next(later).plain(later.sign(again));
      expect(ran).toEqual(["send 1"]);
    });

    it(`L2, B04: in a node with a second approval the second request is shown and answerable${then}`, async () => {
      const ran: string[] = [];
      let stand = new Stand({ tools: () => [asking(ran, "send")] });
      const first = one((await stand.start(call("c1", 1), call("c2", 2))).interrupts);
      await failure(stand.plain("yes"));
      stand = next(stand);
      const second = one((await stand.decide(first)).interrupts);
      expect(second.value.request.callId).toBe("c2");
      expect((await stand.only()).value.binding).toBe(second.value.binding);
      stand = next(stand);
      const shownAgain = one((await stand.again()).interrupts);
      expect(shownAgain.value.binding).toBe(second.value.binding);
      await stand.decide(shownAgain);
      expect(ran).toEqual(["send 1", "send 2"]);
    });

    it(`L2: refused twice, also with another value in between${then}`, async () => {
      const { ran, stand, pending } = await withPending();
      for (const value of ["yes", "no", "yes"]) await stand.plain(value).catch((error: unknown) => error);
      await next(stand).decide(pending);
      expect(ran).toEqual(["send 1"]);
    });
  }

  it("L3: a good plain answer is not taken for the second request", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const first = one((await stand.start(call("c1", 1), call("c2", 2))).interrupts);
    const turn = await stand.plain(stand.sign(first));
    expect(one(turn.interrupts).value.request.callId).toBe("c2");
    const again = await stand.again();
    expect(one(again.interrupts).value.binding).toBe(one(turn.interrupts).value.binding);
    expect(ran).toEqual(["send 1"]);
    await stand.plain(stand.sign(one(again.interrupts)));
    expect(ran).toEqual(["send 1", "send 2"]);
  });

  it("L2, B04: one that nobody has looked at yet does not spoil an answer by id to another task", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")], graph: aTaskPerCall });
    const { interrupts } = await stand.start(call("c1", 1), call("c2", 2));
    // As a process leaves it that died before its nodes ran: LangGraph's row for a plain value, and nothing of ours.
    const { config } = await stand.app.getState(stand.config);
    const nobody = "00000000-0000-0000-0000-000000000000";
    await stand.options.saver.putWrites(config, [["__resume__", "yes"]], nobody);
    forgetProcess();
    const turn = await stand.rebuild().decide(about(interrupts, "c1"));
    expect(ran).toEqual(["send 1"]);
    expect(about(turn.interrupts, "c2").value.binding).toBe(about(interrupts, "c2").value.binding);
  });

  it("L2: a plain value while two tasks wait answers neither", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")], graph: aTaskPerCall });
    const { interrupts } = await stand.start(call("c1", 1), call("c2", 2));
    await stand.plain(stand.sign(about(interrupts, "c1"))).catch((error: unknown) => error);
    expect(ran.filter((entry) => entry === "send 2")).toEqual([]);
    const waiting = await stand.pending();
    await stand.resume(Object.fromEntries(waiting.map((pending) => [pending.id, stand.sign(pending)])));
    expect(ran.toSorted()).toEqual(["send 1", "send 2"]);
  });
});

describe("a re-run without an answer", () => {
  it("L1, L3: shows the same request again before any hook, predicate or tool runs", async () => {
    for (const restart of [false, true]) {
      const ran: string[] = [];
      const seen: string[] = [];
      const confirm = ({ n }: { n: number }) => {
        seen.push(`predicate ${n}`);
        return true;
      };
      const stand = new Stand({
        tools: () => [asking(ran, "send", { confirm }), counted(ran, "rate")],
        hooks: [{ beforeTool: ({ callId }) => void seen.push(`hook ${callId}`) }],
      });
      const pending = one((await stand.start(call("c1", 1), call("c2", 2, "rate"), call("c3", 3))).interrupts);
      const before = [ran.length, seen.length];
      for (const go of [() => stand.rebuild().again(), () => stand.rebuild().resume({ ["0".repeat(32)]: "yes" })]) {
        if (restart) forgetProcess();
        const again = one((await go()).interrupts);
        expect([again.id, again.value.binding]).toEqual([pending.id, pending.value.binding]);
        expect(again.value.meta).toEqual(pending.value.meta);
      }
      expect([ran.length, seen.length]).toEqual(before);
    }
  });
});

describe("what a refusal leaves in other tasks", () => {
  it("L2, E8: plain calls of the same node are not run again when a bad answer came in between", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send"), counted(ran, "rate")] });
    const pending = one((await stand.start(call("c1", 1), call("c2", 2, "rate"))).interrupts);
    await failure(stand.resume({ [pending.id]: "yes" }));
    await stand.decide(pending);
    expect(ran).toEqual(["rate 2", "send 1"]);
  });

  it("A9/review, N1: parsed JSON is not a decision and is refused before it is signed", async () => {
    const { stand, pending } = await withPending();
    const thrown = await failure(Promise.resolve().then(() => stand.sign(pending, { approved: true } as never)));
    expect(isAgentAdapterError(thrown, "ToolUsageError")).toBe(true);
  });
});
