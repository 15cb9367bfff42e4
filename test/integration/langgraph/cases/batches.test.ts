// One message of the model with several calls: every call gets exactly one ToolMessage, in order, whatever happened to it.
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  approve,
  defineTool,
  deny,
  isAgentAdapterError,
  ToolError,
  type AnyToolSpec,
  type ApprovalDecision,
  type Hook,
} from "agent-adapter";
import { isInvalidAnswer, LangGraphApproval } from "agent-adapter/langgraph";
import { asking, call, counted, failure, KEY, one, sleep, Stand, table, text } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

describe("approve, deny and edit in one batch (B16)", () => {
  const edit = (n: number) => approve({ editedArgs: { n: n * 100 }, by: "ana" });
  const decisions: Readonly<Record<string, (n: number) => ApprovalDecision>> = {
    approve: () => approve({ by: "ana" }),
    deny: () => deny({ reason: "not this month", by: "ana" }),
    edit,
  };
  const denied = JSON.stringify({
    error: { kind: "ApprovalDenied", message: "a reviewer denied this call: not this month" },
  });
  const announced = (n: number, name: string) =>
    `[A reviewer changed the arguments of this call to {"n":${n}}]\n${name} ${n}`;
  const expected = (decision: string, name: string, n: number) =>
    ({
      approve: [`c_${name}`, "success", `${name} ${n}`],
      deny: [`c_${name}`, "error", denied],
      edit: [`c_${name}`, "success", announced(n * 100, name)],
    })[decision];
  const bodies = (decision: string, name: string, n: number) =>
    ({ approve: [`${name} ${n}`], deny: [], edit: [`${name} ${n * 100}`] })[decision] ?? [];
  const statuses = (decision: string) => (decision === "deny" ? "denied" : "ok");

  for (const a of Object.keys(decisions)) {
    for (const b of Object.keys(decisions)) {
      it(`B16, T2: ${a} the first, ${b} the second, a plain call beside them`, async () => {
        const ran: string[] = [];
        const tools = () => [asking(ran, "a"), asking(ran, "b"), counted(ran, "p")];
        const stand = new Stand({ tools });
        const first = one(
          (await stand.start(call("c_a", 1, "a"), call("c_b", 2, "b"), call("c_p", 3, "p"))).interrupts,
        );
        const asked = (await stand.history()).find((message) => AIMessage.isInstance(message));
        const second = one((await stand.decide(first, decisions[a]?.(1))).interrupts);
        forgetProcess();
        // What ran under an approval is known to the next process; the plain call's result is not, so it runs again.
        const end = await stand.rebuild().decide(second, decisions[b]?.(2));
        expect(ran.filter((line) => !line.startsWith("p"))).toEqual([...bodies(a, "a", 1), ...bodies(b, "b", 2)]);
        expect(table(end.tools)).toEqual([expected(a, "a", 1), expected(b, "b", 2), ["c_p", "success", "p 3"]]);
        const after = end.messages.find((message) => AIMessage.isInstance(message));
        expect(after?.id).toBe(asked?.id);
        expect(after).toMatchObject({ tool_calls: [{ id: "c_a" }, { id: "c_b" }, { id: "c_p" }] });
        expect((await stand.entries()).map(({ callId, status }) => [callId, status])).toEqual([
          ["c_a", statuses(a)],
          ["c_b", statuses(b)],
          ["c_p", "ok"],
        ]);
      });
    }
  }

  it("B16, E8: in one process nothing of a mixed batch runs twice", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "a"), asking(ran, "b"), counted(ran, "p")] });
    const first = one((await stand.start(call("c_a", 1, "a"), call("c_b", 2, "b"), call("c_p", 3, "p"))).interrupts);
    const second = one((await stand.decide(first)).interrupts);
    await stand.decide(second, decisions["deny"]?.(2));
    expect(ran).toEqual(["p 3", "a 1"]);
    expect((await stand.entries()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ["ok", 1],
      ["denied", 0],
      ["ok", 1],
    ]);
  });
});

