// The app of the tutorial: a model, a tool node, a checkpointer. The graph is the same before and after; only the tool node
// that is handed in differs.

import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { toolsCondition, type ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { ScriptedChatModel } from "./scripted-model.js";

/** What really ran, in order. */
export const ran: string[] = [];

// region: existing-tool
export const shippingRate = tool(
  ({ item, region }) => {
    ran.push(`shipping_rate ${item}`);
    return { eu: 5, us: 18 }[region] ?? 12;
  },
  {
    name: "shipping_rate",
    description: "Shipping rate for an item, in percent of the order value, by region.",
    schema: z.object({ item: z.string(), region: z.string().default("us") }),
  },
);
// endregion

// region: graph
export function buildShop(tools: ToolNode, script: readonly AIMessage[]) {
  const model = new ScriptedChatModel(script).bindTools(tools.tools);
  return new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode("tools", tools)
    .addEdge(START, "model")
    .addConditionalEdges("model", toolsCondition)
    .addEdge("tools", "model")
    .compile({ checkpointer: new MemorySaver() });
}
// endregion

export type Shop = ReturnType<typeof buildShop>;

/** The conversation of every part of the demo: one call that may simply run, one that must not. */
export function scriptFor(period: string): AIMessage[] {
  return [
    new AIMessage({
      content: "",
      tool_calls: [
        { id: "call-1", name: "shipping_rate", args: { item: "laptop", region: "eu" } },
        { id: "call-2", name: "send_statement", args: { period } },
      ],
    }),
    new AIMessage("Done."),
  ];
}
