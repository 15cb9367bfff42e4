// Properties proved: which failures are repeated, how often, after what wait, under one approval, and what the ledger says.
import { describe, expect, test } from "vitest";
import { backoffMs } from "../../../src/async/backoff.js";
import {
  ApprovalDenied,
  BudgetExceeded,
  StoreUnavailable,
  ToolArgsInvalid,
  ToolError,
  ToolNotFound,
  ToolUsageError,
  type Clock,
  type ToolContext,
} from "../../../src/index.js";
import { failure, kindOf, ScriptedPort, stand, turns, yes } from "./stand.js";
import { to, tool, type Options } from "./tools.js";

/** A clock that lets nobody wait, and the waits that were asked for. */
function waits(): { clock: Clock; asked: number[] } {
  const asked: number[] = [];
  const clock: Clock = {
    now: () => 0,
    sleep: (ms) => {
      asked.push(ms);
      return Promise.resolve();
    },
  };
  return { clock, asked };
}

/** A tool that fails so often, and how often its body ran. */
function failing(times: number, options: Options = {}, thrown: unknown = new Error("x")) {
  const count = { runs: 0 };
  const fails = tool({
    ...options,
    execute: () => {
      count.runs += 1;
      if (count.runs <= times) throw thrown;
      return `after ${count.runs}`;
    },
  });
  return { count, fails };
}

const steady = { initialDelayMs: 100, factor: 2, maxDelayMs: 10_000, jitter: false };

describe("waits", () => {
  test.each([
    ["doubling", steady, [100, 200, 400, 800, 1600]],
    ["with a cap", { ...steady, maxDelayMs: 300 }, [100, 200, 300, 300, 300]],
    ["steady", { ...steady, factor: 1 }, [100, 100, 100, 100, 100]],
    ["by a fraction", { ...steady, factor: 1.5 }, [100, 150, 225, 337.5, 506.25]],
    ["none", { ...steady, initialDelayMs: 0 }, [0, 0, 0, 0, 0]],
    ["capped from the start", { ...steady, initialDelayMs: 50_000 }, [10_000, 10_000, 10_000, 10_000, 10_000]],
    ["none at all", { ...steady, maxDelayMs: 0 }, [0, 0, 0, 0, 0]],
  ])("E5: are %s", async (_what, policy, expected) => {
    const { clock, asked } = waits();
    const { fails } = failing(5, { retries: { maxAttempts: 6, ...policy } });
    const { executor } = stand([fails], { clock });
    expect(await executor.run(fails, to)).toBe("after 6");
    expect(asked).toEqual(expected);
  });

  test("E5: default to 200 ms doubling up to 10 s, spread over the upper half of each", async () => {
    const { clock, asked } = waits();
    const { fails } = failing(9, { retries: 9 });
    const { executor } = stand([fails], { clock });
    await executor.run(fails, to);
    const full = [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000];
    expect(asked).toHaveLength(full.length);
    for (const [index, ms] of asked.entries()) {
      expect(ms).toBeGreaterThanOrEqual((full[index] ?? 0) / 2);
      expect(ms).toBeLessThan(full[index] ?? 0);
    }
    // All at one place of their ranges would be no spread.
    expect(new Set(asked.map((ms, index) => ms / (full[index] ?? 1))).size).toBeGreaterThan(1);
  });

  test("E5: jitter goes from half the wait to all of it", () => {
    const policy = { ...steady, jitter: true };
    expect(backoffMs(policy, 1, 0)).toBe(50);
    expect(backoffMs(policy, 1, 0.5)).toBe(75);
    expect(backoffMs(policy, 2, 0.999)).toBeCloseTo(200, 0);
    expect(backoffMs({ ...policy, maxDelayMs: 10 }, 20, 0)).toBe(5);
  });

  test.each([
    ["beyond all numbers", { ...steady, factor: 1e308 }, 10_000],
    ["beyond all numbers, of nothing", { ...steady, factor: 1e308, initialDelayMs: 0 }, 0],
    ["with a cap of nothing", { ...steady, factor: 1e308, maxDelayMs: 0 }, 0],
  ])("E5, B37: growth %s stays a number within the cap", (_what, policy, expected) => {
    for (const attempt of [3, 50, 101]) expect(backoffMs(policy, attempt, 0)).toBe(expected);
  });
});

