// Many tasks, a few at a time. Owns the order of results and what happens to queued tasks after an abort; no timers.
import { ToolUsageError } from "../errors.js";

/**
 * Runs all tasks, at most `concurrency` at once, and gives what became of each, in input order. Never rejects because a
 * task did. After `signal` aborts no queued task starts (its result is a rejection with `signal.reason`); running ones
 * are waited for. Throws `ToolUsageError` when `concurrency` is not a whole number of at least 1, or Infinity.
 */
export async function settleAll<T>(
  tasks: readonly (() => Promise<T>)[],
  concurrency: number,
  signal?: AbortSignal,
): Promise<PromiseSettledResult<T>[]> {
  checkConcurrency(concurrency);
  const results = Array.from<PromiseSettledResult<T>>({ length: tasks.length });
  // One iterator for all workers: whoever is free takes the next task.
  const queue = [...tasks].entries();
  const worker = async (): Promise<void> => {
    for (const [index, task] of queue) results[index] = await settle(task, signal);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, worker));
  return results;
}

/**
 * Refuses what is no concurrency.
 *
 * @throws ToolUsageError when it is not a whole number of at least 1, or Infinity
 */
export function checkConcurrency(concurrency: number): void {
  if (concurrency !== Infinity && !(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new ToolUsageError("`concurrency` must be a whole number of at least 1, or Infinity");
  }
}

async function settle<T>(task: () => Promise<T>, signal: AbortSignal | undefined): Promise<PromiseSettledResult<T>> {
  try {
    signal?.throwIfAborted();
    return { status: "fulfilled", value: await task() };
  } catch (reason) {
    return { status: "rejected", reason };
  }
}
