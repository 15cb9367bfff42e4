// Your own node: two calls and your code between them. LangGraph runs the node again after the pause; `oneUse` replays what
// finished and uses each answer once. Checks itself.

import { deepEqual } from "node:assert/strict";
import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { approve, Executor, Registry } from "agent-adapter";
import { assertSafe, LangGraphApproval, oneUse, pendingApprovals, resume } from "agent-adapter/langgraph";
import { z } from "zod";

const ran: string[] = [];
const registry = new Registry();
const rate = registry.tool({
  name: "shipping_rate",
  description: "Shipping rate for an item, in percent of the order value.",
  inputSchema: z.object({ item: z.string() }),
  effects: "read",
  execute: ({ item }) => {
    ran.push(`shipping_rate ${item}`);
    return 5;
  },
});
const send = registry.tool({
  name: "send_statement",
  description: "Send the account statement for a period (needs approval).",
  inputSchema: z.object({ period: z.string() }),
  confirm: true,
  effects: "destructive",
  execute: ({ period }) => {
    ran.push(`send_statement ${period}`);
    return `sent ${period}`;
  },
});

const port = new LangGraphApproval({ key: "load me from your secret store, 32 bytes" });
const executor = new Executor(registry, { approval: port });
const State = Annotation.Root({ rate: Annotation<number>(), receipt: Annotation<string>() });

// region: own-node
const node = oneUse<typeof State.State, typeof State.Update>(
  async () => {
    const percent = await executor.run(rate, { item: "laptop" }, { callId: "rate" });
    const receipt = await executor.run(send, { period: "2026-10" }, { callId: "send" });
    return { rate: percent, receipt };
  },
  { executor },
);
// endregion
const graph = new StateGraph(State).addNode("send", node).addEdge(START, "send").addEdge("send", END);
assertSafe(graph);
const app = graph.compile({ checkpointer: new MemorySaver() });
const config = { configurable: { thread_id: "own-node" } };

await app.invoke({}, config);
const [asked] = await pendingApprovals(app, config);
if (asked === undefined) throw new Error("nothing waits");
console.log(`  ${asked.node} waits for     ${asked.request.tool} ${JSON.stringify(asked.request.arguments)}`);
const out = await resume(app, { [asked.binding]: approve({ by: "ana" }) }, config);
console.log(`  the node returned   ${JSON.stringify(out)}`);
console.log(`  each call ran once  ${JSON.stringify(ran)}`);
deepEqual(ran, ["shipping_rate laptop", "send_statement 2026-10"]);
