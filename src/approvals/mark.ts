// The mark of a used answer, as it is kept beside the task run. Owns the sealed form; writing it is the host's business.

import { frozenJson, type JsonValue } from "../crypto/canonical-json.js";
import type { KeyRing } from "../crypto/keys.js";
import { openSeal, seal } from "../crypto/seal.js";
import { FlowError } from "../errors.js";
import { askToJson, isAskRecord, type AskRecord } from "./ask.js";
import { parseDecision, type DecisionFields } from "./decision.js";
import { hasShape, isCount, isText, isTextOrNull, type Shape } from "./shape.js";

/** Written before the tool runs: this ask's answer is used up. The mark alone keeps a denial. */
export interface Mark {
  /** The version of the format. */
  readonly v: 1;
  /** The ask whose answer is used up. */
  readonly record: AskRecord;
  /** What was decided. */
  readonly decision: DecisionFields;
  /** Who decided, when that is known. */
  readonly decidedBy: string | null;
  /** One per claim attempt: whoever reads back its own token has won. */
  readonly token: string;
  /** Which process claimed; another one's mark without an outcome may still be running. */
  readonly process: string;
  /** Milliseconds since the epoch. */
  readonly claimedAt: number;
}

/** Seals a mark for this task run. */
export function sealMark(ring: KeyRing, taskRun: readonly string[], mark: Mark): string {
  return seal(ring, { purpose: "spent", owner: [...taskRun] }, markToJson(mark));
}

/**
 * Opens a sealed mark of this task run.
 *
 * @throws FlowError when it does not open here or is of an unknown form
 */
export function openMark(ring: KeyRing, taskRun: readonly string[], sealed: unknown): Mark {
  return markFromJson(openSeal(ring, { purpose: "spent", owner: [...taskRun] }, sealed));
}

export function markToJson(mark: Mark): JsonValue {
  return { ...mark, record: askToJson(mark.record), decision: { ...mark.decision } };
}

/** The seal vouches for who wrote it; this checks that it is of a form this version understands. @throws FlowError */
export function markFromJson(value: JsonValue): Mark {
  if (!isMark(value)) throw unreadable();
  return frozenJson(value);
}

const MARK: Shape<Mark> = {
  v: (value) => value === 1,
  record: isAskRecord,
  decision: (value) => parseDecision(value) !== undefined,
  decidedBy: isTextOrNull,
  token: isText,
  process: isText,
  claimedAt: isCount,
};

function isMark(value: JsonValue): value is Mark & JsonValue {
  return hasShape(value, MARK);
}

function unreadable(): FlowError {
  return new FlowError("the sealed mark of a used answer is not of a version this release can read");
}
