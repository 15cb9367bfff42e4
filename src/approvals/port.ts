// `ApprovalPort`: where decisions come from. A port says what it knows about one ask; it never pauses, claims or runs
// anything itself, so that one place (the approve stage) does that for every port.

import type { JsonLimits } from "../crypto/canonical-json.js";
import type { KeyRing } from "../crypto/keys.js";
import type { Clock } from "../async/clock.js";
import type { Logger } from "../tools/logger.js";
import type { AnyToolSpec } from "../tools/spec.js";
import type { Answer, AnswerCheck, OneAnswer } from "./answer.js";
import type { AnswerSource } from "./ask.js";
import type { DecisionFields } from "./decision.js";
import type { ApprovalRequest } from "./request.js";
import type { PendingInterrupt } from "./review-request.js";

/** What an executor tells the ports it is built with. */
export interface PortHost {
  /** The executor's root secret, or the per-process one. */
  readonly keys: KeyRing;
  /** Dates come from it. */
  readonly clock: Clock;
  /** How deep and how large an edit may be. */
  readonly limits: JsonLimits;
  /** Where the port says what happened. */
  readonly logger: Logger;
  /** The registered tool of that name. */
  tool(name: string): AnyToolSpec | undefined;
}

/** What is shown and what its answer must be bound to. */
export interface Shown {
  /** The hash of the request. */
  readonly binding: string;
  /** The request. */
  readonly request: ApprovalRequest;
}

/** What a port says about an ask. */
export type Verdict =
  /** Nobody has decided. `inGraph: "throw"`: a host that could pause is not to, the call throws `ApprovalPending`. */
  | { readonly status: "pending"; readonly inGraph?: "throw" }
  /** A decision that may be claimed. */
  | {
      readonly status: "decided";
      readonly decision: DecisionFields;
      /** The verified approver, else the name the decision claims. */
      readonly decidedBy: string | undefined;
      /** No answer to this request is good after this time (ms): its use must be remembered until then. */
      readonly guardUntil: number;
      /** Uses up the port's own record, if it has one. Idempotent per token; rejects when another use was first. */
      consume(token: string): Promise<void>;
    }
  /** An answer was there but is no longer good (expired, removed key): ask again. */
  | { readonly status: "stale" }
  /** The request ran out before anybody decided. */
  | { readonly status: "expired" };

/** Where the decisions of an executor come from. */
export interface ApprovalPort {
  /** Where its answers come in: by the host's resume values, or here. */
  readonly source: AnswerSource;
  /** Milliseconds a request may wait for a decision; `null`: for ever. */
  readonly requestTtlMs: number | null;
  /**
   * Milliseconds after which a use by another process without an outcome counts as lost. `undefined`: as long as the attempts of
   * the tool may take together, else five minutes.
   */
  readonly unknownAfterMs: number | undefined;
  /** The key to seal with when the executor was given no secret. */
  readonly keys: KeyRing | undefined;
  /** Called by every executor built with this port. */
  attach(host: PortHost): void;
  /**
   * The request that was made for exactly this call before, by whichever process: it stands instead of this one, whose end alone
   * is another. Asked before anything new is made. Leave it out when requests are kept nowhere.
   */
  stored?(request: ApprovalRequest): Promise<ApprovalRequest | undefined>;
  /** Is this value a genuine answer to what is shown? Synchronous; one word; never throws on hostile input. */
  verify(shown: Shown, value: unknown): AnswerCheck;
  /**
   * What is known about this request. `answer`: what the host collected for its binding, unspent. `signal`: the run's; a port
   * that waits for somebody passes it on.
   */
  decide(shown: Shown, answer: unknown, signal?: AbortSignal): Promise<Verdict>;
}

/** How a port takes one answer, checked and not yet sent: as a value the host hands it, or written to its store. */
export type Delivery =
  | { readonly to: "host"; readonly value: Answer }
  | { readonly to: "store"; readonly decide: () => Promise<unknown> };

/** What a port adds so that its requests can be answered from outside. A port is one by having the methods. */
export interface AnswerablePort extends ApprovalPort {
  /**
   * Check an answer to what this interrupt shows. Touches nothing.
   *
   * @throws ToolUsageError when it is not one that may be sent
   */
  deliver(interrupt: PendingInterrupt, answer: OneAnswer): Delivery;
  /** Was this signed by somebody who may sign here, for whatever request? */
  isGenuine(value: unknown): boolean;
}

export function isAnswerable(port: ApprovalPort): port is AnswerablePort {
  return "deliver" in port && "isGenuine" in port;
}
