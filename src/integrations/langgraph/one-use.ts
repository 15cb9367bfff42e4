// `oneUse`: your own node, run so that each answer is used once and finished calls are replayed. LangGraph runs a node again
// from the top after each pause; what your code does between the calls runs again, the calls do not.

import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { Registry, type Executor } from "../../index.js";
import { refuseUnknown } from "../../spi.js";
import { graphExecutor } from "./graph-executor.js";
import { markAsking, settleNode, type DurableOptions } from "./node-settings.js";
import { runInTask } from "./run-in-task.js";

/** Whose approvals enter the node, and what is kept. */
export interface OneUseOptions extends DurableOptions {
  /**
   * The executor whose tools the node calls: its port and its keys let the answers in. Default: one under this process's
   * random key, so that calls of another executor that need a human are refused.
   */
  readonly executor?: Executor;
}

/** A node function of yours, with or without config, sync or async. */
export type NodeFunction<State, Update> = (state: State, config: LangGraphRunnableConfig) => Update | Promise<Update>;

/**
 * Wrap a node that calls `executor.run`. Give each call a stable `callId`. Code that catches the pause still pauses; a denial
 * that nobody catches fails the node, so catch it or use `toolNode`.
 *
 * @throws ToolUsageError when an option cannot be used; from the node: see `executor.run`
 * @example
 * new StateGraph(State).addNode("send", oneUse(async (state: typeof State.State) => ({
 *   receipt: await executor.run(sendStatement, { period: state.period }, { callId: "send-1" }),
 * }), { executor }));
 */
export function oneUse<State, Update>(
  node: NodeFunction<State, Update>,
  options: OneUseOptions = {},
): (state: State, config: LangGraphRunnableConfig) => Promise<Update> {
  const { executor = graphExecutor(new Registry()), durable, maxEntryBytes, ...rest } = options;
  refuseUnknown("oneUse", rest);
  const settings = settleNode("oneUse", { durable, maxEntryBytes });
  const wrapped = (state: State, config: LangGraphRunnableConfig): Promise<Update> =>
    runInTask(config, { executor, settings }, async () => node(state, config));
  return markAsking(wrapped, executor);
}
