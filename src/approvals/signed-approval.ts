// `SignedApproval`: an approval port whose answers come back to whoever paused, signed for exactly the request that was shown.
// Owns keys and lifetimes; pausing and taking answers in are the host's business.

import { systemClock } from "../async/clock.js";
import { DEFAULT_JSON_LIMITS } from "../crypto/canonical-json.js";
import { KeyRing, type Secrets } from "../crypto/keys.js";
import { ToolUsageError } from "../errors.js";
import { durationOption, refuseUnknown } from "../options.js";
import {
  ANSWER_TTL_MS,
  parseAnswer,
  signAnswer,
  type Answer,
  type AnswerCheck,
  type MacAnswer,
  type OneAnswer,
} from "./answer.js";
import type { Approver } from "./approvers.js";
import { openAsk } from "./ask.js";
import { fieldsOf, isApprovalDecision, type ApprovalDecision } from "./decision.js";
import type { AnswerablePort, Delivery, PortHost, Shown, Verdict } from "./port.js";
import type { ApprovalRequest } from "./request.js";
import { toReviewRequest, type PendingInterrupt } from "./review-request.js";
import { decidedByOf, refuseBoth, refusedAnswer, Signers } from "./signers.js";

/** The key or the approvers, and how long requests and answers are good. */
export interface SignedApprovalOptions {
  /**
   * Signs and checks answers: at least 16 bytes (32 recommended), the same in every process; `[current, ...older]` to rotate.
   * Default: the executor's `secret`, else a random key of this process.
   */
  readonly key?: Secrets;
  /**
   * Who may approve, with keys of their own: then nothing in this process can. Instead of `key`. Default: whoever has the key.
   */
  readonly approvers?: readonly Approver[];
  /** How long a request may wait for a decision, in milliseconds. Default: for ever. */
  readonly requestTtlMs?: number;
  /**
   * After how many milliseconds a use by another process without an outcome counts as lost, so that the call is asked again.
   * Make it longer than your tools run. Default: as long as the attempts of the tool may take together (`timeoutMs`, `retries`),
   * 5 minutes for a tool without `timeoutMs`.
   */
  readonly unknownAfterMs?: number;
  /** How long a signed answer is good, in milliseconds, judged when it is used. Default: 24 hours. */
  readonly answerTtlMs?: number;
}

/** What `LangGraphApproval` is, and the port of a local flow whose executor has none. */
export class SignedApproval implements AnswerablePort {
  readonly source = "resume";
  readonly requestTtlMs: number | null;
  readonly unknownAfterMs: number | undefined;
  readonly keys: KeyRing | undefined;
  readonly #signers: Signers;
  readonly #answerTtlMs: number;
  readonly #owner: string;
  #host: PortHost | undefined;

  /** @throws ToolUsageError naming the option that cannot be used */
  constructor(options: SignedApprovalOptions = {}, owner = "SignedApproval") {
    const milliseconds = (option: string, value: number) => durationOption(owner, option, value);
    this.#owner = owner;
    const { key, approvers, requestTtlMs, unknownAfterMs, answerTtlMs = ANSWER_TTL_MS, ...rest } = options;
    refuseUnknown(owner, rest);
    refuseBoth(owner, options);
    this.keys = key === undefined ? undefined : KeyRing.of(key, "key");
    this.#signers = new Signers(() => this.#ring(), approvers);
    this.requestTtlMs = requestTtlMs === undefined ? null : milliseconds("requestTtlMs", requestTtlMs);
    this.unknownAfterMs = unknownAfterMs === undefined ? undefined : milliseconds("unknownAfterMs", unknownAfterMs);
    this.#answerTtlMs = milliseconds("answerTtlMs", answerTtlMs);
  }

  /** @throws ToolUsageError when a port without a `key` is given to executors with different secrets */
  attach(host: PortHost): void {
    if (this.keys === undefined && this.#host !== undefined && !this.#host.keys.sameAs(host.keys)) {
      throw new ToolUsageError(`one ${this.#owner} without a \`key\` cannot serve executors with different secrets`);
    }
    this.#host = host;
  }

