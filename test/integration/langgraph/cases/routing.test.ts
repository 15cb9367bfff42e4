// An answer reaches exactly the request it was signed for: whatever the order, the timing, the id it is sent under, and
// whoever rebuilt what in between.
import { afterEach, describe, expect, it } from "vitest";
import { approve, deny, isAgentAdapterError, type Hook } from "agent-adapter";
import { isInvalidAnswer, LangGraphApproval } from "agent-adapter/langgraph";
import { MemorySaver } from "@langchain/langgraph";
import {
  about,
  ai,
  asPending,
  asking,
  aTaskPerCall,
  call,
  counted,
  failure,
  interruptsOf,
  KEY,
  one,
  sleep,
  Stand,
  table,
} from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

describe("several asking calls in one node (B01)", () => {
  /** Latencies of two tools, one pair per pass. */
  function flipping(passes: readonly Readonly<Record<string, number>>[]): Partial<Hook> & { pass: number } {
    return {
      pass: 0,
      async beforeTool({ tool }) {
        await sleep(passes[this.pass]?.[tool] ?? 0);
      },
    };
  }

  it("L3: each answer applies to the call it was signed for when the latencies flip between passes", async () => {
    const ran: string[] = [];
    const hook = flipping([
      { a: 1, b: 9 },
      { a: 9, b: 1 },
      { a: 1, b: 9 },
    ]);
    let predicateCalls = 0;
    const slow = (name: string, ms: () => number) =>
      asking(ran, name, {
        confirm: async () => {
          predicateCalls += 1;
          await sleep(ms());
          return true;
        },
      });
    const stand = new Stand({
      tools: () => [slow("a", () => (hook.pass === 0 ? 1 : 9)), slow("b", () => (hook.pass === 0 ? 9 : 1))],
      hooks: [hook],
    });
    const first = one((await stand.start(call("ca", 1, "a"), call("cb", 2, "b"))).interrupts);
    expect(first.value.request).toMatchObject({ tool: "a", callId: "ca", arguments: { n: 1 } });
    hook.pass = 1;
    const second = one((await stand.decide(first, approve())).interrupts);
    expect(second.value.request).toMatchObject({ tool: "b", callId: "cb", arguments: { n: 2 } });
    expect(ran).toEqual(["a 1"]);
    hook.pass = 2;
    const end = await stand.decide(second, approve({ editedArgs: { n: 22 } }));
    expect(ran).toEqual(["a 1", "b 22"]);
    expect(table(end.tools).map(([id, status]) => [id, status])).toEqual([
      ["ca", "success"],
      ["cb", "success"],
    ]);
    expect(predicateCalls).toBeGreaterThanOrEqual(2);
    expect((await stand.entries()).map(({ callId, status, attempts }) => [callId, status, attempts])).toEqual([
      ["ca", "ok", 1],
      ["cb", "ok", 1],
    ]);
  });

  it("L2: an answer made for the first call is refused while the second one waits, and the right one still works", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "a"), asking(ran, "b")] });
    const first = one((await stand.start(call("ca", 1, "a"), call("cb", 2, "b"))).interrupts);
    const forA = stand.sign(first, approve());
    const second = one((await stand.resume({ [first.id]: forA })).interrupts);
    const used = await failure(stand.resume({ [second.id]: forA }));
    expect(isAgentAdapterError(used, "ApprovalAlreadyDecided")).toBe(true);
    // A genuine answer about the first call that was never used is not an answer to the second one either.
    const other = await failure(stand.resume({ [second.id]: stand.sign(first, deny()) }));
    expect(isAgentAdapterError(other, "ApprovalAlreadyDecided") || isInvalidAnswer(other)).toBe(true);
    expect(ran).toEqual(["a 1"]);
    expect((await stand.only()).value.binding).toBe(second.value.binding);
    await stand.decide(await stand.only());
    expect(ran).toEqual(["a 1", "b 2"]);
  });

  it("L3: an answer for one parallel task sent under the id of the other is refused by both", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")], graph: aTaskPerCall });
    const { interrupts } = await stand.start(call("c1", 1), call("c2", 2));
    const [one1, two] = [about(interrupts, "c1"), about(interrupts, "c2")];
    const swapped = await failure(stand.resume({ [one1.id]: stand.sign(two), [two.id]: stand.sign(one1) }));
    expect(isInvalidAnswer(swapped)).toBe(true);
    expect(ran).toEqual([]);
    const end = await stand.resume({ [one1.id]: stand.sign(one1), [two.id]: stand.sign(two) });
    expect(ran.toSorted()).toEqual(["send 1", "send 2"]);
    expect(table(end.tools)).toEqual([
      ["c1", "success", "send 1"],
      ["c2", "success", "send 2"],
    ]);
  });
});

