// What this process remembers about a whole run: the first results of tools that run once per run. And whose memory it is.

import type { RunContext } from "../context/run-context.js";
import { taskEntry, type TaskEntry } from "../journal/process-state.js";
import type { ExecutorParts } from "./parts.js";

/**
 * Whose runs these are. Threads and runs are named by callers, and two tenants in one process may choose the same names: they
 * have different secrets. An application that builds its executor anew for each request goes on, having the same one.
 * Without a secret nothing tells executors apart but themselves.
 */
export function ownerOf({ id, keys }: Pick<ExecutorParts, "id" | "keys">): string {
  return keys.perProcess ? id : keys.identity();
}

/** What makes a run: whose it is, its thread where there is one, else this executor, and its id. */
export function runEntry(parts: ExecutorParts, { threadId, runId }: RunContext): TaskEntry {
  return taskEntry(JSON.stringify(["once", ownerOf(parts), threadId ?? parts.id, runId]), parts.clock.now());
}
