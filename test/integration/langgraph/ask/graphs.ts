// Graphs around tool nodes, for rows that need more than one node.

import { AIMessage } from "@langchain/core/messages";
import { Annotation, END, messagesStateReducer, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { aiMessage, type Built } from "./rig.js";

type NodeOptions = Readonly<Record<string, unknown>>;

/** The same tool node twice, side by side: two tasks, two requests at once. */
export function twoNodes({ tools }: Built, options: NodeOptions): unknown {
  return new StateGraph(MessagesAnnotation)
    .addNode("x", tools, options)
    .addNode("y", tools, options)
    .addEdge(START, "x")
    .addEdge(START, "y")
    .addEdge("x", END)
    .addEdge("y", END);
}

/** The tool node in a subgraph, behind another node. */
export function inSubgraph({ tools }: Built, options: NodeOptions): unknown {
  const inner = new StateGraph(MessagesAnnotation)
    .addNode("before", () => ({}))
    .addNode("tools", tools, options)
    .addEdge(START, "before")
    .addEdge("before", "tools")
    .addEdge("tools", END)
    .compile();
  return new StateGraph(MessagesAnnotation).addNode("inner", inner).addEdge(START, "inner").addEdge("inner", END);
}

/** A model that says the same thing until it has said it `laps` times. */
export function loop(laps: number) {
  return ({ tools }: Built, options: NodeOptions): unknown =>
    new StateGraph(MessagesAnnotation)
      .addNode("model", () => ({ messages: [aiMessage(["a1"])] }))
      .addNode("tools", tools, options)
      .addEdge(START, "tools")
      .addConditionalEdges("tools", ({ messages }) =>
        messages.filter((message) => AIMessage.isInstance(message)).length < laps ? "model" : END,
      )
      .addEdge("model", "tools");
}

const Noted = Annotation.Root({
  messages: Annotation({ reducer: messagesStateReducer, default: () => [] }),
  note: Annotation<string>(),
});

/** A graph whose state has a field that a resume may update. */
export function noted({ tools }: Built, options: NodeOptions): unknown {
  return new StateGraph(Noted).addNode("tools", tools, options).addEdge(START, "tools").addEdge("tools", END);
}
