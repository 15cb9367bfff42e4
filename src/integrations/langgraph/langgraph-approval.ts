// `LangGraphApproval`: an approval port whose answers are signed resume values. Owns keys and lifetimes; pausing and taking
// answers in are the task's business.

import {
  toReviewRequest,
  ToolUsageError,
  type Answer,
  type AnswerCheck,
  type ApprovalDecision,
  type ApprovalPort,
  type PendingInterrupt,
} from "../../index.js";
import {
  DEFAULT_JSON_LIMITS,
  fieldsOf,
  isSigned,
  KeyRing,
  openAsk,
  parseAnswer,
  signAnswer,
  systemClock,
  type PortHost,
  type Secrets,
  type Shown,
  type Verdict,
} from "../../spi.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const UNKNOWN_AFTER_MS = 5 * 60 * 1000;

export interface LangGraphApprovalOptions {
  /**
   * Signs and checks answers: at least 16 bytes (32 recommended), the same in every process; `[current, ...older]` to rotate.
   * Default: the executor's `secret`, else a random key of this process.
   */
  readonly key?: Secrets;
  /** How long a signed answer is good, in milliseconds, judged when it is used. Default: 24 hours. */
  readonly answerTtlMs?: number;
}

/**
 * Pauses the graph with `interrupt()` and accepts only answers signed for exactly the request that was shown.
 *
 * @example
 * const port = new LangGraphApproval({ key: process.env.APPROVAL_KEY });
 * const answer = port.resumeValue(interrupt, approve({ by: "ana" }));
 * await app.invoke(new Command({ resume: { [interrupt.id]: answer } }), config);
 */
export class LangGraphApproval implements ApprovalPort {
  readonly source = "resume";
  readonly requestTtlMs = null;
  readonly unknownAfterMs = UNKNOWN_AFTER_MS;
  readonly keys: KeyRing | undefined;
  readonly #answerTtlMs: number;
  #host: PortHost | undefined;

  /** @throws ToolUsageError naming the option that cannot be used */
  constructor(options: LangGraphApprovalOptions = {}) {
    const { key, answerTtlMs = DAY_MS, ...rest } = options;
    const unknown = Object.keys(rest)[0];
    if (unknown !== undefined)
      throw new ToolUsageError(`LangGraphApproval: there is no option ${JSON.stringify(unknown)}`);
    if (!(Number.isSafeInteger(answerTtlMs) && answerTtlMs > 0)) {
      throw new ToolUsageError("LangGraphApproval: answerTtlMs must be a whole number of milliseconds above 0");
    }
    this.keys = key === undefined ? undefined : KeyRing.of(key, "key");
    this.#answerTtlMs = answerTtlMs;
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
  resumeValue(interrupt: PendingInterrupt, decision: ApprovalDecision): Answer {
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

  /** What is wrong with a resume value for this interrupt, in one word, without running anything. */
  check(interrupt: PendingInterrupt, value: unknown): AnswerCheck {
    return this.verify(toReviewRequest(interrupt), value);
  }

  verify(shown: Shown, value: unknown): AnswerCheck {
    const answer = parseAnswer(value, this.#limits());
    if (answer === undefined) return "malformed";
    if (answer.binding !== shown.binding) return "binding";
    if (!isSigned(this.#ring(), answer)) return "signature";
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
    // Stored answers were genuine when they entered; what no longer verifies (a removed key, its time) is asked again.
    if (answer === undefined || this.verify(shown, answer) !== "ok") return { status: "stale" };
    return {
      status: "decided",
      decision: answer.decision,
      decidedBy: answer.decision.by,
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

function isSealedAsk(ring: KeyRing, sealed: string, { binding, request }: Shown): boolean {
  try {
    return openAsk(ring, request.taskRun, sealed).binding === binding;
  } catch {
    return false;
  }
}
