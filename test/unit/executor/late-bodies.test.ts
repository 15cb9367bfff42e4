// Properties proved: a body that ignores its signal and ends after its deadline, or after an abort, changes nothing
// anywhere: state, journal, cache, ledger, other calls; it leaves no rejection unhandled and does not keep the process.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import {
  isAgentAdapterError,
  MemoryCache,
  MemoryLedger,
  type Executor,
  type LedgerEntry,
  type ToolContext,
} from "../../../src/index.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { failure, gate, kindOf, ScriptedPort, stand, turns, yes } from "./stand.js";
import { to, tool, unhandledRejections, type Options } from "./tools.js";

const unhandled = unhandledRejections();

/** A tool whose first body ends when it is told to, and a run of it that was left behind by its deadline. */
async function leftBehind(
  options: Options,
  body: (finish: Promise<unknown>, ctx: ToolContext) => Promise<unknown> = (finish) => finish,
) {
  const clock = new ManualClock();
  const ledger = new MemoryLedger();
  const cache = new MemoryCache({ clock });
  const finish = gate<unknown>();
  const ended = gate();
  let runs = 0;
  const late = tool({
    timeoutMs: 10,
    ...options,
    execute: async (_args, ctx) => {
      runs += 1;
      if (runs > 1) return `run ${runs}`;
      try {
        return await body(finish.wait, ctx);
      } finally {
        setTimeout(ended.open, 0);
      }
    },
  });
  const other = tool({ name: "other", effects: "read" });
  const made = stand([late, other], { clock, ledger, cache, approval: new ScriptedPort(yes()) });
  const run = kindOf(made.executor.run(late, to, { context: made.again(), callId: "c" }));
  await turns();
  clock.advance(10);
  expect(await run).toBe("ToolTimeout");
  return {
    ...made,
    late,
    clock,
    runs: () => runs,
    /** Let the body go on, and wait until it is over. */
    end: async (value: unknown): Promise<void> => {
      clock.advance(1000);
      finish.open(value);
      await ended.wait;
      await turns();
    },
  };
}

const totalsOf = (entries: readonly LedgerEntry[]) =>
  entries.map(({ tool: name, status, attempts, durationMs, cost }) => [name, status, attempts, durationMs, cost]);

describe("a late body", () => {
  test.each([
    ["a result", () => "late"],
    ["a rejection", () => Promise.reject(new Error("late"))],
  ])("E4: with %s adds nothing to the ledger: no attempt, no time, no cost", async (_what, value) => {
    const { end, entries, ledger, runId } = await leftBehind({ cost: () => 7 });
    const before = await entries();
    const totals = await ledger.totals({ runId });
    await end(value());
    expect(await entries()).toEqual(before);
    expect(await ledger.totals({ runId })).toEqual(totals);
    expect(totalsOf(before)).toEqual([["act", "timeout", 1, 10, 0]]);
  });

  test("E4, B56: of an earlier attempt adds nothing to the call, which went on with the next one", async () => {
    const [finish, second] = [gate<string>(), gate<string>()];
    const clock = new ManualClock();
    let runs = 0;
    const late = tool({
      idempotent: true,
      timeoutMs: 10,
      retries: { maxAttempts: 2, initialDelayMs: 0 },
      cost: () => 5,
      execute: () => {
        runs += 1;
        return runs === 1 ? finish.wait : second.wait;
      },
    });
    const { executor, entry } = stand([late], { clock });
    const run = executor.run(late, to);
    await turns();
    clock.advance(10);
    await turns();
    clock.advance(0);
    await turns();
    expect(runs).toBe(2);
    clock.advance(3);
    finish.open("the first, late");
    await turns();
    clock.advance(4);
    second.open("the second");
    expect(await run).toBe("the second");
    expect(await entry()).toMatchObject({ status: "ok", attempts: 2, durationMs: 17, cost: 5 });
  });

  test("E4: is not in the journal: a re-run of its call does not find its result", async () => {
    const { end, executor, late, again, runs } = await leftBehind({});
    await end("late");
    expect(await executor.run(late, to, { context: again(), callId: "c" })).toBe("run 2");
    expect(runs()).toBe(2);
  });

  test("E4: of an approved call stays a timeout: its answer is spent and its result is not given out", async () => {
    const { end, executor, late, again, runs } = await leftBehind({ confirm: true });
    await end("late");
    const error = await failure(executor.run(late, to, { context: again(), callId: "c" }));
    expect(error).toMatchObject({ kind: "ApprovalAlreadyDecided", cause: { message: "ToolTimeout" } });
    expect(runs()).toBe(1);
  });

  test("E4, E7/process: does not fill the cache", async () => {
    const { end, executor, late, runs } = await leftBehind({
      effects: "read",
      cache: { ttlMs: 60_000, scope: "shared" },
    });
    await end("late");
    expect(await executor.run(late, to)).toBe("run 2");
    expect(runs()).toBe(2);
  });

  test("E4: is not the first result of a tool that runs once per run", async () => {
    const { end, executor, late, again } = await leftBehind({ oncePerRun: true });
    await end("late");
    expect(await executor.run(late, to, { context: again(), callId: "d" })).toBe("run 2");
  });

  test("E4: cannot call other tools any more, neither by its context nor through the executor around it", async () => {
    const seen: unknown[] = [];
    let executor: Executor | undefined;
    const body = async (finish: Promise<unknown>, ctx: ToolContext) => {
      await finish;
      seen.push(await ctx.run("other", to).catch((error: unknown) => error));
      seen.push(await executor?.run("other", to).catch((error: unknown) => error));
      seen.push(await executor?.runMany([{ tool: "other", args: to }]).catch((error: unknown) => error));
      seen.push(ctx.signal.reason);
    };
    const left = await leftBehind({}, body);
    ({ executor } = left);
    await left.end(undefined);
    expect(seen.map((error) => isAgentAdapterError(error, "ToolTimeout"))).toEqual([true, true, true, true]);
    expect((await left.entries()).map((entry) => entry.tool)).toEqual(["act"]);
  });

  test("E4: takes the calls it has started with it: they see the abort, and their late ends change nothing", async () => {
    const [entered, finish] = [gate(), gate()];
    const signals: AbortSignal[] = [];
    const inner = tool({
      name: "inner",
      execute: async (_args, ctx) => {
        signals.push(ctx.signal);
        if (signals.length === 2) entered.open();
        await finish.wait;
      },
    });
    const clock = new ManualClock();
    const outer = tool({
      name: "outer",
      timeoutMs: 10,
      execute: (_args, ctx) => Promise.all([ctx.run("inner", to), executor.run("inner", to)]),
    });
    const { executor, entries } = stand([outer, inner], { clock });
    const run = kindOf(executor.run(outer, to));
    await entered.wait;
    clock.advance(10);
    expect(await run).toBe("ToolTimeout");
    expect(signals.map(({ reason }) => isAgentAdapterError(reason, "ToolTimeout"))).toEqual([true, true]);
    await turns();
    const before = await entries();
    expect(before.map(({ tool: name, status }) => [name, status])).toEqual([
      ["outer", "timeout"],
      ["inner", "cancelled"],
      ["inner", "cancelled"],
    ]);
    clock.advance(1000);
    finish.open();
    await turns();
    expect(await entries()).toEqual(before);
  });

  test("E4: does not hold up or change the calls beside it", async () => {
    const { executor, end } = await leftBehind({});
    expect(await executor.run("other", to)).toBe("did ana");
    await end("late");
    expect(await executor.run("other", to)).toBe("did ana");
  });
});

