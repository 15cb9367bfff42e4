// The public surface of `agent-adapter/langgraph`.

// ---- nodes
export { toolNode, type ToolNodeOptions } from "./tool-node.js";
export { hostedTools, type HostedCall, type HostedTools, type HostedToolsOptions } from "./hosted-tools.js";
export { oneUse, type NodeFunction, type OneUseOptions } from "./one-use.js";
export { toolTask, type ToolTaskOptions } from "./tool-task.js";
export { fanOut, type FanOutOptions } from "./fan-out.js";
export { reducer, type ReducerOptions } from "./reducer.js";
export type { Durable, DurableOptions } from "./node-settings.js";

// ---- flows
export { compileFlow, type CompileFlowOptions, type FlowGraph } from "./compile-flow/compile-flow.js";
export {
  runCompiled,
  type CompiledPaused,
  type CompiledResult,
  type FlowApp,
  type RunCompiledOptions,
} from "./run-compiled.js";

// ---- what the model is sent
export { langgraphCompressor, type MessageCompressor } from "./compressor.js";

// ---- the names that every adapter shares
export { INTEGRATION, type LangGraphIntegration, type ToolCallLike } from "./integration.js";

// ---- approvals
export { LangGraphApproval, type LangGraphApprovalOptions } from "./langgraph-approval.js";
export { resume, type OneAnswer, type ResumeOptions } from "./resume.js";
export { pendingApprovals, type PendingApproval } from "./pending-approvals.js";
export { assertSafe } from "./assert-safe.js";
export type { AppConfig, GraphApp } from "./app.js";
export { isInvalidAnswer } from "./is-invalid-answer.js";
export type { ApprovalInterrupt } from "./graph-task.js";

// ---- checkpointers
export { encryptedSaver, type EncryptedSaver, type EncryptedSaverOptions } from "./encrypted-saver.js";
