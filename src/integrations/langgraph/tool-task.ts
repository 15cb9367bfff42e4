// `toolTask`: a Send target that runs one tool with the Send argument. Unlike `toolNode` there is no model to read errors:
// all of them are thrown.

import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { Registry, ToolUsageError, type AnyToolSpec, type Executor, type ToolSpec } from "../../index.js";
import { refuseUnknown } from "../../spi.js";
import { graphExecutor } from "./graph-executor.js";
import { markAsking, settleNode, type DurableOptions } from "./node-settings.js";
import { runInTask } from "./run-in-task.js";
import { unwrapItem } from "./send-item.js";

/** Where a task's result goes, and whose approvals enter it. */
export interface ToolTaskOptions<Key extends string> extends DurableOptions {
  /** The state key that gets the result. */
  readonly into: Key;
  /** Default: a shared one for this tool alone, under this process's random key. */
  readonly executor?: Executor;
}

const REGISTRIES = new WeakMap<AnyToolSpec, Registry>();

/**
 * A node for `new Send(...)` or `fanOut`: runs the tool with what was sent and returns `{ [into]: result }`.
 *
 * @throws ToolUsageError when an option cannot be used; from the node: every error of the call, also those a model could read
 * @example new StateGraph(State).addNode("rate", toolTask(shippingRate, { executor, into: "rates" }));
 */
export function toolTask<Out, Key extends string>(
  spec: ToolSpec<never, Out>,
  options: ToolTaskOptions<Key>,
): (item: unknown, config: LangGraphRunnableConfig) => Promise<Record<Key, Out>> {
  const { into, executor: given, durable, maxEntryBytes, ...rest } = options;
  refuseUnknown("toolTask", rest);
  const settings = settleNode("toolTask", { durable, maxEntryBytes });
  const executor = given ?? ownExecutor(spec);
  // It runs by name: another tool of that name must not run instead.
  if (executor.registry.get(spec.name) !== spec) {
    throw new ToolUsageError(`toolTask: ${spec.name} is not registered in the executor's registry`);
  }
  const node = (item: unknown, config: LangGraphRunnableConfig): Promise<Record<Key, Out>> =>
    runInTask(config, { executor, settings }, async ({ namespace }) => {
      const result = await executor.run(spec.name, unwrapItem(item), { callId: `${namespace}:0` });
      // One key, named by the caller; the result is what the spec says.
      return { [into]: result } as Record<Key, Out>;
    });
  return markAsking(node, executor);
}

function ownExecutor(spec: AnyToolSpec): Executor {
  const registry = REGISTRIES.get(spec) ?? new Registry([spec]);
  REGISTRIES.set(spec, registry);
  return graphExecutor(registry);
}
