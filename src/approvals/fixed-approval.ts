// `denyAll` and `dangerouslyApproveAll`: the same answer to every request, without asking anybody.

import { CallbackApproval } from "./callback-approval.js";
import { approve, deny } from "./decision.js";
import type { ApprovalPort } from "./port.js";

interface DenyAllOptions {
  /** What the model reads. */
  readonly reason?: string;
}

/**
 * Denies every call that needs a human: for runs that nobody watches.
 *
 * @throws ToolUsageError when the reason is not text
 * @example new Executor(registry, { approval: denyAll({ reason: "nobody is on call" }) })
 */
export function denyAll(options: DenyAllOptions = {}): ApprovalPort {
  const decision = deny(options);
  return new CallbackApproval(() => decision);
}

/**
 * Approves every call that needs a human, and no human sees it. For tests and sandboxes whose tools can do no harm.
 *
 * @throws nothing
 * @example new Executor(registry, { approval: dangerouslyApproveAll() })
 */
export function dangerouslyApproveAll(): ApprovalPort {
  const decision = approve();
  return new CallbackApproval(() => decision);
}
