// Use the answer up in every place beyond this process that is configured, in order: checkpointer, claims store, the port's own
// store. Then, and only then, the tool may run.

import { denialError } from "../../approvals/denial.js";
import type { Mark } from "../../approvals/mark.js";
import { follow } from "../../approvals/transitions.js";
import { announceApproval } from "../../hooks/dispatch.js";
import { processState } from "../../journal/process-state.js";
import { about, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";
import { hookCall } from "../hook-call.js";

type Approved = NonNullable<Attempt["approved"]>;

export function useAnswer(attempt: Attempt, next: Next): Promise<unknown> {
  return attempt.approved === undefined ? next(attempt) : useThenRun(attempt, attempt.approved, next);
}

async function useThenRun(attempt: Attempt, approved: Approved, next: Next): Promise<unknown> {
  const { token, task } = attempt;
  if (token === undefined) throw new Error("internal: an answer is used before it was claimed");
  const { ask, verdict } = approved;
  const mark = markOf(attempt, token);
  await task.host.mark(mark);
  await attempt.parts.claims?.claim(task.claimKey(ask.binding), token, verdict.guardUntil);
  await verdict.consume(token);
  task.entry.marks.set(ask.binding, mark);
  attempt.claimed = true;
  attempt.decided();
  await announce(attempt, approved);
  if (!verdict.decision.approved) {
    follow("answered", "claim-won-by-denial", "deny");
    throw denialError(verdict.decision, about(attempt));
  }
  follow("answered", "claim-won", "run");
  // What was approved runs, wherever this attempt got its own arguments from.
  attempt.arguments = attempt.edit ?? ask.request.arguments;
  return next(attempt);
}

/** After the use: a hook that fails here has spent the answer, and the call fails. */
async function announce(attempt: Attempt, { ask, verdict }: Approved): Promise<void> {
  if (attempt.opened.length === 0) return;
  const state = verdict.decision.approved ? "approved" : "denied";
  await announceApproval(attempt.opened, hookCall(attempt), {
    state,
    binding: ask.binding,
    decidedBy: verdict.decidedBy,
    askedAt: ask.askedAt,
  });
}

function markOf({ approved, edit, parts }: Attempt, token: string): Mark {
  if (approved === undefined) throw new Error("internal: no decision to use");
  const { ask, verdict } = approved;
  return {
    v: 1,
    // Who waits behind it is in the newest ask only: kept in every mark it would grow with the square.
    record: { ...ask, waiting: [] },
    // With an edit as it runs: parsed, so that a replay says what ran.
    decision: edit === undefined ? verdict.decision : { ...verdict.decision, approved: true, editedArgs: edit },
    decidedBy: verdict.decidedBy ?? null,
    token,
    process: processState().id,
    claimedAt: parts.clock.now(),
  };
}