describe("an answer under an id that is not waiting (B05)", () => {
  it("B05, L2: an unknown id runs nothing, and neither does another call's answer under the right id", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "a"), asking(ran, "b")] });
    const a = one((await stand.start(call("ca", 1, "a"))).interrupts);
    const other = new Stand({ tools: () => [asking(ran, "a"), asking(ran, "b")] });
    const b = one((await other.start(call("cb", 2, "b"))).interrupts);
    const forB = stand.port.resumeValue(b, approve());
    // LangGraph resumes the run with nothing for this task: the same request is shown again.
    const again = await stand.resume({ [b.id]: forB });
    expect(one(again.interrupts).value.binding).toBe(a.value.binding);
    const refused = await failure(stand.resume({ [a.id]: forB }));
    expect(isInvalidAnswer(refused)).toBe(true);
    expect(ran).toEqual([]);
    expect((await stand.only()).value.binding).toBe(a.value.binding);
    await stand.decide(await stand.only());
    expect(ran).toEqual(["a 1"]);
  });

  it("B05: an answer when nothing is pending runs nothing", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "a")] });
    const a = one((await stand.start(call("ca", 1, "a"))).interrupts);
    const answer = stand.sign(a);
    const end = await stand.resume({ [a.id]: answer });
    await stand.resume({ [a.id]: answer }).catch((error: unknown) => error);
    await stand.plain(answer).catch((error: unknown) => error);
    expect(ran).toEqual(["a 1"]);
    expect(table(end.tools)).toEqual([["ca", "success", "a 1"]]);
  });
});

describe("several calls of the same tool (B06)", () => {
  const calls = [call("c1", 1), call("c2", 7), call("c3", 7)];

  for (const restart of [false, true]) {
    it(`B06: answered c3, c1, c2 with everything rebuilt ${restart ? "and the process gone " : ""}in between, each runs once with its own result`, async () => {
      const ran: string[] = [];
      let stand = new Stand({ tools: () => [asking(ran, "send")], graph: aTaskPerCall });
      const { interrupts } = await stand.start(...calls);
      const shown = new Map(interrupts.map((pending) => [pending.value.request.callId, pending]));
      expect([...shown.keys()]).toEqual(["c1", "c2", "c3"]);
      expect(new Set(interrupts.map(({ value }) => value.binding)).size).toBe(3);
      for (const [index, id] of ["c3", "c1", "c2"].entries()) {
        stand = stand.rebuild();
        if (restart) forgetProcess();
        const waiting = await stand.pending();
        expect(waiting.map(({ value }) => value.request.callId)).toHaveLength(3 - index);
        const pending = about(waiting, id);
        expect(pending.value.binding).toBe(shown.get(id)?.value.binding);
        await stand.decide(pending);
        expect(ran).toHaveLength(index + 1);
      }
      expect(ran).toEqual(["send 7", "send 1", "send 7"]);
      expect(table((await stand.again()).tools)).toEqual([
        ["c1", "success", "send 1"],
        ["c2", "success", "send 7"],
        ["c3", "success", "send 7"],
      ]);
      expect((await stand.entries()).map(({ callId, status, attempts }) => [callId, status, attempts])).toEqual([
        ["c1", "ok", 1],
        ["c2", "ok", 1],
        ["c3", "ok", 1],
      ]);
    });

    it(`B06, T1: in one node they are asked one by one, everything rebuilt ${restart ? "and the process gone " : ""}in between`, async () => {
      const ran: string[] = [];
      let stand = new Stand({ tools: () => [asking(ran, "send")] });
      let turn = await stand.start(...calls);
      const order: string[] = [];
      while (turn.interrupts.length > 0) {
        const pending = one(turn.interrupts);
        order.push(pending.value.request.callId);
        stand = stand.rebuild();
        if (restart) forgetProcess();
        turn = await stand.decide(pending);
      }
      expect(order).toEqual(["c1", "c2", "c3"]);
      expect(ran).toEqual(["send 1", "send 7", "send 7"]);
      expect(table(turn.tools)).toEqual([
        ["c1", "success", "send 1"],
        ["c2", "success", "send 7"],
        ["c3", "success", "send 7"],
      ]);
      expect((await stand.entries()).map(({ callId, status, attempts }) => [callId, status, attempts])).toEqual([
        ["c1", "ok", 1],
        ["c2", "ok", 1],
        ["c3", "ok", 1],
      ]);
    });
  }
});

