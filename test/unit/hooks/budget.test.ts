// Properties proved: a budget is compared and taken in one step, so that racing calls never overdraw it; what ended, failed,
// paused or was aborted gives back what it did not spend; what is refused spends nothing, no approval either.
import { describe, expect, test } from "vitest";
import {
  BudgetHook,
  MemoryLedger,
  type BatchCall,
  type BudgetHookOptions,
  type CallOutcome,
  type ExecutorOptions,
  type LedgerTotals,
} from "../../../src/index.js";
import { failure, gate, kindOf, pending, ScriptedPort, stand, turns, yes } from "../executor/stand.js";
import { never, to, tool, unhandledRejections, type Options } from "../executor/tools.js";

const unhandled = unhandledRejections();

/** Tools under a budget, and how often their bodies ran. */
function budgeted(limits: BudgetHookOptions, options: readonly Options[] = [{}], more: ExecutorOptions = {}) {
  const count = { runs: 0, now: 0, most: 0 };
  const tools = options.map((given) =>
    tool({
      effects: "read",
      cost: 1,
      ...given,
      execute: async (args, ctx) => {
        count.runs += 1;
        count.now += 1;
        count.most = Math.max(count.most, count.now);
        try {
          return given.execute === undefined ? await turns() : await given.execute(args, ctx);
        } finally {
          count.now -= 1;
        }
      },
    }),
  );
  return { count, ...stand(tools, { hooks: [new BudgetHook(limits)], ...more }) };
}

const times = (length: number, name = "act"): BatchCall[] =>
  Array.from({ length }, (_, index) => ({ tool: name, args: { to: `${index}` } }));
const kinds = (outcomes: readonly CallOutcome[]) =>
  outcomes.map((one) => (one.status === "fulfilled" ? "ok" : (one.reason as { kind: string }).kind));
const howMany = (outcomes: readonly CallOutcome[], kind: string) =>
  kinds(outcomes).filter((one) => one === kind).length;

/** A ledger that takes its time, each time another one. */
function slowLedger(): MemoryLedger {
  const ledger = new MemoryLedger();
  let [delay, runs] = [0, 0];
  const later = async () => {
    delay = (delay * 7 + 3) % 5;
    runs += 1;
    for (let i = 0; i < delay; i += 1) await Promise.resolve();
    if (runs % 10 === 0) await turns();
  };
  const { open, close, totals } = {
    open: ledger.open.bind(ledger),
    close: ledger.close.bind(ledger),
    totals: ledger.totals.bind(ledger),
  };
  ledger.open = (opening) => later().then(() => open(opening));
  ledger.close = (id, closing) => later().then(() => close(id, closing));
  // Read first, told later: as from a database.
  ledger.totals = async (filter): Promise<LedgerTotals> => {
    const sums = await totals(filter);
    await later();
    return sums;
  };
  return ledger;
}

