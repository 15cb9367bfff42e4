// `ApprovalStore` port: requests, what was decided about them, and the one use of each decision. Owns the life of a record
// as data; every store executes this table, so that a decision means the same wherever it is kept.
//   S1  a record's id is the binding of its request, computed here, never taken from anybody
//   S2  a decision is written once, and used once: by one token, however often that one comes back
//   S3  nothing leads from `used`, `expired` or `superseded` to anywhere

import { DEFAULT_JSON_LIMITS, isWellFormed, jsonCopy, NotJson } from "../crypto/canonical-json.js";
import { digest } from "../crypto/digest.js";
import { ApprovalAlreadyDecided, ToolUsageError } from "../errors.js";
import type { Answer, OneAnswer } from "./answer.js";
import type { DecisionFields } from "./decision.js";
import { bindingOf, isApprovalRequest, type ApprovalRequest } from "./request.js";
import { decidedByOf, decisionGiven, type GivenDecision, type Signers } from "./signers.js";

/** Where a record is in its life; the last three are ends. */
export type ApprovalStatus =
  /** Nobody has decided. */
  | "pending"
  /** Decided, not used. */
  | "approved"
  | "denied"
  /** Its decision was used: the call ran or was refused. */
  | "used"
  /** Nobody decided in time. */
  | "expired"
  /** A newer request took its place before it was used. */
  | "superseded";

/** One request in a store. A copy: writing on it changes nothing. */
export interface ApprovalRecord {
  /** The binding of the request. */
  readonly id: string;
  /** What was asked, to be shown as a whole. */
  readonly request: ApprovalRequest;
  /** Where it is in its life. */
  readonly status: ApprovalStatus;
  /** Kept when it is used or superseded. */
  readonly decision: DecisionFields | null;
  /** What was signed, when it was decided by a signed answer: whoever uses the decision can check it again. */
  readonly answer: Answer | null;
  /** Who decided: the approver who signed, else whom the decision names. */
  readonly decidedBy: string | null;
  /** All times: milliseconds since the epoch, by the store's clock. */
  readonly decidedAt: number | null;
  /** Digest of the token that used it. */
  readonly usedBy: string | null;
  /** When it was used; `null` until then. */
  readonly usedAt: number | null;
  /** The id of the newer request. */
  readonly supersededBy: string | null;
  /** When the store first saw it. */
  readonly createdAt: number;
}

/** What `list` gives: everything that fits all of these. */
export interface ApprovalFilter {
  /** Only records in this state. */
  readonly status?: ApprovalStatus;
  /** Only requests of this run. */
  readonly runId?: string;
  /** Only requests of this thread. */
  readonly threadId?: string;
  /** At most this many. Default 100. */
  readonly limit?: number;
  /** Only what the store saw before the record of this id: the last one of the page before. */
  readonly before?: string;
}

/**
 * Where requests wait for a decision. Every method is atomic: of racing calls one wins and the others see it.
 * Whoever may call `decide` is an approver: keep it away from the model and from whoever asks.
 */
export interface ApprovalStore {
  /**
   * Insert the request under its binding, or return the record that is there.
   *
   * @throws ToolUsageError when it is not a request of a known version
   */
  create(request: ApprovalRequest): Promise<ApprovalRecord>;
  /** The record of that id, if the store has one. */
  get(id: string): Promise<ApprovalRecord | undefined>;
  /**
   * Newest first, by the order in which the store first saw them.
   *
   * @throws ToolUsageError when `limit` is not a whole number above 0 or there is no record `before`
   */
  list(filter?: ApprovalFilter): Promise<readonly ApprovalRecord[]>;
  /**
   * Decide about exactly the request that is kept: by a decision made here, or by a signed answer when the store was given keys
   * to check it with; with keys of approvers by nothing else. A request whose time is over by the store's clock expires instead.
   *
   * @throws ToolUsageError when there is no such record, it is neither of the two or not signed for this request by somebody who
   * may, or the kept request is no longer the one that was asked
   * @throws ApprovalAlreadyDecided when it was decided, used, expired or superseded before
   */
  decide(id: string, decision: OneAnswer): Promise<ApprovalRecord>;
  /**
   * Use the decision up. The same token may come again, so that a lost acknowledgement can be repeated.
   *
   * @throws ApprovalAlreadyDecided when another token used it, or it expired or was superseded
   * @throws ToolUsageError when there is no such record or nobody has decided
   */
  consume(id: string, token: string): Promise<ApprovalRecord>;
  /**
   * Nobody decided in time; whoever calls this judges the time. A decision that came first stays.
   *
   * @throws ToolUsageError when there is no such record; never ApprovalAlreadyDecided
   */
  expire(id: string): Promise<ApprovalRecord>;
  /**
   * Another request takes its place: its decision, given or not, can no longer be used. What is over already stays.
   *
   * @throws ApprovalAlreadyDecided when it was used
   * @throws ToolUsageError when there is no such record, or `by` is the record itself
   */
  supersede(id: string, by: string): Promise<ApprovalRecord>;
}

