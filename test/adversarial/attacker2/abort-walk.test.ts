// An abort at every point where a call waits: whatever was reached, each body runs once in all, its result is not lost, and the ledger
// has one entry. The bodies do not listen to their signal, so that a call that has begun ends.
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, CallbackApproval, defineTool, Executor, MemoryLedger, Registry, type Ledger } from "agent-adapter";
import { resume } from "agent-adapter/langgraph";
import { Stand } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";

async function microtasks(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await Promise.resolve();
}

const quiet = () => new Promise((resolve) => setTimeout(resolve, 2));

function promising(ledger: MemoryLedger): Ledger {
  return {
    open: async (opening) => await ledger.open(opening),
    close: async (id, closing) => await ledger.close(id, closing),
    entries: (filter) => ledger.entries(filter),
    totals: (filter) => ledger.totals(filter),
  };
}

interface Shape {
  readonly asyncLedger: boolean;
  readonly hooks: boolean;
  readonly bodyTurns: number;
}

const SHAPES: readonly Shape[] = [
  { asyncLedger: false, hooks: false, bodyTurns: 0 },
  { asyncLedger: false, hooks: true, bodyTurns: 3 },
  { asyncLedger: true, hooks: true, bodyTurns: 3 },
  { asyncLedger: true, hooks: false, bodyTurns: 12 },
];

function desk({ asyncLedger, hooks, bodyTurns }: Shape) {
  const ran: string[] = [];
  const asks = { count: 0 };
  const ledger = new MemoryLedger();
  const tool = (name: string, more: object) =>
    defineTool({
      name,
      description: "Does it.",
      inputSchema: z.object({ n: z.number() }),
      execute: async ({ n }) => {
        ran.push(`${name}${n}`);
        await microtasks(bodyTurns);
        return { done: n };
      },
      ...more,
    });
  const registry = new Registry([
    tool("plain", { cost: 1 }),
    tool("read", { effects: "read", cost: 1 }),
    tool("pay", { confirm: true, cost: 1 }),
    tool("first", { oncePerRun: true, cost: 1 }),
    tool("timed", { timeoutMs: 60_000, retries: 2, idempotent: true, cost: 1 }),
    tool("cached", { effects: "read", cache: { ttlMs: 60_000, scope: "run" }, cost: 1 }),
  ]);
  const hook = { beforeTool: async () => undefined, afterTool: async () => undefined };
  const executor = new Executor(registry, {
    secret: SECRET,
    ledger: asyncLedger ? promising(ledger) : ledger,
    approval: new CallbackApproval(async () => {
      asks.count += 1;
      await microtasks(2);
      return approve();
    }),
    hooks: hooks ? [hook] : [],
  });
  return { executor, ran, ledger, asks };
}

