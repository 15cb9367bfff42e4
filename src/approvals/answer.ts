// What travels back from a reviewer: a decision bound to one request, dated and signed. Owns signing, parsing, checking.
// Does not know whether an answer was used; that is the claim's business.
//   N1  the MAC covers binding, decision (edits included), both dates and the key's id
//   N2  every check is synchronous (LangGraph validates resume values synchronously) and says one word, never the value

import { canonicalJson, isJson, jsonCopy, NotJson, type JsonLimits } from "../crypto/canonical-json.js";
import type { KeyRing } from "../crypto/keys.js";
import { parseDecision, type ApprovalDecision, type DecisionFields } from "./decision.js";
import { hasShape, isCount, isText, type Shape } from "./shape.js";

interface Signed {
  readonly binding: string;
  readonly decision: DecisionFields;
  /** Milliseconds since the epoch. */
  readonly signedAt: number;
  /** Milliseconds since the epoch; judged when the answer is used. */
  readonly expiresAt: number;
  /** Which key signed: of a shared secret its id, of an approver the approver's id. */
  readonly keyId: string;
}

/** Signed with a shared secret. */
export interface MacAnswer extends Signed {
  /** HMAC-SHA256, base64url. */
  readonly mac: string;
}

/** Signed with an approver's own key. */
export interface SignatureAnswer extends Signed {
  /** Ed25519, base64url. */
  readonly signature: string;
}

/** A signed answer as it travels: plain JSON. */
export type Answer = MacAnswer | SignatureAnswer;

/** One answer: a decision made here by `approve` or `deny`, or signed bytes that came over the wire. */
export type OneAnswer = ApprovalDecision | Answer;

/** What is wrong with an answer, in one word. */
export type AnswerCheck = "ok" | "malformed" | "signature" | "expired" | "binding";

/** How long an answer is good when nothing else was said, in milliseconds. */
export const ANSWER_TTL_MS = 24 * 60 * 60 * 1000;
/** Everything of an answer but the edited arguments: far more than a reason needs, far less than memory. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Answer, decision and edit: the levels above edited arguments. */
const NESTING = 3;
const SIGNED: Shape<Signed> = {
  binding: isText,
  decision: (value) => parseDecision(value) !== undefined,
  signedAt: isCount,
  expiresAt: isCount,
  keyId: isText,
};
const MAC_ANSWER: Shape<MacAnswer> = { ...SIGNED, mac: isText };
const SIGNATURE_ANSWER: Shape<SignatureAnswer> = { ...SIGNED, signature: isText };
export const LABEL = "agent-adapter/answer/v1";

interface Unsigned {
  readonly binding: string;
  readonly decision: DecisionFields;
  readonly signedAt: number;
  readonly expiresAt: number;
}

/** What a MAC and a signature are over. */
export function coveredBy(answer: Unsigned, keyId: string) {
  return [answer.binding, { ...answer.decision }, answer.signedAt, answer.expiresAt, keyId];
}

/** Sign under the ring's current key. */
export function signAnswer(ring: KeyRing, answer: Unsigned): MacAnswer {
  const { keyId, mac } = ring.sign("answer", LABEL, coveredBy(answer, ring.currentId));
  return { ...answer, keyId, mac };
}

/** The answer, when the value has exactly the form of one and is not too large. */
export function parseAnswer(value: unknown, limits: JsonLimits): Answer | undefined {
  // One bounded look at the whole before anything of it is read.
  const bounds = { maxDepth: limits.maxDepth + NESTING, maxBytes: limits.maxBytes + MAX_ANSWER_BYTES };
  if (!isJson(value, bounds)) return undefined;
  if (!hasShape(value, MAC_ANSWER) && !hasShape(value, SIGNATURE_ANSWER)) return undefined;
  // The shape is the type: every field was tested and no other is there.
  const answer = jsonCopy(value) as unknown as Answer;
  return fits(answer, limits) ? answer : undefined;
}

/** Is it signed by one of these keys? Constant time; says nothing about dates or which request it is for. */
export function isSigned(ring: KeyRing, answer: MacAnswer): boolean {
  return ring.verify("answer", LABEL, coveredBy(answer, answer.keyId), answer);
}

function fits(answer: Answer, limits: JsonLimits): boolean {
  const edit = answer.decision.approved ? answer.decision.editedArgs : undefined;
  try {
    canonicalJson(
      { ...answer, decision: { ...answer.decision, editedArgs: undefined } },
      { maxDepth: 8, maxBytes: MAX_ANSWER_BYTES },
    );
    if (edit !== undefined) canonicalJson(edit, limits);
    return true;
  } catch (error) {
    if (error instanceof NotJson) return false;
    throw error;
  }
}