// ---- the life of a record

/** What can happen to a record. */
export type RecordEvent = "approve" | "deny" | "consume" | "expire" | "supersede";

/** What is done about it. */
export type RecordAction =
  /** Write the new status. */
  | "write"
  /** Give the record as it is. */
  | "keep"
  /** Give it to the token that used it; `ApprovalAlreadyDecided` for every other one. */
  | "keep-for-its-user"
  /** `ApprovalAlreadyDecided`. */
  | "refuse-as-decided"
  /** `ToolUsageError`. */
  | "refuse-as-undecided";

/** What follows an event in a state. */
export interface RecordTransition {
  /** The status afterwards. */
  readonly to: ApprovalStatus;
  /** What the store does. */
  readonly action: RecordAction;
}

const to = (status: ApprovalStatus, action: RecordAction = "write"): RecordTransition => ({ to: status, action });

/** No second decision, whatever the first one said and whatever became of it. */
const decidedOnce = (status: ApprovalStatus) => ({
  approve: to(status, "refuse-as-decided"),
  deny: to(status, "refuse-as-decided"),
});
const decided = (status: "approved" | "denied") => ({
  ...decidedOnce(status),
  consume: to("used"),
  expire: to(status, "keep"),
  supersede: to("superseded"),
});
const over = (status: "expired" | "superseded") => ({
  ...decidedOnce(status),
  consume: to(status, "refuse-as-decided"),
  expire: to(status, "keep"),
  supersede: to(status, "keep"),
});

/** Status, then event, then what follows. Complete: a store never meets a pair that is not here. */
export const RECORD_TRANSITIONS: Readonly<Record<ApprovalStatus, Readonly<Record<RecordEvent, RecordTransition>>>> = {
  pending: {
    approve: to("approved"),
    deny: to("denied"),
    consume: to("pending", "refuse-as-undecided"),
    expire: to("expired"),
    supersede: to("superseded"),
  },
  approved: decided("approved"),
  denied: decided("denied"),
  used: {
    ...decidedOnce("used"),
    consume: to("used", "keep-for-its-user"),
    expire: to("used", "keep"),
    supersede: to("used", "refuse-as-decided"),
  },
  expired: over("expired"),
  superseded: over("superseded"),
};

// ---- what every store does the same way

/** Something that happens to a record, with what it brings. */
export type RecordChange =
  | ({ readonly event: "decide"; readonly at: number } & GivenDecision)
  | { readonly event: "consume"; readonly token: string; readonly at: number }
  | { readonly event: "expire" }
  | { readonly event: "supersede"; readonly by: string };

/** The record of a request that nobody has decided about. @throws ToolUsageError when it is not a request */
export function newRecord(request: ApprovalRequest, at: number): ApprovalRecord {
  const copy = copyOfRequest(request);
  const undecided = { decision: null, answer: null, decidedBy: null, decidedAt: null } as const;
  const unused = { usedBy: null, usedAt: null, supersededBy: null } as const;
  return Object.freeze({
    id: bindingOf(copy),
    request: copy,
    status: "pending",
    ...undecided,
    ...unused,
    createdAt: at,
  });
}

/**
 * The record after the change; the same object when nothing changes. A store writes it only if its status is still the one
 * this was computed from, and computes again otherwise.
 *
 * @throws ApprovalAlreadyDecided, ToolUsageError: as the table says
 */
export function changeRecord(record: ApprovalRecord, change: RecordChange): ApprovalRecord {
  if (change.event === "supersede") assertNewer(record, change.by);
  assertIntact(record);
  const rule = RECORD_TRANSITIONS[record.status][eventOf(change)];
  switch (rule.action) {
    case "write":
      return Object.freeze({ ...record, ...written(record, change), status: rule.to });
    case "keep":
      return record;
    case "keep-for-its-user":
      if (change.event === "consume" && record.usedBy === useDigest(record.id, change.token)) return record;
      throw refused(record);
    case "refuse-as-decided":
      throw refused(record);
    case "refuse-as-undecided":
      throw new ToolUsageError("nobody has decided about this approval, so it cannot be used", about(record));
  }
}

