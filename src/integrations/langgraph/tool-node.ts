// `toolNode`: a node that runs the last AIMessage's tool calls through an executor. Exactly one ToolMessage per open call, in
// the order of the calls, whatever was approved, denied, edited, unknown or invalid.

import { ToolNode } from "@langchain/langgraph/prebuilt";
import { coerceMessageLikeToMessage, type BaseMessage, type BaseMessageLike } from "@langchain/core/messages";
import { ToolUsageError, type Executor, type Registry } from "../../index.js";
import { checkConcurrency, partsOf, refuseUnknown } from "../../spi.js";
import { leftOpen, openCallsOf, singleCall, type OpenCalls } from "../langchain-core/tool-messages.js";
import { answerCalls, settleAnswering, type Answering } from "./answer-calls.js";
import { graphTool } from "./graph-tool.js";
import { markAsking, type DurableOptions } from "./node-settings.js";
import type { NodeConfig } from "./pregel-internals.js";
import { runInTask } from "./run-in-task.js";

/** How a tool node runs and what it tells the model. */
export interface ToolNodeOptions extends DurableOptions {
  /** Default: the registry's shared executor with a `LangGraphApproval()` under this process's random key. */
  readonly executor?: Executor;
  /** The state key of the messages. Default `"messages"`. */
  readonly messagesKey?: string;
  /** How many calls that need no human run at once. Default: the executor's. */
  readonly concurrency?: number;
  /** Tell the model in the ToolMessage when a reviewer changed the arguments. Default `true`. */
  readonly announceEdits?: boolean;
  /** How many characters of a result the model reads; the rest is left out, and the content says so. Default: all. */
  readonly maxResultChars?: number;
}

/**
 * A node for `addNode("tools", ...)`; `.tools` are LangChain tools for `bindTools`. Calls that need a human run one by one
 * after the others, so that each pause asks one question; what finished before a pause is not run again.
 *
 * Accepts `{ messages }`, a message array, or the one call of `{ lg_tool_call }`.
 *
 * @throws ToolUsageError when an option cannot be used
 * @example
 * const tools = toolNode(registry, { executor });
 * const graph = new StateGraph(MessagesAnnotation).addNode("tools", tools).addEdge(START, "tools");
 */
export function toolNode(registry: Registry, options: ToolNodeOptions = {}): ToolNode {
  return new RegistryToolNode(registry, options);
}

interface Settings extends Answering {
  readonly messagesKey: string;
  readonly concurrency: number;
}

function settle(registry: Registry, options: ToolNodeOptions): Settings {
  const {
    executor,
    messagesKey = "messages",
    concurrency,
    announceEdits,
    maxResultChars,
    durable,
    maxEntryBytes,
    ...rest
  } = options;
  refuseUnknown("toolNode", rest);
  if (concurrency !== undefined) checkConcurrency(concurrency);
  const given = { executor, announceEdits, maxResultChars, durable, maxEntryBytes };
  const answering = settleAnswering("toolNode", registry, given);
  return { ...answering, messagesKey, concurrency: concurrency ?? partsOf(answering.executor).concurrency };
}

class RegistryToolNode extends ToolNode {
  readonly #settings: Settings;

  constructor(registry: Registry, options: ToolNodeOptions) {
    const settings = settle(registry, options);
    super(registry.list().map((spec) => graphTool(spec, settings.executor)));
    this.#settings = settings;
    markAsking(this, settings.executor);
  }

  protected override async run(input: unknown, config: NodeConfig): Promise<unknown> {
    const { messagesKey } = this.#settings;
    return runInTask(config, this.#settings, async (node) => {
      const open = this.#read(input, node.namespace);
      const answers = await answerCalls(open.calls, node, this.#settings);
      const messages = open.repaired === undefined ? answers : [open.repaired, ...answers];
      return Array.isArray(input) ? messages : { [messagesKey]: messages };
    });
  }

  #read(input: unknown, namespace: string): OpenCalls {
    const { messagesKey, executor } = this.#settings;
    if (typeof input === "object" && input !== null && "lg_tool_call" in input) {
      const call: unknown = input.lg_tool_call;
      if (typeof call !== "object" || call === null) throw new ToolUsageError("lg_tool_call is not a tool call");
      return { calls: [singleCall(call, namespace)], repaired: undefined };
    }
    const messages = messagesIn(input, messagesKey);
    const before = leftOpen(messages);
    if (before > 0) {
      const { logger } = partsOf(executor);
      logger.warn(`toolNode runs the last AIMessage's calls; calls of earlier ones without an answer: ${before}`);
    }
    return openCallsOf(messages, namespace);
  }
}

function messagesIn(input: unknown, messagesKey: string): BaseMessage[] {
  const list: unknown = Array.isArray(input) ? input : Object.getOwnPropertyDescriptor(input ?? {}, messagesKey)?.value;
  if (!Array.isArray(list))
    throw new ToolUsageError(`the tool node found no message array under ${JSON.stringify(messagesKey)}`);
  return list.map((message: BaseMessageLike) => coerceMessageLikeToMessage(message));
}
