// What outlives a process: requests with an end that another process finds again, signed decisions that are judged when they are
// used, and pauses that can always be sealed.
import { Annotation, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  approve,
  DeferredApproval,
  Executor,
  MemoryApprovalStore,
  Registry,
  type ApprovalRecord,
  type ApprovalStore,
} from "agent-adapter";
import { checkpointOf, Flow, runFlow } from "agent-adapter/flow";
import { LangGraphApproval, oneUse } from "agent-adapter/langgraph";
import { APPROVAL_TYPE } from "agent-adapter/spi";
import { ManualClock } from "agent-adapter/testing";
import { asking, failure, KEY, one } from "../support/langgraph.js";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

it.each(["pause", "throw"] as const)(
  "A8: a request with an end is found again by the next process of a graph (inGraph: %s)",
  async (inGraph) => {
    const clock = new ManualClock(1_000_000);
    const store = new MemoryApprovalStore({ clock });
    const saver = new MemorySaver();
    const ran: string[] = [];
    const config = { configurable: { thread_id: "t" } };
    const app = () => {
      forgetProcess();
      clock.advance(5);
      const approval = new DeferredApproval(store, { inGraph, requestTtlMs: 60_000 });
      const executor = new Executor(new Registry([asking(ran, "send")]), { secret: KEY, approval, clock });
      const node = async () => ({ r: await executor.run("send", { n: 1 }, { callId: "p" }) });
      return new StateGraph(Annotation.Root({ r: Annotation<unknown> }))
        .addNode("n", oneUse(node, { executor }))
        .addEdge(START, "n")
        .compile({ checkpointer: saver });
    };
    await app()
      .invoke({}, config)
      .catch(() => undefined);
    await app()
      .invoke(null, config)
      .catch(() => undefined);
    const { id } = one(await store.list());
    await store.decide(id, approve());
    expect(await app().invoke(null, config)).toMatchObject({ r: "send 1" });
    expect(ran).toEqual(["send 1"]);
    expect(one(await store.list())).toMatchObject({ id, status: "used" });
  },
);

describe("A2, A9: a record that carries a signed answer, under a shared key", () => {
  /** A program, and a store whose rows somebody may write on. */
  async function program() {
    const clock = new ManualClock(Date.now());
    const store = new MemoryApprovalStore({ clock, key: KEY });
    let forge = (record: ApprovalRecord): ApprovalRecord => record;
    const written: ApprovalStore = Object.assign(Object.create(store) as ApprovalStore, {
      create: (...args: Parameters<ApprovalStore["create"]>) => store.create(...args),
      decide: (...args: Parameters<ApprovalStore["decide"]>) => store.decide(...args),
      consume: (...args: Parameters<ApprovalStore["consume"]>) => store.consume(...args),
      supersede: (...args: Parameters<ApprovalStore["supersede"]>) => store.supersede(...args),
      get: async (id: string) => {
        const record = await store.get(id);
        return record === undefined ? undefined : forge(record);
      },
    });
    const ran: string[] = [];
    const approval = new DeferredApproval(written, { key: KEY });
    const executor = new Executor(new Registry([asking(ran, "send")]), { secret: KEY, approval, clock });
    const context = executor.context({ runId: "r" });
    const send = () => executor.run("send", { n: 1 }, { context, callId: "c" });
    expect(await failure(send())).toMatchObject({ kind: "ApprovalPending" });
    const record = one(await store.list());
    const { id: binding, request } = record;
    const signer = new LangGraphApproval({ key: KEY, answerTtlMs: 1000 });
    const sign = () => signer.resumeValue({ id: "i", value: { type: APPROVAL_TYPE, binding, request } }, approve());
    return { clock, store, ran, send, record, sign, forge: (as: typeof forge) => (forge = as) };
  }

  it("runs once while the answer is good", async () => {
    const { store, ran, send, record, sign } = await program();
    await store.decide(record.id, sign());
    expect(await send()).toBe("send 1");
    expect(ran).toEqual(["send 1"]);
  });

  it("asks anew when the answer has expired at its use", async () => {
    const { store, ran, send, record, sign, clock } = await program();
    await store.decide(record.id, sign());
    clock.advance(60_000);
    expect(await failure(send())).toMatchObject({ kind: "ApprovalPending" });
    expect(ran).toEqual([]);
    expect(await store.get(record.id)).toMatchObject({ status: "superseded" });
  });

  it("asks anew when nobody with the key signed it", async () => {
    const { ran, send, sign, forge } = await program();
    const answer = { ...sign(), mac: "x".repeat(43) };
    forge((record) => ({ ...record, status: "approved", decision: { approved: true }, answer, decidedAt: 1 }));
    expect(await failure(send())).toBeInstanceOf(Error);
    expect(ran).toEqual([]);
  });
});

describe("a pause can be sealed", () => {
  it("G1: `limits.maxDepth` above 240 is refused by name", () => {
    expect(() => new Executor(new Registry(), { limits: { maxDepth: 241 } })).toThrow(
      /limits\.maxDepth is at most 240/,
    );
  });

  it("B21: arguments as deep as they may be are asked about, and nothing untyped comes out", async () => {
    const registry = new Registry();
    const schema = z.object({ v: z.any() });
    const pay = registry.tool({ name: "pay", description: "d", inputSchema: schema, confirm: true, execute: () => 1 });
    const executor = new Executor(registry, { secret: KEY, limits: { maxDepth: 240 } });
    let v: unknown = 1;
    for (let depth = 1; depth < 240; depth += 1) v = [v];
    const flow = new Flow("f", { state: z.object({ q: z.number().default(0) }) })
      .node("n", async (_state, ctx) => ({ q: await ctx.run(pay, { v }) }))
      .end("n");
    expect(await runFlow(flow, {}, { executor })).toMatchObject({ status: "paused" });
  });

  it("F1: an error that cannot take a checkpoint is the cause of one that can", async () => {
    const closed = new Proxy(new Error("x"), { defineProperty: () => false });
    const taken = Object.defineProperty(new Error("y"), "checkpoint", { value: "a savepoint" });
    for (const thrown of [closed, taken]) {
      const flow = new Flow("f", { state: z.object({ q: z.number().default(0) }) })
        .node("n", () => {
          throw thrown;
        })
        .end("n");
      const error = await failure(runFlow(flow, {}, { executor: new Executor(new Registry(), { secret: KEY }) }));
      expect(error).toMatchObject({ kind: "FlowError", cause: thrown });
      expect(checkpointOf(error)).toMatch(/^v1\./);
    }
  });
});
