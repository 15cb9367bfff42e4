// `toolNode` in a StateGraph, with a message of its own for each call, so that they wait together. No guide of ours shows this.
import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { toolNode } from "agent-adapter/langgraph";
import type { MakeAttackDriver } from "agent-adapter/testing";
import { apart, graphDriver, messageAsking } from "./graph-session.js";

export const attackDriver: MakeAttackDriver = (settings) =>
  graphDriver({ what: "toolNode, a Send for each call", settings }, ({ executor, registry, saver }) => {
    const app = new StateGraph(MessagesAnnotation)
      .addNode("tools", toolNode(registry, { executor }))
      .addConditionalEdges(START, ({ messages }) => {
        const last = messages.at(-1);
        const calls = AIMessage.isInstance(last) ? (last.tool_calls ?? []) : [];
        const groups = apart(calls.map((call) => ({ call, tool: call.name })));
        if (groups.length === 1) return "tools";
        return groups.map((group) => {
          const message = new AIMessage({ content: "", tool_calls: group.map(({ call }) => call) });
          return new Send("tools", { messages: [message] });
        });
      })
      .addEdge("tools", END)
      .compile({ checkpointer: saver });
    return {
      app,
      start: (calls, config) => app.invoke({ messages: [messageAsking(calls)] }, config),
    };
  });