describe("the predicate (B18)", () => {
  for (const restart of [false, true]) {
    it(`B18, G3: is called exactly once for a call, whatever it would say later${restart ? ", also over restarts" : ""}`, async () => {
      const ran: string[] = [];
      let calls = 0;
      const once = () => {
        calls += 1;
        return calls === 1;
      };
      const stand = new Stand({ tools: () => [asking(ran, "send", { confirm: once })] });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      const next = () => {
        if (restart) forgetProcess();
        return stand.rebuild();
      };
      await next().again();
      await failure(next().resume({ [pending.id]: "yes" }));
      expect(ran).toEqual([]);
      await next().decide(pending);
      expect(ran).toEqual(["send 1"]);
      expect(calls).toBe(1);
    });
  }

  it("B18: is not asked again about a denied or a done call when the node is re-run", async () => {
    const ran: string[] = [];
    const asked: number[] = [];
    const confirm = ({ n }: { n: number }) => {
      asked.push(n);
      return true;
    };
    const stand = new Stand({ tools: () => [asking(ran, "send", { confirm })] });
    const first = one((await stand.start(call("c1", 1), call("c2", 2), call("c3", 3))).interrupts);
    const second = one((await stand.decide(first)).interrupts);
    const third = one((await stand.decide(second, deny())).interrupts);
    await stand.decide(third);
    expect(asked.filter((n) => n === 1)).toEqual([1]);
    expect(ran).toEqual(["send 1", "send 3"]);
  });

  it("B18, N1: anything but false asks; a predicate that throws runs nothing", async () => {
    const ran: string[] = [];
    for (const says of [undefined, null, 0, "", "no"]) {
      const stand = new Stand({ tools: () => [asking(ran, "send", { confirm: () => says as never })] });
      expect((await stand.start(call("c", 1))).interrupts).toHaveLength(1);
    }
    const broken = new Stand({
      tools: () => [
        asking(ran, "send", {
          confirm: () => {
            throw new Error("policy server down");
          },
        }),
      ],
    });
    await failure(broken.start(call("c", 1)));
    const plain = new Stand({ tools: () => [asking(ran, "send", { confirm: () => false })] });
    expect((await plain.start(call("c", 1))).interrupts).toEqual([]);
    expect(ran).toEqual(["send 1"]);
  });
});

