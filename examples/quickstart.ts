// The example of the README: pause for a human, resume with a signed answer. Checks itself.

// region: quickstart
import { AIMessage } from "@langchain/core/messages";
import { Command, INTERRUPT, isInterrupted, MemorySaver, MessagesAnnotation } from "@langchain/langgraph";
import { START, StateGraph } from "@langchain/langgraph";
import { approve, Executor, Registry, toReviewRequest } from "agent-adapter";
import { LangGraphApproval, toolNode } from "agent-adapter/langgraph";
import { z } from "zod";

const registry = new Registry();
registry.tool({
  name: "send_statement",
  description: "Send the account statement for a period.",
  inputSchema: z.object({ period: z.string() }),
  confirm: true, // a human decides
  effects: "destructive",
  execute: ({ period }) => `sent ${period}`,
});
const port = new LangGraphApproval({ key: "16 bytes or more from your secret store" });
const tools = toolNode(registry, { executor: new Executor(registry, { approval: port }) });
const graph = new StateGraph(MessagesAnnotation).addNode("tools", tools).addEdge(START, "tools");
const app = graph.compile({ checkpointer: new MemorySaver() });

const config = { configurable: { thread_id: "shop-1" } };
const call = { id: "call-1", name: "send_statement", args: { period: "2026-09" } };
const paused = await app.invoke({ messages: [new AIMessage({ content: "", tool_calls: [call] })] }, config);
const [pause] = isInterrupted(paused) ? paused[INTERRUPT] : [];
if (pause?.id === undefined) throw new Error("it did not pause");
console.log("asks for", toReviewRequest(pause).request.arguments); // what a reviewer may see
// region: answer
const answer = port.resumeValue(pause, approve({ by: "ana" })); // signed for exactly this call, good once
const done = await app.invoke(new Command({ resume: { [pause.id]: answer } }), config);
// endregion
console.log(done.messages.at(-1)?.text); // sent 2026-09
// endregion

if (done.messages.at(-1)?.text !== "sent 2026-09") throw new Error("the approved call did not run");
