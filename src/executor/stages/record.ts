// One ledger entry per call, whatever happens to it. A ledger that cannot be written to refuses the call before it runs;
// after it ran its result is worth more than the entry, so a failed close is only logged.

import { digest } from "../../crypto/digest.js";
import type { LedgerClosing, LedgerStatus } from "../../ledger/ledger.js";
import { failureKind, isAgentAdapterError, StoreUnavailable } from "../../errors.js";
import { isThenable } from "../../tools/schema.js";
import { about, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";
import { isControlFlow, isHostSignal } from "../control-flow.js";

export function openEntry(attempt: Attempt): Promise<void> | void {
  const { context, parts } = attempt;
  try {
    const opening = parts.ledger.open({
      id: attempt.id,
      runId: context.runId,
      threadId: context.threadId,
      tool: attempt.name,
      callId: attempt.callId,
      principal: context.principal,
      argumentsDigest: attempt.rawDigest,
      arguments: attempt.raw,
      startedAt: parts.clock.now(),
    });
    if (isThenable(opening)) return opened(attempt, opening);
  } catch (error) {
    throw notStarted(attempt, error);
  }
}

async function opened(attempt: Attempt, opening: PromiseLike<void>): Promise<void> {
  try {
    await opening;
  } catch (error) {
    throw notStarted(attempt, error);
  }
}

function notStarted(attempt: Attempt, cause: unknown): StoreUnavailable {
  return new StoreUnavailable("the ledger cannot be written; the call was not started", { ...about(attempt), cause });
}

export async function closeEntry(attempt: Attempt, next: Next): Promise<unknown> {
  try {
    const value = await next(attempt);
    const closing = close(attempt, wellEnded(attempt));
    if (closing !== undefined) await closing;
    return value;
  } catch (error) {
    const end = knownEnd(attempt) ?? endBy(attempt, error);
    if (end !== undefined) await close(attempt, end);
    throw error;
  }
}

type End = Pick<LedgerClosing, "status" | "errorKind">;

const BY_KIND: ReadonlyMap<string, LedgerStatus> = new Map([
  ["ApprovalDenied", "denied"],
  ["ApprovalExpired", "expired"],
  ["ApprovalPending", "pending"],
  ["ToolTimeout", "timeout"],
]);

/** A result that came from the cache did so however often it is given again. */
function wellEnded({ call, fromCache }: Attempt): End {
  if (fromCache) call.fromCache = true;
  return { status: call.fromCache === true ? "cached" : "ok", errorKind: undefined };
}

/** The entry is about the call: asking again about one that is over does not change how it ended. */
function knownEnd(attempt: Attempt): End | undefined {
  const { outcome } = attempt.call;
  if (attempt.attempts > 0 || outcome === undefined) return undefined;
  if (outcome.status === "ok" || outcome.status === "ok-not-kept") return wellEnded(attempt);
  return failed(outcome.status === "expired" ? "ApprovalExpired" : outcome.kind);
}

/** `undefined`: another attempt owns the entry's end. */
function endBy(attempt: Attempt, error: unknown): End | undefined {
  if (isHostSignal(error)) return { status: "pending", errorKind: undefined };
  if (isControlFlow(error, attempt.signal) || (attempt.settled?.ok === false && attempt.settled.lost)) {
    return { status: attempt.claimed ? "unknown" : "cancelled", errorKind: undefined };
  }
  return isAgentAdapterError(error, "ApprovalAlreadyDecided") ? undefined : failed(failureKind(error));
}

function failed(kind: string): End {
  const status = BY_KIND.get(kind) ?? "failed";
  return { status, errorKind: status === "pending" ? undefined : kind };
}

/** Never fails. */
function close(attempt: Attempt, end: End): Promise<void> | void {
  const { parts, edit, approved, asked } = attempt;
  const closing = {
    status: end.status,
    errorKind: end.errorKind,
    attempts: attempt.attempts,
    durationMs: attempt.durationMs,
    cost: attempt.cost,
    binding: (approved?.ask ?? asked)?.binding,
    decidedBy: approved?.verdict.decidedBy,
    edit: edit === undefined ? undefined : { digest: digest("agent-adapter/arguments/v1", edit), arguments: edit },
  };
  try {
    const waiting = parts.ledger.close(attempt.id, closing);
    if (isThenable(waiting)) return closed(attempt, waiting);
  } catch {
    notClosed(attempt);
  }
}

async function closed(attempt: Attempt, closing: PromiseLike<void>): Promise<void> {
  try {
    await closing;
  } catch {
    notClosed(attempt);
  }
}

function notClosed({ parts, name }: Attempt): void {
  parts.logger.warn(`the ledger entry of a call of ${name} could not be closed`);
}
