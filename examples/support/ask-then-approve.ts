// The program of docs/quick-start.md: without a name it asks, with a name and a binding that person approves that request, each time in a process of its own.

// region: app
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { approve, Executor, Registry } from "agent-adapter";
import { LangGraphApproval, pendingApprovals, resume, toolNode } from "agent-adapter/langgraph";
import { z } from "zod";

const registry = new Registry();
registry.tool({
  name: "send_statement",
  description: "Send the account statement for a period.",
  inputSchema: z.object({ period: z.string() }),
  confirm: true,
  effects: "destructive",
  execute: ({ period }) => `sent ${period}`,
});
const port = new LangGraphApproval({ key: "16 bytes or more from your secret store" });
const executor = new Executor(registry, { approval: port });
const app = new StateGraph(MessagesAnnotation)
  .addNode("tools", toolNode(registry, { executor }))
  .addEdge(START, "tools")
  .compile({ checkpointer: SqliteSaver.fromConnString("app.db") });
const config = { configurable: { thread_id: "shop-1" } };

const [, , reviewer, binding] = process.argv;
if (reviewer === undefined || binding === undefined) {
  const call = { id: "call-1", name: "send_statement", args: { period: "2026-09" } };
  await app.invoke({ messages: [new AIMessage({ content: "", tool_calls: [call] })] }, config);
  for (const asked of await pendingApprovals(app, config)) {
    console.log("asks for", asked.request.arguments, asked.binding); // show a reviewer all of `asked.request`
  }
} else {
  const { messages } = await resume(app, { [binding]: approve({ by: reviewer }) }, config);
  console.log(messages.at(-1)?.text);
}
// endregion
