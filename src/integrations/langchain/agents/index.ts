// The public surface of `agent-adapter/langchain/agents`.

// ---- what the model is sent
export { compressionMiddleware } from "./compression-middleware.js";

// ---- agents of `createAgent`
export { agentAdapterMiddleware, type AgentAdapterOptions } from "./middleware.js";