describe("what the gate sees is what runs (B19)", () => {
  interface Seen {
    predicate: unknown[];
    hook: unknown[];
    body: unknown[];
    defaults: number;
  }
  const fresh = (): Seen => ({ predicate: [], hook: [], body: [], defaults: 0 });

  function payTool(seen: Seen): AnyToolSpec {
    return defineTool({
      name: "pay",
      description: "pay",
      effects: "destructive",
      inputSchema: z.object({
        dangerous: z.boolean().default(true),
        amount: z.coerce.number().min(0),
        note: z.string().trim().default("none"),
        id: z.string().default(() => {
          seen.defaults += 1;
          return `id-${seen.defaults}`;
        }),
      }),
      confirm: (args) => {
        seen.predicate.push(args);
        return args.dangerous;
      },
      execute: (args) => {
        seen.body.push(args);
        return "paid";
      },
    });
  }
  const hookOf = (seen: Seen): Partial<Hook> => ({
    beforeTool: ({ arguments: args }) => {
      seen.hook.push(args);
    },
  });

  for (const restart of [false, true]) {
    it(`B19, G3, G5: predicate, hook, reviewer and body see one parsed value${restart ? ", also over a restart" : ""}`, async () => {
      const seen = fresh();
      const stand = new Stand({ tools: () => [payTool(seen)], hooks: [hookOf(seen)] });
      const raw = { amount: "12.50", note: "  rent " };
      // Defining the tool looks at its defaults, too; what counts is one look per call.
      seen.defaults = 0;
      const pending = one((await stand.start({ name: "pay", args: raw, id: "c" })).interrupts);
      const parsed = { dangerous: true, amount: 12.5, note: "rent", id: "id-1" };
      expect(pending.value.request.arguments).toEqual(parsed);
      expect(seen.defaults).toBe(1);
      if (restart) forgetProcess();
      const later = stand.rebuild();
      seen.defaults = 0;
      await later.decide(pending);
      expect(seen.defaults).toBe(0);
      expect(seen.predicate).toEqual([parsed]);
      expect(seen.hook).toEqual([parsed, parsed]);
      expect(seen.body).toEqual([parsed]);
    });
  }

  it("B19, A7: an edit that does not fit is refused where it is signed, and by the node when it was signed elsewhere", async () => {
    const seen = fresh();
    const stand = new Stand({ tools: () => [payTool(seen)] });
    const pending = one((await stand.start({ name: "pay", args: { amount: 1 }, id: "c" })).interrupts);
    for (const editedArgs of [{ amount: "much" }, { amount: -1 }, {}, { amount: 1, dangerous: "yes" }]) {
      let thrown: unknown;
      try {
        stand.sign(pending, approve({ editedArgs }));
      } catch (error) {
        thrown = error;
      }
      expect(isAgentAdapterError(thrown, "ToolArgsInvalid")).toBe(true);
      const elsewhere = new LangGraphApproval({ key: KEY }).resumeValue(pending, approve({ editedArgs }));
      expect(isInvalidAnswer(await failure(stand.resume({ [pending.id]: elsewhere })))).toBe(true);
    }
    expect(seen.body).toEqual([]);
    await stand.decide(pending);
    expect(seen.body).toHaveLength(1);
  });

  it("B19, A7: an edit is parsed like any arguments, runs instead, and is in the ledger beside the original", async () => {
    const seen = fresh();
    const stand = new Stand({ tools: () => [payTool(seen)] });
    const pending = one((await stand.start({ name: "pay", args: { amount: 1 }, id: "c" })).interrupts);
    const editedArgs = { dangerous: false, amount: "7", note: " less ", id: "mine" };
    const end = await stand.decide(pending, approve({ editedArgs, by: "ana" }));
    const ran = { dangerous: false, amount: 7, note: "less", id: "mine" };
    expect(seen.body).toEqual([ran]);
    expect(one(end.tools).metadata).toMatchObject({ agentAdapter: { arguments: ran } });
    const entry = one(await stand.entries());
    expect(entry).toMatchObject({ status: "ok", decidedBy: "ana", arguments: { amount: 1 }, editedArguments: ran });
    expect(entry.editDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  it("G5: a schema that would change its own output again is refused before anybody is asked", async () => {
    const ran: string[] = [];
    const stand = new Stand({
      tools: () => [
        defineTool({
          name: "double",
          description: "d",
          inputSchema: z.object({ n: z.number().overwrite((n) => n * 2) }),
          confirm: true,
          execute: () => ran.push("double"),
        }),
      ],
    });
    const error = await failure(stand.start({ name: "double", args: { n: 1 }, id: "c" }));
    expect(isAgentAdapterError(error, "ToolUsageError")).toBe(true);
    expect(ran).toEqual([]);
  });
});

describe("failing calls beside others (B33)", () => {
  it("B33, E8, T3: an error the model may read costs nobody else anything", async () => {
    const ran: string[] = [];
    const bad = () => {
      throw new ToolError("no such account");
    };
    const stand = new Stand({
      tools: () => [
        counted(ran, "ok"),
        counted(ran, "bad", { body: bad }),
        counted(ran, "slow", { body: () => sleep(8) }),
      ],
    });
    const end = await stand.start(call("c1", 1, "ok"), call("c2", 2, "bad"), call("c3", 3, "slow"));
    expect(table(end.tools)).toEqual([
      ["c1", "success", "ok 1"],
      ["c2", "error", JSON.stringify({ error: { kind: "ToolError", message: "no such account" } })],
      ["c3", "success", "null"],
    ]);
    expect((await stand.entries()).map(({ status, errorKind }) => [status, errorKind])).toEqual([
      ["ok", undefined],
      ["failed", "ToolError"],
      ["ok", undefined],
    ]);
  });

  it("B33, E8, T3: another failure is thrown after the siblings settled, and a retry runs only the failed call", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const ran: string[] = [];
      let broken = true;
      let slowDone = false;
      const stand = new Stand({
        tools: () => [
          counted(ran, "ok"),
          counted(ran, "bad", {
            body: () => {
              if (broken) throw new Error("down");
              return "up";
            },
          }),
          counted(ran, "slow", {
            body: async () => {
              await sleep(8);
              slowDone = true;
              return "late";
            },
          }),
        ],
      });
      const error = await failure(stand.start(call("c1", 1, "ok"), call("c2", 2, "bad"), call("c3", 3, "slow")));
      expect(isAgentAdapterError(error, "ToolFailed")).toBe(true);
      expect(slowDone).toBe(true);
      expect((await stand.entries()).map(({ status }) => status)).toEqual(["ok", "failed", "ok"]);
      broken = false;
      const end = await stand.again();
      expect(ran).toEqual(["ok 1", "bad 2", "slow 3", "bad 2"]);
      expect(table(end.tools)).toEqual([
        ["c1", "success", "ok 1"],
        ["c2", "success", "up"],
        ["c3", "success", "late"],
      ]);
      expect((await stand.entries()).map(({ status, attempts }) => [status, attempts])).toEqual([
        ["ok", 1],
        ["ok", 2],
        ["ok", 1],
      ]);
      await sleep(0);
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  it("B33, E8: a failure the model may not read is thrown before a human is asked", async () => {
    const ran: string[] = [];
    let broken = true;
    const stand = new Stand({
      tools: () => [
        asking(ran, "send"),
        counted(ran, "bad", {
          body: () => {
            if (broken) throw new Error("down");
            return "up";
          },
        }),
      ],
    });
    const error = await failure(stand.start(call("c1", 1), call("c2", 2, "bad")));
    expect(isAgentAdapterError(error, "ToolFailed")).toBe(true);
    expect(await stand.pending()).toEqual([]);
    broken = false;
    const pending = one((await stand.again()).interrupts);
    await stand.decide(pending);
    expect(ran).toEqual(["bad 2", "bad 2", "send 1"]);
  });

  it("B33, E8: an approved call that fails in a way the model may not read stops the batch; what ran stays done", async () => {
    const ran: string[] = [];
    const stand = new Stand({
      tools: () => [
        asking(ran, "bad", {
          body: () => {
            throw new Error("down");
          },
        }),
        asking(ran, "send"),
      ],
    });
    const first = one((await stand.start(call("c1", 1, "bad"), call("c2", 2))).interrupts);
    expect(isAgentAdapterError(await failure(stand.decide(first)), "ToolFailed")).toBe(true);
    expect(isAgentAdapterError(await failure(stand.again()), "ApprovalAlreadyDecided")).toBe(true);
    expect(ran).toEqual(["bad 1"]);
  });
});

describe("errors as the model reads them (B34)", () => {
  const circular = new Error("circular");
  circular.cause = circular;
  const hidden: Readonly<Record<string, unknown>> = {
    "a plain Error": new RangeError("secret 42"),
    "a string": "secret 42",
    null: null,
    undefined,
    "an error that is its own cause": circular,
    "an AggregateError": new AggregateError([new Error("secret 42")], "several"),
  };
  for (const [name, thrown] of Object.entries(hidden)) {
    it(`B34, T3, E2/errors: ${name} thrown by an approved tool is thrown from the node as ToolFailed, without its text`, async () => {
      const ran: string[] = [];
      const body = () => {
        throw thrown;
      };
      const stand = new Stand({ tools: () => [asking(ran, "send", { body })] });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      const error = await failure(stand.decide(pending));
      expect(isAgentAdapterError(error, "ToolFailed")).toBe(true);
      expect((error as Error).message).not.toContain("42");
      expect((error as Error).cause).toBe(thrown);
      expect((await stand.history()).filter((message) => ToolMessage.isInstance(message))).toEqual([]);
      expect(ran).toEqual(["send 1"]);
    });
  }

  it("B34, T3: a ToolError reaches the model as kind and message, the same after a reload", async () => {
    const ran: string[] = [];
    const body = () => {
      throw new ToolError('the disk is full: "/data" 😀', { cause: new Error("secret") });
    };
    const stand = new Stand({ tools: () => [asking(ran, "send", { body })] });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const message = one((await stand.decide(pending)).tools);
    expect(message.status).toBe("error");
    expect(JSON.parse(text(message))).toEqual({
      error: { kind: "ToolError", message: 'the disk is full: "/data" 😀' },
    });
    const reloaded = (await stand.rebuild().history()).filter((each) => ToolMessage.isInstance(each));
    expect(table(reloaded)).toEqual(table([message]));
  });

  it("B34, T3: a denial and unfit arguments are told the same way", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const paused = await stand.start(call("c1", 1), { name: "send", args: { n: "many" }, id: "c2" });
    const end = await stand.decide(one(paused.interrupts), deny());
    const contents = end.tools.map((each) => JSON.parse(text(each)) as { error: { kind: string } });
    expect(contents.map(({ error }) => error.kind)).toEqual(["ApprovalDenied", "ToolArgsInvalid"]);
    expect(end.tools.map(({ status }) => status)).toEqual(["error", "error"]);
    expect(JSON.stringify(contents)).not.toContain("many");
  });
});
