// The public surface of `agent-adapter/langchain`.

// ---- existing LangChain tools
export { importLangChain, type ImportOptions } from "./import-tools.js";
