// Every name that goes into a trace or a metric. The GenAI ones are those of open-telemetry/semantic-conventions-genai
// (docs/gen-ai/execute-tool.md, status Development); they are constants of our own because the published package marks them
// as moved. What the conventions do not know starts with `agent_adapter.`.

// ---- GenAI semantic conventions
export const OPERATION_NAME = "gen_ai.operation.name";
export const EXECUTE_TOOL = "execute_tool";
export const TOOL_NAME = "gen_ai.tool.name";
export const TOOL_TYPE = "gen_ai.tool.type";
export const TOOL_CALL_ID = "gen_ai.tool.call.id";
export const TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments";
export const TOOL_CALL_RESULT = "gen_ai.tool.call.result";
export const CONVERSATION_ID = "gen_ai.conversation.id";
export const ERROR_TYPE = "error.type";
/** Histogram, in seconds. */
export const DURATION = "gen_ai.execute_tool.duration";

// ---- ours
export const INSTRUMENTATION = "agent-adapter";
export const RUN_ID = "agent_adapter.run.id";
/** May the model read the error? */
export const MODEL_VISIBLE = "agent_adapter.error.model_visible";
export const WAIT_FOR_APPROVAL = "wait_for_approval";
export const APPROVAL_ASKED = "agent_adapter.approval.asked";
export const APPROVAL_ALREADY_DECIDED = "agent_adapter.approval.already_decided";
export const APPROVAL_DECISION = "agent_adapter.approval.decision";
export const APPROVAL_DECIDED_BY = "agent_adapter.approval.decided_by";
export const APPROVAL_BINDING = "agent_adapter.approval.binding";

/** `error.type` of a call that was aborted. */
export const CANCELLED = "cancelled";
