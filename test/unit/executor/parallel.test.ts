// Properties proved: a call that is run again while it still runs is never started twice. A plain one is shared; one whose
// owner is gone is adopted; which calls of a batch may run beside each other.
import { describe, expect, test } from "vitest";
import { failure, gate, kindOf, ScriptedPort, stand, turns, yes } from "./stand.js";
import { to, tool, unhandledRejections, type Options } from "./tools.js";

const unhandled = unhandledRejections();

/** A tool whose every body ends when it is told to. */
function held(options: Options = {}) {
  const finish: ((value: unknown) => void)[] = [];
  const waits = tool({ ...options, execute: () => new Promise((resolve) => void finish.push(resolve)) });
  const deafTo = tool({
    name: "listens",
    ...options,
    execute: (_args, { signal }) =>
      new Promise((resolve, reject) => {
        finish.push(resolve);
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  });
  return { finish, waits, listens: deafTo };
}

describe("a plain call that is run again while it runs", () => {
  test("E11/process: is shared: one body, one entry, each gets the result as an object of its own", async () => {
    const { finish, waits } = held({ cost: 3 });
    const { executor, again, entry } = stand([waits]);
    const both = [0, 1].map(() => executor.run(waits, to, { context: again(), callId: "c" }));
    await turns();
    const late = executor.run(waits, to, { context: again(), callId: "c" });
    await turns();
    expect(finish).toHaveLength(1);
    finish[0]?.({ n: 1 });
    const results = await Promise.all([...both, late]);
    expect(results).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
    expect(new Set(results).size).toBe(3);
    expect(await entry()).toMatchObject({ status: "ok", attempts: 1, cost: 3 });
  });

  test("E11/process: fails for all who share it, once, and then runs again", async () => {
    let runs = 0;
    const go = gate();
    const fails = tool({
      execute: async () => {
        runs += 1;
        await go.wait;
        if (runs === 1) throw new Error("x");
        return "second";
      },
    });
    const { executor, again } = stand([fails]);
    const run = () => executor.run(fails, to, { context: again(), callId: "c" });
    const kinds = [kindOf(run()), kindOf(run())];
    await turns();
    go.open();
    expect(await Promise.all(kinds)).toEqual(["ToolFailed", "ToolFailed"]);
    expect(runs).toBe(1);
    expect(await run()).toBe("second");
  });

  test.each([
    ["together with it", false],
    ["after it", true],
  ])(
    "E11/process: when the run that started it is aborted, the one that came %s runs it anew",
    async (_what, later) => {
      const { finish, listens } = held();
      const { executor, again } = stand([listens]);
      const stop = new AbortController();
      const first = failure(executor.run(listens, to, { context: again(), callId: "c", signal: stop.signal }));
      if (later) await turns();
      const second = executor.run(listens, to, { context: again(), callId: "c" });
      await turns();
      expect(finish).toHaveLength(1);
      stop.abort(new Error("not yours"));
      expect(await first).toBe(stop.signal.reason);
      await turns();
      expect(finish).toHaveLength(2);
      finish[1]?.("mine");
      expect(await second).toBe("mine");
    },
  );

  test.each<[string, Options]>([
    ["a body without a deadline", {}],
    ["a body with one", { timeoutMs: 60_000 }],
  ])(
    "E11/process: is adopted when its owner is gone and %s goes on: its late result is everybody's",
    async (_what, options) => {
      const { finish, waits } = held({ cost: 3, ...options });
      const { executor, again, entry } = stand([waits]);
      const stop = new AbortController();
      const first = failure(executor.run(waits, to, { context: again(), callId: "c", signal: stop.signal }));
      await turns();
      stop.abort();
      expect(await first).toBe(stop.signal.reason);
      const second = executor.run(waits, to, { context: again(), callId: "c" });
      await turns();
      finish[0]?.("late");
      expect(await second).toBe("late");
      expect(await executor.run(waits, to, { context: again(), callId: "c" })).toBe("late");
      expect(finish).toHaveLength(1);
      expect(await entry()).toMatchObject({ status: "ok", attempts: 1, cost: 3 });
    },
  );

  test("E11/process: without an id is two calls, and so is a call of another run", async () => {
    const { finish, waits } = held();
    const { executor } = stand([waits]);
    const context = executor.context();
    const all = [
      executor.run(waits, to, { context }),
      executor.run(waits, to, { context }),
      executor.run(waits, to, { callId: "c" }),
      executor.run(waits, to, { callId: "c" }),
    ];
    await turns();
    expect(finish).toHaveLength(4);
    for (const end of finish) end(1);
    await Promise.all(all);
  });
});

describe("an approved call that is run again while it runs", () => {
  test("E11/process: is adopted when its owner was aborted: one body, one answer", async () => {
    const { finish, waits } = held({ confirm: true });
    const port = new ScriptedPort(yes(), yes());
    const { executor, again } = stand([waits], { approval: port });
    const stop = new AbortController();
    const first = failure(
      executor.run(waits, to, { context: executor.context({ runId: "adopt", signal: stop.signal }), callId: "c" }),
    );
    await turns();
    stop.abort();
    await first;
    const second = executor.run(waits, to, { context: executor.context({ runId: "adopt" }), callId: "c" });
    await turns();
    finish[0]?.("late");
    expect(await second).toBe("late");
    expect([finish.length, port.tokens.length]).toEqual([1, 1]);
    void again;
  });

  test("E11/process: is refused while its owner lives, whoever asks, and nobody is asked again", async () => {
    const { finish, waits } = held({ confirm: true });
    const port = new ScriptedPort(yes(), yes());
    const { executor, again } = stand([waits], { approval: port });
    const first = executor.run(waits, to, { context: again(), callId: "c" });
    await turns();
    const others = [0, 1, 2].map(() => kindOf(executor.run(waits, to, { context: again(), callId: "c" })));
    await turns();
    finish[0]?.("done");
    expect(await first).toBe("done");
    expect(await Promise.all(others)).toEqual(Array.from({ length: 3 }, () => "ApprovalAlreadyDecided"));
    expect([finish.length, port.asked.length]).toEqual([1, 1]);
  });
});

describe("parallelSafe", () => {
  /** How many ran at once, most. */
  async function most(options: readonly Options[], concurrency?: number): Promise<number> {
    let [now, top] = [0, 0];
    const tools = options.map((given, index) =>
      tool({
        ...given,
        name: `t${index}`,
        execute: async () => {
          now += 1;
          top = Math.max(top, now);
          await turns();
          now -= 1;
        },
      }),
    );
    const { executor } = stand(tools, concurrency === undefined ? {} : { concurrency });
    await executor.runMany(tools.map(({ name }) => ({ tool: name, args: to })));
    return top;
  }

  test.each<[string, Options, number]>([
    ["reads run beside each other", { effects: "read" }, 4],
    ["writes run one at a time", { effects: "write" }, 1],
    ["what destroys runs one at a time", { effects: "destructive" }, 1],
    ["writes that say they are safe run beside each other", { effects: "write", parallelSafe: true }, 4],
    ["reads that say they are not run one at a time", { effects: "read", parallelSafe: false }, 1],
  ])("E8: %s", async (_what, options, expected) => {
    expect(await most(Array.from({ length: 4 }, () => options))).toBe(expected);
  });

  test("E8: the lane of the unsafe is beside the pool, whose width counts for the safe ones only", async () => {
    const [safe, unsafe]: Options[] = [{ effects: "read" }, { effects: "write" }];
    const batch = [unsafe, safe, unsafe, safe, safe, safe].map((options) => options ?? {});
    expect(await most(batch, 2)).toBe(3);
    expect(await most(batch, 1)).toBe(2);
  });

  test("E8: a call that prepare settled waits for no lane", async () => {
    const finish = gate();
    const slow = tool({ name: "slow", execute: () => finish.wait });
    const { executor, entries } = stand([slow]);
    const many = executor.runMany([
      { tool: "slow", args: to },
      { tool: "slow", args: { to: 5 } },
      { tool: "nothing", args: to },
    ]);
    await turns();
    expect((await entries()).map(({ status }) => status)).toEqual(["running", "failed", "failed"]);
    finish.open();
    await many;
  });
});

test("E11/process: none of this left a rejection unhandled", async () => {
  await turns();
  expect(unhandled).toEqual([]);
});
