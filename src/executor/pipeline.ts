// Two phases of one call. Prepare is a list: each stage looks, notes, and may settle the call. Perform is an onion: each
// stage wraps the next. Between them a batch decides what runs now and what waits for a human.

import { isControlFlow } from "./control-flow.js";
import type { Attempt } from "./attempt.js";

/** Looks at the call; throwing or setting `settled` ends it before it is performed. */
export type PrepareStage = (attempt: Attempt) => Promise<void> | void;
/** Everything that comes after a stage. */
export type Next = (attempt: Attempt) => Promise<unknown>;
/** Wraps what comes after it. A stage that has nothing to do for a call hands on `next(attempt)` as it is: promises cost. */
export type PerformStage = (attempt: Attempt, next: Next) => Promise<unknown>;

/** Run the prepare stages until one settles the call. Never rejects: what a stage throws is how the call ended. */
export async function prepare(stages: readonly PrepareStage[], attempt: Attempt): Promise<void> {
  for (const stage of stages) {
    try {
      // Each stage reads what the one before it noted.
      const waiting = stage(attempt);
      if (waiting !== undefined) await waiting;
      attempt.signal?.throwIfAborted();
    } catch (error) {
      attempt.settled = { ok: false, error, lost: isControlFlow(error, attempt.signal) };
    }
    if (attempt.settled !== undefined) return;
  }
}

/** Compose the perform stages into one function, once for all calls; the first is the outermost. */
export function compose(stages: readonly PerformStage[]): Next {
  return stages.reduceRight<Next>((next, stage) => (attempt) => stage(attempt, next), afterLast);
}

function afterLast(): never {
  throw new Error("internal: the last stage called next");
}
