// What a caller writes on what it was given must change nothing that the package still reads.
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { approve, CallbackApproval, Executor, MemoryLedger, Registry, toReviewRequest } from "agent-adapter";
import { Flow, resumeFlow, runFlow } from "agent-adapter/flow";
import { compileFlow, LangGraphApproval, runCompiled } from "agent-adapter/langgraph";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";
const T = { configurable: { thread_id: "t" } };

function loop() {
  const seen: number[] = [];
  const registry = new Registry();
  registry.tool({
    name: "pay",
    description: "Pays.",
    inputSchema: z.object({}),
    confirm: true,
    execute: () => 1,
  });
  const executor = new Executor(registry, { secret: SECRET, approval: new LangGraphApproval() });
  const flow = new Flow("f", { state: z.object({ n: z.number().default(0) }) })
    .node("a", async (_state, ctx) => {
      seen.push(ctx.visit);
      await ctx.run("pay", {}, { callId: "pay" });
      return { n: 1 };
    })
    .node("b", async (_state, ctx) => {
      await ctx.run("pay", {}, { callId: "pay" });
      return { n: 2 };
    })
    .edge("a", "b")
    .end("b");
  return { flow, executor, seen };
}

describe("C1, F3: the visits of a result", () => {
  test("belong to the caller: a compiled run goes on with its own", async () => {
    const { flow, executor, seen } = loop();
    const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
    const paused = await runCompiled(app, {}, T);
    // Frozen would do as well.
    Reflect.set(paused.visits, "a", 41);
    const next = await runCompiled(app, approve(), T);
    expect(next.status).toBe("paused");
    expect(next.visits).toEqual({ a: 1 });
    Reflect.set(next.visits, "a", 41);
    Reflect.set(next.visits, "b", 41);
    const done = await runCompiled(app, approve(), T);
    expect(done.visits).toEqual({ a: 1, b: 1 });
    expect(seen).toEqual([1, 1]);
  });

  test("C1: as a local run does", async () => {
    const { flow, executor } = loop();
    const paused = await runFlow(flow, {}, { executor });
    Reflect.set(paused.visits, "a", 41);
    if (paused.status !== "paused") throw new Error("not paused");
    const next = await resumeFlow(flow, paused.checkpoint, approve(), { executor });
    expect(next.visits).toEqual({ a: 1 });
  });
});

describe("E1: the ledger's entries and sums", () => {
  test("are not reached by what it was given or gave", async () => {
    const ledger = new MemoryLedger({ arguments: true });
    const args = { a: { b: 1 } };
    const opening = {
      id: "1",
      runId: "r",
      threadId: undefined,
      tool: "t",
      callId: "c",
      principal: undefined,
      argumentsDigest: "d",
      arguments: args,
      startedAt: 1,
    };
    await ledger.open(opening);
    args.a.b = 2;
    Object.assign(opening, { runId: "other", tool: "other" });
    const edit = { digest: "e", arguments: { x: { y: 1 } } };
    const closing = {
      status: "ok" as const,
      errorKind: undefined,
      attempts: 1,
      durationMs: 1,
      cost: 1,
      binding: undefined,
      decidedBy: undefined,
      edit,
    };
    await ledger.close("1", closing);
    edit.arguments.x.y = 2;
    const totals = await ledger.totals({ runId: "r" });
    Reflect.set(totals, "cost", 99);
    const [entry] = await ledger.entries();
    try {
      Object.assign(entry ?? {}, { status: "failed", cost: 99 });
    } catch {
      // Frozen is fine.
    }
    const [again] = await ledger.entries();
    expect([again?.status, again?.cost, (await ledger.totals({ runId: "r", tool: "t" })).cost]).toEqual(["ok", 1, 1]);
    expect(again?.arguments).toEqual({ a: { b: 1 } });
    // Whoever wrote a ledger test by hand; the executor gives frozen edits.
    expect([{ x: { y: 1 } }, { x: { y: 2 } }]).toContainEqual(again?.editedArguments);
  });
});

describe("A1, G3: what hooks, predicates, ports and bodies write on", () => {
  test("changes nothing that was approved, and no other call", async () => {
    const ran: unknown[] = [];
    const tryWrite = (value: unknown) => {
      try {
        Object.assign(value as object, { to: "mallory" });
      } catch {
        // Frozen.
      }
    };
    const shared = { list: [{ to: "ana" }] };
    const registry = new Registry();
    const inputSchema = z.object({ to: z.string(), extra: z.unknown().default(() => shared) });
    registry.tool({
      name: "pay",
      description: "Pays.",
      inputSchema,
      confirm: (args) => {
        tryWrite(args);
        return true;
      },
      execute: (args) => {
        ran.push(structuredClone(args));
        tryWrite(args);
        tryWrite((args as { extra: { list: object[] } }).extra.list[0]);
        return 1;
      },
    });
    const executor = new Executor(registry, {
      secret: SECRET,
      approval: new CallbackApproval((review) => {
        tryWrite(review);
        tryWrite(review.request);
        tryWrite(review.request.arguments);
        return approve();
      }),
      hooks: [
        {
          beforeTool: (call: { arguments: unknown; context: unknown }) => {
            tryWrite(call.arguments);
            tryWrite(call);
            tryWrite(call.context);
          },
          onApproval: (_call: unknown, event: object) => {
            tryWrite(event);
            tryWrite((event as { request?: { arguments: object } }).request?.arguments ?? {});
          },
        } as never,
      ],
    });
    await executor.run("pay", { to: "ana" });
    await executor.run("pay", { to: "ana" });
    expect(ran).toEqual([
      { to: "ana", extra: { list: [{ to: "ana" }] } },
      { to: "ana", extra: { list: [{ to: "ana" }] } },
    ]);
    expect(Object.isFrozen(shared)).toBe(false);
  });
});

describe("A9, N1: toReviewRequest of what is neither", () => {
  test.each([undefined, null, "x", 1, [], {}, { request: null }, { request: {}, id: 1 }, { value: null }])(
    "is a ToolUsageError: %j",
    (waiting) => {
      expect(() => toReviewRequest(waiting as never)).toThrow(expect.objectContaining({ kind: "ToolUsageError" }));
    },
  );
});

describe("N1, A9: what is given instead of an interrupt", () => {
  // As it came over the wire, not parsed yet: it holds what the tool would be called with.
  const wire = JSON.stringify({ id: "i", value: { request: { arguments: { card: "4242-CANARY" } } } });

  test.each([
    ["toReviewRequest", () => void toReviewRequest(wire as never)],
    ["resumeValue", () => void new LangGraphApproval({ key: SECRET }).resumeValue(wire as never, approve())],
    ["check", () => void new LangGraphApproval({ key: SECRET }).check(wire as never, "yes")],
  ])("is never quoted: %s", (_name, call) => {
    let thrown: unknown;
    try {
      call();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(Error);
    expect(String(thrown)).not.toContain("4242-CANARY");
  });
});
