// What rows beside a task run, or a checkpoint, say about it, put into the entry of this process. Owns what wins when both know.

import type { Mark } from "../approvals/mark.js";
import { keepOutcome } from "./journal.js";
import type { KeptOutcome } from "./outcome.js";
import { processState, type TaskEntry } from "./process-state.js";

/** A mark that was kept: its answer is used, unless the use was our own and did not reach every place. */
export function recallMark(entry: TaskEntry, mark: Mark): void {
  const { binding } = mark.record;
  const claim = processState().claims.get(binding);
  // Our own claim that did not reach every place: it goes on under its token, so its mark does not count as a use.
  if (claim?.state === "retry" && claim.token === mark.token) return;
  if (entry.marks.has(binding)) return;
  entry.marks.set(binding, mark);
  if (entry.asks.bound(binding) === undefined) entry.asks.remember(mark.record);
}

/** An outcome that was kept; what this process knows itself stays. */
export function recallOutcome(entry: TaskEntry, { callId, rawDigest, outcome }: KeptOutcome): void {
  const call = entry.calls.get(callId) ?? { rawDigest, outcome: undefined, running: undefined };
  entry.calls.set(callId, call);
  keepOutcome(entry, call, outcome);
}