describe("call ids that come again over turns (B23)", () => {
  it("B23, T1: a reused id asks again, also with the same arguments, and the old answer is refused", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const first = one((await stand.start(call("x", 1))).interrupts);
    const old = stand.sign(first);
    await stand.resume({ [first.id]: old });
    const second = one((await stand.start(call("x", 2))).interrupts);
    expect(second.value.request.arguments).toEqual({ n: 2 });
    expect(isInvalidAnswer(await failure(stand.resume({ [second.id]: old })))).toBe(true);
    await stand.decide(second);
    const third = one((await stand.start(call("x", 1))).interrupts);
    expect(third.value.binding).not.toBe(first.value.binding);
    forgetProcess();
    expect(isInvalidAnswer(await failure(stand.rebuild().resume({ [third.id]: old })))).toBe(true);
    expect(ran).toEqual(["send 1", "send 2"]);
    await stand.decide(await stand.only());
    expect(ran).toEqual(["send 1", "send 2", "send 1"]);
  });

  it("B23: an approval of one tool is none of another whose name is a part of it", async () => {
    const ran: string[] = [];
    const tools = () => [asking(ran, "lookup"), asking(ran, "crm_lookup")];
    const stand = new Stand({ tools });
    const first = one((await stand.start(call("x", 1, "crm_lookup"))).interrupts);
    const answer = stand.sign(first);
    await stand.resume({ [first.id]: answer });
    const second = one((await stand.start(call("x", 1, "lookup"))).interrupts);
    expect(isInvalidAnswer(await failure(stand.resume({ [second.id]: answer })))).toBe(true);
    expect(ran).toEqual(["crm_lookup 1"]);
  });
});

describe("an answer on its way through clients (B24)", () => {
  const reversed = (value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .toReversed()
            .map(([key, inner]) => [key, reversed(inner)]),
        )
      : value;
  const trips: Readonly<Record<string, (value: unknown) => unknown>> = {
    JSON: (value) => JSON.parse(JSON.stringify(value)),
    "reversed keys": (value) => reversed(JSON.parse(JSON.stringify(value))),
    structuredClone: (value) => structuredClone(value),
  };
  for (const [name, trip] of Object.entries(trips)) {
    it(`B24: the answer verifies after ${name}`, async () => {
      const ran: string[] = [];
      const stand = new Stand({ tools: () => [asking(ran, "send")] });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      await stand.resume({ [pending.id]: trip(stand.sign(pending, approve({ editedArgs: { n: 5 }, by: "ana" }))) });
      expect(ran).toEqual(["send 5"]);
    });
  }

  const sources: Readonly<Record<string, (stand: Stand) => Promise<unknown>>> = {
    "invoke's output": async (stand) => interruptsOf((await stand.start(call("c", 1))).output)[0],
    "getState().tasks": async (stand) => {
      await stand.start(call("c", 1));
      return one(await stand.pending());
    },
    "the updates stream": async (stand) => {
      const messages = [ai([call("c", 1)])];
      const found: unknown[] = [];
      for await (const chunk of await stand.app.stream({ messages }, { ...stand.config, streamMode: "updates" })) {
        found.push(...interruptsOf(chunk));
      }
      return one(found);
    },
    "JSON over HTTP": async (stand) => JSON.parse(JSON.stringify(one((await stand.start(call("c", 1))).interrupts))),
  };
  for (const [name, source] of Object.entries(sources)) {
    it(`B24, A9: the pause as ${name} gave it can be signed, by a process that only has the key`, async () => {
      const ran: string[] = [];
      const stand = new Stand({ tools: () => [asking(ran, "send")] });
      const pending = asPending(await source(stand));
      const reviewer = new LangGraphApproval({ key: KEY });
      await stand.resume({ [pending.id]: reviewer.resumeValue(pending, approve()) });
      expect(ran).toEqual(["send 1"]);
    });
  }

  it("B24, A9: an id alone, or a forwarded request, cannot be signed", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const wrong: unknown[] = [
      { id: pending.id },
      { value: pending.value.request },
      pending.value.request,
      pending.value,
    ];
    for (const value of wrong) {
      let thrown: unknown;
      try {
        stand.port.resumeValue(value as never, approve());
      } catch (error) {
        thrown = error;
      }
      expect(isAgentAdapterError(thrown, "ToolUsageError")).toBe(true);
    }
  });
});

describe("plain calls beside asking ones", () => {
  it("T2, L1: what needs nobody runs before anybody is asked, and once", async () => {
    const ran: string[] = [];
    const saver = new MemorySaver();
    const stand = new Stand({ tools: () => [counted(ran, "rate"), asking(ran, "send")], saver });
    const first = one((await stand.start(call("c1", 1), call("c2", 2, "rate"), call("c3", 3))).interrupts);
    expect(ran).toEqual(["rate 2"]);
    const second = one((await stand.decide(first)).interrupts);
    const end = await stand.decide(second);
    expect(ran).toEqual(["rate 2", "send 1", "send 3"]);
    expect(table(end.tools)).toEqual([
      ["c1", "success", "send 1"],
      ["c2", "success", "rate 2"],
      ["c3", "success", "send 3"],
    ]);
    expect((await stand.entries()).map(({ callId, status, attempts }) => [callId, status, attempts])).toEqual([
      ["c1", "ok", 1],
      ["c2", "ok", 1],
      ["c3", "ok", 1],
    ]);
  });
});
