// What this process remembers about a whole run: the first results of tools that run once per run.

import type { RunContext } from "../context/run-context.js";
import { taskEntry, type TaskEntry } from "../journal/process-state.js";
import type { ExecutorParts } from "./parts.js";

/** What makes a run: its thread where there is one, else this executor, and its id. */
export function runEntry(parts: ExecutorParts, { threadId, runId }: RunContext): TaskEntry {
  return taskEntry(JSON.stringify(["once", threadId ?? parts.id, runId]), parts.clock.now());
}
