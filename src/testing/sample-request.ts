// Requests as an executor would make them.

import type { ApprovalRequest } from "../index.js";

/** A request of its own for every call id. */
export function sampleRequest(changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    v: 1,
    kind: "tool",
    runId: "run-1",
    threadId: "thread-1",
    taskRun: ["thread-1", "tools:1"],
    tool: "pay",
    description: "pays somebody",
    effects: "destructive",
    definitionDigest: "0".repeat(64),
    arguments: { to: "ana", amount: 5 },
    callId: "call-1",
    generation: 0,
    requestedBy: null,
    expiresAt: null,
    supersedes: null,
    previousAttempt: null,
    ...changes,
  };
}
