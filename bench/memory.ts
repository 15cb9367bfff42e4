// How much heap 10 000 paused tasks with 1 KiB results hold, and whether many calls in one node make Node warn. Each in a
// process of its own, so that nothing else is counted.

import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { processState, taskEntry } from "../src/journal/process-state.js";
import { callEntry, keepOutcome } from "../src/journal/journal.js";
import { toolNode } from "agent-adapter/langgraph";
import { messageWith, newThread, ourRegistry } from "./graphs.js";

const TASKS = 10_000;
const RESULT = JSON.stringify("x".repeat(1022));

function heapMiB(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

function pausedTasks(): number {
  const before = heapMiB();
  for (let n = 0; n < TASKS; n += 1) {
    const entry = taskEntry(`task-${n}`, Date.now());
    // A string of its own, as a real result would be.
    keepOutcome(entry, callEntry(entry, "c1", "digest"), { status: "ok", json: `${RESULT.slice(0, -6)}${n}"` });
  }
  const held = heapMiB() - before;
  if (processState().tasks.size !== TASKS) throw new Error("not all tasks are kept");
  return held;
}

async function warnings(): Promise<number> {
  const seen: string[] = [];
  process.on("warning", (warning) => seen.push(warning.name));
  const { registry } = ourRegistry();
  const app = new StateGraph(MessagesAnnotation)
    .addNode("tools", toolNode(registry))
    .addEdge(START, "tools")
    .addEdge("tools", END)
    .compile();
  const signal = new AbortController().signal;
  const out = await app.invoke({ messages: [messageWith("rate", 100)] }, { ...newThread(), signal });
  if (out.messages.filter((message) => !AIMessage.isInstance(message)).length !== 100)
    throw new Error("not all calls ran");
  await new Promise((resolve) => setTimeout(resolve, 10));
  return seen.filter((name) => name === "MaxListenersExceededWarning").length;
}

console.log(JSON.stringify({ heapMiB: pausedTasks(), warnings: await warnings() }));
