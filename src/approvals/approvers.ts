// Approvers with keys of their own: signing where the private key is, verifying where only public keys are.

import { readPrivateKey, readPublicKey, signWith, verifyWith, type AsymmetricKey } from "../crypto/ed25519.js";
import { ToolUsageError } from "../errors.js";
import { coveredBy, LABEL, type SignatureAnswer } from "./answer.js";
import { fieldsOf, type ApprovalDecision } from "./decision.js";
import { bindingOf, isApprovalRequest, type ApprovalRequest } from "./request.js";
import type { ReviewRequest } from "./review-request.js";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Somebody who may approve. */
export interface Approver {
  /** Goes into the ledger as `decidedBy`, verified. */
  readonly id: string;
  /** Ed25519, as PEM text or a `KeyObject`. */
  readonly publicKey: AsymmetricKey;
  /** Which requests this approver may decide; anything but `true` is a no. Synchronous. Default: all. */
  readonly mayDecide?: (request: ApprovalRequest) => boolean;
}

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
 * the key is none
 * @example const answer = signDecision(toReviewRequest(interrupt), approve(), { privateKey, id: "ana" });
 */
export function signDecision(
  shown: ReviewRequest,
  decision: ApprovalDecision,
  options: SigningOptions,
): SignatureAnswer {
  const { id, answerTtlMs = DAY_MS, signedAt = Date.now() } = options;
  if (!isApprovalRequest(shown.request) || bindingOf(shown.request) !== shown.binding) {
    throw new ToolUsageError("signDecision: the request shown does not match its binding");
  }
  if (!(Number.isSafeInteger(answerTtlMs) && answerTtlMs > 0)) {
    throw new ToolUsageError("signDecision: answerTtlMs must be a whole number of milliseconds above 0");
  }
  const unsigned = {
    binding: shown.binding,
    decision: fieldsOf(decision),
    signedAt,
    expiresAt: signedAt + answerTtlMs,
  };
  const signature = signWith(readPrivateKey(options.privateKey, "privateKey"), LABEL, coveredBy(unsigned, id));
  return { ...unsigned, keyId: id, signature };
}

/** The approvers a port knows. */
export class Approvers {
  readonly #byId: ReadonlyMap<string, Approver>;
  readonly #keys: ReadonlyMap<string, ReturnType<typeof readPublicKey>>;

  /** @throws ToolUsageError when there is none, an id is taken or a key is not an Ed25519 public key */
  constructor(approvers: readonly Approver[]) {
    this.#byId = new Map(approvers.map((approver) => [approver.id, approver]));
    this.#keys = new Map(approvers.map(({ id, publicKey }) => [id, readPublicKey(publicKey, "approvers.publicKey")]));
    if (approvers.length === 0) throw new ToolUsageError("`approvers` is an empty list: nobody could approve");
    if (this.#byId.size !== approvers.length) throw new ToolUsageError("`approvers`: two of them have the same id");
  }

  /** Did the approver it names sign it? Says nothing about dates or which request it is for. */
  isSigned(answer: SignatureAnswer): boolean {
    const key = this.#keys.get(answer.keyId);
    return key !== undefined && verifyWith(key, LABEL, coveredBy(answer, answer.keyId), answer.signature);
  }

  /** May the approver it names decide about this request? A predicate that throws says no. */
  mayDecide(answer: SignatureAnswer, request: ApprovalRequest): boolean {
    const approver = this.#byId.get(answer.keyId);
    if (approver === undefined) return false;
    try {
      return approver.mayDecide === undefined || approver.mayDecide(request) === true;
    } catch {
      return false;
    }
  }
}