describe("racing calls", () => {
  test("E9/budget, B57: of five that cost 4 under a budget of 10, two run and three are refused", async () => {
    const { executor, ledger, count } = budgeted({ maxCost: 10 }, [{ cost: 4 }]);
    const context = executor.context();
    const outcomes = await executor.runMany(times(5), { context, concurrency: 5 });
    expect(kinds(outcomes)).toEqual(["ok", "ok", "BudgetExceeded", "BudgetExceeded", "BudgetExceeded"]);
    expect(count.runs).toBe(2);
    expect(await ledger.totals({ runId: context.runId })).toMatchObject({ calls: 2, attempts: 2, cost: 8 });
    expect(kinds(await executor.runMany(times(1), { context }))).toEqual(["BudgetExceeded"]);
  });

  test.each<[string, BudgetHookOptions]>([
    ["a cost of 10", { maxCost: 10 }],
    ["10 calls", { maxCalls: 10 }],
    ["10 calls of the tool", { tools: { act: { maxCalls: 10 } } }],
    ["a cost of 10 of the tool", { maxCost: 99, tools: { act: { maxCost: 10 } } }],
  ])("E9/budget, B57: of a hundred under %s exactly ten run, however slow the ledger is", async (_what, limits) => {
    for (const ledger of [new MemoryLedger(), slowLedger()]) {
      const { executor, count } = budgeted(limits, [{}], { ledger });
      const context = executor.context();
      const single = times(50).map(({ args }) => executor.run("act", args, { context, callId: JSON.stringify(args) }));
      const [outcomes, alone] = await Promise.all([
        executor.runMany(times(50), { context }),
        Promise.allSettled(single),
      ]);
      const ran = howMany(outcomes, "ok") + alone.filter(({ status }) => status === "fulfilled").length;
      expect([ran, count.runs]).toEqual([10, 10]);
      expect(await ledger.totals({ runId: context.runId })).toMatchObject({ calls: 10, cost: 10 });
    }
  });

  test("E9/budget, B57: waves that follow each other never overdraw it together", async () => {
    const ledger = slowLedger();
    const { executor, count } = budgeted({ maxCost: 10 }, [{}], { ledger });
    const context = executor.context();
    const waves = Array.from({ length: 20 }, async (_, wave) => {
      for (let i = 0; i < wave; i += 1) await Promise.resolve();
      const calls = times(5).map((call, index) => ({ ...call, callId: `${wave}-${index}` }));
      return executor.runMany(calls, { context, concurrency: 2 });
    });
    const outcomes = (await Promise.all(waves)).flat();
    expect(outcomes).toHaveLength(100);
    expect(count.runs).toBe(howMany(outcomes, "ok"));
    expect(count.runs).toBeLessThanOrEqual(10);
    expect((await ledger.totals({ runId: context.runId })).cost).toBe(count.runs);
  });

  test("E9/budget: a call that may be attempted three times reserves three, and gives back what it did not need", async () => {
    const retries = { maxAttempts: 3, initialDelayMs: 0 };
    const { executor, ledger, count } = budgeted({ maxCost: 10 }, [{ retries }]);
    const context = executor.context();
    expect(howMany(await executor.runMany(times(100), { context }), "ok")).toBe(3);
    // Three that cost 1 each were enough: 7 are left, which is room for two more at once.
    const again = await executor.runMany(
      times(100).map((call, index) => ({ ...call, callId: `${index}` })),
      { context },
    );
    expect(howMany(again, "ok")).toBe(2);
    expect(count.most).toBe(3);
    expect(await ledger.totals({ runId: context.runId })).toMatchObject({ cost: 5 });
  });

  test("E9/budget: with retries that are needed it is not overdrawn either", async () => {
    const retries = { maxAttempts: 3, initialDelayMs: 0 };
    const execute = () => Promise.reject(new Error("x"));
    const { executor, ledger, runId, again } = budgeted({ maxCost: 10 }, [{ retries, execute }]);
    for (let i = 0; i < 5; i += 1) {
      await executor.runMany(
        times(20).map((call, index) => ({ ...call, callId: `${i}-${index}` })),
        { context: again() },
      );
    }
    expect(await ledger.totals({ runId })).toMatchObject({ calls: 3, attempts: 9, cost: 9 });
  });
});

describe("what is given back", () => {
  test("E9/budget, B57: by a call that failed: the room that its other attempts would have needed", async () => {
    let fail = true;
    const execute = () => (fail ? Promise.reject(new Error("x")) : "ok");
    const retries = { maxAttempts: 10, initialDelayMs: 0, retryOn: () => false };
    const { executor, entries } = budgeted({ maxCost: 10 }, [{ retries, execute }]);
    const context = executor.context();
    expect(await kindOf(executor.run("act", to, { context }))).toBe("ToolFailed");
    // One was spent, so ten attempts do not fit any more.
    expect(await kindOf(executor.run("act", to, { context }))).toBe("BudgetExceeded");
    fail = false;
    expect((await entries()).map(({ cost }) => cost)).toEqual([1, 0]);
  });

  test("E9/budget: by a call that is refused later, before its body: all of it", async () => {
    let down = true;
    const refuses = {
      beforeTool: () => {
        if (down) throw new Error("x");
      },
    };
    const { executor, count } = budgeted({ maxCalls: 1 }, [{}], {
      hooks: [new BudgetHook({ maxCalls: 1 }), refuses],
    });
    const context = executor.context();
    for (let i = 0; i < 3; i += 1) await failure(executor.run("act", to, { context, callId: `${i}` }));
    down = false;
    await executor.run("act", to, { context, callId: "last" });
    expect(count.runs).toBe(1);
  });

  test("E9/budget: by an abort: what did not start; what did start has spent its attempt", async () => {
    const stop = new AbortController();
    const { executor, ledger, count, runId } = budgeted({ maxCalls: 10 }, [{ execute: never }, { name: "other" }]);
    const context = () => executor.context({ runId });
    const many = failure(executor.runMany(times(10), { context: context(), concurrency: 4, signal: stop.signal }));
    await turns();
    expect(kinds(await executor.runMany(times(1, "other"), { context: context() }))).toEqual(["BudgetExceeded"]);
    stop.abort();
    await many;
    await turns();
    expect(await ledger.totals({ runId })).toMatchObject({ calls: 4, cost: 4 });
    const later = times(10, "other").map((call, index) => ({ ...call, callId: `o${index}` }));
    expect(howMany(await executor.runMany(later, { context: context() }), "ok")).toBe(6);
    expect(count.runs).toBe(10);
  });

  test("E9/budget: by a question that waits: all of it; the call takes its room again when it goes on", async () => {
    const asks = { name: "asks", effects: "write", confirm: true } as const;
    const port = new ScriptedPort(pending, yes());
    const { executor, again, ledger, runId } = budgeted({ maxCalls: 2 }, [{}, asks], { approval: port });
    expect(await kindOf(executor.run("asks", to, { context: again() }))).toBe("ApprovalPending");
    await executor.run("act", to, { context: again() });
    await executor.run("asks", to, { context: again() });
    expect(await ledger.totals({ runId })).toMatchObject({ calls: 2 });
    expect(await kindOf(executor.run("act", { to: "bob" }, { context: again() }))).toBe("BudgetExceeded");
  });
});

