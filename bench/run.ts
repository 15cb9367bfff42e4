// `npm run bench`: the speed table, ours against the real peers in one run. Prints figures; judges nothing by itself.

import { execFileSync } from "node:child_process";
import { Executor } from "agent-adapter";
import { compiledChain, localChain, mapped } from "./flows.js";
import { messageWith, newThread, ourApproval, ourRegistry, plainGraphs, rawApproval, theirTool } from "./graphs.js";
import { median, pair, type Pair } from "./sampler.js";

interface Row {
  readonly id: string;
  readonly what: string;
  readonly ours: string;
  readonly theirs: string;
  readonly ratio: string;
  readonly goal: string;
}

const ms = (value: number): string => (value < 1 ? `${(value * 1000).toFixed(1)} us` : `${value.toFixed(2)} ms`);

function row(id: string, what: string, { oursMs, theirsMs, ratio }: Pair, goal: string): Row {
  return { id, what, ours: ms(oursMs), theirs: ms(theirsMs), ratio: `${ratio.toFixed(2)}x`, goal };
}

async function executorRun(): Promise<Row> {
  const { registry, rate } = ourRegistry();
  const hook = { beforeTool: () => undefined, afterTool: () => undefined };
  const executor = new Executor(registry, { hooks: [hook, hook] });
  const context = executor.context({ runId: "bench" });
  let n = 0;
  const ours = { name: "executor.run", run: () => executor.run(rate, { item: "laptop", n: (n += 1) }, { context }) };
  const theirs = { name: "tool().invoke", run: () => theirTool.invoke({ item: "laptop", n: (n += 1) }) };
  return row(
    "S1",
    "executor.run / LangChain tool().invoke",
    await pair(ours, theirs, { rounds: 25, inner: 200 }),
    "<= 0.25x",
  );
}

async function toolNodes(calls: number, goal: string): Promise<Row> {
  const { ours, theirs } = plainGraphs();
  const run = (app: typeof ours) => () => app.invoke({ messages: [messageWith("rate", calls)] }, newThread());
  const result = await pair(
    { name: "toolNode", run: run(ours) },
    { name: "ToolNode", run: run(theirs) },
    { rounds: 25, inner: 8 },
  );
  return row("S2", `toolNode / ToolNode, ${calls} call${calls > 1 ? "s" : ""}`, result, goal);
}

async function pauses(): Promise<Row> {
  const [ours, raw] = [ourApproval(), rawApproval()];
  const result = await pair(
    { name: "signed", run: () => ours(1) },
    { name: "raw", run: () => raw(1) },
    { rounds: 25, inner: 8 },
  );
  return row("S3", "pause + signed resume / raw interrupt + resume", result, "<= 1.10x");
}

async function flows(): Promise<Row[]> {
  const [compiled, local, map] = [compiledChain(), localChain(), mapped()];
  const against = (ours: () => Promise<unknown>, theirs: () => Promise<unknown>, inner: number) =>
    pair({ name: "flow", run: ours }, { name: "LangGraph", run: theirs }, { rounds: 25, inner });
  const hand = await against(compiled.ours, compiled.theirs, 4);
  const plain = await against(local.ours, local.theirs, 8);
  const sealed = await against(local.oursSealed, local.theirsKept, 8);
  const items = await against(map.ours, map.theirs, 2);
  return [
    row("S4", "compiled flow of 10 nodes / the graph by hand", hand, "<= 1.10x"),
    row("S5", "local flow of 10 nodes / LangGraph, no saver", plain, "<= 0.05x"),
    row("S5", "the same, sealed at each step / MemorySaver", sealed, "<= 0.10x"),
    row("S6", "compiled map over 100 items / 100 Sends", items, "<= 0.10x"),
  ];
}

/** How much longer the last ten steps of a hundred take than the first ten. */
async function growth(): Promise<Row> {
  const grown = async (drive: (calls: number) => Promise<number[]>) => {
    const runs = [await drive(100), await drive(100), await drive(100)];
    return median(runs.map((steps) => median(steps.slice(-10)) / median(steps.slice(1, 11))));
  };
  const [ours, raw] = [await grown(ourApproval()), await grown(rawApproval())];
  const ratio = `${(ours / raw).toFixed(2)}x`;
  return {
    id: "S7",
    what: "100 approvals in one node, growth last/first",
    ours: `${ours.toFixed(2)}x`,
    theirs: `${raw.toFixed(2)}x`,
    ratio,
    goal: "<= 1.3x",
  };
}

function memory(): Row[] {
  const args = ["--expose-gc", "--import", "tsx", "--conditions=agent-adapter-source", "bench/memory.ts"];
  const { heapMiB, warnings } = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as {
    heapMiB: number;
    warnings: number;
  };
  return [
    {
      id: "S8",
      what: "10 000 paused tasks, 1 KiB results: heap",
      ours: `${heapMiB.toFixed(1)} MiB`,
      theirs: "",
      ratio: "",
      goal: "<= 64 MiB",
    },
    {
      id: "S10",
      what: "listener warnings of 100 calls in one node",
      ours: String(warnings),
      theirs: "",
      ratio: "",
      goal: "0",
    },
  ];
}

/** Whole processes that import the built package, and zod alone. */
function importing(): Row {
  const time = (specifier: string) => {
    const script = `const t = performance.now(); await import(${JSON.stringify(specifier)}); console.log(performance.now() - t)`;
    const samples = Array.from({ length: 9 }, () =>
      Number(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" })),
    );
    return median(samples);
  };
  const [ours, zod] = [time("agent-adapter"), time("zod")];
  return {
    id: "S9",
    what: "import agent-adapter / import zod",
    ours: ms(ours),
    theirs: ms(zod),
    ratio: "",
    goal: "not above zod + 25 ms",
  };
}

function print(rows: readonly Row[]): void {
  const head: Row = { id: "id", what: "what", ours: "ours", theirs: "theirs", ratio: "ratio", goal: "goal" };
  const columns: readonly (keyof Row)[] = ["id", "what", "ours", "theirs", "ratio", "goal"];
  const widths = columns.map((column) => Math.max(...[head, ...rows].map((one) => one[column].length)));
  const line = (one: Row) =>
    columns
      .map((column, index) => one[column].padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd();
  console.log(
    [line(head), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map((one) => line(one))].join("\n"),
  );
}

const steps: readonly (() => Promise<Row | Row[]> | Row | Row[])[] = [
  executorRun,
  () => toolNodes(1, "<= 1.0x"),
  () => toolNodes(10, "<= 0.8x"),
  () => toolNodes(100, "<= 0.5x"),
  pauses,
  growth,
  flows,
  memory,
  importing,
];
const rows: Row[] = [];
for (const [index, step] of steps.entries()) {
  process.stderr.write(`measuring ${index + 1} of ${steps.length}\n`);
  rows.push(...[await step()].flat());
}
print(rows);
