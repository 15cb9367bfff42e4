// Process memory at its limits, and clocks that jump: what waits, runs or has finished is neither lost nor run again.
import { MemorySaver } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  approve,
  CallbackApproval,
  DeferredApproval,
  defineTool,
  Executor,
  MemoryApprovalStore,
  Registry,
  type Clock,
} from "agent-adapter";
import { Flow, resumeFlow, runFlow } from "agent-adapter/flow";
import { compileFlow, LangGraphApproval, runCompiled } from "agent-adapter/langgraph";
import { Stand } from "../support/langgraph.js";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";
const HOUR = 3_600_000;

function clockAt(start: number): Clock & { set(now: number): void } {
  let now = start;
  return {
    now: () => now,
    set: (to) => void (now = to),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, ms);
        signal?.addEventListener(
          "abort",
          () => {
            clearTimeout(timer);
            reject(signal.reason);
          },
          { once: true },
        );
      }),
  } as Clock & { set(now: number): void };
}

function crowd(count: number, prefix = "x"): void {
  const executor = new Executor(new Registry());
  for (let n = 0; n < count; n += 1) executor.context({ runId: `${prefix}${n}` });
}

describe("J1: what a process remembers", () => {
  test("10 000 task runs: the ten thousand used last are remembered", async () => {
    let ran = 0;
    const registry = new Registry();
    registry.tool({ name: "t", description: "T.", inputSchema: z.object({}), execute: () => (ran += 1) });
    const executor = new Executor(registry);
    const call = () => executor.run("t", {}, { context: executor.context({ runId: "r" }), callId: "c" });
    await call();
    // With its own it makes ten thousand: none is over the limit.
    crowd(9_999);
    expect([await call(), ran]).toEqual([1, 1]);
    // It is the youngest now; one goes over the limit, and it is not the oldest by far.
    crowd(200, "y");
    expect([await call(), ran]).toEqual([1, 1]);
    crowd(9_950, "z");
    expect([await call(), ran]).toEqual([1, 1]);
  });

  test("A5, J1: an approved call whose entry was crowded out while it runs is not run beside itself", async () => {
    let ran = 0;
    let end = (_value: number): void => undefined;
    const begun = new Set<string>();
    const registry = new Registry();
    registry.tool({
      name: "pay",
      description: "P.",
      inputSchema: z.object({}),
      confirm: true,
      execute: () => {
        ran += 1;
        begun.add("pay");
        return new Promise<number>((resolve) => {
          end = resolve;
        });
      },
    });
    const executor = new Executor(registry, { secret: SECRET, approval: new CallbackApproval(() => approve()) });
    const call = () =>
      executor
        .run("pay", {}, { context: executor.context({ runId: "r" }), callId: "c" })
        .catch((error: unknown) => error);
    const first = call();
    while (begun.size === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    crowd(25_000);
    const second = call();
    await new Promise((resolve) => setTimeout(resolve, 5));
    end(7);
    await Promise.all([first, second]);
    expect([await first, ran]).toEqual([7, 1]);
    crowd(25_000);
    await call();
    expect(ran).toBe(1);
  });

  test.each([
    ["back", -48],
    ["on", 48],
  ])("A5, A6: a clock set %s by two days between pause, answer and re-run", async (_way, hours) => {
    const ran: string[] = [];
    const saver = SqliteSaver.fromConnString(":memory:");
    const clock = clockAt(Date.now());
    const start = clock.now();
    const tools = () => [
      defineTool({
        name: "pay",
        description: "P.",
        inputSchema: z.object({ n: z.number() }),
        confirm: true,
        execute: ({ n }) => {
          ran.push(`pay${n}`);
          return n;
        },
      }),
      defineTool({
        name: "plain",
        description: "P.",
        inputSchema: z.object({ n: z.number() }),
        execute: ({ n }) => {
          ran.push(`plain${n}`);
          return n;
        },
      }),
    ];
    const stand = new Stand({ tools, saver, clock });
    const paused = await stand.start(
      { name: "plain", args: { n: 1 }, id: "a" },
      { name: "pay", args: { n: 2 }, id: "b" },
      { name: "pay", args: { n: 3 }, id: "c" },
    );
    clock.set(start + hours * HOUR);
    crowd(10_100);
    const [pending] = paused.interrupts;
    if (pending === undefined) throw new Error("no pause");
    const next = await stand.decide(pending);
    expect(ran).toEqual(["plain1", "pay2"]);
    clock.set(start);
    const [second] = next.interrupts;
    if (second === undefined) throw new Error("no second pause");
    forgetProcess();
    const again = stand.rebuild({ clock });
    const done = await again.decide(second).catch((error: unknown) => error);
    void done;
    let state = await again.app.getState(again.config);
    for (let tries = 0; tries < 3 && state.next.length > 0; tries += 1) {
      const [waiting] = await again.pending();
      await (waiting === undefined ? again.again() : again.decide(waiting)).catch(() =>
        again.again().catch(() => undefined),
      );
      state = await again.app.getState(again.config);
    }
    expect([state.next, ran.toSorted()]).toEqual([[], ["pay2", "pay3", "plain1"]]);
  });

  test("A8: a deferred approval with an end, decided after the clock was set back, is used once", async () => {
    let ran = 0;
    const clock = clockAt(Date.now());
    const start = clock.now();
    const store = new MemoryApprovalStore({ clock });
    const registry = new Registry();
    registry.tool({
      name: "pay",
      description: "P.",
      inputSchema: z.object({}),
      confirm: true,
      execute: () => (ran += 1),
    });
    const executor = () =>
      new Executor(registry, { secret: SECRET, clock, approval: new DeferredApproval(store, { requestTtlMs: HOUR }) });
    const call = async () => {
      const made = executor();
      return made
        .run("pay", {}, { context: made.context({ runId: "r" }), callId: "c" })
        .catch((error: { kind?: string }) => error.kind);
    };
    await call();
    clock.set(start - HOUR / 2);
    const [record] = await store.list({ status: "pending" });
    if (record === undefined) throw new Error("no record");
    await store.decide(record.id, approve());
    forgetProcess();
    await call();
    clock.set(start + 1000);
    forgetProcess();
    await call();
    forgetProcess();
    await call();
    expect(ran).toBe(1);
  });
});

describe("F5, C4: flows in a crowded process", () => {
  const make = () => {
    const ran: string[] = [];
    const registry = new Registry();
    registry.tool({
      name: "first",
      description: "F.",
      inputSchema: z.object({}),
      oncePerRun: true,
      execute: () => {
        ran.push("first");
        crowd(12_000, `c${ran.length}-`);
        return ran.length;
      },
    });
    registry.tool({
      name: "pay",
      description: "P.",
      inputSchema: z.object({}),
      confirm: true,
      execute: () => {
        ran.push("pay");
        crowd(12_000, `d${ran.length}-`);
        return 1;
      },
    });
    const flow = new Flow("f", { state: z.object({ n: z.number().default(0) }) })
      .node("a", async (_s, ctx) => {
        crowd(12_000, "e");
        await ctx.run("first", {}, { callId: "f" });
        crowd(12_000, "g");
        return {};
      })
      .node("b", async (_s, ctx) => {
        await ctx.run("pay", {}, { callId: "p" });
        await ctx.run("first", {}, { callId: "f" });
        return { n: 1 };
      })
      .node("c", async (_s, ctx) => {
        await ctx.run("first", {}, { callId: "f" });
        await ctx.run("pay", {}, { callId: "p" });
        return { n: 2 };
      })
      .edge("a", "b")
      .edge("b", "c")
      .end("c");
    return { ran, registry, flow };
  };

  test("local: once per run and once per answer, also in a new process", async () => {
    const { ran, registry, flow } = make();
    const executor = () => new Executor(registry, { secret: SECRET, approval: new LangGraphApproval() });
    let result = await runFlow(flow, {}, { executor: executor(), runId: "r" });
    for (let turn = 0; turn < 4 && result.status === "paused"; turn += 1) {
      forgetProcess();
      result = await resumeFlow(flow, result.checkpoint, approve(), { executor: executor() });
    }
    expect([result.status, ran]).toEqual(["done", ["first", "pay", "pay"]]);
  });

  test("compiled: the same", async () => {
    const { ran, registry, flow } = make();
    const saver = new MemorySaver();
    const app = () =>
      compileFlow(flow, {
        executor: new Executor(registry, { secret: SECRET, approval: new LangGraphApproval() }),
      }).compile({ checkpointer: saver });
    const T = { configurable: { thread_id: "t" } };
    let result = await runCompiled(app(), {}, T);
    for (let turn = 0; turn < 4 && result.status === "paused"; turn += 1) {
      forgetProcess();
      result = await runCompiled(app(), approve(), T);
    }
    expect([result.status, ran]).toEqual(["done", ["first", "pay", "pay"]]);
  });
});
