// Take the answer in this process, in one synchronous step. Whoever comes second is refused, after the approved calls that
// run beside it have settled: an error thrown earlier would make LangGraph abort them. When a later place fails before the
// answer was used everywhere, it stays unspent for this process, which goes on under the same token.

import { letClaimBeRetried, takeClaim } from "../../approvals/claims.js";
import { follow } from "../../approvals/transitions.js";
import { ApprovalAlreadyDecided, isAgentAdapterError } from "../../errors.js";
import { groupSettled } from "../../journal/task-run.js";
import { about, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";

export function claim(attempt: Attempt, next: Next): Promise<unknown> {
  return attempt.approved === undefined ? next(attempt) : claimFirst(attempt, attempt.approved, next);
}

async function claimFirst(attempt: Attempt, approved: NonNullable<Attempt["approved"]>, next: Next): Promise<unknown> {
  const { parts, task } = attempt;
  attempt.signal?.throwIfAborted();
  const key = task.claimKey(approved.ask.binding);
  attempt.token = takeClaim(key, approved.verdict.guardUntil, parts.clock.now());
  if (attempt.token === undefined) {
    follow("answered", "claim-lost", "refuse-as-used");
    await groupSettled(task.group);
    throw new ApprovalAlreadyDecided("this approval was used before", about(attempt));
  }
  try {
    return await next(attempt);
  } catch (error) {
    const lost = isAgentAdapterError(error, "ApprovalAlreadyDecided");
    if (attempt.claimed) throw error;
    // Another process was first: the same wait as above, or its error would abort what runs here.
    if (lost) await groupSettled(task.group);
    else {
      follow("answered", "failure-before-claim", "keep-answer");
      letClaimBeRetried(key);
    }
    throw error;
  }
}
