// The public surface of `agent-adapter/opentelemetry`.

// ---- tracing
export { OpenTelemetryHook, type OpenTelemetryHookOptions } from "./opentelemetry-hook.js";
