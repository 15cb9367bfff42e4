// S8, S9, S10: what a process holds, how long the package takes to load, and what Node warns about.

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { AIMessage } from "@langchain/core/messages";
import { MemorySaver, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { Executor, Registry } from "agent-adapter";
import { fanOut, LangGraphApproval, toolNode, toolTask } from "agent-adapter/langgraph";
import { z } from "zod";
import { median, spread } from "../measure/statistics.js";
import type { FigureRow } from "../row.js";
import { around, newThread } from "../subjects/graphs.js";
import { forgetProcess, rememberedTasks } from "../subjects/process.js";
import { KEY, messageWith, ourTools } from "../subjects/tools.js";

const MIB = 1024 * 1024;
const TASKS = 10_000;

/** Keeps nothing: entries are the ledger's, and not part of what waits. */
const noLedger = {
  open: () => Promise.resolve(),
  close: () => Promise.resolve(),
  entries: () => Promise.resolve([]),
  totals: () => Promise.resolve({ calls: 0, attempts: 0, durationMs: 0, cost: 0 }),
};

function heap(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const s8: FigureRow = {
  kind: "figure",
  name: "S8",
  what: "heap held for 10 000 paused tasks, a finished 1 KiB result in each",
  peer: null,
  goal: "<= 64 MiB, all remembered",
  measure: async (effort) => {
    const tasks = Math.round(TASKS * effort.share);
    const registry = new Registry();
    const inputSchema = z.object({ item: z.string(), n: z.number() });
    const kibibyte = () => randomBytes(768).toString("base64");
    registry.tool({ name: "rate", description: "a rate", inputSchema, effects: "read", execute: kibibyte });
    registry.tool({ name: "pay", description: "a payment", inputSchema, confirm: true, execute: () => "paid" });
    const executor = new Executor(registry, { approval: new LangGraphApproval({ key: KEY }), ledger: noLedger });
    const app = around(toolNode(registry, { executor })).compile({ checkpointer: new MemorySaver() });
    const call = (name: string, n: number) => ({ name, args: { item: "laptop", n }, id: name });
    for (let n = 0; n < tasks; n += 1) {
      const message = new AIMessage({ content: "", tool_calls: [call("rate", n), call("pay", n)] });
      await app.invoke({ messages: [message] }, newThread());
    }
    const kept = rememberedTasks();
    const full = heap();
    // What the checkpointer holds stays; only what the package remembers is let go.
    forgetProcess();
    const mib = (full - heap()) / MIB;
    const ours = `${mib.toFixed(1)} MiB, ${kept} of ${tasks} remembered`;
    // A part of them says nothing about the limits that all of them meet.
    return tasks < TASKS ? { ours } : { ours, met: mib <= 64 && kept === tasks };
  },
};

/** Whole processes of Node without a loader. */
function importTime(specifier: string, flags: readonly string[]): number {
  const script = `const t = performance.now(); await import(${JSON.stringify(specifier)}); console.log(performance.now() - t)`;
  return Number(execFileSync(process.execPath, [...flags, "--input-type=module", "-e", script], { encoding: "utf8" }));
}

const s9: FigureRow = {
  kind: "figure",
  name: "S9",
  what: "import agent-adapter, in a new process",
  peer: "import zod",
  goal: "<= zod + 25 ms",
  measure: (effort) => {
    // From sources it needs the loader that this process has, and the figure is the loader's.
    const flags = import.meta.resolve("agent-adapter").includes("/dist/") ? [] : process.execArgv;
    const rounds: { readonly ours: number; readonly peer: number }[] = [];
    for (let round = 0; round < effort.rounds; round += 1) {
      rounds.push({ ours: importTime("agent-adapter", flags), peer: importTime("zod", []) });
    }
    const [ours, peer] = [median(rounds.map((one) => one.ours)), median(rounds.map((one) => one.peer))];
    return Promise.resolve({
      ours: `${ours.toFixed(1)} ms`,
      peer: `${peer.toFixed(1)} ms`,
      ratio: spread(rounds.map((one) => one.ours / one.peer)),
      met: ours - peer <= 25,
    });
  },
};

/** Warnings of a body, and how many of them are about listeners that this package added. */
async function warningsOf(body: () => Promise<unknown>) {
  const places: string[] = [];
  const see = ({ name, stack = "" }: Error) => {
    if (name === "MaxListenersExceededWarning") places.push(caller(stack));
  };
  process.on("warning", see);
  await body();
  // Node tells of them in a later turn.
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.off("warning", see);
  return { all: places.length, own: places.filter((place) => !place.includes("/node_modules/")).length };
}

/** The first line of a stack that is not Node's own: who added the listener. */
function caller(stack: string): string {
  const lines = stack.split("\n").slice(1);
  return lines.find((line) => !line.includes("node:") && line.includes("/")) ?? "";
}

const withSignal = () => ({ ...newThread(), signal: new AbortController().signal });

async function callsInOneNode(calls: number): Promise<void> {
  const app = around(toolNode(ourTools().registry)).compile();
  const { messages } = await app.invoke({ messages: [messageWith("rate", calls)] }, withSignal());
  if (messages.length !== calls + 1) throw new Error(`${messages.length - 1} of ${calls} calls were answered`);
}

async function sends(count: number): Promise<void> {
  const { rate } = ourTools();
  const State = MessagesAnnotation;
  const items = Array.from({ length: count }, (_, n) => ({ item: "laptop", n }));
  const app = new StateGraph(State)
    .addNode("one", toolTask(rate, { into: "messages" }) as never)
    .addConditionalEdges(START, fanOut("one", () => items) as never, ["one"] as never)
    .compile();
  const { messages } = await app.invoke({ messages: [] }, withSignal());
  if (messages.length !== count) throw new Error(`${messages.length} of ${count} items ran`);
}

async function sendsByHand(count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, n) => ({ item: "laptop", n }));
  const app = new StateGraph(MessagesAnnotation)
    .addNode("one", () => ({ messages: "done" as never }))
    .addConditionalEdges(START, () => items.map((item) => new Send("one", item)), ["one"] as never)
    .compile();
  await app.invoke({ messages: [] }, withSignal());
}

const s10: FigureRow = {
  kind: "figure",
  name: "S10",
  what: "MaxListenersExceededWarning of 100 calls in one node and of 100 Sends",
  peer: "100 Sends by hand",
  goal: "none of ours",
  measure: async () => {
    const node = await warningsOf(() => callsInOneNode(100));
    const fanned = await warningsOf(() => sends(100));
    const { all } = await warningsOf(() => sendsByHand(100));
    const own = node.own + fanned.own;
    return { ours: `${node.all} and ${fanned.all}, ${own} of them ours`, peer: `${all}`, met: own === 0 };
  },
};

export const footprintRows = [s8, s9, s10];
