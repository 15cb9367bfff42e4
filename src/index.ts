// The public surface of `agent-adapter`.

// ---- tools
export { defineTool } from "./tools/define-tool.js";
export { Registry, type RegistryOptions } from "./tools/registry.js";
export type {
  AnyToolSpec,
  CacheRule,
  ConfirmContext,
  ConfirmPredicate,
  Effects,
  JsonSchema,
  RetryOptions,
  RetryPolicy,
  ToolContext,
  ToolOptions,
  ToolSpec,
} from "./tools/spec.js";

// ---- running them
export {
  Executor,
  type BatchCall,
  type BatchRunOptions,
  type ContextOptions,
  type RunOptions,
} from "./executor/executor.js";
export type { ExecutorOptions } from "./executor/parts.js";
export type { Explanation } from "./executor/explain.js";
export type { ConfirmReason } from "./executor/confirm.js";
export type { Policy } from "./executor/policy.js";
export type { Logger } from "./tools/logger.js";
export type { CallOutcome } from "./executor/run-many.js";
export { currentContext } from "./executor/scope.js";
export type { CallContext, RunContext } from "./context/run-context.js";

// ---- what framework adapters offer
export type { BoundContext, Integration } from "./integration.js";

// ---- approvals
export { approve, deny, type ApprovalDecision, type DecisionFields } from "./approvals/decision.js";
export { DeferredApproval, type DeferredApprovalOptions } from "./approvals/deferred-approval.js";
export {
  CallbackApproval,
  type ApprovalCallback,
  type CallbackApprovalOptions,
} from "./approvals/callback-approval.js";
export { dangerouslyApproveAll, denyAll } from "./approvals/fixed-approval.js";
export { MemoryApprovalStore, type MemoryApprovalStoreOptions } from "./approvals/memory-store.js";
export type { ApprovalFilter, ApprovalRecord, ApprovalStatus, ApprovalStore } from "./approvals/store.js";
export { MemoryClaimStore, type MemoryClaimStoreOptions } from "./approvals/memory-claim-store.js";
export type { ClaimStore } from "./approvals/claim-store.js";
export {
  toReviewRequest,
  type PendingInterrupt,
  type RecordedRequest,
  type ReviewRequest,
} from "./approvals/review-request.js";
export type { Answer, AnswerCheck, MacAnswer, SignatureAnswer } from "./approvals/answer.js";
export { signDecision, type Approver, type SigningOptions } from "./approvals/approvers.js";
export type { ApprovalPort } from "./approvals/port.js";
export type { ApprovalRequest, PreviousAttempt } from "./approvals/request.js";

// ---- around every call
export type { ApprovalEvent, BeforeAnswer, Hook, HookCall } from "./hooks/hook.js";
export { BudgetHook, type BudgetHookOptions, type BudgetLimit } from "./hooks/budget-hook.js";
export { LoggingHook, type LoggingHookOptions } from "./hooks/logging-hook.js";
export { MemoryCache, type MemoryCacheOptions } from "./cache/memory-cache.js";
export type { ResultCache } from "./cache/cache.js";
export { MemoryLedger } from "./ledger/memory-ledger.js";
export type { Ledger, LedgerClosing, LedgerEntry, LedgerOpening, LedgerStatus, LedgerTotals } from "./ledger/ledger.js";
export type { Clock } from "./async/clock.js";
export type { JsonLimits, JsonObject, JsonValue } from "./crypto/canonical-json.js";
export type { AsymmetricKey } from "./crypto/ed25519.js";
export type { Secret, Secrets } from "./crypto/keys.js";

// ---- what the model is sent of a long conversation
export { CompressionPolicy, type CompressionOptions, type ToolResultOptions } from "./compression/policy.js";
export { compress, type CompressedHistory } from "./compression/compress.js";
export { closeOpenCalls } from "./compression/open-calls.js";
export type { Summarize } from "./compression/summaries.js";
export {
  estimateTokens,
  type MediaPart,
  type NeutralAssistantMessage,
  type NeutralCall,
  type NeutralContent,
  type NeutralHumanMessage,
  type NeutralMessage,
  type NeutralResultMessage,
  type NeutralSystemMessage,
  type TextPart,
} from "./compression/message.js";

// ---- errors
export {
  AgentAdapterError,
  ApprovalAlreadyDecided,
  ApprovalDenied,
  ApprovalExpired,
  ApprovalPending,
  BudgetExceeded,
  FlowCompileError,
  FlowError,
  FlowLoopExceeded,
  isAgentAdapterError,
  StoreUnavailable,
  ToolArgsInvalid,
  ToolError,
  ToolFailed,
  ToolNotFound,
  ToolTimeout,
  ToolUsageError,
  type ErrorKind,
} from "./errors.js";