describe("what is refused", () => {
  test("E9/budget, B57: asks nobody and runs nothing", async () => {
    const port = new ScriptedPort(yes(), yes());
    const { executor, count } = budgeted({ maxCalls: 1 }, [{ effects: "write", confirm: true }], { approval: port });
    const outcomes = await executor.runMany(times(3));
    expect(kinds(outcomes)).toEqual(["ok", "BudgetExceeded", "BudgetExceeded"]);
    expect([count.runs, port.asked.length, port.tokens.length]).toEqual([1, 1, 1]);
  });

  test("E9/budget, B57: spends no approval that was given: with room again the call uses it", async () => {
    const asks = { name: "asks", effects: "write", confirm: true } as const;
    const port = new ScriptedPort(pending, yes());
    let budget = new BudgetHook({ maxCalls: 1 });
    const hook = { beforeTool: (...call: Parameters<BudgetHook["beforeTool"]>) => budget.beforeTool(...call) };
    const { executor, again } = budgeted({}, [{}, asks], { approval: port, hooks: [hook] });
    expect(await kindOf(executor.run("asks", to, { context: again() }))).toBe("ApprovalPending");
    await executor.run("act", to, { context: again() });
    expect(await kindOf(executor.run("asks", to, { context: again() }))).toBe("BudgetExceeded");
    expect(port.tokens).toEqual([]);
    budget = new BudgetHook({ maxCalls: 2 });
    await executor.run("asks", to, { context: again() });
    expect([port.asked.length, port.tokens.length]).toEqual([2, 1]);
    expect(new Set(port.asked.map(({ binding }) => binding)).size).toBe(1);
  });

  test("E2/limits, N1: is told to the model without amounts or arguments", async () => {
    const { executor } = budgeted({ maxCalls: 0, tools: { act: { maxCost: 0 } } });
    const error = await failure(executor.run("act", to, { callId: "c" }));
    expect(error).toMatchObject({
      kind: "BudgetExceeded",
      modelVisible: true,
      message: "the budget of this run (calls) is used up",
      tool: "act",
      callId: "c",
    });
    const other = budgeted({ maxCalls: 9, tools: { act: { maxCost: 0 } } });
    expect(await failure(other.executor.run("act", to))).toMatchObject({
      message: "the budget of act in this run (cost) is used up",
    });
  });
});

describe("what is free", () => {
  test("E9/budget: a replay, also when nothing is left", async () => {
    const { executor, again, count } = budgeted({ maxCalls: 1 });
    for (let i = 0; i < 3; i += 1) await executor.run("act", to, { context: again() });
    expect(count.runs).toBe(1);
  });

  test("E9/budget: cached results and refusals count nothing", async () => {
    const kept: Options = { cache: { ttlMs: 1000, scope: "run" } };
    const { executor, ledger } = budgeted({ maxCalls: 2 }, [{ ...kept, execute: () => 1 }, { name: "b" }]);
    const context = executor.context();
    for (let i = 0; i < 3; i += 1) await executor.run("act", to, { context });
    expect(await kindOf(executor.run("act", { to: 5 }, { context }))).toBe("ToolArgsInvalid");
    await executor.run("b", to, { context });
    expect(await ledger.totals({ runId: context.runId })).toMatchObject({ calls: 2, cost: 2 });
  });

  test("E9/budget: a tool that costs nothing, when only the cost is limited", async () => {
    const { executor, count } = budgeted({ maxCost: 0 }, [{ cost: 0 }]);
    expect(howMany(await executor.runMany(times(20)), "ok")).toBe(20);
    expect(count.runs).toBe(20);
  });
});

