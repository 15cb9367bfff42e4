// How much this process holds for tasks that wait: a plain call finished in each of them with a result of 1 KiB, another one
// asks. Real LangGraph; what the checkpointer holds is not counted, because only our own structure is let go between the two
// measurements.
import { randomBytes } from "node:crypto";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { z } from "zod";
import { defineTool, Executor, Registry } from "agent-adapter";
import { LangGraphApproval, toolNode } from "agent-adapter/langgraph";
import { ai } from "../langgraph.js";
import { forgetProcess } from "../process.js";
import { processState } from "../../../src/journal/process-state.js";

const tasks = Number(process.argv[2]);
const inputSchema = z.object({ n: z.number() });
const registry = new Registry([
  defineTool({
    name: "look",
    description: "Reads a kibibyte.",
    inputSchema,
    effects: "read",
    execute: () => randomBytes(768).toString("base64"),
  }),
  defineTool({ name: "pay", description: "Pays.", inputSchema, confirm: true, execute: () => "paid" }),
]);
/** Keeps nothing: entries are a ledger's business, and not a part of what waits. */
const ledger = {
  open: () => Promise.resolve(),
  close: () => Promise.resolve(),
  entries: () => Promise.resolve([]),
  totals: () => Promise.resolve({ calls: 0, cost: 0 }),
};
const approval = new LangGraphApproval({ key: "a shared secret of 16+ bytes" });
const executor = new Executor(registry, { approval, ledger: ledger as never });
const app = new StateGraph(MessagesAnnotation)
  .addNode("tools", toolNode(registry, { executor }))
  .addEdge(START, "tools")
  .compile({ checkpointer: new MemorySaver() });

for (let n = 0; n < tasks; n += 1) {
  const calls = [
    { name: "look", args: { n }, id: "look" },
    { name: "pay", args: { n }, id: "pay" },
  ];
  await app.invoke({ messages: [ai(calls)] }, { configurable: { thread_id: `thread-${n}` } });
}

function heap(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const kept = processState().tasks.size;
const full = heap();
forgetProcess();
console.log(JSON.stringify({ kept, bytes: full - heap() }));
