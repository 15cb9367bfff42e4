// The public surface of `agent-adapter/langchain`.

// ---- existing LangChain tools
export { importLangChain, type ImportOptions } from "./import-tools.js";

// ---- our tools as LangChain tools
export { exportTool } from "./export-tool.js";

// ---- the names that every adapter shares
export { INTEGRATION, type ToolCallLike } from "./integration.js";

// ---- results with an artifact
export { toolOutput, type ToolOutput } from "../langchain-core/tool-output.js";
