// A tool of ours inside somebody else's tool node (LangGraph's ToolNode, `createAgent`): its calls join the task they run in,
// and an answer that is none asks again with the same id, because those nodes turn every other error into a tool message.

import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { AnyToolSpec, Executor } from "../../index.js";
import { structuredTool } from "../langchain-core/structured-tool.js";
import { nameIn } from "../langchain-core/call-context.js";
import { membersOf } from "./members.js";
import { markAsking, settleNode } from "./node-settings.js";
import { isInTask, type NodeConfig } from "./pregel-internals.js";
import { runInTask } from "./run-in-task.js";
import { askingAgain } from "./soft-reask.js";

/** Outside a graph it runs through the executor like any call; there, what needs a human is refused. */
export function graphTool(spec: AnyToolSpec, executor: Executor): DynamicStructuredTool {
  const settings = settleNode("a tool of toolNode", { durable: undefined, maxEntryBytes: undefined });
  const tool = structuredTool(spec, async (args, config: NodeConfig) => {
    if (!isInTask(config)) return executor.run(spec.name, args);
    const given = nameIn(membersOf(membersOf(config)["toolCall"])["id"]);
    return askingAgain(config, () =>
      runInTask(config, { executor, settings }, ({ namespace }) =>
        executor.run(spec.name, args, { callId: given ?? `${namespace}:0` }),
      ),
    );
  });
  return markAsking(tool, executor);
}
