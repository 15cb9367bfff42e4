// Stage 7 of the tutorial: a node of one's own around the same two tools.

import { AIMessage } from "@langchain/core/messages";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { oneUse } from "agent-adapter/langgraph";
import { executor } from "./after.js";
import type { Shop } from "./shop.js";

/** Asks the price, then sends the statement for the period: two calls, with code of the node between them. */
export function buildOwnNode(period: string): Shop {
  // region: own-node
  const node = oneUse<typeof MessagesAnnotation.State, typeof MessagesAnnotation.Update>(
    async () => {
      const percent = await executor.run("shipping_rate", { item: "laptop" }, { callId: "rate-1" });
      const receipt = await executor.run("send_statement", { period }, { callId: "send-1" });
      return { messages: [new AIMessage(`${String(receipt)}; shipping costs ${String(percent)} percent`)] };
    },
    { executor },
  );
  // endregion
  const graph = new StateGraph(MessagesAnnotation).addNode("send", node).addEdge(START, "send").addEdge("send", END);
  // A conversation needs the state of messages; that the types of the two graphs also name their nodes is nothing to it.
  return graph.compile({ checkpointer: new MemorySaver() }) as unknown as Shop;
}
