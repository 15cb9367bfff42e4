// Properties proved: who shares a cached result and for how long; that it is a copy; what is never kept; that equal calls in
// flight run once, whoever of them fails or goes; that a cache that fails costs nothing but the hit.
import { describe, expect, test } from "vitest";
import {
  MemoryCache,
  ToolError,
  type ContextOptions,
  type ExecutorOptions,
  type ResultCache,
} from "../../../src/index.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { failure, gate, kindOf, stand, turns } from "./stand.js";
import { to, tool, unhandledRejections, type Options } from "./tools.js";

const unhandled = unhandledRejections();
type Scope = "run" | "principal" | "shared";
const kept = (scope: Scope = "shared", ttlMs = 1000): Options => ({ effects: "read", cache: { ttlMs, scope } });

/** A cached tool that says how often its body ran. */
function counting(options: Options = kept()) {
  const count = { runs: 0 };
  const counts = tool({ ...options, execute: () => (count.runs += 1) });
  return { count, counts };
}

describe("who shares a cached result", () => {
  const ana: ContextOptions = { runId: "r", threadId: "t", principal: "ana" };
  test.each<[string, Scope, [ContextOptions, ContextOptions], number]>([
    ["run: the same run", "run", [ana, ana], 1],
    ["run: not another run", "run", [ana, { ...ana, runId: "s" }], 2],
    ["run: not a run of that id on another thread", "run", [ana, { ...ana, threadId: "u" }], 2],
    ["run: whoever it acts for", "run", [ana, { ...ana, principal: "bob" }], 1],
    ["principal: the same one in another run", "principal", [ana, { ...ana, runId: "s", threadId: "u" }], 1],
    ["principal: not another one", "principal", [ana, { ...ana, principal: "bob" }], 2],
    ["principal: nobody without one", "principal", [{ runId: "r" }, { runId: "r" }], 2],
    ["shared: everybody", "shared", [ana, { runId: "s", principal: "bob" }], 1],
  ])("E7/process: %s", async (what, scope, [first, second], runs) => {
    const { count, counts } = counting(kept(scope));
    const { executor } = stand([counts]);
    const inRun = ({ runId = "", ...rest }: ContextOptions) => executor.context({ ...rest, runId: what + runId });
    await executor.run(counts, to, { context: inRun(first), callId: "1" });
    expect(await executor.run(counts, to, { context: inRun(second), callId: "2" })).toBe(runs);
    expect(count.runs).toBe(runs);
  });

  test("E7/process: not executors that were given no cache of one another", async () => {
    const { count, counts } = counting();
    await stand([counts]).executor.run(counts, to);
    await stand([counts]).executor.run(counts, to);
    expect(count.runs).toBe(2);
    const cache = new MemoryCache();
    await stand([counts], { cache }).executor.run(counts, to);
    await stand([counts], { cache }).executor.run(counts, to);
    expect(count.runs).toBe(3);
  });
});

describe("what a cached result is bound to", () => {
  test.each<[string, Options]>([
    ["name", { name: "other" }],
    ["version", { version: "2" }],
  ])("E7/process: a tool of another %s does not get it", async (_what, change) => {
    const cache = new MemoryCache();
    const [one, two] = [counting(), counting({ ...kept(), ...change })];
    await stand([one.counts], { cache }).executor.run(one.counts, to);
    await stand([two.counts], { cache }).executor.run(two.counts, to);
    expect(two.count.runs).toBe(1);
  });

  test("E7/process: nor do other arguments; the same in another order do", async () => {
    const { count, counts } = counting();
    const { executor } = stand([counts]);
    await executor.run("act", { to: "ana" });
    await executor.run("act", { to: "ana", ignored: 1 });
    expect(count.runs).toBe(1);
    await executor.run("act", { to: "bob" });
    expect(count.runs).toBe(2);
  });

  test("E7/process: it lasts for ttlMs, not a millisecond longer, counted from its end", async () => {
    const clock = new ManualClock();
    const { count, counts } = counting(kept("shared", 1000));
    const { executor } = stand([counts], { clock });
    await executor.run(counts, to);
    clock.advance(999);
    await executor.run(counts, to);
    expect(count.runs).toBe(1);
    clock.advance(1);
    await executor.run(counts, to);
    expect(count.runs).toBe(2);
  });
});

