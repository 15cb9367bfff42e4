// A graph with one node that runs tool calls, and threads to run it on.

import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { toolNode } from "agent-adapter/langgraph";
import { ourTools, theirRate } from "./tools.js";

let threads = 0;
export const newThread = () => ({ configurable: { thread_id: `bench-${(threads += 1)}` } });
export type ThreadConfig = ReturnType<typeof newThread>;

type Node = ToolNode | ((state: typeof MessagesAnnotation.State) => Partial<typeof MessagesAnnotation.State>);

export function around(node: Node) {
  return new StateGraph(MessagesAnnotation).addNode("tools", node).addEdge(START, "tools").addEdge("tools", END);
}

/** Nobody is asked, nothing is kept. */
export function plainGraphs() {
  return {
    ours: around(toolNode(ourTools().registry)).compile(),
    theirs: around(new ToolNode([theirRate])).compile(),
  };
}
