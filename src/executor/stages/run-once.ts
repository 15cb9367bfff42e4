// The one running instance of a call: beside it nobody starts another, and what it came to is kept.

import { runOnce } from "../../journal/journal.js";
import { replay, type Settled } from "../../journal/outcome.js";
import { about, type Attempt } from "../attempt.js";
import { isControlFlow, isHostSignal } from "../control-flow.js";
import { joinCall } from "../join-call.js";

/** The run that started it was aborted, and this one was not: a call that needed nobody runs again. */
function mayRunAnew({ approved, signal }: Attempt, joined: Settled): boolean {
  const aborted = !joined.ok && joined.lost && !isHostSignal(joined.error);
  return aborted && approved === undefined && signal?.aborted !== true;
}

export async function once(attempt: Attempt, next: () => Promise<unknown>): Promise<unknown> {
  const { call, task, callId, signal } = attempt;
  const settled = await oneInstance();
  if (settled.ok) return settled.value;
  throw settled.error;

  // Another attempt may have finished it, or started it, while this one validated or asked.
  async function oneInstance(): Promise<Settled> {
    for (;;) {
      if (call.outcome !== undefined) return replay(call.outcome, about(attempt));
      if (call.running === undefined)
        return runOnce({ task, call, callId, approved: attempt.approved !== undefined, isLost, claimed }, next);
      const joined = await joinCall(attempt, call.running);
      if (!mayRunAnew(attempt, joined)) return joined;
    }
  }

  function isLost(error: unknown): boolean {
    return isControlFlow(error, signal);
  }
  // A denial needs no outcome: its mark says all there is to say.
  function claimed(): boolean {
    return attempt.claimed && attempt.approved?.verdict.decision.approved === true;
  }
}