test.each<[unknown]>([
  [null],
  [false],
  [0],
  [""],
  [[]],
  [{ a: [{ b: null }] }],
  ["\u0000 \ud83d\ude00 \u202e"],
  ["half a pair: \ud83d"],
  [JSON.parse('{"__proto__": 1}')],
])("E7/process, B48, B51: %j comes back as it is, as an object of its own", async (result) => {
  let runs = 0;
  const gives = tool({
    ...kept(),
    execute: () => {
      runs += 1;
      return result;
    },
  });
  const { executor, entries } = stand([gives]);
  const results = [await executor.run(gives, to), await executor.run(gives, to), await executor.run(gives, to)];
  expect(runs).toBe(1);
  expect(results).toEqual([result, result, result]);
  const isObject = typeof result === "object" && result !== null;
  expect(new Set(results).size).toBe(isObject ? 3 : 1);
  expect((await entries()).map(({ status, cost, attempts }) => [status, cost, attempts])).toEqual([
    ["ok", 0, 1],
    ["cached", 0, 0],
    ["cached", 0, 0],
  ]);
});

test("E1/cost, B56: a replay of a cached call leaves its entry as it was", async () => {
  const { counts } = counting();
  const { executor, again, entries } = stand([counts]);
  for (let i = 0; i < 2; i += 1) {
    await executor.run(counts, to, { context: again(), callId: "1" });
    await executor.run(counts, to, { context: again(), callId: "2" });
    expect((await entries()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ["ok", 1],
      ["cached", 0],
    ]);
  }
});

describe("never kept", () => {
  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["a bigint", 1n],
    ["NaN", Number.NaN],
  ])("E7/process: a result that is not JSON: %s", async (_what, result) => {
    let runs = 0;
    const gives = tool({
      ...kept(),
      execute: () => {
        runs += 1;
        return result;
      },
    });
    const warned: string[] = [];
    const logger = { ...console, warn: (line: string) => void warned.push(line) };
    const { executor } = stand([gives], { logger });
    expect(await executor.run(gives, to)).toBe(result);
    expect(await executor.run(gives, to)).toBe(result);
    expect([runs, warned]).toEqual([2, []]);
  });

  test.each<[string, unknown, string]>([
    ["a failure", new Error("x"), "ToolFailed"],
    ["an answer for the model", new ToolError("no such city"), "ToolError"],
  ])("E7/process: %s", async (_what, thrown, kind) => {
    let runs = 0;
    const fails = tool({
      ...kept(),
      execute: () => {
        runs += 1;
        if (runs === 1) throw thrown;
        return "second";
      },
    });
    const { executor } = stand([fails]);
    expect(await kindOf(executor.run(fails, to))).toBe(kind);
    expect(await executor.run(fails, to)).toBe("second");
  });
});

