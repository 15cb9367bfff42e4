// `LangGraphApproval`: the port whose answers are LangGraph's resume values. All of it is the core's signed port; pausing with
// `interrupt()` and taking answers in are the task's business.

import { SignedApproval, type SignedApprovalOptions } from "../../spi.js";

/** The key or the approvers, and how long requests and answers are good. */
export type LangGraphApprovalOptions = SignedApprovalOptions;

/**
 * Pauses the graph with `interrupt()` and accepts only answers signed for exactly the request that was shown.
 *
 * @example
 * const port = new LangGraphApproval({ key: process.env.APPROVAL_KEY ?? "" });
 * const answer = port.resumeValue(interrupt, approve({ by: "ana" }));
 * await app.invoke(new Command({ resume: { [interrupt.id]: answer } }), config);
 */
export class LangGraphApproval extends SignedApproval {
  /** @throws ToolUsageError naming the option that cannot be used */
  constructor(options: LangGraphApprovalOptions = {}) {
    super(options, "LangGraphApproval");
  }
}
