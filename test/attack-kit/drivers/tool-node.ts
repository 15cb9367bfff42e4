// `toolNode` in a StateGraph, as the README shows it: one node, which asks about one call at a time.
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { toolNode } from "agent-adapter/langgraph";
import type { MakeAttackDriver } from "agent-adapter/testing";
import { graphDriver, messageAsking } from "./graph-session.js";

const ONE_AT_A_TIME = "of the calls of one message that need an approval, one asks at a time";

export const attackDriver: MakeAttackDriver = (settings) =>
  graphDriver(
    { what: "toolNode", settings, lacks: { several: ONE_AT_A_TIME, "one-by-one": ONE_AT_A_TIME } },
    ({ executor, registry, saver }) => {
      const app = new StateGraph(MessagesAnnotation)
        .addNode("tools", toolNode(registry, { executor }))
        .addEdge(START, "tools")
        .compile({ checkpointer: saver });
      return {
        app,
        start: (calls, config) => app.invoke({ messages: [messageAsking(calls)] }, config),
      };
    },
  );