describe("equal calls in flight", () => {
  test("E7/process: run once; those that waited are `cached` and cost nothing", async () => {
    const finish = gate<object>();
    let runs = 0;
    const slow = tool({
      ...kept(),
      cost: 5,
      execute: () => {
        runs += 1;
        return finish.wait;
      },
    });
    const { executor, entries } = stand([slow]);
    const all = Array.from({ length: 10 }, () => executor.run(slow, to));
    await turns();
    finish.open({ n: 1 });
    const results = await Promise.all(all);
    expect(runs).toBe(1);
    expect(new Set(results).size).toBe(10);
    const ends = (await entries()).map(({ status, attempts, cost }) => [status, attempts, cost]);
    expect(ends[0]).toEqual(["ok", 1, 5]);
    expect(new Set(ends.slice(1).map((end) => JSON.stringify(end)))).toEqual(new Set(['["cached",0,0]']));
  });

  test("E7/process: when the first fails one of the others runs, and the rest share that", async () => {
    const finish = gate();
    let runs = 0;
    const fails = tool({
      ...kept(),
      execute: async () => {
        runs += 1;
        if (runs === 1) {
          await finish.wait;
          throw new Error("x");
        }
        await turns();
        return runs;
      },
    });
    const { executor } = stand([fails]);
    const all = Array.from({ length: 5 }, () => executor.run(fails, to));
    const settled = Promise.allSettled(all);
    await turns();
    finish.open();
    expect((await settled).map((one) => (one.status === "fulfilled" ? one.value : "failed"))).toEqual([
      "failed",
      2,
      2,
      2,
      2,
    ]);
    expect(runs).toBe(2);
  });

  test.each([
    ["that listens", true],
    ["that does not listen", false],
  ])("E7/process, E6: when the first, with a body %s, is aborted, one of the others runs", async (_what, listens) => {
    let runs = 0;
    const slow = tool({
      ...kept(),
      execute: (_args, { signal }) => {
        runs += 1;
        if (runs > 1) return runs;
        return new Promise((_resolve, reject) => {
          if (listens) signal.addEventListener("abort", () => reject(signal.reason));
        });
      },
    });
    const { executor } = stand([slow]);
    const stop = new AbortController();
    const first = failure(executor.run(slow, to, { signal: stop.signal }));
    const others = [0, 1, 2].map(() => executor.run(slow, to));
    await turns();
    stop.abort();
    expect(await first).toBe(stop.signal.reason);
    expect(await Promise.race([Promise.all(others), turns().then(turns)])).toEqual([2, 2, 2]);
    expect(runs).toBe(2);
  });

  test("E7/process, E6: one that waits can be aborted, and then does not run instead of the first", async () => {
    const finish = gate<string>();
    let runs = 0;
    const slow = tool({
      ...kept(),
      execute: async () => {
        runs += 1;
        await finish.wait;
        throw new Error("x");
      },
    });
    const { executor } = stand([slow]);
    const first = failure(executor.run(slow, to));
    await turns();
    const stop = new AbortController();
    const second = failure(executor.run(slow, to, { signal: stop.signal }));
    await turns();
    stop.abort();
    expect(await second).toBe(stop.signal.reason);
    finish.open("");
    await first;
    await turns();
    expect(runs).toBe(1);
  });

  test("E7/process: calls of other scopes do not wait for each other", async () => {
    const finish = gate();
    let runs = 0;
    const slow = tool({
      ...kept("run"),
      execute: async () => {
        runs += 1;
        await finish.wait;
      },
    });
    const { executor } = stand([slow]);
    const both = [executor.run(slow, to), executor.run(slow, to)];
    await turns();
    expect(runs).toBe(2);
    finish.open();
    await Promise.all(both);
  });
});

describe("a cache that fails", () => {
  const broken = (at: "get" | "set" | "both"): ResultCache => {
    const fails = () => Promise.reject(new Error("secret connection string"));
    const memory = new MemoryCache();
    return {
      get: at === "set" ? (key) => memory.get(key) : fails,
      set: at === "get" ? (key, json, expiresAt) => memory.set(key, json, expiresAt) : fails,
    };
  };

  test.each(["get", "set", "both"] as const)("E7/process, N1: at %s costs the hit, not the call", async (at) => {
    const warned: string[] = [];
    const logger = { ...console, warn: (line: string) => void warned.push(line) };
    const { count, counts } = counting();
    const { executor, entries } = stand([counts], { cache: broken(at), logger });
    expect([await executor.run(counts, to), await executor.run(counts, to)]).toEqual([1, 2]);
    expect(count.runs).toBe(2);
    expect((await entries()).map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(warned.length).toBeGreaterThan(0);
    expect(warned.join()).not.toContain("secret");
  });

  test("E7/process: one that throws at once, or gives something that is no JSON, is an empty one", async () => {
    const throws: ResultCache = {
      get: () => {
        throw new Error("x");
      },
      set: () => {
        throw new Error("x");
      },
    };
    const garbage: ResultCache = { get: () => Promise.resolve("{"), set: () => Promise.resolve() };
    for (const cache of [throws, garbage]) {
      const { counts } = counting();
      const { executor, entries } = stand([counts], { cache } satisfies ExecutorOptions);
      expect([await executor.run(counts, to), await executor.run(counts, to)]).toEqual([1, 2]);
      expect((await entries()).map(({ status }) => status)).toEqual(["ok", "ok"]);
    }
  });
});

test("G1/limits: a tool that asks cannot have a cache", () => {
  expect(() => tool({ ...kept(), confirm: true })).toThrow("cache");
  expect(() => tool({ ...kept(), confirm: () => false })).toThrow("cache");
});

test("E7/process: none of this left a rejection unhandled", async () => {
  await turns();
  expect(unhandled).toEqual([]);
});
