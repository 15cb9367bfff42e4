// The one running instance of a call: beside it nobody starts another, and what it came to is kept.

import { runOnce } from "../../journal/journal.js";
import { replay, type Settled } from "../../journal/outcome.js";
import type { RunningCall } from "../../journal/process-state.js";
import { about, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";
import { isControlFlow, isHostSignal } from "../control-flow.js";
import { joinCall } from "../join-call.js";

/** The run that started it was aborted, and this one was not: a call that needed nobody runs again. */
function mayRunAnew({ approved, signal }: Attempt, settled: Settled): boolean {
  const aborted = !settled.ok && settled.lost && !isHostSignal(settled.error);
  return aborted && approved === undefined && signal?.aborted !== true;
}

export async function once(attempt: Attempt, next: Next): Promise<unknown> {
  const { call } = attempt;
  let settled: Settled | undefined;
  // Another attempt may have finished it, or started it, while this one validated or asked.
  while (settled === undefined) {
    if (call.outcome !== undefined) settled = replay(call.outcome, about(attempt));
    else if (call.running === undefined) settled = await runInstance(attempt, next);
    else settled = await joined(attempt, call.running);
  }
  if (settled.ok) return settled.value;
  throw settled.error;
}

/** What the running instance came to; `undefined` when the call is free again. */
async function joined(attempt: Attempt, running: RunningCall): Promise<Settled | undefined> {
  const settled = await joinCall(attempt, running);
  return mayRunAnew(attempt, settled) ? undefined : settled;
}

function runInstance(attempt: Attempt, next: Next): Promise<Settled> {
  const { call, task, callId, signal } = attempt;
  const approved = attempt.approved !== undefined;
  const isLost = (error: unknown): boolean => isControlFlow(error, signal);
  // A denial needs no outcome: its mark says all there is to say.
  const claimed = (): boolean => attempt.claimed && attempt.approved?.verdict.decision.approved === true;
  return runOnce({ task, call, callId, approved, isLost, claimed }, () => next(attempt));
}