describe("repeated", () => {
  test("E5: is a failure of the tool, so often and no more", async () => {
    const { clock, asked } = waits();
    const { fails, count } = failing(99, { retries: 2 });
    const { executor, entry } = stand([fails], { clock });
    expect(await kindOf(executor.run(fails, to))).toBe("ToolFailed");
    expect([count.runs, asked.length]).toEqual([3, 2]);
    expect(await entry()).toMatchObject({ status: "failed", errorKind: "ToolFailed", attempts: 3 });
  });

  test("E5: the body is told which attempt it is, under one id and one key", async () => {
    const seen: Pick<ToolContext, "attempt" | "callId" | "idempotencyKey">[] = [];
    const { clock } = waits();
    const watched = tool({
      retries: 2,
      execute: (_args, { attempt, callId, idempotencyKey }) => {
        seen.push({ attempt, callId, idempotencyKey });
        throw new Error("x");
      },
    });
    const { executor } = stand([watched], { clock });
    await failure(executor.run(watched, to));
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(seen.map(({ callId, idempotencyKey }) => `${callId} ${idempotencyKey}`)).size).toBe(1);
  });

  test.each<[string, unknown]>([
    ["what the tool tells the model", new ToolError("no such city")],
    ["arguments a tool refuses itself", new ToolArgsInvalid("x")],
    ["a missing tool", new ToolNotFound("x")],
    ["a denial", new ApprovalDenied("x")],
    ["a budget", new BudgetExceeded("x")],
    ["a mistake in the program", new ToolUsageError("x")],
    ["a store that is away", new StoreUnavailable("x")],
    ["a pause", Object.assign(new Error("pause"), { is_bubble_up: true })],
  ])("E5, E3: is not %s", async (_what, thrown) => {
    const { clock, asked } = waits();
    const { fails, count } = failing(99, { retries: 5, idempotent: true }, thrown);
    const { executor } = stand([fails], { clock });
    expect(await failure(executor.run(fails, to))).toBe(thrown);
    expect([count.runs, asked.length]).toEqual([1, 0]);
  });

  test("E5: is what `retryOn` says, which sees what the tool threw", async () => {
    const { clock } = waits();
    const seen: unknown[] = [];
    const thrown = new RangeError("x");
    const retryOn = (error: unknown): boolean => {
      seen.push(error);
      return seen.length < 3;
    };
    const { fails, count } = failing(99, { retries: { maxAttempts: 9, retryOn } }, thrown);
    const { executor } = stand([fails], { clock });
    await failure(executor.run(fails, to));
    expect(count.runs).toBe(3);
    expect(seen).toEqual([thrown, thrown, thrown]);
  });

  test("E5: is nothing after the last attempt: `retryOn` is not asked", async () => {
    let asked = 0;
    const retryOn = () => {
      asked += 1;
      return true;
    };
    const { clock } = waits();
    const { fails } = failing(99, { retries: { maxAttempts: 2, retryOn } });
    const { executor } = stand([fails], { clock });
    await failure(executor.run(fails, to));
    expect(asked).toBe(1);
  });

  test.each<[string, unknown]>([
    ["a promise of true", Promise.resolve(true)],
    ["1", 1],
    ["nothing", undefined],
  ])("E5: not by a `retryOn` that gives %s", async (_what, answer) => {
    const { fails, count } = failing(99, {
      // What a program without types may give.
      retries: { maxAttempts: 3, retryOn: () => answer as boolean },
    });
    const { executor } = stand([fails], { clock: waits().clock });
    await failure(executor.run(fails, to));
    expect(count.runs).toBe(1);
  });
});

