// The public surface of `agent-adapter/langgraph`.

// ---- nodes
export { toolNode, type ToolNodeOptions } from "./tool-node.js";

// ---- approvals
export { LangGraphApproval, type LangGraphApprovalOptions } from "./langgraph-approval.js";
export { isInvalidAnswer } from "./is-invalid-answer.js";
export type { ApprovalInterrupt } from "./graph-task.js";