/** What somebody gave as a decision about a record. @throws ToolUsageError: see `ApprovalStore.decide` */
export function decisionAbout(
  record: ApprovalRecord,
  given: OneAnswer,
  signers: Signers | undefined,
  now: number,
): GivenDecision {
  assertIntact(record);
  const shown = { binding: record.id, request: record.request };
  return decisionGiven(signers, shown, given, { limits: DEFAULT_JSON_LIMITS, now });
}

/** Has the time to decide passed? */
export function hasRunOut({ status, request }: ApprovalRecord, now: number): boolean {
  return status === "pending" && request.expiresAt !== null && now > request.expiresAt;
}

/** How a token is kept: whoever reads a store must not be able to use what he found there. */
export function useDigest(binding: string, token: string): string {
  return digest("agent-adapter/row/v1", ["use", binding, token]);
}

/**
 * Refuses what is no token.
 *
 * @throws ToolUsageError when it is not a text that can be a token
 */
export function assertToken(token: unknown): void {
  if (isWellFormed(token) && token !== "") return;
  throw new ToolUsageError("a token is a text that is not empty");
}

/**
 * Refuses what no claim can be made of.
 *
 * @throws ToolUsageError when a claim cannot be made of them
 */
export function assertClaim(binding: unknown, token: unknown, guardUntil: unknown): void {
  if (typeof binding !== "string") throw new ToolUsageError("a binding is a text");
  assertToken(token);
  if (!Number.isSafeInteger(guardUntil)) throw new ToolUsageError("guardUntil is a whole number of milliseconds");
}

/** `list`'s limit. @throws ToolUsageError */
export function limitOf({ limit = DEFAULT_LIMIT }: ApprovalFilter): number {
  if (Number.isSafeInteger(limit) && limit > 0) return limit;
  throw new ToolUsageError("list: limit must be a whole number above 0");
}

/** For a method that was given an id of no record. */
export function unknownApproval(): ToolUsageError {
  return new ToolUsageError("there is no approval of this id: it was never asked, or asked in another store");
}

const DEFAULT_LIMIT = 100;

function copyOfRequest(request: unknown): ApprovalRequest {
  try {
    const copy: unknown = jsonCopy(request);
    if (isApprovalRequest(copy)) return copy;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
  }
  throw new ToolUsageError("not an approval request of a version this release knows");
}

/** Whoever changed what is kept has shown a reviewer something else than what will run. @throws ToolUsageError */
function assertIntact(record: ApprovalRecord): void {
  if (isApprovalRequest(record.request) && bindingOf(record.request) === record.id) return;
  throw new ToolUsageError("the stored request is not the one that was asked: its binding does not match");
}

function assertNewer(record: ApprovalRecord, by: unknown): void {
  if (by === record.id) throw new ToolUsageError("a request cannot supersede itself", about(record));
  if (typeof by === "string" && by !== "") return;
  throw new ToolUsageError("supersede: `by` is the id of the newer request", about(record));
}

function eventOf(change: RecordChange): RecordEvent {
  if (change.event === "supersede" || change.event === "expire" || change.event === "consume") return change.event;
  return change.decision.approved ? "approve" : "deny";
}

function written(record: ApprovalRecord, change: RecordChange): Partial<ApprovalRecord> {
  switch (change.event) {
    case "decide":
      return {
        decision: change.decision,
        answer: change.answer,
        decidedBy: decidedByOf(change) ?? null,
        decidedAt: change.at,
      };
    case "consume":
      return { usedBy: useDigest(record.id, change.token), usedAt: change.at };
    case "expire":
      return {};
    case "supersede":
      return { supersededBy: change.by };
  }
}

const WORDS: Readonly<Record<ApprovalStatus, string>> = {
  pending: "is not decided",
  approved: "was decided before",
  denied: "was decided before",
  used: "was used before",
  expired: "ran out before it was decided",
  superseded: "was replaced by a newer request",
};

function refused(record: ApprovalRecord): ApprovalAlreadyDecided {
  return new ApprovalAlreadyDecided(`this approval ${WORDS[record.status]}`, about(record));
}

function about({ request }: ApprovalRecord): { readonly tool: string; readonly callId: string } {
  return { tool: request.tool, callId: request.callId };
}