describe("under one approval", () => {
  test("E5, B12: all attempts of a call use one answer, and the ledger has one call", async () => {
    const { clock } = waits();
    const { fails, count } = failing(2, { confirm: true, retries: 2, cost: 5 });
    const port = new ScriptedPort(yes(), yes());
    const { executor, entry, again } = stand([fails], { clock, approval: port });
    expect(await executor.run(fails, to, { context: again() })).toBe("after 3");
    expect([port.asked.length, port.tokens.length]).toEqual([1, 1]);
    expect(await entry()).toMatchObject({ status: "ok", attempts: 3, cost: 15 });
    expect(await executor.run(fails, to, { context: again() })).toBe("after 3");
    expect(count.runs).toBe(3);
  });

  test("E5, B12: a call that failed in all of them does not run again under it", async () => {
    const { clock } = waits();
    const { fails, count } = failing(99, { confirm: true, retries: 2 });
    const port = new ScriptedPort(yes(), yes());
    const { executor, again } = stand([fails], { clock, approval: port });
    expect(await kindOf(executor.run(fails, to, { context: again() }))).toBe("ToolFailed");
    expect(await kindOf(executor.run(fails, to, { context: again() }))).toBe("ApprovalAlreadyDecided");
    expect([count.runs, port.asked.length]).toEqual([3, 1]);
  });
});

describe("what it costs", () => {
  test("E1/cost, B56: every attempt costs what one costs, in one entry", async () => {
    const { fails } = failing(2, { retries: 2, cost: 5 });
    const { executor, entry, ledger, runId, again } = stand([fails], { clock: waits().clock });
    await executor.run(fails, to, { context: again(), callId: "c" });
    const paid = { status: "ok", attempts: 3, cost: 15 };
    expect(await entry()).toMatchObject(paid);
    for (let i = 0; i < 3; i += 1) await executor.run(fails, to, { context: again(), callId: "c" });
    expect(await entry()).toMatchObject(paid);
    expect(await ledger.totals({ runId })).toEqual({ calls: 1, attempts: 3, cost: 15, durationMs: 0 });
  });

  test("E1/cost, B56: a call that fails, runs again and fails again costs all its attempts", async () => {
    const { fails } = failing(3, { retries: 1, cost: 5 });
    const { executor, entry, again } = stand([fails], { clock: waits().clock });
    const run = () => executor.run(fails, to, { context: again(), callId: "c" });
    expect(await kindOf(run())).toBe("ToolFailed");
    expect(await entry()).toMatchObject({ status: "failed", attempts: 2, cost: 10 });
    expect(await run()).toBe("after 4");
    expect(await entry()).toMatchObject({ status: "ok", errorKind: undefined, attempts: 4, cost: 20 });
  });

  test("E1/cost, B56: a cost that depends on the result is that of the attempt that had one", async () => {
    const { fails } = failing(2, { retries: 2, cost: (args, result) => args.to.length + String(result).length });
    const { executor, entry } = stand([fails], { clock: waits().clock });
    await executor.run(fails, to);
    expect(await entry()).toMatchObject({ attempts: 3, cost: "ana".length + "after 3".length });
  });

  test.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("x");
      },
    ],
    ["gives NaN", () => Number.NaN],
    ["gives less than nothing", () => -1],
    ["gives infinity", () => Number.POSITIVE_INFINITY],
    ["gives a promise", () => Promise.resolve(1)],
  ])("E1/cost: a cost function that %s takes no result away; it is said and counts nothing", async (_what, cost) => {
    const warned: string[] = [];
    const logger = { ...console, warn: (line: string) => void warned.push(line) };
    // What a program without types may give.
    const odd = tool({ cost: cost as () => number });
    const { executor, entry } = stand([odd], { logger });
    expect(await executor.run(odd, to)).toBe("did ana");
    expect(await entry()).toMatchObject({ status: "ok", cost: 0 });
    expect(warned).toEqual(["the cost function of act gave no amount; nothing was counted"]);
    await turns();
  });
});
