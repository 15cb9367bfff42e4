// A payment for each invoice, side by side: the requests surface together and are answered by a map of their ids. Checks itself.

import { deepEqual } from "node:assert/strict";
import {
  Annotation,
  Command,
  END,
  INTERRUPT,
  isInterrupted,
  MemorySaver,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { approve, Executor, Registry, toReviewRequest } from "agent-adapter";
import { Merge } from "agent-adapter/flow";
import { fanOut, LangGraphApproval, reducer, toolTask } from "agent-adapter/langgraph";
import { z } from "zod";

const ran: string[] = [];
const registry = new Registry();
const pay = registry.tool({
  name: "pay",
  description: "Pay an invoice (needs approval).",
  inputSchema: z.object({ invoice: z.string(), euros: z.number() }),
  confirm: true,
  effects: "destructive",
  execute: ({ invoice, euros }) => {
    ran.push(invoice);
    return `${invoice}: ${euros} euros`;
  },
});
const port = new LangGraphApproval({ key: "load me from your secret store, 32 bytes" });
const executor = new Executor(registry, { approval: port });

// region: fan-out
const State = Annotation.Root({
  invoices: Annotation<{ invoice: string; euros: number }[]>(),
  paid: reducer(Merge.append<string>()),
});
const app = new StateGraph(State)
  .addNode("pay", toolTask(pay, { executor, into: "paid" }))
  .addConditionalEdges(START, fanOut("pay", "invoices"), ["pay"])
  .addEdge("pay", END)
  .compile({ checkpointer: new MemorySaver() });
// endregion
const config = { configurable: { thread_id: "invoices" } };

const paused = await app.invoke(
  {
    invoices: [
      { invoice: "7", euros: 120 },
      { invoice: "8", euros: 30 },
    ],
  },
  config,
);
if (!isInterrupted(paused)) throw new Error("nothing asked");
const pending = paused[INTERRUPT];
for (const one of pending) console.log(`  asks for  ${JSON.stringify(toReviewRequest(one).request.arguments)}`);

const decisions = Object.fromEntries(pending.map(({ id }) => [id ?? "", approve({ by: "ana" })]));
const done = await app.invoke(new Command({ resume: port.resumeValues(pending, decisions) }), config);
console.log(`  paid      ${JSON.stringify(done.paid)}`);
deepEqual(done.paid, ["7: 120 euros", "8: 30 euros"]);
deepEqual(ran.toSorted(), ["7", "8"]);
