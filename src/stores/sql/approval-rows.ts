// An approval as a row, and back. What a row says is judged by whoever uses it: `changeRecord` and the ports compare the
// request with its id before anything is decided or run.

import type { ApprovalRequest } from "../../index.js";
import {
  decidedByOf,
  parseAnswer,
  parseDecision,
  RECORD_TRANSITIONS,
  type ApprovalRecord,
  type ApprovalStatus,
  type GivenDecision,
} from "../../spi.js";
import { jsonIn, numberIn, numberOrNullIn, textIn, textOrNullIn, unreadable } from "./rows.js";
import type { SqlRow, SqlValue } from "./sql-client.js";
import { fromColumn, jsonColumn, keyOf, toColumn } from "./text.js";

/** What was taken once is read back, whatever the limits were. */
const NO_LIMITS = { maxDepth: 256, maxBytes: 2 ** 28 };

/** Columns and values of a record that is new. */
export function insertedColumns(record: ApprovalRecord): Readonly<Record<string, SqlValue>> {
  const { id, status, request, createdAt } = record;
  return {
    id,
    status,
    run_key: keyOf(request.runId),
    thread_key: request.threadId === null ? null : keyOf(request.threadId),
    request: jsonColumn(request),
    created_at: createdAt,
    over_at: overAt(record, createdAt),
  };
}

/** Columns and values that a change may write. */
export function changedColumns(record: ApprovalRecord, at: number): Readonly<Record<string, SqlValue>> {
  const { status, decision, answer, decidedAt, usedBy, usedAt, supersededBy } = record;
  return {
    status,
    // A signed answer holds its decision; kept whole, it can be checked again.
    decision: decision === null ? null : jsonColumn(answer ?? decision),
    decided_at: decidedAt,
    used_by: usedBy,
    used_at: usedAt,
    superseded_by: supersededBy === null ? null : toColumn(supersededBy),
    over_at: overAt(record, at),
  };
}

/** @throws StoreUnavailable when this release did not write the row */
export function recordOf(row: SqlRow): ApprovalRecord {
  const given = givenIn(row);
  const supersededBy = textOrNullIn(row, "superseded_by");
  return Object.freeze({
    id: textIn(row, "id"),
    // Whoever decides, uses or shows it recomputes its binding: a request that is none fails there, closed.
    request: jsonIn(row, "request") as ApprovalRequest,
    status: statusOf(textIn(row, "status")),
    decision: given?.decision ?? null,
    answer: given?.answer ?? null,
    decidedBy: (given && decidedByOf(given)) ?? null,
    decidedAt: numberOrNullIn(row, "decided_at"),
    usedBy: textOrNullIn(row, "used_by"),
    usedAt: numberOrNullIn(row, "used_at"),
    supersededBy: supersededBy === null ? null : fromColumn(supersededBy),
    createdAt: numberIn(row, "created_at"),
  });
}

/** A decision that was made here, or a signed answer. */
function givenIn(row: SqlRow): GivenDecision | undefined {
  if (row["decision"] === null) return undefined;
  const value = jsonIn(row, "decision");
  const answer = parseAnswer(value, NO_LIMITS) ?? null;
  const decision = answer?.decision ?? parseDecision(value);
  if (decision === undefined) throw unreadable("decision");
  return { decision, answer };
}

function statusOf(text: string): ApprovalStatus {
  if (Object.hasOwn(RECORD_TRANSITIONS, text)) return text as ApprovalStatus; // a key of the table is a status
  throw unreadable("status");
}

/** From when on a record may be forgotten after a while; `null`: it waits, or holds a decision that nobody has used. */
function overAt({ status, request }: ApprovalRecord, at: number): number | null {
  switch (status) {
    case "pending":
      return request.expiresAt;
    case "approved":
    case "denied":
      return null;
    case "used":
    case "expired":
    case "superseded":
      return at;
  }
}
