// Who may sign answers: whoever holds a shared secret, or approvers with keys of their own. Owns what a genuine answer is, for
// ports and stores alike, and what they take as a decision. Knows nothing of uses, nor of edits that fit a tool.

import type { JsonLimits } from "../crypto/canonical-json.js";
import { KeyRing, type Secrets } from "../crypto/keys.js";
import { ToolUsageError } from "../errors.js";
import { refuseMissing } from "../options.js";
import { isSigned, parseAnswer, type Answer, type AnswerCheck, type OneAnswer } from "./answer.js";
import { Approvers, type Approver } from "./approvers.js";
import { fieldsOf, isApprovalDecision, type DecisionFields } from "./decision.js";
import type { Shown } from "./port.js";

/** Whose signatures are checked. Neither: decisions made in this process are taken. */
export interface SignerOptions {
  /** Checks signed answers: a shared secret, at least 16 bytes; `[current, ...older]` to rotate. Default: none. */
  readonly key?: Secrets;
  /** Who may approve, with keys of their own: then nothing else is taken. Instead of `key`. Default: none. */
  readonly approvers?: readonly Approver[];
}

/** A decision that may be kept, and what was signed for it. */
export interface GivenDecision {
  /** What was decided. */
  readonly decision: DecisionFields;
  /** What was signed; `null` for a decision made by code of this process. */
  readonly answer: Answer | null;
}

/** Checks whether an answer is signed for a request by somebody who may. */
export class Signers {
  readonly #ring: () => KeyRing;
  readonly #approvers: Approvers | undefined;

  /** `ring`: asked each time, since an executor's secret may come after the port is made. */
  constructor(ring: () => KeyRing, approvers: readonly Approver[] | undefined) {
    this.#ring = ring;
    this.#approvers = approvers === undefined ? undefined : new Approvers(approvers);
  }

  /** True: only signatures of approvers count; nothing in this process can approve. */
  get areApprovers(): boolean {
    return this.#approvers !== undefined;
  }

  /** Signed by one of them, for whatever request? */
  isSigned(answer: Answer): boolean {
    if (this.#approvers !== undefined) return "signature" in answer && this.#approvers.isSigned(answer);
    return "mac" in answer && isSigned(this.#ring(), answer);
  }

  /** Of a parsed answer: is it for this request, by somebody who may decide about it? Dates are not looked at. */
  judge(shown: Shown, answer: Answer): Extract<AnswerCheck, "ok" | "binding" | "signature"> {
    if (answer.binding !== shown.binding) return "binding";
    return this.isSigned(answer) && this.#mayDecide(answer, shown) ? "ok" : "signature";
  }

  #mayDecide(answer: Answer, { request }: Shown): boolean {
    return this.#approvers === undefined || ("signature" in answer && this.#approvers.mayDecide(answer, request));
  }
}

/** @throws ToolUsageError when both are given, or one is there and undefined: a variable that is not set must open nothing */
export function refuseBoth(owner: string, options: SignerOptions): void {
  refuseMissing(owner, "key", options);
  if (Object.hasOwn(options, "approvers") && options.approvers === undefined) {
    throw new ToolUsageError(`${owner}: approvers is undefined; leave it out where nobody has a key of their own`);
  }
  if (options.key === undefined || options.approvers === undefined) return;
  throw new ToolUsageError(`${owner}: with \`approvers\` nothing here may approve; leave out \`key\``);
}

/** `undefined` when nothing was given to check signatures with. */
export function signersOf(owner: string, options: SignerOptions): Signers | undefined {
  refuseBoth(owner, options);
  const { key, approvers } = options;
  if (key === undefined)
    return approvers === undefined ? undefined : new Signers(() => KeyRing.forProcess(), approvers);
  const ring = KeyRing.of(key, "key");
  return new Signers(() => ring, undefined);
}

/** The name that goes into ledger and records: a verified approver's id, else what the decision claims. */
export function decidedByOf({ decision, answer }: GivenDecision): string | undefined {
  return answer !== null && "signature" in answer ? answer.keyId : decision.by;
}

interface Circumstances {
  readonly limits: JsonLimits;
  readonly now: number;
}

/**
 * What somebody gave as a decision about a request, checked: made here, or signed by somebody who may.
 *
 * @throws ToolUsageError when it is neither, or there are no keys to check a signature with
 */
export function decisionGiven(
  signers: Signers | undefined,
  shown: Shown,
  given: OneAnswer,
  { limits, now }: Circumstances,
): GivenDecision {
  if (isApprovalDecision(given)) {
    if (signers?.areApprovers !== true) return { decision: fieldsOf(given), answer: null };
    throw new ToolUsageError("with `approvers` only an answer that one of them signed is taken: signDecision()");
  }
  const answer = parseAnswer(given, limits);
  if (answer === undefined) {
    throw new ToolUsageError(
      "a decision is made by approve() or deny(), or is a signed answer; parsed JSON is not a decision",
    );
  }
  if (signers === undefined) {
    throw new ToolUsageError("there is nothing to check a signed answer with: give `key` or `approvers`");
  }
  const check = signers.judge(shown, answer);
  if (check !== "ok") throw refusedAnswer(check);
  if (now > answer.expiresAt) throw refusedAnswer("expired");
  return { decision: answer.decision, answer };
}

/** Nothing was sent or kept. */
export function refusedAnswer(check: AnswerCheck): ToolUsageError {
  return new ToolUsageError(`the answer was refused (${check}); nothing was sent`);
}
