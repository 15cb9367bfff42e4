// Properties proved: an abort reaches every running body and every caller at once with its own reason, starts nothing more,
// leaves no timer and no listener, and is `cancelled` in the ledger.
import { getEventListeners } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { failure, gate, kindOf, ScriptedPort, stand, turns, yes } from "./stand.js";
import { never, to, tool, unhandledRejections, type Options } from "./tools.js";

const unhandled = unhandledRejections();
const warnings: Error[] = [];
const warn = (warning: Error): void => void warnings.push(warning);
beforeAll(() => void process.on("warning", warn));
afterAll(() => void process.off("warning", warn));

/** A tool that runs until it is aborted, and the signals of its bodies. */
function running(options: Options = {}) {
  const signals: AbortSignal[] = [];
  const waits = tool({
    effects: "read",
    ...options,
    execute: (_args, { signal }) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    },
  });
  return { signals, waits };
}

describe("an abort", () => {
  test.each([
    ["given to the batch", "call"],
    ["of the run", "run"],
    ["of the run, when the batch has a signal of its own", "both"],
  ])("E6, B35: %s is seen by the running bodies; what is queued never starts", async (_what, whose) => {
    const { signals, waits } = running();
    const { executor, entries } = stand([waits], { concurrency: 3 });
    const stop = new AbortController();
    const run = executor.context({ runId: whose, ...(whose === "call" ? {} : { signal: stop.signal }) });
    const own = { call: stop.signal, run: undefined, both: new AbortController().signal }[whose];
    const calls = Array.from({ length: 5 }, () => ({ tool: "act", args: to }));
    const many = failure(executor.runMany(calls, { context: run, ...(own === undefined ? {} : { signal: own }) }));
    await turns();
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await many).toBe(reason);
    expect(signals.map((signal) => signal.reason)).toEqual([reason, reason, reason]);
    const status = await entries();
    expect(status.map((entry) => [entry.status, entry.attempts])).toEqual([
      ...Array.from({ length: 3 }, () => ["cancelled", 1]),
      ...Array.from({ length: 2 }, () => ["cancelled", 0]),
    ]);
  });

  test.each([[new Error("mine")], ["text"], [{ odd: true }], [0], [null]])(
    "E6: leaves with its reason unwrapped, whatever it is: %o",
    async (reason) => {
      const { waits } = running();
      const { executor } = stand([waits]);
      const stop = new AbortController();
      const run = failure(executor.run(waits, to, { signal: stop.signal }));
      await turns();
      stop.abort(reason);
      expect(await run).toBe(reason);
    },
  );

  test("E6: before the start means no body, no question, no hook, no wait", async () => {
    let hooks = 0;
    const { waits, signals } = running();
    const gated = tool({ name: "gated", confirm: true });
    const port = new ScriptedPort(yes());
    const clock = new ManualClock();
    const hook = { beforeTool: () => void (hooks += 1) };
    const { executor, entries } = stand([waits, gated], { approval: port, clock, hooks: [hook] });
    const signal = AbortSignal.abort(new Error("before"));
    expect(await failure(executor.run(waits, to, { signal }))).toBe(signal.reason);
    expect(await failure(executor.runMany([{ tool: "gated", args: to }], { signal }))).toBe(signal.reason);
    expect([signals.length, port.asked.length, hooks, clock.sleeping]).toEqual([0, 0, 0, 0]);
    expect((await entries()).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  });

  test("E6, E5, B35: while it waits for the next attempt ends the wait and starts no attempt", async () => {
    const clock = new ManualClock();
    let runs = 0;
    const fails = tool({
      retries: 3,
      execute: () => {
        runs += 1;
        throw new Error("x");
      },
    });
    const { executor, entry } = stand([fails], { clock });
    const stop = new AbortController();
    const run = failure(executor.run(fails, to, { signal: stop.signal }));
    await turns();
    expect(clock.sleeping).toBe(1);
    stop.abort();
    expect(await run).toBe(stop.signal.reason);
    expect(clock.sleeping).toBe(0);
    clock.advance(100_000);
    await turns();
    expect(runs).toBe(1);
    expect(await entry()).toMatchObject({ status: "cancelled", attempts: 1 });
  });

  test("E6, E5, B35: during an attempt is not followed by another one, whatever the body throws", async () => {
    const stop = new AbortController();
    let runs = 0;
    const fails = tool({
      retries: { maxAttempts: 5, initialDelayMs: 0 },
      execute: () => {
        runs += 1;
        stop.abort();
        throw new Error("x");
      },
    });
    const { executor } = stand([fails]);
    expect(await failure(executor.run(fails, to, { signal: stop.signal }))).toBe(stop.signal.reason);
    await turns();
    expect(runs).toBe(1);
  });

  test("E6: takes the timer of a deadline away, also from a body that does not listen", async () => {
    const clock = new ManualClock();
    const deaf = tool({ timeoutMs: 1000, execute: never });
    const { executor } = stand([deaf], { clock });
    const stop = new AbortController();
    const run = failure(executor.run(deaf, to, { signal: stop.signal }));
    await turns();
    expect(clock.sleeping).toBe(1);
    stop.abort();
    expect(await run).toBe(stop.signal.reason);
    await turns();
    expect(clock.sleeping).toBe(0);
  });

  test("E6: leaves no listener on the run's signal, however its calls ended", async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const ends = [
      tool({ name: "returns" }),
      tool({ name: "fails", execute: () => Promise.reject(new Error("x")) }),
      tool({ name: "timed", timeoutMs: 2, execute: never }),
      tool({
        name: "retried",
        retries: { maxAttempts: 3, initialDelayMs: 1 },
        execute: () => Promise.reject(new Error("x")),
      }),
    ];
    const { executor } = stand(ends);
    await executor.runMany(
      ends.map(({ name }) => ({ tool: name, args: to })),
      { signal },
    );
    await executor.run("returns", to, { context: executor.context({ signal }) });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("E6: reaches a caller that waits for another run of its call", async () => {
    const finish = gate<string>();
    const waits = tool({ execute: () => finish.wait });
    const { executor, again } = stand([waits]);
    const first = executor.run(waits, to, { context: again(), callId: "c" });
    await turns();
    const stop = new AbortController();
    const second = failure(executor.run(waits, to, { context: again(), callId: "c", signal: stop.signal }));
    await turns();
    stop.abort();
    expect(await Promise.race([second, turns()])).toBe(stop.signal.reason);
    finish.open("done");
    expect(await first).toBe("done");
  });

  test("E6: of one call does not touch the others of its run", async () => {
    const { waits, signals } = running();
    const { executor } = stand([waits, tool({ name: "other" })]);
    const stop = new AbortController();
    const context = executor.context();
    const one = failure(executor.run(waits, to, { context, signal: stop.signal }));
    const two = failure(executor.run(waits, to, { context }));
    await turns();
    stop.abort();
    await one;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(await executor.run("other", to, { context })).toBe("did ana");
    void two;
  });

  test("E6: by the run's signal reaches the nested calls of a body", async () => {
    const { waits, signals } = running({ name: "inner" });
    const outer = tool({ name: "outer", execute: (_args, ctx) => ctx.run("inner", to) });
    const { executor, entries } = stand([waits, outer]);
    const stop = new AbortController();
    const run = failure(executor.run(outer, to, { signal: stop.signal }));
    await turns();
    stop.abort();
    expect(await run).toBe(stop.signal.reason);
    await turns();
    expect(signals[0]?.reason).toBe(stop.signal.reason);
    expect((await entries()).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  });
});

test("E6, S10: a hundred calls under one signal, with deadlines and retries, are no leak of listeners", async () => {
  const stop = new AbortController();
  let runs = 0;
  const flaky = tool({
    effects: "read",
    timeoutMs: 1000,
    retries: { maxAttempts: 2, initialDelayMs: 1 },
    execute: async ({ to: name }, { signal }) => {
      signal.addEventListener("abort", () => undefined);
      runs += 1;
      await turns();
      if (runs <= 100) throw new Error("x");
      return name;
    },
  });
  const { executor } = stand([flaky]);
  const context = executor.context({ signal: stop.signal });
  const calls = Array.from({ length: 100 }, (_, index) => ({ tool: "act", args: { to: `${index}` } }));
  const outcomes = await executor.runMany(calls, { context });
  expect(outcomes.every(({ status }) => status === "fulfilled")).toBe(true);
  await turns();
  expect(warnings.map(({ name }) => name)).not.toContain("MaxListenersExceededWarning");
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
});

test("E6: an approved call that is aborted while it runs has spent its answer: its outcome is unknown", async () => {
  const { waits } = running({ effects: "write", confirm: true });
  const { executor, entry, again } = stand([waits], { approval: new ScriptedPort(yes()) });
  const stop = new AbortController();
  const run = failure(executor.run(waits, to, { context: again(), signal: stop.signal }));
  await turns();
  stop.abort();
  expect(await run).toBe(stop.signal.reason);
  expect(await entry()).toMatchObject({ status: "unknown", attempts: 1 });
  expect(await kindOf(executor.run(waits, to, { context: again() }))).toBe("ApprovalPending");
});

test("E6, E8: a batch that is aborted ends with the abort's reason, not with a failure from before it", async () => {
  const stop = new AbortController();
  const fails = tool({ name: "fails", execute: () => Promise.reject(new Error("x")) });
  const aborts = tool({
    name: "aborts",
    execute: async () => {
      await turns();
      stop.abort(new Error("enough"));
      throw new Error("half way");
    },
  });
  const { executor } = stand([fails, aborts]);
  const batch = ["fails", "aborts"].map((name) => ({ tool: name, args: to }));
  expect(await failure(executor.runMany(batch, { signal: stop.signal }))).toBe(stop.signal.reason);
});

test("E6: none of this left a rejection unhandled", async () => {
  await turns();
  expect(unhandled).toEqual([]);
});
