// The one running instance of a call: beside it nobody starts another, and what it came to is kept.

import { joinRunning, runOnce } from "../../journal/journal.js";
import { about, type Attempt } from "../attempt.js";
import { isControlFlow } from "../control-flow.js";

export async function once(attempt: Attempt, next: () => Promise<unknown>): Promise<unknown> {
  const { call, task, callId, signal } = attempt;
  // Another attempt may have started it, or finished it, while this one validated or asked.
  const settled =
    call.running === undefined
      ? await runOnce({ task, call, callId, approved: attempt.approved !== undefined, isLost, claimed }, next)
      : await joinRunning(task, call.running, about(attempt));
  if (settled.ok) return settled.value;
  throw settled.error;

  function isLost(error: unknown): boolean {
    return isControlFlow(error, signal);
  }
  // A denial needs no outcome: its mark says all there is to say.
  function claimed(): boolean {
    return attempt.claimed && attempt.approved?.verdict.decision.approved === true;
  }
}
