// `LangGraphApproval`: an approval port whose answers are signed resume values. Owns keys and lifetimes; pausing and taking
// answers in are the task's business.

import {
  toReviewRequest,
  ToolUsageError,
  type Answer,
  type AnswerCheck,
  type ApprovalDecision,
  type ApprovalPort,
  type Approver,
  type MacAnswer,
  type PendingInterrupt,
} from "../../index.js";
import {
  ANSWER_TTL_MS,
  Approvers,
  DEFAULT_JSON_LIMITS,
  durationOption,
  fieldsOf,
  isSigned,
  KeyRing,
  openAsk,
  parseAnswer,
  refuseMissing,
  refuseUnknown,
  signAnswer,
  systemClock,
  type PortHost,
  type Secrets,
  type Shown,
  type Verdict,
} from "../../spi.js";

export interface LangGraphApprovalOptions {
  /**
   * Signs and checks answers: at least 16 bytes (32 recommended), the same in every process; `[current, ...older]` to rotate.
   * Default: the executor's `secret`, else a random key of this process.
   */
  readonly key?: Secrets;
  /** Who may approve, with keys of their own: then nothing in this process can. Instead of `key`. */
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

/**
 * Pauses the graph with `interrupt()` and accepts only answers signed for exactly the request that was shown.
 *
 * @example
 * const port = new LangGraphApproval({ key: process.env.APPROVAL_KEY ?? "" });
 * const answer = port.resumeValue(interrupt, approve({ by: "ana" }));
 * await app.invoke(new Command({ resume: { [interrupt.id]: answer } }), config);
 */
export class LangGraphApproval implements ApprovalPort {
  readonly source = "resume";
  readonly requestTtlMs: number | null;
  readonly unknownAfterMs: number | undefined;
  readonly keys: KeyRing | undefined;
  readonly #approvers: Approvers | undefined;
  readonly #answerTtlMs: number;
  #host: PortHost | undefined;

  /** @throws ToolUsageError naming the option that cannot be used */
  constructor(options: LangGraphApprovalOptions = {}) {
    const { key, approvers, requestTtlMs, unknownAfterMs, answerTtlMs = ANSWER_TTL_MS, ...rest } = options;
    refuseUnknown("LangGraphApproval", rest);
    refuseMissing("LangGraphApproval", "key", options);
    if (key !== undefined && approvers !== undefined) {
      throw new ToolUsageError("LangGraphApproval: with `approvers` nothing here may approve; leave out `key`");
    }
    this.keys = key === undefined ? undefined : KeyRing.of(key, "key");
    this.#approvers = approvers === undefined ? undefined : new Approvers(approvers);
    this.requestTtlMs = requestTtlMs === undefined ? null : milliseconds("requestTtlMs", requestTtlMs);
    this.unknownAfterMs = unknownAfterMs === undefined ? undefined : milliseconds("unknownAfterMs", unknownAfterMs);
    this.#answerTtlMs = milliseconds("answerTtlMs", answerTtlMs);
  }

  /** @throws ToolUsageError when a port without a `key` is given to executors with different secrets */
  attach(host: PortHost): void {
    if (this.keys === undefined && this.#host !== undefined && !this.#host.keys.sameAs(host.keys)) {
      throw new ToolUsageError("one LangGraphApproval without a `key` cannot serve executors with different secrets");
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
    if (this.#approvers !== undefined) {
      throw new ToolUsageError("with `approvers` an answer is signed by signDecision() where the private key is");
    }
    const { binding, request } = toReviewRequest(interrupt);
    this.#checkSealed(interrupt.value, { binding, request });
    const fields = fieldsOf(decision);
    if (fields.approved && fields.editedArgs !== undefined) this.#checkEdit(request.tool, fields.editedArgs);
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
    return answer !== undefined && this.#isSigned(answer);
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
    if (answer.binding !== shown.binding) return "binding";
    if (!this.#isSigned(answer) || !this.#mayDecide(answer, shown)) return "signature";
    const { decision } = answer;
    if (
      decision.approved &&
      decision.editedArgs !== undefined &&
      !this.#editFits(shown.request.tool, decision.editedArgs)
    ) {
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
      decidedBy: "signature" in answer ? answer.keyId : answer.decision.by,
      guardUntil: Math.max(answer.expiresAt, this.#now() + this.#answerTtlMs),
      // The answer has no record of its own; the claim is all there is.
      consume: () => Promise.resolve(),
    };
  }

  #isSigned(answer: Answer): boolean {
    if (this.#approvers !== undefined) return "signature" in answer && this.#approvers.isSigned(answer);
    return "mac" in answer && isSigned(this.#ring(), answer);
  }

  #mayDecide(answer: Answer, { request }: Shown): boolean {
    return this.#approvers === undefined || ("signature" in answer && this.#approvers.mayDecide(answer, request));
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

  #editFits(tool: string, edited: unknown): boolean {
    try {
      this.#checkEdit(tool, edited);
      return true;
    } catch {
      return false;
    }
  }

  /** Where the tool is at hand; elsewhere (a reviewer's process) the node checks it when the answer enters. */
  #checkEdit(tool: string, edited: unknown): void {
    this.#host?.tool(tool)?.parseEditedArgumentsSync(edited, this.#limits());
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

const milliseconds = (option: string, value: number) => durationOption("LangGraphApproval", option, value);

function isSealedAsk(ring: KeyRing, sealed: string, { binding, request }: Shown): boolean {
  try {
    return openAsk(ring, request.taskRun, sealed).binding === binding;
  } catch {
    return false;
  }
}
