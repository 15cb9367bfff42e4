// `hostedTools`: a registry's tools for a host with a tool node of its own, that hands over one call at a time and lets other
// code wrap it: the middleware of LangChain's agents, and what you write yourself.

import type { Command } from "@langchain/langgraph";
import type { ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { ToolUsageError, type Registry } from "../../index.js";
import { refuseUnknown } from "../../spi.js";
import { currentConfig } from "../langchain-core/call-context.js";
import { singleCall } from "../langchain-core/tool-messages.js";
import { answerCalls, settleAnswering } from "./answer-calls.js";
import { graphTool } from "./graph-tool.js";
import { membersOf } from "./members.js";
import { isInTask, type NodeConfig } from "./pregel-internals.js";
import { RaisedResult } from "./raised-result.js";
import { runInTask } from "./run-in-task.js";
import { askingAgain } from "./soft-reask.js";
import type { ToolNodeOptions } from "./tool-node.js";

/** Those of `toolNode` that mean something for one call. */
export type HostedToolsOptions = Omit<ToolNodeOptions, "messagesKey" | "concurrency">;

/** A tool call as a host hands it over: nothing of it is trusted. */
export interface HostedCall {
  /** The call's id. */
  readonly id?: unknown;
  /** The tool's name. */
  readonly name?: unknown;
  /** Its arguments. */
  readonly args?: unknown;
}

/** Our tools for a tool node that is not ours. */
export interface HostedTools {
  /** LangChain tools, to be shown to the model. */
  readonly tools: DynamicStructuredTool[];
  /**
   * Run one call inside the node that runs now. Rejects never: what is not for the model (a pause, a failure, an abort) comes
   * as a Command, which the host gives LangGraph as the node's result and which is thrown there. So no wrapper around the call
   * can retry it or turn it into a message. An answer that is none asks again with the same interrupt id.
   */
  answer(call: HostedCall): Promise<ToolMessage | Command>;
  /** An error of the host's own, on the same way. */
  raise(error: Error): Command;
}

/**
 * The tools of a registry for a host that has its own tool node. Options: those of `toolNode`. `host` is how errors about them
 * name their owner, default `"hostedTools"`.
 *
 * @throws ToolUsageError when an option cannot be used
 * @example
 * const hosted = hostedTools(registry, { executor });
 * createMiddleware({ name: "mine", tools: hosted.tools, wrapToolCall: ({ toolCall }) => hosted.answer(toolCall) });
 */
export function hostedTools(registry: Registry, options: HostedToolsOptions = {}, host = "hostedTools"): HostedTools {
  const { executor, announceEdits, maxResultChars, durable, maxEntryBytes, ...rest } = options;
  refuseUnknown(host, rest);
  const given = { executor, announceEdits, maxResultChars, durable, maxEntryBytes };
  const answering = { ...settleAnswering(host, registry, given), concurrency: 1 };
  return {
    raise: (error) => new RaisedResult(error),
    tools: registry.list().map((spec) => graphTool(spec, answering.executor)),
    async answer(call) {
      try {
        const config = nodeConfig(host);
        return await askingAgain(config, () =>
          runInTask(config, answering, async (node) => {
            const [message] = await answerCalls([singleCall(call, node.namespace)], node, answering);
            if (message === undefined) throw new ToolUsageError("internal: a call was not answered");
            return message;
          }),
        );
      } catch (error) {
        return new RaisedResult(error);
      }
    },
  };
}

/** The config of the node that runs now. */
function nodeConfig(host: string): NodeConfig {
  // Every part of it is checked where it is read.
  const config: NodeConfig = membersOf(currentConfig());
  if (isInTask(config)) return config;
  throw new ToolUsageError(`${host}: a call is answered inside a LangGraph node only`);
}
