// A tool of ours inside somebody else's tool node (LangGraph's ToolNode, `createAgent`): its calls join the task they run in,
// and an answer that is none asks again with the same id, because those nodes turn every other error into a tool message.

import { GraphInterrupt, isInvalidResume, type Interrupt } from "@langchain/langgraph";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { AnyToolSpec, Executor } from "../../index.js";
import { structuredTool } from "../langchain-core/structured-tool.js";
import { membersOf, nameIn } from "./members.js";
import { settleNode } from "./node-settings.js";
import { INTERRUPT_CHANNEL, isInTask, readTask, type NodeConfig } from "./pregel-internals.js";
import { runInTask } from "./run-in-task.js";

/** Outside a graph it runs through the executor like any call; there, what needs a human is refused. */
export function graphTool(spec: AnyToolSpec, executor: Executor): DynamicStructuredTool {
  const settings = settleNode("a tool of toolNode", { durable: undefined, maxEntryBytes: undefined });
  return structuredTool(spec, async (args, config: NodeConfig) => {
    if (!isInTask(config)) return executor.run(spec.name, args);
    const given = nameIn(membersOf(membersOf(config)["toolCall"])["id"]);
    try {
      return await runInTask(config, { executor, settings }, ({ namespace }) =>
        executor.run(spec.name, args, { callId: given ?? `${namespace}:0` }),
      );
    } catch (error) {
      if (!isInvalidResume(error)) throw error;
      throw new GraphInterrupt(await shownInterrupts(config));
    }
  });
}

/** What the task shows now, with its id. */
async function shownInterrupts(config: NodeConfig): Promise<Interrupt[]> {
  const { saver, address, taskId } = readTask(config);
  const tuple = await saver?.getTuple(address);
  const rows = (tuple?.pendingWrites ?? []).filter(
    ([owner, channel]) => owner === taskId && channel === INTERRUPT_CHANNEL,
  );
  // LangGraph wrote these rows; an interrupt channel holds interrupts.
  return rows.flatMap(([, , value]) => value as Interrupt | Interrupt[]);
}
