// `Integration`: what every framework adapter offers, under the same names.

import type { AnyToolSpec } from "./tools/spec.js";
import type { Executor } from "./executor/executor.js";

/** Ids of a tool call as the framework's current run knows them. */
export interface BoundContext {
  /** The run, when the framework names one. */
  readonly runId: string | undefined;
  /** The thread, when there is one. */
  readonly threadId: string | undefined;
  /** The call's id, when it has one. */
  readonly callId: string | undefined;
}

/** `Exported` is the framework's own kind of tool or node; `ToolCall` its kind of tool call. */
export interface Integration<Exported, ToolCall> {
  /** The adapter's name: that of its entry point. */
  readonly name: string;
  /** One tool as something the framework can hold. Default executor: the tool's own. */
  exportTool(spec: AnyToolSpec, executor?: Executor): Exported;
  /** Run, thread and call ids of a tool call under the framework's current config. */
  bindContext(toolCall: ToolCall): BoundContext;
}
