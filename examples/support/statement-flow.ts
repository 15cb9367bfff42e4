// Stage 8 of the tutorial: a fixed pipeline as a flow, compiled to a graph, decided in a store by whoever reviews.

import { MemorySaver } from "@langchain/langgraph";
import { approve, DeferredApproval, Executor, MemoryApprovalStore, Registry } from "agent-adapter";
import { call, Flow } from "agent-adapter/flow";
import { importLangChain } from "agent-adapter/langchain";
import { compileFlow, runCompiled } from "agent-adapter/langgraph";
import { z } from "zod";
import { demoKey } from "./after.js";
import { heading, line, tried } from "./page.js";
import { ran, shippingRate } from "./shop.js";

const registry = new Registry();
importLangChain(registry, [shippingRate], { effects: "read" });
const sendStatement = registry.tool({
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

// region: flow
const statement = new Flow("statement", {
  state: z.object({ rate: z.number().default(0), receipt: z.string().default("") }),
})
  .node("rate", call("shipping_rate", { args: { item: "laptop", region: "eu" }, into: "rate" }))
  .node("send", call(sendStatement, { args: { period: "2027-03" }, into: "receipt" }))
  .edge("rate", "send")
  .end("send");
// endregion

// region: compiled
const store = new MemoryApprovalStore(); // a database store when the reviewer is another process
const executor = new Executor(registry, { approval: new DeferredApproval(store), secret: demoKey });
const app = compileFlow(statement, { executor }).compile({ checkpointer: new MemorySaver() });
const config = { configurable: { thread_id: "statement-1" } };
// endregion

// region: run
const start = () => runCompiled(app, {}, config);
const goOn = () => runCompiled(app, null, config);
const anaApproves = (binding: string) => store.decide(binding, approve({ by: "ana" }));
// endregion

export async function compiledFlow(): Promise<void> {
  heading("A flow, compiled, decided in a store");
  const before = ran.length;
  const paused = await start();
  if (paused.status !== "paused") throw new Error("the flow did not pause");
  const { request, binding } = paused.pending;
  tried("ran in the flow", ran.slice(before).join(", "), "shipping_rate laptop");
  line("its second node waits", `${request.tool} ${JSON.stringify(request.arguments)}`);
  const early = await goOn();
  tried("continued before anybody decided", early.status, "paused");
  await anaApproves(binding);
  const done = await goOn();
  tried("ana decided, continued", `${done.status}: ${done.state.receipt}`, "done: sent 2027-03");
  tried(
    "steps, runs",
    `${done.steps}, ${ran.slice(before).join(", ")}`,
    "2, shipping_rate laptop, send_statement 2027-03",
  );
}
