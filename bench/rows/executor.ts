// S1, and what calls of the executor cost when arguments, batches and ledgers grow.

import { tool } from "@langchain/core/tools";
import { BudgetHook, Executor, Registry } from "agent-adapter";
import { grow } from "../measure/grow.js";
import { always } from "../measure/side.js";
import type { Row } from "../row.js";
import { argumentsOf, ourTools, rowsSchema, theirRate } from "../subjects/tools.js";

const hook = { beforeTool: () => undefined, afterTool: () => undefined };

const s1: Row = {
  kind: "pair",
  name: "S1",
  what: "executor.run, two hooks",
  peer: "LangChain tool().invoke",
  goal: 0.25,
  open: () => {
    const { registry, rate } = ourTools();
    const executor = new Executor(registry, { hooks: [hook, hook] });
    const context = executor.context({ runId: "bench" });
    let n = 0;
    return {
      ours: always(() => executor.run(rate, { item: "laptop", n: (n += 1) }, { context })),
      peer: always(() => theirRate.invoke({ item: "laptop", n: (n += 1) })),
    };
  },
};

const largeArguments: Row = {
  kind: "growth",
  name: "growth-arguments",
  what: "executor.run, arguments of n bytes",
  peer: "LangChain tool().invoke",
  unit: "B",
  sizes: [100, 1000, 10_000, 100_000, 1_000_000],
  open: (bytes) => {
    const registry = new Registry();
    const count = ({ rows }: { readonly rows: readonly unknown[] }) => `${rows.length}`;
    const fields = { name: "count", description: "counts" };
    const ours = registry.tool({ ...fields, inputSchema: rowsSchema, effects: "read", execute: count });
    const theirs = tool(count, { ...fields, schema: rowsSchema });
    const executor = new Executor(registry);
    const args = argumentsOf(bytes);
    return { ours: always(() => executor.run(ours, args)), peer: always(() => theirs.invoke(args)) };
  },
};

const batch: Row = {
  kind: "growth",
  name: "growth-batch",
  what: "runMany of n calls",
  peer: "Promise.all of n tool().invoke",
  unit: "calls",
  sizes: [1, 10, 100, 1000],
  open: (calls) => {
    const { registry, rate } = ourTools();
    const executor = new Executor(registry);
    const args = Array.from({ length: calls }, (_, n) => ({ item: "laptop", n }));
    return {
      ours: always(() => executor.runMany(args.map((each) => ({ tool: rate.name, args: each })))),
      peer: always(() => Promise.all(args.map((each) => theirRate.invoke(each)))),
    };
  },
};

/** Each run of a program with a budget: what does a call cost when so many calls of other runs are in the ledger? */
const budget: Row = {
  kind: "figure",
  name: "growth-ledger",
  what: "10 calls with a BudgetHook, n calls of other runs in the MemoryLedger",
  peer: null,
  unit: "entries",
  goal: "no growth",
  measure: async (effort) => {
    const { registry, rate } = ourTools();
    const budgeted = () => new Executor(registry, { hooks: [new BudgetHook({ maxCalls: 1000 })] });
    const tenOf = (executor: Executor) => async () => {
      const context = executor.context();
      for (let n = 0; n < 10; n += 1) await executor.run(rate, { item: "laptop", n }, { context });
    };
    const open = async (entries: number) => {
      // Warmed up on a ledger of its own: the runs that are timed are entries, too, and must be few.
      const warm = tenOf(budgeted());
      for (let n = 0; n < 200 * effort.share; n += 1) await warm();
      const executor = budgeted();
      for (let n = 0; n < entries; n += 1) await executor.run(rate, { item: "laptop", n });
      return { ours: always(tenOf(executor)) };
    };
    const grown = await grow([100, 1000, 10_000], open, { ...effort, roundMs: 0, warmMs: 0 });
    const [first, last] = [grown.points[0], grown.points.at(-1)];
    const times = (last?.ours.cpuMs ?? Number.NaN) / (first?.ours.cpuMs ?? Number.NaN);
    return { ours: `${times.toFixed(1)}x from ${first?.n} to ${last?.n}`, met: times < 2, grown };
  },
};

export const executorRows = [s1, largeArguments, batch, budget];
