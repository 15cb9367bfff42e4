// One ledger entry per call, whatever happens to it. A ledger that cannot be written to refuses the call before it runs;
// after it ran its result is worth more than the entry, so a failed close is only logged.

import { digest } from "../../crypto/digest.js";
import { failureKind, type Settled } from "../../journal/outcome.js";
import type { LedgerStatus } from "../../ledger/ledger.js";
import { isAgentAdapterError, StoreUnavailable, type ErrorKind } from "../../errors.js";
import { about, type Attempt } from "../attempt.js";
import { isControlFlow, isHostSignal } from "../control-flow.js";

export async function openEntry(attempt: Attempt): Promise<void> {
  const { context, parts } = attempt;
  try {
    await parts.ledger.open({
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
  } catch (error) {
    throw new StoreUnavailable("the ledger cannot be written; the call was not started", {
      ...about(attempt),
      cause: error,
    });
  }
}

export async function closeEntry(attempt: Attempt, next: () => Promise<unknown>): Promise<unknown> {
  try {
    const value = await next();
    await close(attempt, attempt.fromCache ? "cached" : "ok", undefined);
    return value;
  } catch (error) {
    const status = statusOf(attempt, error);
    if (status !== undefined) await close(attempt, status, error);
    throw error;
  }
}

const BY_KIND: Partial<Record<ErrorKind, LedgerStatus>> = {
  ApprovalDenied: "denied",
  ApprovalExpired: "expired",
  ApprovalPending: "pending",
  ToolTimeout: "timeout",
};

/** `undefined`: another attempt owns the entry's end. */
function statusOf(attempt: Attempt, error: unknown): LedgerStatus | undefined {
  if (isHostSignal(error)) return "pending";
  if (isControlFlow(error, attempt.signal)) return attempt.claimed ? "unknown" : "cancelled";
  if (!isAgentAdapterError(error)) return "failed";
  if (error.kind === "ApprovalAlreadyDecided") return attempt.replayed ? "failed" : undefined;
  return BY_KIND[error.kind] ?? "failed";
}

async function close(attempt: Attempt, status: LedgerStatus, error: unknown): Promise<void> {
  const { parts, edit, approved, asked } = attempt;
  const closing = {
    status,
    errorKind: error === undefined || status === "pending" ? undefined : failureKind(error),
    attempts: attempt.attempts,
    durationMs: attempt.durationMs,
    cost: attempt.cost,
    binding: (approved?.ask ?? asked)?.binding,
    decidedBy: approved?.verdict.decidedBy,
    edit: edit === undefined ? undefined : { digest: digest("agent-adapter/arguments/v1", edit), arguments: edit },
  };
  try {
    await parts.ledger.close(attempt.id, closing);
  } catch {
    parts.logger.warn(`the ledger entry of a call of ${attempt.name} could not be closed`);
  }
}

/** A call that was over before it was performed ends here as it did then, or as `prepare` found. */
export async function giveSettled(attempt: Attempt, next: () => Promise<unknown>): Promise<unknown> {
  const settled: Settled | undefined = attempt.settled;
  if (settled === undefined) return next();
  if (settled.ok) return settled.value;
  throw settled.error;
}
