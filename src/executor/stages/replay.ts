// A call that finished answers at once; one that is running is joined; one whose answer was used is never used again.

import { CLOCK_SKEW_MS } from "../../approvals/claims.js";
import { transition, type CallState } from "../../approvals/transitions.js";
import type { Mark } from "../../approvals/mark.js";
import { denialError } from "../../approvals/denial.js";
import type { RunContext } from "../../context/run-context.js";
import { untilAborted } from "../../async/deadline.js";
import { ApprovalAlreadyDecided } from "../../errors.js";
import { replay } from "../../journal/outcome.js";
import { processState } from "../../journal/process-state.js";
import { groupSettled } from "../../journal/task-run.js";
import { about, portOf, specOf, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";
import { joinCall } from "../join-call.js";

/** For a tool without a timeout of its own. */
const UNKNOWN_AFTER_MS = 5 * 60 * 1000;

export function replayFinished(attempt: Attempt): Promise<void> | void {
  const { call, task } = attempt;
  const isNew = call.outcome === undefined && call.running === undefined && task.askOf(attempt.callId) === undefined;
  if (!isNew) return replayKnown(attempt);
}

async function replayKnown(attempt: Attempt): Promise<void> {
  await joinOrReplay(attempt);
  if (attempt.settled !== undefined) return;
  attempt.asked = attempt.task.askOf(attempt.callId);
  if (attempt.asked !== undefined) attempt.context = actingFor(attempt.context, attempt.asked.request.requestedBy);
  const mark = attempt.asked && attempt.task.entry.marks.get(attempt.asked.binding);
  if (mark !== undefined) await obeyMark(attempt, mark);
}

/** What the reviewer was shown under `requestedBy` is what the call acts as: whoever resumes lends it nothing. */
function actingFor(context: RunContext, requestedBy: string | null): RunContext {
  const principal = requestedBy ?? undefined;
  return context.principal === principal ? context : Object.freeze({ ...context, principal });
}

/**
 * Hooks, and the batch that a call waits in, take time: a call that nobody had been asked about may have been asked about,
 * denied or finished meanwhile by another run of it. One that came with an answer is refused by `approve` instead.
 */
export function replayMeanwhile(attempt: Attempt, next: Next): Promise<unknown> {
  if (attempt.settled !== undefined || !attempt.needsHuman || attempt.asked !== undefined) return next(attempt);
  return lookAgain(attempt, next);
}

/** A call that was over before it was performed ends here as it did then, or as `prepare` found. */
export function giveSettled(attempt: Attempt, next: Next): Promise<unknown> {
  const { settled } = attempt;
  if (settled === undefined) return next(attempt);
  return settled.ok ? Promise.resolve(settled.value) : Promise.reject(settled.error);
}

async function lookAgain(attempt: Attempt, next: Next): Promise<unknown> {
  await replayKnown(attempt);
  const shown = attempt.task.askOf(attempt.callId);
  const isSame = shown?.rawDigest === attempt.rawDigest;
  if (isSame && shown.request.definitionDigest === specOf(attempt).definitionDigest)
    attempt.arguments = shown.request.arguments;
  return next(attempt);
}

async function joinOrReplay(attempt: Attempt): Promise<void> {
  const { call } = attempt;
  if (call.outcome === undefined && call.running !== undefined) {
    const joined = await untilAborted(attempt.signal, joinCall(attempt, call.running));
    // An abandoned call that ended by its owner's abort: a plain one runs again, an approved one is unknown.
    if (joined.ok || !joined.lost) {
      attempt.settled = joined;
      attempt.replayed = joined.ok;
      return;
    }
  }
  if (call.outcome === undefined) return;
  attempt.settled = replay(call.outcome, about(attempt));
  attempt.replayed = true;
}

/** The answer was used and no outcome is known. */
async function obeyMark(attempt: Attempt, mark: Mark): Promise<void> {
  const state = stateOf(attempt, mark);
  const rule = transition(state, state === "running" ? "marked-elsewhere" : "re-run");
  if (rule.action === "replay") {
    attempt.settled = { ok: false, error: denialError(mark.decision, about(attempt)), lost: false };
    attempt.replayed = true;
  } else if (rule.action === "ask-again-unknown") {
    attempt.unknown = mark;
  } else {
    await groupSettled(attempt.task.group);
    throw new ApprovalAlreadyDecided(
      `another process used this approval and may still be running the call${askedAgain(mayRunForMs(attempt))}`,
      about(attempt),
    );
  }
}

function askedAgain(afterMs: number): string {
  if (!Number.isFinite(afterMs)) return "";
  return `; going on (in a graph, \`resume(app, null, config)\`) asks again ${Math.ceil(afterMs / 1000)} s after its use`;
}

function stateOf(attempt: Attempt, mark: Mark): CallState {
  const { parts } = attempt;
  if (!mark.decision.approved) return "denied";
  const elsewhere = mark.process !== processState().id;
  const young = parts.clock.now() - mark.claimedAt < mayRunForMs(attempt);
  return elsewhere && young ? "running" : "unknown";
}

/** How long another process may be at work under an answer it used: what the port says, else what the tool may take. */
function mayRunForMs(attempt: Attempt): number {
  const { spec } = attempt;
  const port = portOf(attempt);
  if (port === undefined) return Number.POSITIVE_INFINITY;
  if (port.unknownAfterMs !== undefined) return port.unknownAfterMs;
  if (spec?.timeoutMs === undefined) return UNKNOWN_AFTER_MS;
  const { maxAttempts, maxDelayMs } = spec.retry;
  return CLOCK_SKEW_MS + maxAttempts * spec.timeoutMs + (maxAttempts - 1) * maxDelayMs;
}
