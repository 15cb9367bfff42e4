// Properties proved: a tool that runs once per run gives its first result again, refuses other arguments, waits for a first
// call that runs or asks, runs again after a failure, and is the same across executors that share a cache.
import { describe, expect, test } from "vitest";
import {
  isAgentAdapterError,
  MemoryCache,
  ToolError,
  type ContextOptions,
  type Executor,
  type ResultCache,
} from "../../../src/index.js";
import { failure, gate, kindOf, no, pending, ScriptedPort, stand, turns, yes } from "./stand.js";
import { to, tool, unhandledRejections, type Options } from "./tools.js";

const unhandled = unhandledRejections();

/** A tool that runs once per run and says how often its body ran. */
function once(options: Options = {}) {
  const count = { runs: 0 };
  const first = tool({
    ...options,
    oncePerRun: true,
    execute: (args, ctx) => {
      count.runs += 1;
      return options.execute === undefined ? { run: count.runs } : options.execute(args, ctx);
    },
  });
  return { count, first };
}

describe("the second call in a run", () => {
  test("E7/process, J2: gives the first result as an object of its own, and is `cached` and free", async () => {
    const { count, first } = once({ cost: 5 });
    const { executor, entries } = stand([first]);
    const context = executor.context();
    const results = [];
    for (let i = 0; i < 3; i += 1) results.push(await executor.run(first, to, { context }));
    expect(results).toEqual([{ run: 1 }, { run: 1 }, { run: 1 }]);
    expect(new Set(results).size).toBe(3);
    expect(count.runs).toBe(1);
    expect((await entries()).map(({ status, attempts, cost }) => [status, attempts, cost])).toEqual([
      ["ok", 1, 5],
      ["cached", 0, 0],
      ["cached", 0, 0],
    ]);
  });

  test.each([[undefined], [null], [0], [""], [false]])("J2, B48: gives %j again as it is", async (result) => {
    const { count, first } = once({ execute: () => result });
    const { executor } = stand([first]);
    const context = executor.context();
    expect(await executor.run(first, to, { context })).toBe(result);
    expect(await executor.run(first, to, { context })).toBe(result);
    expect(count.runs).toBe(1);
  });

  test("J2: whose first result is not JSON cannot have it, and does not run", async () => {
    const { count, first } = once({ execute: () => new Map() });
    const { executor } = stand([first]);
    const context = executor.context();
    await executor.run(first, to, { context });
    expect(await kindOf(executor.run(first, to, { context }))).toBe("ToolUsageError");
    expect(count.runs).toBe(1);
  });

  test("E2/errors: with other arguments is an answer for the model that quotes neither", async () => {
    const { count, first } = once();
    const { executor } = stand([first]);
    const context = executor.context();
    await executor.run(first, { to: "ana" }, { context });
    const error = await failure(executor.run(first, { to: "bob" }, { context }));
    expect(isAgentAdapterError(error, "ToolError") && error.modelVisible).toBe(true);
    expect(error).toMatchObject({ message: "act runs once per run, and it ran with other arguments" });
    expect(count.runs).toBe(1);
    expect(await executor.run(first, { to: "ana" }, { context })).toEqual({ run: 1 });
  });

  test("G3: is compared by the parsed arguments", async () => {
    const { count, first } = once();
    const { executor } = stand([first]);
    const context = executor.context();
    await executor.run("act", { to: "ana", unknown: 1 }, { context });
    await executor.run("act", { unknown: 2, to: "ana" }, { context });
    expect(count.runs).toBe(1);
  });

  test("E7/process: of another tool, run or thread is a first one", async () => {
    const { count, first } = once();
    const { count: others, first: other } = once({ name: "other" });
    const { executor } = stand([first, other]);
    const run = (callId: string, options: ContextOptions) =>
      executor.run(first, to, { callId, context: executor.context(options) });
    await run("1", { runId: "once-1" });
    await run("2", { runId: "once-2" });
    await run("3", { runId: "once-1", threadId: "t" });
    expect(count.runs).toBe(3);
    await executor.run(other, to, { context: executor.context({ runId: "once-1" }) });
    expect(others.runs).toBe(1);
  });
});

