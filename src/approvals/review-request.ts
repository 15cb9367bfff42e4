// `toReviewRequest`: what a reviewer's screen may see of a pause. Owns the border between a raw interrupt, which holds
// sealed state, and the request, which is made to be shown; recomputes the binding from what it hands out.

import { jsonCopy, NotJson, type JsonValue } from "../crypto/canonical-json.js";
import { ToolUsageError } from "../errors.js";
import { bindingOf, hasRequestShape, type ApprovalRequest } from "./request.js";

/** The type of every interrupt value of this package. */
export const APPROVAL_TYPE = "agent_adapter.approval";

/** A pause as a host hands it out: an interrupt object, or its value. Not to be shown to anybody. */
export interface PendingInterrupt {
  /** The interrupt's id, by which a host is resumed. */
  readonly id?: string | undefined;
  /** What the paused task shows. */
  readonly value?: unknown;
}

/** What a store's record says of the question. */
export interface RecordedRequest {
  /** The binding. */
  readonly id: string;
  /** What was asked. */
  readonly request: ApprovalRequest;
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
 * The request of a pause, or of a store's record, checked: its binding is computed again from what is returned, so that what is
 * shown is what gets signed.
 *
 * @throws ToolUsageError when it is neither, or request and binding do not belong together
 * @example show(toReviewRequest(interrupt).request);
 */
export function toReviewRequest(waiting: PendingInterrupt | RecordedRequest): ReviewRequest {
  const given: unknown = waiting;
  if (typeof given !== "object" || given === null) throw notOurs();
  const claimed = isRecorded(waiting) ? { binding: waiting.id, request: waiting.request } : shownBy(waiting);
  const request = ownCopy(claimed.request);
  if (!hasRequestShape(request)) throw notOurs();
  const binding = bindingOf(request);
  if (claimed.binding !== binding) {
    throw new ToolUsageError("the request shown is not the one that was asked: its binding does not match");
  }
  return safeToShow({ binding, request });
}

function isRecorded(waiting: PendingInterrupt | RecordedRequest): waiting is RecordedRequest {
  return Object.hasOwn(waiting, "request");
}

function shownBy({ value }: PendingInterrupt): { readonly binding: unknown; readonly request: unknown } {
  if (typeof value !== "object" || value === null) throw notOurs();
  const { type, binding, request }: Readonly<Record<string, unknown>> = { ...value };
  if (type !== APPROVAL_TYPE) throw notOurs();
  return { binding, request };
}

/** What is shown is read once. */
function ownCopy(request: unknown): JsonValue {
  try {
    return jsonCopy(request);
  } catch (error) {
    throw error instanceof NotJson ? notOurs() : error;
  }
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
