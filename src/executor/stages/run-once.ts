// The one running instance of a call: beside it nobody starts another, and what it came to is kept.

import { joinRunning, runOnce } from "../../journal/journal.js";
import { replay, type Settled } from "../../journal/outcome.js";
import { about, type Attempt } from "../attempt.js";
import { isControlFlow } from "../control-flow.js";

export async function once(attempt: Attempt, next: () => Promise<unknown>): Promise<unknown> {
  const { call, task, callId, signal } = attempt;
  const settled = await oneInstance();
  if (settled.ok) return settled.value;
  throw settled.error;

  // Another attempt may have finished it, or started it, while this one validated or asked.
  function oneInstance(): Promise<Settled> {
    if (call.outcome !== undefined) return Promise.resolve(replay(call.outcome, about(attempt)));
    if (call.running !== undefined) return joinRunning(task, call.running, about(attempt));
    return runOnce({ task, call, callId, approved: attempt.approved !== undefined, isLost, claimed }, next);
  }

  function isLost(error: unknown): boolean {
    return isControlFlow(error, signal);
  }
  // A denial needs no outcome: its mark says all there is to say.
  function claimed(): boolean {
    return attempt.claimed && attempt.approved?.verdict.decision.approved === true;
  }
}