  /**
   * Sign a decision about exactly the request of this interrupt. Where the sealed state is at hand, with its key, it must hold
   * the same request.
   *
   * @throws ToolUsageError when it is not an approval pause, its request does not match its binding, or the decision was not
   * made by `approve()` or `deny()`
   * @throws ToolArgsInvalid when an edit does not fit the tool
   */
  resumeValue(interrupt: PendingInterrupt, decision: ApprovalDecision): MacAnswer {
    if (this.#signers.areApprovers) {
      throw new ToolUsageError("with `approvers` an answer is signed by signDecision() where the private key is");
    }
    const { binding, request } = toReviewRequest(interrupt);
    this.#checkSealed(interrupt.value, { binding, request });
    const fields = fieldsOf(decision);
    if (fields.approved && fields.editedArgs !== undefined) this.#checkEdit(request, fields.editedArgs);
    const signedAt = this.#now();
    const answer = signAnswer(this.#ring(), {
      binding,
      decision: fields,
      signedAt,
      expiresAt: signedAt + this.#answerTtlMs,
    });
    if (parseAnswer(answer, this.#limits()) !== undefined) return answer;
    throw new ToolUsageError("the decision is too large to be sent as an answer");
  }

  /**
   * Sign several decisions at once: an id map for `Command({ resume })`. Decisions are named by interrupt id or binding.
   *
   * @throws ToolUsageError when a decision belongs to none of the interrupts, or as `resumeValue`
   */
  resumeValues(
    interrupts: readonly PendingInterrupt[],
    decisions: Readonly<Record<string, ApprovalDecision>>,
  ): Record<string, MacAnswer> {
    const left = new Map(Object.entries(decisions));
    const answers: Record<string, MacAnswer> = {};
    for (const interrupt of interrupts) {
      const names = [interrupt.id ?? "", toReviewRequest(interrupt).binding];
      const name = names.find((candidate) => left.has(candidate));
      const decision = name === undefined ? undefined : left.get(name);
      if (name === undefined || decision === undefined || interrupt.id === undefined) continue;
      left.delete(name);
      answers[interrupt.id] = this.resumeValue(interrupt, decision);
    }
    if (left.size > 0) throw new ToolUsageError(`${left.size} of the decisions belong to none of the interrupts`);
    return answers;
  }

  /** Was this signed by somebody who may sign here, for whatever request? */
  isGenuine(value: unknown): boolean {
    const answer = parseAnswer(value, this.#limits());
    return answer !== undefined && this.#signers.isSigned(answer);
  }

  /** Signed here, or signed elsewhere and checked: refused bytes never reach the host. */
  deliver(interrupt: PendingInterrupt, answer: OneAnswer): Delivery {
    if (isApprovalDecision(answer)) return { to: "host", value: this.resumeValue(interrupt, answer) };
    const check = this.check(interrupt, answer);
    if (check !== "ok") throw refusedAnswer(check);
    return { to: "host", value: answer };
  }

  /** What is wrong with a resume value for this interrupt, in one word, without running anything. */
  check(interrupt: PendingInterrupt, value: unknown): AnswerCheck {
    return this.verify(toReviewRequest(interrupt), value);
  }

  verify(shown: Shown, value: unknown): AnswerCheck {
    const answer = parseAnswer(value, this.#limits());
    return answer === undefined ? "malformed" : this.#judge(shown, answer);
  }

  /** Of a parsed copy only: the value itself may say something else when it is read again. */
  #judge(shown: Shown, answer: Answer): AnswerCheck {
    const signed = this.#signers.judge(shown, answer);
    if (signed !== "ok") return signed;
    const { decision } = answer;
    if (decision.approved && decision.editedArgs !== undefined && !this.#editFits(shown.request, decision.editedArgs)) {
      return "malformed";
    }
    return this.#now() > answer.expiresAt ? "expired" : "ok";
  }

  decide(shown: Shown, value: unknown): Promise<Verdict> {
    return Promise.resolve(this.#verdict(shown, value));
  }

  #verdict(shown: Shown, value: unknown): Verdict {
    if (value === undefined) return { status: "pending" };
    const answer = parseAnswer(value, this.#limits());
    if (answer === undefined) return { status: "stale" };
    // Stored answers were genuine when they entered; what no longer verifies (a removed key, its time) is asked again.
    const check = this.#judge(shown, answer);
    if (check !== "ok" && check !== "expired") return { status: "stale" };
    // Signed too late is the request's end; signed in time and used late is the answer's.
    const { expiresAt } = shown.request;
    if (expiresAt !== null && answer.signedAt > expiresAt) return { status: "expired" };
    if (check === "expired") return { status: "stale" };
    return {
      status: "decided",
      decision: answer.decision,
      decidedBy: decidedByOf({ decision: answer.decision, answer }),
      guardUntil: Math.max(answer.expiresAt, this.#now() + this.#answerTtlMs),
      // The answer has no record of its own; the claim is all there is.
      consume: () => Promise.resolve(),
    };
  }

  /** A request that was replaced together with its binding: the seal still says what was asked. */
  #checkSealed(value: unknown, { binding, request }: Shown): void {
    const sealed = typeof value === "object" && value !== null && "aa_state" in value ? value.aa_state : undefined;
    if (typeof sealed !== "string") return;
    const keyId = sealed.split(".")[1] ?? "";
    const rings = [this.#host?.keys, this.keys, KeyRing.forProcess()];
    const ring = rings.find((candidate) => candidate?.has(keyId));
    if (ring !== undefined && !isSealedAsk(ring, sealed, { binding, request })) {
      throw new ToolUsageError("the request shown is not the one that was asked: its sealed state says another");
    }
  }

  #editFits(request: ApprovalRequest, edited: unknown): boolean {
    try {
      this.#checkEdit(request, edited);
      return true;
    } catch {
      return false;
    }
  }

  /** Where the tool is at hand; elsewhere (a reviewer's process), and for a gate, whoever runs it checks it as the answer enters. */
  #checkEdit({ kind, tool }: ApprovalRequest, edited: unknown): void {
    if (kind === "tool") this.#host?.tool(tool)?.parseEditedArgumentsSync(edited, this.#limits());
  }

  #ring(): KeyRing {
    return this.keys ?? this.#host?.keys ?? KeyRing.forProcess();
  }

  #limits() {
    return this.#host?.limits ?? DEFAULT_JSON_LIMITS;
  }

  #now(): number {
    return (this.#host?.clock ?? systemClock).now();
  }
}

function isSealedAsk(ring: KeyRing, sealed: string, { binding, request }: Shown): boolean {
  try {
    return openAsk(ring, request.taskRun, sealed).binding === binding;
  } catch {
    return false;
  }
}
