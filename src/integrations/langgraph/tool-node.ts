// `toolNode`: a node that runs the last AIMessage's tool calls through an executor. Exactly one ToolMessage per open call, in
// the order of the calls, whatever was approved, denied, edited, unknown or invalid.

import { ToolNode } from "@langchain/langgraph/prebuilt";
import {
  coerceMessageLikeToMessage,
  type BaseMessage,
  type BaseMessageLike,
  type ToolMessage,
} from "@langchain/core/messages";
import { ToolUsageError, type Executor, type Registry } from "../../index.js";
import { checkConcurrency, hiddenFailure, partsOf, refuseUnknown, runBatch, type CallOutcome } from "../../spi.js";
import {
  errorMessage,
  leftOpen,
  openCallsOf,
  resultMessage,
  singleCall,
  type OpenCall,
  type OpenCalls,
  type ResultStyle,
} from "../langchain-core/tool-messages.js";
import { graphExecutor } from "./graph-executor.js";
import { graphTool } from "./graph-tool.js";
import { markAsking, settleNode, type DurableOptions } from "./node-settings.js";
import type { NodeConfig } from "./pregel-internals.js";
import { runInTask, type NodeRun, type NodeRunner } from "./run-in-task.js";

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

interface Settings extends NodeRunner {
  readonly messagesKey: string;
  readonly concurrency: number;
  readonly style: ResultStyle;
}

function settle(registry: Registry, options: ToolNodeOptions): Settings {
  const {
    executor,
    messagesKey = "messages",
    concurrency,
    announceEdits = true,
    maxResultChars = Infinity,
    durable,
    maxEntryBytes,
    ...rest
  } = options;
  refuseUnknown("toolNode", rest);
  if (!(maxResultChars > 0)) throw new ToolUsageError("toolNode: maxResultChars must be a number above 0");
  const used = executor ?? graphExecutor(registry);
  if (concurrency !== undefined) checkConcurrency(concurrency);
  const strayed = registry.list().find((spec) => used.registry.get(spec.name) !== spec);
  if (strayed !== undefined)
    throw new ToolUsageError(`toolNode: ${strayed.name} is not registered in the executor's registry`);
  const style = { announceEdits, maxResultChars };
  const settings = settleNode("toolNode", { durable, maxEntryBytes });
  return { executor: used, settings, messagesKey, concurrency: concurrency ?? partsOf(used).concurrency, style };
}

class RegistryToolNode extends ToolNode {
  readonly #settings: Settings;
  readonly #registry: Registry;

  constructor(registry: Registry, options: ToolNodeOptions) {
    const settings = settle(registry, options);
    super(registry.list().map((spec) => graphTool(spec, settings.executor)));
    this.#settings = settings;
    this.#registry = registry;
    markAsking(this, settings.executor);
  }

  protected override async run(input: unknown, config: NodeConfig): Promise<unknown> {
    const { messagesKey } = this.#settings;
    return runInTask(config, this.#settings, async (node) => {
      const open = this.#read(input, node.namespace);
      const answers = await this.#answer(open.calls, node);
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

  async #answer(calls: readonly OpenCall[], { scope }: NodeRun): Promise<ToolMessage[]> {
    const { executor, concurrency, style } = this.#settings;
    const runnable = calls.filter((call) => call.refusal === undefined);
    const registry = this.#registry;
    const requests = runnable.map((call) => ({ tool: call.name, args: call.args, callId: call.id, registry }));
    const outcomes = await runBatch(partsOf(executor), scope, requests, { concurrency, signal: scope.context.signal });
    const failure = hiddenFailure(outcomes);
    if (failure !== undefined) throw failure.reason;
    const byCall = new Map(runnable.map((call, index) => [call, outcomes[index]]));
    return calls.map((call) => messageFor(call, byCall.get(call), style));
  }
}

function messageFor(call: OpenCall, outcome: CallOutcome | undefined, style: ResultStyle): ToolMessage {
  if (outcome === undefined) return errorMessage(call, call.refusal);
  if (outcome.status === "rejected") return errorMessage(call, outcome.reason);
  return resultMessage(call, { value: outcome.value, edited: outcome.editedArguments }, style);
}

function messagesIn(input: unknown, messagesKey: string): BaseMessage[] {
  const list: unknown = Array.isArray(input) ? input : Object.getOwnPropertyDescriptor(input ?? {}, messagesKey)?.value;
  if (!Array.isArray(list))
    throw new ToolUsageError(`the tool node found no message array under ${JSON.stringify(messagesKey)}`);
  return list.map((message: BaseMessageLike) => coerceMessageLikeToMessage(message));
}
