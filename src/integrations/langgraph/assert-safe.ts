// `assertSafe`: node options of LangGraph that would skip or swallow an approval. A node cannot see them itself.

import { ToolUsageError } from "../../index.js";
import { nodesOf, type NodeView } from "./app.js";
import { membersOf } from "./members.js";
import { executorsOf } from "./node-settings.js";

/**
 * Refuse a graph in which a node that may ask has a `cachePolicy` (another thread with equal input would skip the approval) or
 * an `errorHandler` (it would take a refused answer for a failure and finish the node). Node defaults count.
 *
 * @throws ToolUsageError naming the node and the option
 * @example
 * const graph = new StateGraph(MessagesAnnotation).addNode("tools", toolNode(registry, { executor })).addEdge(START, "tools");
 * assertSafe(graph);
 * const app = graph.compile({ checkpointer });
 */
export function assertSafe(graph: object): void {
  const defaults = membersOf(membersOf(membersOf(graph)["builder"] ?? graph)["_nodeDefaults"]);
  for (const node of nodesOf(graph)) {
    if (executorsOf(node.action).length === 0) continue;
    const option = unsafeOption(node, defaults);
    if (option !== undefined) {
      throw new ToolUsageError(`${JSON.stringify(node.name)} may ask a human and must not have LangGraph's ${option}`);
    }
  }
}

function unsafeOption(node: NodeView, defaults: Readonly<Record<string, unknown>>): string | undefined {
  // `false` switches a default off.
  if ((node.cachePolicy ?? defaults["cachePolicy"] ?? false) !== false) return "cachePolicy";
  return (node.errorHandlerNode ?? defaults["errorHandler"]) === undefined ? undefined : "errorHandler";
}
