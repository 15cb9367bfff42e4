// `CallbackApproval`: ask a function of this process and wait for it. Owns nothing that lasts: a decision is good for the
// attempt that asked, and asking again is a new question.

import { systemClock } from "../async/clock.js";
import type { KeyRing } from "../crypto/keys.js";
import { ToolUsageError } from "../errors.js";
import { durationOption, refuseUnknown } from "../options.js";
import type { AnswerCheck } from "./answer.js";
import { fieldsOf, type ApprovalDecision } from "./decision.js";
import type { ApprovalPort, PortHost, Shown, Verdict } from "./port.js";
import { toReviewRequest, type ReviewRequest } from "./review-request.js";

/** Decides about one request. `signal` aborts when nobody waits for the decision any more. */
export type ApprovalCallback = (
  review: ReviewRequest,
  signal: AbortSignal | undefined,
) => ApprovalDecision | Promise<ApprovalDecision>;

/** How long the function may take. */
export interface CallbackApprovalOptions {
  /** Milliseconds the function may take, judged when it answers; then it is `ApprovalExpired`. Default: for ever. */
  readonly requestTtlMs?: number;
}

/**
 * Asks a function: a prompt in a terminal, a message to a reviewer who is online, a rule of your own. What it throws is what
 * the run rejects with; nothing was used then.
 *
 * @throws ToolUsageError from the run when the function returns anything but what `approve()` or `deny()` made
 * @example
 * const approval = new CallbackApproval(async ({ request }) =>
 *   (await askInTerminal(`Run ${request.tool}?`)) ? approve({ by: "ana" }) : deny({ by: "ana" }));
 */
export class CallbackApproval implements ApprovalPort {
  readonly source = "port";
  readonly requestTtlMs: number | null;
  readonly unknownAfterMs = undefined;
  readonly keys: KeyRing | undefined = undefined;
  readonly #ask: ApprovalCallback;
  #host: PortHost | undefined;

  /** @throws ToolUsageError naming what cannot be used */
  constructor(ask: ApprovalCallback, options: CallbackApprovalOptions = {}) {
    const { requestTtlMs, ...rest } = options;
    if (typeof ask !== "function") throw new ToolUsageError("CallbackApproval takes a function that decides");
    refuseUnknown("CallbackApproval", rest);
    this.#ask = ask;
    this.requestTtlMs =
      requestTtlMs === undefined ? null : durationOption("CallbackApproval", "requestTtlMs", requestTtlMs);
  }

  attach(host: PortHost): void {
    this.#host = host;
  }

  /** It never pauses, so no value is ever meant for it. */
  verify(): AnswerCheck {
    return "ok";
  }

  /**
   * Asks the function and waits for it.
   *
   * @throws ToolUsageError when it returns anything but what `approve()` or `deny()` made; and whatever it throws
   */
  async decide({ binding, request }: Shown, _answer?: unknown, signal?: AbortSignal): Promise<Verdict> {
    if (this.#hasRunOut(request.expiresAt)) return { status: "expired" };
    const review = toReviewRequest({ id: binding, request });
    const decision = fieldsOf(await this.#ask(review, signal));
    if (this.#hasRunOut(request.expiresAt)) return { status: "expired" };
    return {
      status: "decided",
      decision,
      decidedBy: decision.by,
      // Nobody can present this answer again: only a new question gives a new one.
      guardUntil: this.#now(),
      consume: () => Promise.resolve(),
    };
  }

  #hasRunOut(expiresAt: number | null): boolean {
    return expiresAt !== null && this.#now() > expiresAt;
  }

  #now(): number {
    return (this.#host?.clock ?? systemClock).now();
  }
}
