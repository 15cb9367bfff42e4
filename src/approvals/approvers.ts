// Approvers with keys of their own: signing where the private key is, verifying where only public keys are.

import { systemClock } from "../async/clock.js";
import { isWellFormed } from "../crypto/canonical-json.js";
import { readPrivateKey, readPublicKey, signWith, verifyWith, type AsymmetricKey } from "../crypto/ed25519.js";
import { ToolUsageError } from "../errors.js";
import { durationOption, refuseUnknown } from "../options.js";
import { ANSWER_TTL_MS, coveredBy, LABEL, type SignatureAnswer } from "./answer.js";
import { fieldsOf, type ApprovalDecision } from "./decision.js";
import { bindingOf, isApprovalRequest, type ApprovalRequest } from "./request.js";
import type { ReviewRequest } from "./review-request.js";
import { isCount } from "./shape.js";

/** Somebody who may approve. */
export interface Approver {
  /** Goes into the ledger as `decidedBy`, verified. */
  readonly id: string;
  /** Ed25519, as PEM text or a `KeyObject`. */
  readonly publicKey: AsymmetricKey;
  /**
   * Which requests this approver may decide; anything but `true` is a no. Synchronous. An edit is asked about as well: with the
   * edited arguments in place of those that were shown. Default: all.
   */
  readonly mayDecide?: (request: ApprovalRequest) => boolean;
}

/** Who signs, with what, and for how long. */
export interface SigningOptions {
  /** Ed25519, as PEM text or a `KeyObject`. */
  readonly privateKey: AsymmetricKey;
  /** The approver's id, as the process that runs the tools knows it. */
  readonly id: string;
  /** How long the answer is good, in milliseconds. Default: 24 hours. */
  readonly answerTtlMs?: number;
  /** Milliseconds since the epoch. Default: now. */
  readonly signedAt?: number;
}

/**
 * Sign a decision with an approver's own key, in a process that runs no tools. The binding is computed again from what is
 * shown.
 *
 * @throws ToolUsageError when the request does not match its binding, the decision was not made by `approve()` or `deny()`, or
 * an option cannot be used
 * @example
 * const privateKey = process.env.ANAS_KEY ?? ""; // Ed25519, PEM
 * const answer = signDecision(toReviewRequest(interrupt), approve(), { privateKey, id: "ana" });
 */
export function signDecision(
  shown: ReviewRequest,
  decision: ApprovalDecision,
  options: SigningOptions,
): SignatureAnswer {
  const { id, privateKey, answerTtlMs = ANSWER_TTL_MS, signedAt = systemClock.now(), ...rest } = options;
  refuseUnknown("signDecision", rest);
  if (!isApprovalRequest(shown.request) || bindingOf(shown.request) !== shown.binding) {
    throw new ToolUsageError("signDecision: the request shown does not match its binding");
  }
  if (!isWellFormed(id) || id === "") throw new ToolUsageError("signDecision: id must be the approver's id, a text");
  if (!isCount(signedAt)) throw new ToolUsageError("signDecision: signedAt must be milliseconds since the epoch");
  const unsigned = {
    binding: shown.binding,
    decision: fieldsOf(decision),
    signedAt,
    expiresAt: signedAt + durationOption("signDecision", "answerTtlMs", answerTtlMs),
  };
  const signature = signWith(readPrivateKey(privateKey, "privateKey"), LABEL, coveredBy(unsigned, id));
  return { ...unsigned, keyId: id, signature };
}

interface Known {
  readonly key: ReturnType<typeof readPublicKey>;
  readonly mayDecide: (request: ApprovalRequest) => boolean;
}

/** The approvers a port knows. */
export class Approvers {
  readonly #byId: ReadonlyMap<string, Known>;

  /** @throws ToolUsageError when there is none, an id is taken, or a member of one cannot be used */
  constructor(approvers: readonly Approver[]) {
    this.#byId = new Map(approvers.map((approver) => [idOf(approver), known(approver)]));
    if (approvers.length === 0) throw new ToolUsageError("`approvers` is an empty list: nobody could approve");
    if (this.#byId.size !== approvers.length) throw new ToolUsageError("`approvers`: two of them have the same id");
  }

  /** Did the approver it names sign it? Says nothing about dates or which request it is for. */
  isSigned(answer: SignatureAnswer): boolean {
    const key = this.#byId.get(answer.keyId)?.key;
    return key !== undefined && verifyWith(key, LABEL, coveredBy(answer, answer.keyId), answer.signature);
  }

  /** May the approver it names decide about this request? A predicate that throws says no. */
  mayDecide(answer: SignatureAnswer, request: ApprovalRequest): boolean {
    const approver = this.#byId.get(answer.keyId);
    return approver !== undefined && decidable(answer, request).every((one) => saysYes(approver, one));
  }
}

/** What is decided about: the request, and with an edit also what would run instead. */
function decidable({ decision }: SignatureAnswer, request: ApprovalRequest): ApprovalRequest[] {
  if (!decision.approved || decision.editedArgs === undefined) return [request];
  return [request, { ...request, arguments: decision.editedArgs }];
}

function saysYes({ mayDecide }: Known, request: ApprovalRequest): boolean {
  try {
    return mayDecide(request) === true;
  } catch {
    return false;
  }
}

function idOf({ id }: Approver): string {
  if (isWellFormed(id) && id !== "") return id;
  throw new ToolUsageError("`approvers`: an id must be a text that is not empty");
}

const everything = () => true;

function known({ id: _id, publicKey, mayDecide = everything, ...rest }: Approver): Known {
  // A misspelt `mayDecide` would let this approver decide about everything.
  refuseUnknown("approvers", rest);
  if (typeof mayDecide !== "function") throw new ToolUsageError("`approvers`: mayDecide must be a function");
  return { key: readPublicKey(publicKey, "approvers.publicKey"), mayDecide };
}
