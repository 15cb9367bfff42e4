// A long conversation: the model is sent what fits, the state keeps everything. In a graph, in `createAgent`, and without either.
// Checks itself.

import { deepEqual, equal } from "node:assert/strict";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { toolsCondition } from "@langchain/langgraph/prebuilt";
import { closeOpenCalls, compress, CompressionPolicy, Registry, type NeutralMessage } from "agent-adapter";
import { compressionMiddleware } from "agent-adapter/langchain/agents";
import { langgraphCompressor, toolNode } from "agent-adapter/langgraph";
import { createAgent } from "langchain";
import { z } from "zod";
import { ScriptedChatModel } from "./support/scripted-model.js";

const registry = new Registry();
registry.tool({
  name: "search",
  description: "Search the catalogue.",
  inputSchema: z.object({ query: z.string() }),
  effects: "read",
  execute: ({ query }) => `${query}: ${"a long result ".repeat(100)}`,
});

/** A model that is asked about its one search, and what it was sent. */
const sent: BaseMessage[][] = [];
const model = {
  invoke(messages: BaseMessage[]): AIMessage {
    sent.push(messages);
    if (ToolMessage.isInstance(messages.at(-1))) return new AIMessage("Found it.");
    const calls = [{ id: `call-${sent.length}`, name: "search", args: { query: messages.at(-1)?.text ?? "" } }];
    return new AIMessage({ content: "", tool_calls: calls });
  },
};

// region: graph
const policy = new CompressionPolicy({ maxMessages: 12, toolResults: { maxChars: 200, keepLast: 2 } });
const shorten = langgraphCompressor(policy);
const app = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }) => ({ messages: [model.invoke(await shorten(messages))] }))
  .addNode("tools", toolNode(registry))
  .addEdge(START, "model")
  .addConditionalEdges("model", toolsCondition)
  .addEdge("tools", "model")
  .compile({ checkpointer: new MemorySaver() });
// endregion

const config = { configurable: { thread_id: "shop-1" } };
for (let turn = 1; turn <= 6; turn += 1) await app.invoke({ messages: [new HumanMessage(`item ${turn}`)] }, config);
const { messages: kept } = (await app.getState(config)).values;
const last = sent.at(-1) ?? [];
console.log(`  the state keeps     ${kept.length} messages`);
console.log(`  the model was sent  ${last.length}, from ${JSON.stringify(last[0]?.text)}`);
console.log(`  an older result     ${last[2]?.text.split("\n").at(-1)}`);
equal(kept.length, 24);
equal(last.length, 11);

// region: agent
const agent = createAgent({
  model: new ScriptedChatModel([new AIMessage("Hello.")]),
  tools: [],
  middleware: [compressionMiddleware(new CompressionPolicy({ maxTokens: 20_000 }))],
});
// endregion
const answer = await agent.invoke({ messages: [new HumanMessage("hello")] });
equal(answer.messages.at(-1)?.text, "Hello.");

// region: summary
const summarized = new CompressionPolicy({
  maxTokens: 120,
  // Your cheap model; `earlier` is the summary of what came before these messages.
  summarize: (messages, earlier) => `${earlier ?? "It began"}, then ${messages.length} messages.`,
});
// endregion

const history: NeutralMessage[] = Array.from({ length: 30 }, (_, n) => [
  { role: "human" as const, content: `question ${n}` },
  { role: "assistant" as const, content: `answer ${n}`, calls: [] },
]).flat();
const { messages, dropped } = await compress(history, summarized);
console.log(`  with a summary      ${JSON.stringify(messages[0]?.content)}`);
equal(messages.length - 1 + dropped.length, history.length);

// region: open-calls
const interrupted: NeutralMessage[] = [
  { role: "human", content: "Pay invoice 7." },
  { role: "assistant", content: "", calls: [{ id: "call-1", name: "pay", args: { invoice: 7 } }] },
  { role: "human", content: "Are you there?" },
];
const repaired = closeOpenCalls(interrupted);
// endregion
deepEqual(
  repaired.map(({ role }) => role),
  ["human", "assistant", "tool", "human"],
);
console.log(
  `  a call left open    ${JSON.stringify(repaired[2]?.content).includes("outcome unknown") ? "outcome unknown" : "?"}`,
);
