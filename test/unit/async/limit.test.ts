// Properties proved: order, bound, isolation of failures, and that nothing starts after an abort.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { settleAll } from "../../../src/async/limit.js";
import { isAgentAdapterError } from "../../../src/errors.js";

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await Promise.resolve();
};

describe("settleAll", () => {
  test("B33: results come in input order, never more than the limit at once, failures beside successes", async () => {
    const plan = fc.array(fc.record({ work: fc.nat(9), outcome: fc.constantFrom("ok", "reject", "throw") }), {
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(plan, fc.constantFrom(1, 2, 3, 100, Infinity), async (jobs, concurrency) => {
        let running = 0;
        let most = 0;
        const results = await settleAll(
          jobs.map(({ work, outcome }, i) => () => {
            if (outcome === "throw") throw i;
            running += 1;
            most = Math.max(most, running);
            return turns(work).then(() => {
              running -= 1;
              if (outcome === "reject") throw i;
              return i;
            });
          }),
          concurrency,
        );
        expect(results).toEqual(
          jobs.map(({ outcome }, i) =>
            outcome === "ok" ? { status: "fulfilled", value: i } : { status: "rejected", reason: i },
          ),
        );
        expect(most).toBeLessThanOrEqual(Math.min(concurrency, jobs.length));
        const plain = jobs.filter(({ outcome }) => outcome !== "throw").length;
        expect(most >= plain || concurrency < jobs.length).toBe(true);
      }),
    );
  });

  test("a free place is filled at once, while a slow task still runs", async () => {
    const started: number[] = [];
    let release = (): void => {};
    const slow = new Promise<void>((resolve) => (release = resolve));
    const tasks = [0, 1, 2, 3].map((i) => async () => {
      started.push(i);
      if (i === 0) await slow;
    });
    const all = settleAll(tasks, 2);
    expect(started).toEqual([0, 1]);
    await turns(20);
    expect(started).toEqual([0, 1, 2, 3]);
    release();
    await all;
  });

  test("E6: after an abort queued tasks never start, running ones are waited for, and nothing is left unhandled", async () => {
    const controller = new AbortController();
    const reason = new Error("stop");
    const started: number[] = [];
    let finished = false;
    const task = (i: number) => async (): Promise<number> => {
      started.push(i);
      if (i === 1) controller.abort(reason);
      await turns(5);
      if (i === 0) finished = true;
      return i;
    };
    const results = await settleAll([task(0), task(1), task(2), task(3)], 2, controller.signal);
    expect(started).toEqual([0, 1]);
    expect(finished).toBe(true);
    expect(results.slice(0, 2)).toEqual([0, 1].map((value) => ({ status: "fulfilled", value })));
    expect(results.slice(2)).toEqual([2, 3].map(() => ({ status: "rejected", reason })));
  });

  test("E6: an abort before the start starts nothing, whatever the reason is", async () => {
    let started = 0;
    const results = await settleAll([async () => (started += 1)], Infinity, AbortSignal.abort("gone"));
    expect(results).toEqual([{ status: "rejected", reason: "gone" }]);
    expect(started).toBe(0);
  });

  test("tasks added or removed later do not count", async () => {
    const tasks = [async () => 1, async () => 2];
    const all = settleAll(tasks, 1);
    tasks.length = 0;
    expect((await all).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    expect(await settleAll([], 1)).toEqual([]);
  });

  test.each([0, -1, 1.5, NaN, -Infinity])(
    "a limit of %s is a ToolUsageError and starts nothing",
    async (concurrency) => {
      let started = 0;
      const error: unknown = await settleAll([async () => (started += 1)], concurrency).catch(
        (caught: unknown) => caught,
      );
      expect(isAgentAdapterError(error, "ToolUsageError")).toBe(true);
      expect(started).toBe(0);
    },
  );
});
