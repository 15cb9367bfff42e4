// The public surface of `agent-adapter/langchain`.

// ---- existing LangChain tools
export { importLangChain, type ImportOptions } from "./import-tools.js";

// ---- results with an artifact
export { toolOutput, type ToolOutput } from "../langchain-core/tool-output.js";