describe("a batch of two", () => {
  test("E8: runs the first; the second waits and gets its result", async () => {
    const finish = gate<string>();
    const { count, first } = once({ effects: "read", execute: () => finish.wait });
    const { executor } = stand([first]);
    const many = executor.runMany([
      { tool: "act", args: to },
      { tool: "act", args: to },
    ]);
    await turns();
    finish.open("done");
    expect(await many).toMatchObject([{ value: "done" }, { value: "done" }]);
    expect(count.runs).toBe(1);
  });

  test("E8: with other arguments refuses the second", async () => {
    const { count, first } = once({ effects: "read" });
    const { executor } = stand([first]);
    const outcomes = await executor.runMany([
      { tool: "act", args: { to: "ana" } },
      { tool: "act", args: { to: "bob" } },
    ]);
    expect(outcomes).toMatchObject([{ status: "fulfilled" }, { status: "rejected", reason: { kind: "ToolError" } }]);
    expect(count.runs).toBe(1);
  });

  test("E8: of which the first fails runs the second, and the rest share that", async () => {
    let runs = 0;
    const { first } = once({
      effects: "read",
      execute: () => {
        runs += 1;
        if (runs === 1) throw new ToolError("try again");
        return runs;
      },
    });
    const { executor } = stand([first]);
    const outcomes = await executor.runMany(Array.from({ length: 4 }, () => ({ tool: "act", args: to })));
    expect(outcomes.map((one) => (one.status === "fulfilled" ? one.value : "failed"))).toEqual(["failed", 2, 2, 2]);
  });

  test("E6: of which the first is aborted runs the second", async () => {
    const { count, first } = once({
      execute: (_args, { signal }) =>
        new Promise((resolve, reject) => {
          if (count.runs > 1) resolve("second");
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    });
    const { executor } = stand([first]);
    const context = executor.context();
    const stop = new AbortController();
    const one = failure(executor.run(first, to, { context, signal: stop.signal }));
    const two = executor.run(first, to, { context });
    await turns();
    stop.abort();
    await one;
    expect(await two).toBe("second");
  });
});

describe("a first call that asks", () => {
  test("A5/process: and waits is no first call yet: after the answer it runs once, and the second replays it", async () => {
    const { count, first } = once({ confirm: true });
    const port = new ScriptedPort(pending, yes());
    const { executor, again } = stand([first], { approval: port });
    const run = () => executor.run(first, to, { context: again(), callId: "c" });
    expect(await kindOf(run())).toBe("ApprovalPending");
    expect(count.runs).toBe(0);
    expect(await run()).toEqual({ run: 1 });
    expect(await executor.run(first, to, { context: again(), callId: "d" })).toEqual({ run: 1 });
    expect([count.runs, port.tokens.length]).toEqual([1, 1]);
  });

  test("A5/process: and is denied is none: the next one asks", async () => {
    const { count, first } = once({ confirm: true });
    const port = new ScriptedPort(no(), yes());
    const { executor, again } = stand([first], { approval: port });
    expect(await kindOf(executor.run(first, to, { context: again(), callId: "c" }))).toBe("ApprovalDenied");
    expect(await executor.run(first, to, { context: again(), callId: "d" })).toEqual({ run: 1 });
    expect(count.runs).toBe(1);
  });

  test("A7: and is edited replays what the edit gave", async () => {
    const { first } = once({ confirm: true, execute: (args) => args.to });
    const { executor, again } = stand([first], { approval: new ScriptedPort(yes({ to: "bob" })) });
    expect(await executor.run(first, to, { context: again(), callId: "c" })).toBe("bob");
    expect(await executor.run(first, to, { context: again(), callId: "d" })).toBe("bob");
  });
});

describe("a first call that fails", () => {
  test.each<[string, unknown]>([
    ["in a way of its own", new Error("x")],
    ["with an answer for the model", new ToolError("x")],
  ])("E7/process: %s lets the next one run, also with other arguments", async (_what, thrown) => {
    let runs = 0;
    const { first } = once({
      execute: () => {
        runs += 1;
        if (runs === 1) throw thrown;
        return "second";
      },
    });
    const { executor } = stand([first]);
    const context = executor.context();
    await failure(executor.run(first, { to: "ana" }, { context }));
    expect(await executor.run(first, { to: "bob" }, { context })).toBe("second");
  });
});

describe("across executors", () => {
  const inRun = (executor: Executor) => executor.context({ runId: "turn-7", threadId: crypto.randomUUID() });

  test("E7/process: that share a cache, a tool runs once in a run, even when it was not kept in the process", async () => {
    const cache = new MemoryCache();
    const { count, first } = once();
    const runId = crypto.randomUUID();
    const run = (args: { to: string }) => {
      const { executor } = stand([first], { cache });
      return executor.run(first, args, { context: executor.context({ runId }) });
    };
    expect(await run(to)).toEqual({ run: 1 });
    expect(await run(to)).toEqual({ run: 1 });
    expect(await kindOf(run({ to: "bob" }))).toBe("ToolError");
    expect(count.runs).toBe(1);
  });

  test("E7/process: that share none, runs of one name are two", async () => {
    const { count, first } = once();
    const runId = crypto.randomUUID();
    for (let i = 0; i < 2; i += 1) {
      const { executor } = stand([first]);
      await executor.run(first, to, { context: executor.context({ runId }) });
    }
    expect(count.runs).toBe(2);
  });

  test("E7/process: a cache that cannot be read refuses the call: nobody knows whether the tool ran", async () => {
    const { count, first } = once();
    const down = new Error("down");
    const cache: ResultCache = { get: () => Promise.reject(down), set: () => Promise.resolve() };
    const { executor } = stand([first], { cache });
    expect(await failure(executor.run(first, to, { context: inRun(executor) }))).toBe(down);
    expect(count.runs).toBe(0);
  });

  test("E7/process, N1: a cache that cannot be written loses nothing in this process, and is said", async () => {
    const warned: string[] = [];
    const logger = { ...console, warn: (line: string) => void warned.push(line) };
    const { count, first } = once();
    const cache: ResultCache = {
      get: () => Promise.resolve(undefined),
      set: () => Promise.reject(new Error("secret connection string")),
    };
    const { executor } = stand([first], { cache, logger });
    const context = executor.context();
    expect(await executor.run(first, to, { context })).toEqual({ run: 1 });
    expect(await executor.run(first, to, { context })).toEqual({ run: 1 });
    expect(count.runs).toBe(1);
    expect(warned).toEqual(["the first result of act could not be kept in the cache"]);
  });

  test.each(["[]", "{}", "[1, 2]", '["digest"]', "null"])(
    "N1: something else under its key in the cache (%s) is no result",
    async (text) => {
      const { count, first } = once();
      const cache: ResultCache = { get: () => Promise.resolve(text), set: () => Promise.resolve() };
      const { executor } = stand([first], { cache });
      expect(await executor.run(first, to)).toEqual({ run: 1 });
      expect(count.runs).toBe(1);
    },
  );
});

test("E7/process: none of this left a rejection unhandled", async () => {
  await turns();
  expect(unhandled).toEqual([]);
});