describe("whose budget it is", () => {
  test("E9/budget: each run has its own; two executors of one run that share ledger and hook share it", async () => {
    const budget = new BudgetHook({ maxCalls: 3 });
    const ledger = new MemoryLedger();
    const [a, b] = [0, 1].map(() => budgeted({}, [{}], { hooks: [budget], ledger }));
    const runId = crypto.randomUUID();
    const both = [a, b].map(async (one) => {
      const context = one?.executor.context({ runId, threadId: "t" });
      const named = times(5).map((call, index) => ({ ...call, callId: `${one === a}-${index}` }));
      return (await one?.executor.runMany(named, context === undefined ? {} : { context })) ?? [];
    });
    const outcomes = (await Promise.all(both)).flat();
    expect((a?.count.runs ?? 0) + (b?.count.runs ?? 0)).toBe(howMany(outcomes, "ok"));
    expect(howMany(outcomes, "ok")).toBe(3);
    expect(howMany((await a?.executor.runMany(times(3))) ?? [], "ok")).toBe(3);
  });

  test("E9/budget: limits of a tool are on top of those of the run, and count that tool only", async () => {
    const limits = { maxCalls: 5, tools: { a: { maxCalls: 2 }, b: { maxCost: 4 } } };
    const { executor } = budgeted(limits, [{ name: "a" }, { name: "b", cost: 2 }, { name: "c" }]);
    const outcomes = await executor.runMany([...times(4, "a"), ...times(4, "b"), ...times(4, "c")]);
    const ok = kinds(outcomes).map((kind, index) => (kind === "ok" ? ["a", "b", "c"][Math.floor(index / 4)] : "-"));
    expect(ok.filter((name) => name !== "-")).toEqual(["a", "a", "b", "b", "c"]);
  });

  test("E9/budget: nested calls count, too", async () => {
    const outer = {
      name: "outer",
      execute: (_args: unknown, ctx: { run: (t: string, a: unknown) => unknown }) => ctx.run("act", to),
    };
    const { executor, count } = budgeted({ maxCalls: 2 }, [outer, {}]);
    const context = executor.context();
    await executor.run("outer", to, { context });
    expect(await kindOf(executor.run("act", to, { context }))).toBe("BudgetExceeded");
    expect(count.runs).toBe(2);
  });
});

describe("a cost that only the result tells", () => {
  const bySize: Options = { cost: (_args, result) => String(result).length, execute: () => "four" };

  test("E9/budget: needs an estimate where a cost is limited", async () => {
    for (const limits of [{ maxCost: 100 }, { tools: { act: { maxCost: 100 } } }]) {
      const { executor, count } = budgeted(limits, [bySize]);
      expect(await kindOf(executor.run("act", to))).toBe("ToolUsageError");
      expect(count.runs).toBe(0);
    }
    const { executor } = budgeted({ maxCalls: 1, tools: { other: { maxCost: 1 } } }, [bySize]);
    expect(await executor.run("act", to)).toBe("four");
  });

  test("E9/budget: is reserved by the estimate and counted as it was", async () => {
    const { executor, ledger } = budgeted(
      { maxCost: 20, estimate: ({ tool: name }) => (name === "act" ? 6 : undefined) },
      [bySize],
    );
    const context = executor.context();
    expect(howMany(await executor.runMany(times(9), { context }), "ok")).toBe(3);
    expect(await ledger.totals({ runId: context.runId })).toMatchObject({ cost: 12 });
    const more = times(9).map((call, index) => ({ ...call, callId: `${index}` }));
    expect(howMany(await executor.runMany(more, { context }), "ok")).toBe(1);
  });

  test.each([[Number.NaN], [-1], [Number.POSITIVE_INFINITY]])("N1: an estimate of %d is none", async (estimate) => {
    const { executor } = budgeted({ maxCost: 20, estimate: () => estimate }, [bySize]);
    expect(await kindOf(executor.run("act", to))).toBe("ToolUsageError");
  });
});

test.each<[string, unknown]>([
  ["maxCalls", { maxCalls: -1 }],
  ["maxCost", { maxCost: Number.NaN }],
  ["maxCost", { maxCost: "5" }],
  ["pay", { tools: { pay: { maxCalls: -1 } } }],
  ["maxCall", { maxCall: 1 }],
  ["pay", { tools: { pay: { maxCost: null } } }],
])("N1: a limit that cannot be used is refused, naming it: %s of %j", (named, options) => {
  // What a program without types may give.
  expect(() => new BudgetHook(options as BudgetHookOptions)).toThrow(named);
});

test("E9/budget: a ledger that cannot be read refuses the call and holds nothing", async () => {
  const ledger = new MemoryLedger();
  const totals = ledger.totals.bind(ledger);
  const hold = gate();
  let down = true;
  ledger.totals = async (filter) => {
    await hold.wait;
    if (down) throw new Error("down");
    return totals(filter);
  };
  const { executor, count } = budgeted({ maxCalls: 1 }, [{}], { ledger });
  const context = executor.context();
  const first = failure(executor.run("act", to, { context, callId: "1" }));
  hold.open();
  expect(await first).toMatchObject({ message: "down" });
  down = false;
  await executor.run("act", to, { context, callId: "2" });
  expect(count.runs).toBe(1);
});

test("E9/budget: none of this left a rejection unhandled", async () => {
  await turns();
  expect(unhandled).toEqual([]);
});