test("E6: a body that ends after an abort changes no entry of the ledger", async () => {
  const [entered, finish] = [gate(), gate<string>()];
  const stop = new AbortController();
  const clock = new ManualClock();
  const deaf = tool({
    cost: () => 7,
    execute: () => {
      entered.open();
      return finish.wait;
    },
  });
  const { executor, entries } = stand([deaf], { clock });
  const run = failure(executor.run(deaf, to, { signal: stop.signal }));
  await entered.wait;
  stop.abort();
  await run;
  const before = await entries();
  clock.advance(1000);
  finish.open("late");
  await turns();
  expect(await entries()).toEqual(before);
  expect(totalsOf(before)).toMatchObject([["act", "cancelled", 1, 0, 0]]);
});

test("E6, E7/process: a body that ends after an abort fills no cache", async () => {
  const finish = gate<string>();
  const stop = new AbortController();
  let runs = 0;
  const deaf = tool({
    effects: "read",
    cache: { ttlMs: 1000, scope: "shared" },
    execute: () => {
      runs += 1;
      return runs === 1 ? finish.wait : "second";
    },
  });
  const { executor } = stand([deaf]);
  const run = failure(executor.run(deaf, to, { signal: stop.signal }));
  await turns();
  stop.abort();
  await run;
  finish.open("late");
  await turns();
  expect(await executor.run(deaf, to)).toBe("second");
});

test("E4, E6: a process can exit, whatever it has left behind: deadlines, waits for retries, deaf bodies", async () => {
  const script = `
    import { defineTool, Executor, Registry } from "agent-adapter";
    const inputSchema = { type: "object" };
    const never = () => new Promise(() => {});
    const tool = (name, options) => defineTool({ name, description: "d", inputSchema, execute: never, ...options });
    const fail = () => { throw new Error("x"); };
    const registry = new Registry([
      tool("timed", { timeoutMs: 5 }),
      tool("quick", { timeoutMs: 2 ** 31 - 1, execute: () => 1 }),
      tool("deaf", { timeoutMs: 2 ** 31 - 1 }),
      tool("backs_off", { retries: { maxAttempts: 9, initialDelayMs: 600_000, maxDelayMs: 600_000 }, execute: fail }),
    ]);
    const executor = new Executor(registry);
    const stop = new AbortController();
    const runs = ["timed", "quick", "deaf", "backs_off"].map((name) => executor.run(name, {}, { signal: stop.signal }));
    await Promise.allSettled(runs.slice(0, 2));
    stop.abort(new Error("enough"));
    const ends = await Promise.allSettled(runs);
    console.log(ends.map(({ status, reason }) => reason?.kind ?? reason?.message ?? status).join(" "));
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--no-warnings", "--conditions=agent-adapter-source", "--import", "tsx", "--input-type=module", "-e", script],
    { cwd: fileURLToPath(new URL("../../..", import.meta.url)), timeout: 20_000 },
  );
  expect(stdout.trim()).toBe("ToolTimeout fulfilled enough enough");
}, 30_000);

test("E4: none of this left a rejection unhandled", async () => {
  await turns();
  expect(unhandled).toEqual([]);
});