describe.each(SHAPES)("an abort after n turns, $asyncLedger $hooks $bodyTurns", (shape) => {
  it.each(["plain", "read", "pay", "first", "timed", "cached"])("A5, E6, E1: a call of %s", async (name) => {
    const bad: string[] = [];
    for (let turn = 0; turn <= 60; turn += 1) {
      const { executor, ran, ledger } = desk(shape);
      const stop = new AbortController();
      const reason = new Error("stop");
      const first = executor
        .run(name, { n: 1 }, { context: executor.context({ runId: "r", signal: stop.signal }), callId: "c" })
        .then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        );
      await microtasks(turn);
      stop.abort(reason);
      const end = await first;
      if ("error" in end && end.error !== reason) bad.push(`${turn}: ended with ${String(end.error)}`);
      const again = await executor.run(name, { n: 1 }, { context: executor.context({ runId: "r" }), callId: "c" }).then(
        (value) => value,
        (error: unknown) => String(error),
      );
      await quiet();
      if (JSON.stringify(again) !== '{"done":1}') bad.push(`${turn}: re-run gave ${JSON.stringify(again)}`);
      if (ran.length !== 1) bad.push(`${turn}: ran ${ran.length}`);
      const entries = await ledger.entries();
      const [entry] = entries;
      const totals = await ledger.totals();
      if (entries.length !== 1 || (entry?.status !== "ok" && entry?.status !== "cached"))
        bad.push(`${turn}: ledger ${entries.map(({ status }) => status).join()}`);
      if (totals.attempts > 1 || totals.cost > 1) bad.push(`${turn}: totals ${JSON.stringify(totals)}`);
      forgetProcess();
    }
    expect(bad).toEqual([]);
  });

  it("A5, E6, E8: a batch", async () => {
    const bad: string[] = [];
    const calls = [
      { tool: "plain", args: { n: 1 }, callId: "a" },
      { tool: "read", args: { n: 2 }, callId: "b" },
      { tool: "read", args: { n: 2 }, callId: "b" },
      { tool: "pay", args: { n: 3 }, callId: "c" },
      { tool: "first", args: { n: 4 }, callId: "d" },
      { tool: "first", args: { n: 4 }, callId: "e" },
      { tool: "pay", args: { n: 5 }, callId: "f" },
    ];
    for (let turn = 0; turn <= 120; turn += 1) {
      const { executor, ran, ledger } = desk(shape);
      const stop = new AbortController();
      const reason = new Error("stop");
      const first = executor
        .runMany(calls, { context: executor.context({ runId: "r", signal: stop.signal }) })
        .catch((error: unknown) => error);
      await microtasks(turn);
      stop.abort(reason);
      const end = await first;
      if (!Array.isArray(end) && end !== reason) bad.push(`${turn}: ended with ${String(end)}`);
      const again = await executor.runMany(calls, { context: executor.context({ runId: "r" }) });
      await quiet();
      const values = again.map((one) => (one.status === "fulfilled" ? JSON.stringify(one.value) : String(one.reason)));
      const want = [1, 2, 2, 3, 4, 4, 5].map((n) => `{"done":${n}}`);
      if (values.join() !== want.join()) bad.push(`${turn}: re-run gave ${values.join()}`);
      if (ran.toSorted().join() !== "first4,pay3,pay5,plain1,read2") bad.push(`${turn}: ran ${ran.join()}`);
      const entries = await ledger.entries();
      if (entries.length !== 6 || entries.some(({ status }) => status !== "ok" && status !== "cached"))
        bad.push(`${turn}: ledger ${entries.map(({ callId, status }) => callId + status).join()}`);
      forgetProcess();
    }
    expect(bad).toEqual([]);
  });
});

describe("an abort of a graph after n turns", () => {
  const tools = (ran: string[]) => () => [
    defineTool({
      name: "pay",
      description: "Pays.",
      inputSchema: z.object({ n: z.number() }),
      confirm: true,
      execute: async ({ n }) => {
        ran.push(`pay${n}`);
        await microtasks(3);
        return n;
      },
    }),
    defineTool({
      name: "plain",
      description: "Does it.",
      inputSchema: z.object({ n: z.number() }),
      execute: async ({ n }) => {
        ran.push(`plain${n}`);
        await microtasks(3);
        return n;
      },
    }),
  ];

  it("A5, A6: a resume with an answer: the approved call runs once, the plain one too, and the thread goes on", async () => {
    const bad: string[] = [];
    for (let turn = 0; turn <= 260; turn += 4) {
      const ran: string[] = [];
      const stand = new Stand({ tools: tools(ran), saver: new MemorySaver() });
      const paused = await stand.start(
        { name: "plain", args: { n: 1 }, id: "a" },
        { name: "pay", args: { n: 2 }, id: "b" },
      );
      const [pending] = paused.interrupts;
      if (pending === undefined) throw new Error("no pause");
      const stop = new AbortController();
      const config = { configurable: { thread_id: stand.thread } };
      const first = resume(
        stand.app as never,
        approve(),
        { ...config, signal: stop.signal },
        { executor: stand.executor },
      ).catch((error: unknown) => error);
      await microtasks(turn);
      stop.abort(new Error("stop"));
      await first;
      await quiet();
      let end = "";
      for (let tries = 0; tries < 4; tries += 1) {
        const state = await stand.app.getState(config);
        if (state.next.length === 0) {
          end = "done";
          break;
        }
        const waiting = state.tasks.flatMap(({ interrupts }) => interrupts).length;
        const got: unknown = await resume(stand.app as never, waiting > 0 && tries > 0 ? approve() : null, config, {
          executor: stand.executor,
        }).catch((error: unknown) => error);
        end = String(got);
      }
      const state = await stand.app.getState(config);
      if (state.next.length > 0) bad.push(`${turn}: does not go on: ${end}`);
      if (ran.toSorted().join() !== "pay2,plain1") bad.push(`${turn}: ran ${ran.join()}`);
      forgetProcess();
    }
    expect(bad).toEqual([]);
  });
});
