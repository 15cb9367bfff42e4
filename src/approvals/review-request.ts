// `toReviewRequest`: what a reviewer's screen may see of a pause. Owns the border between a raw interrupt, which holds
// sealed state, and the request, which is made to be shown; recomputes the binding from what it hands out.

import { jsonCopy } from "../crypto/canonical-json.js";
import { ToolUsageError } from "../errors.js";
import { bindingOf, isApprovalRequest, type ApprovalRequest } from "./request.js";

/** The type of every interrupt value of this package. */
export const APPROVAL_TYPE = "agent_adapter.approval";

/** A pause as a host hands it out: an interrupt object, or its value. Not to be shown to anybody. */
export interface PendingInterrupt {
  /** The interrupt's id, by which a host is resumed. */
  readonly id?: string | undefined;
  /** What the paused task shows. */
  readonly value?: unknown;
}

declare const SAFE_TO_SHOW: unique symbol;

/** What a reviewer may see. A raw interrupt is not assignable to it. */
export interface ReviewRequest {
  readonly [SAFE_TO_SHOW]: true;
  /** The hash of the request, which an answer is signed for. */
  readonly binding: string;
  /** The request. Show all of it. */
  readonly request: ApprovalRequest;
}

/**
 * The request of a pause, checked: its binding is computed again from what is returned, so that what is shown is what
 * gets signed.
 *
 * @throws ToolUsageError when it is not one of our pauses, or request and binding do not belong together
 * @example show(toReviewRequest(interrupt).request);
 */
export function toReviewRequest(interrupt: PendingInterrupt): ReviewRequest {
  const value: unknown = interrupt.value;
  if (typeof value !== "object" || value === null) throw notOurs();
  const fields: Readonly<Record<string, unknown>> = { ...value };
  if (fields["type"] !== APPROVAL_TYPE || !isApprovalRequest(fields["request"])) throw notOurs();
  const request = jsonCopy(fields["request"]);
  if (!isApprovalRequest(request)) throw notOurs();
  const binding = bindingOf(request);
  if (fields["binding"] !== binding) {
    throw new ToolUsageError("the request shown is not the one that was asked: its binding does not match");
  }
  return safeToShow({ binding, request });
}

function safeToShow(shown: Omit<ReviewRequest, typeof SAFE_TO_SHOW>): ReviewRequest {
  // The brand exists in types only, and this is its one constructor.
  return shown as ReviewRequest;
}

function notOurs(): ToolUsageError {
  return new ToolUsageError(
    "not an approval pause: pass the interrupt ({ id, value }) as invoke, getState, the stream or pendingApprovals (`.interrupt`) gave it",
  );
}
