// The ask record: one request and what a re-run needs to show it again unchanged. Owns the sealed form.
// A re-run takes the request and its parsed arguments from here: schema and predicate do not run again, since their
// results may differ (generated ids, clocks) from what the reviewer was shown.
// A1: a request is deep-frozen from the moment it is bound: hooks, predicates and bodies that write on what they are shown
//     change nothing that was approved.

import { frozenJson, jsonCopy, type JsonValue } from "../crypto/canonical-json.js";
import type { KeyRing } from "../crypto/keys.js";
import { openSeal, seal } from "../crypto/seal.js";
import { FlowError } from "../errors.js";
import { bindingOf, hasRequestShape, type ApprovalRequest } from "./request.js";
import { hasShape, isCount, isText, isWhole, type Shape } from "./shape.js";

/** Where the answer to an ask comes from: the host's resume value, or the port's own store. */
export type AnswerSource = "resume" | "port";

/** A request with what a host must know to show it again. */
export interface AskRecord {
  /** The version of the format. */
  readonly v: 1;
  /** The hash of the request. */
  readonly binding: string;
  /** What is asked. */
  readonly request: ApprovalRequest;
  /** Of the tool's name and the arguments as they came, before the schema: the same call id with others is misuse. */
  readonly rawDigest: string;
  /** Milliseconds since the epoch. Shown beside the request, outside the binding. */
  readonly askedAt: number;
  /** Where its answers come in. */
  readonly source: AnswerSource;
  /** Which pause of its task run shows it, from 0. */
  readonly position: number;
  /** Ids of calls whose rule has said yes and that wait behind this one: their rule is not asked again. */
  readonly waiting: readonly string[];
}

/** The position of an ask that was decided without a pause. */
export const NOT_SHOWN = -1;

/** The record of an ask that is not shown yet. */
export function askRecord(ask: Omit<AskRecord, "v" | "binding" | "position" | "waiting">): AskRecord {
  const { rawDigest, askedAt, source } = ask;
  // A request is JSON, so a copy of its own properties is one too.
  const request = jsonCopy(ask.request) as unknown as ApprovalRequest;
  return { v: 1, binding: bindingOf(request), request, rawDigest, askedAt, source, position: NOT_SHOWN, waiting: [] };
}

/** Sealed for one task run: moved to another it does not open. */
export function sealAsk(ring: KeyRing, taskRun: readonly string[], record: AskRecord): string {
  return seal(ring, { purpose: "ask", owner: [...taskRun] }, askToJson(record));
}

/**
 * Opens a sealed ask of this task run.
 *
 * @throws FlowError when it is missing, tampered with, moved, or under a key this ring does not have
 */
export function openAsk(ring: KeyRing, taskRun: readonly string[], sealed: unknown): AskRecord {
  return askFromJson(openSeal(ring, { purpose: "ask", owner: [...taskRun] }, sealed));
}

export function askToJson(record: AskRecord): JsonValue {
  return {
    ...record,
    waiting: [...record.waiting],
    request: { ...record.request, previousAttempt: previousAttempt(record) },
  };
}

function previousAttempt({ request }: AskRecord): JsonValue {
  return request.previousAttempt === null ? null : { ...request.previousAttempt };
}

const RECORD: Shape<AskRecord> = {
  v: (value) => value === 1,
  binding: isText,
  request: hasRequestShape,
  rawDigest: isText,
  askedAt: isCount,
  source: (value) => value === "resume" || value === "port",
  position: isWhole,
  waiting: (value) => Array.isArray(value) && value.every(isText),
};

/**
 * The seal vouches for who wrote it; this checks that it is of a form this version understands, and freezes it. The value is
 * what a seal was parsed to: JSON that nobody else has.
 */
export function askFromJson(value: JsonValue): AskRecord {
  if (!isAskRecord(value)) throw unreadable();
  return frozenJson(value);
}

/** Is it of this version's form? The value is JSON. */
export function isAskRecord(value: unknown): value is AskRecord & JsonValue {
  // The shape is the type; the binding is computed again.
  return hasShape(value, RECORD) && bindingOf((value as AskRecord).request) === (value as AskRecord).binding;
}

function unreadable(): FlowError {
  return new FlowError("the sealed ask record is not of a version this release can read");
}
