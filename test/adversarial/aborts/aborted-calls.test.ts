// An abort at every point where a call waits: whatever was reached, each body runs once in all, its result is not lost, and the ledger
// has one entry. The bodies do not listen to their signal, so that a call that has begun ends.
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, CallbackApproval, defineTool, Executor, MemoryLedger, Registry, type Ledger } from "agent-adapter";
import { forgetProcess } from "../../support/process.js";
import { ended, quiet, turns, walk } from "./turns.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";

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
  { asyncLedger: true, hooks: true, bodyTurns: 3 },
  { asyncLedger: true, hooks: false, bodyTurns: 12 },
];

function desk({ asyncLedger, hooks, bodyTurns }: Shape) {
  const ran: string[] = [];
  const ledger = new MemoryLedger();
  const tool = (name: string, more: object) =>
    defineTool({
      name,
      description: "Does it.",
      inputSchema: z.object({ n: z.number() }),
      execute: async ({ n }) => {
        ran.push(`${name}${n}`);
        await turns(bodyTurns);
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
      await turns(2);
      return approve();
    }),
    hooks: hooks ? [hook] : [],
  });
  return { executor, ran, ledger };
}

const ENDED = new Set(["ok", "cached"]);

/** One call of a tool that costs 1: one entry, which ended, and at most one attempt. */
async function wrongInLedger(ledger: MemoryLedger): Promise<string[]> {
  const statuses = (await ledger.entries()).map(({ status }) => status);
  const totals = await ledger.totals();
  const bad: string[] = [];
  if (statuses.length !== 1 || !statuses.every((status) => ENDED.has(status))) bad.push(`ledger ${statuses.join()}`);
  if (totals.attempts > 1 || totals.cost > 1) bad.push(`totals ${JSON.stringify(totals)}`);
  return bad;
}

describe.each(SHAPES)(
  "A5, E6, E1: an abort after n turns, ledger late $asyncLedger, hooks $hooks, body $bodyTurns",
  (shape) => {
    it.each(["plain", "read", "pay", "first", "timed", "cached"])("of a call of %s", async (name) => {
      const bad = await walk(60, 2, async (turn) => {
        const { executor, ran, ledger } = desk(shape);
        const stop = new AbortController();
        const reason = new Error("stop");
        const call = (signal?: AbortSignal) =>
          ended(
            executor.run(
              name,
              { n: 1 },
              { context: executor.context({ runId: "r", ...(signal === undefined ? {} : { signal }) }), callId: "c" },
            ),
          );
        const first = call(stop.signal);
        await turns(turn);
        stop.abort(reason);
        const end = await first;
        const again = await call();
        await quiet();
        const wrong = await wrongInLedger(ledger);
        if (end instanceof Error && end !== reason) wrong.push(`ended with ${String(end)}`);
        if (JSON.stringify(again) !== '{"done":1}') wrong.push(`re-run gave ${String(again)}`);
        if (ran.length !== 1) wrong.push(`ran ${ran.length}`);
        forgetProcess();
        return wrong;
      });
      expect(bad).toEqual([]);
    });

    it("E8: of a batch", async () => {
      const calls = [
        { tool: "plain", args: { n: 1 }, callId: "a" },
        { tool: "read", args: { n: 2 }, callId: "b" },
        { tool: "read", args: { n: 2 }, callId: "b" },
        { tool: "pay", args: { n: 3 }, callId: "c" },
        { tool: "first", args: { n: 4 }, callId: "d" },
        { tool: "first", args: { n: 4 }, callId: "e" },
        { tool: "pay", args: { n: 5 }, callId: "f" },
      ];
      const bad = await walk(120, 5, async (turn) => {
        const { executor, ran, ledger } = desk(shape);
        const stop = new AbortController();
        const reason = new Error("stop");
        const first = ended(
          executor.runMany(calls, { context: executor.context({ runId: "r", signal: stop.signal }) }),
        );
        await turns(turn);
        stop.abort(reason);
        const end = await first;
        const again = await executor.runMany(calls, { context: executor.context({ runId: "r" }) });
        await quiet();
        const wrong: string[] = [];
        if (!Array.isArray(end) && end !== reason) wrong.push(`ended with ${String(end)}`);
        const values = again.map((one) =>
          one.status === "fulfilled" ? JSON.stringify(one.value) : String(one.reason),
        );
        const want = [1, 2, 2, 3, 4, 4, 5].map((n) => `{"done":${n}}`);
        if (values.join() !== want.join()) wrong.push(`re-run gave ${values.join()}`);
        if (ran.toSorted().join() !== "first4,pay3,pay5,plain1,read2") wrong.push(`ran ${ran.join()}`);
        const entries = await ledger.entries();
        if (entries.length !== 6 || !entries.every(({ status }) => ENDED.has(status)))
          wrong.push(`ledger ${entries.map(({ callId, status }) => callId + status).join()}`);
        forgetProcess();
        return wrong;
      });
      expect(bad).toEqual([]);
    });
  },
);

describe("A5, E6: a body that listens to its signal", () => {
  it("runs again only under an answer of its own", async () => {
    const bad = await walk(60, 1, async (turn) => {
      let [started, answers] = [0, 0];
      const registry = new Registry();
      registry.tool({
        name: "pay",
        description: "P.",
        inputSchema: z.object({}),
        confirm: true,
        execute: async (_args, ctx) => {
          started += 1;
          for (let n = 0; n < 6; n += 1) {
            await Promise.resolve();
            ctx.signal.throwIfAborted();
          }
          return 1;
        },
      });
      const executor = new Executor(registry, {
        secret: SECRET,
        approval: new CallbackApproval(() => {
          answers += 1;
          return approve();
        }),
      });
      const call = (signal?: AbortSignal) =>
        ended(
          executor.run(
            "pay",
            {},
            { callId: "c", context: executor.context({ runId: "r", ...(signal === undefined ? {} : { signal }) }) },
          ),
        );
      const stop = new AbortController();
      const first = call(stop.signal);
      await turns(turn);
      stop.abort(new Error("stop"));
      await first;
      const got = await call();
      await quiet();
      forgetProcess();
      const wrong: string[] = [];
      if (started > answers) wrong.push(`started ${started} under ${answers}`);
      if (got !== 1) wrong.push(`got ${String(got)}`);
      return wrong;
    });
    expect(bad).toEqual([]);
  });
});

describe("E6: an abort of a body that never ends", () => {
  it("reaches the caller at once, whoever else listens and stops the event", async () => {
    const registry = new Registry();
    registry.tool({
      name: "hang",
      description: "H.",
      inputSchema: z.object({}),
      execute: () => new Promise<never>(() => undefined),
    });
    const executor = new Executor(registry);
    const stop = new AbortController();
    stop.signal.addEventListener("abort", (event) => event.stopImmediatePropagation());
    const running = executor
      .run("hang", {}, { context: executor.context({ signal: stop.signal }) })
      .catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const reason = new Error("stop");
    stop.abort(reason);
    const end = await Promise.race([
      running,
      new Promise((resolve) => setTimeout(() => resolve("still running"), 200)),
    ]);
    expect(end).toBe(reason);
  });
});
