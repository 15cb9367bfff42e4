// An order as a flow: a rate for each item, then a person before anything is placed. Runs in this process, pauses into a sealed
// string, goes on from it. Checks itself.

import { deepEqual, equal } from "node:assert/strict";
import { approve, DeferredApproval, Executor, MemoryApprovalStore, Registry } from "agent-adapter";
import { Flow, map, Merge, resumeFlow, runFlow } from "agent-adapter/flow";
import { z } from "zod";

const ran: string[] = [];
const registry = new Registry();
registry.tool({
  name: "shipping_rate",
  description: "Shipping rate for an item, in percent of the order value.",
  inputSchema: z.object({ item: z.string() }),
  effects: "read",
  execute: ({ item }) => {
    ran.push(`shipping_rate ${item}`);
    return item === "laptop" ? 5 : 12;
  },
});

// region: draw
const order = new Flow("order", {
  state: z.object({
    items: z.array(z.object({ item: z.string() })),
    rates: z.array(z.number()).default([]),
    receipt: z.string().default(""),
  }),
  merge: { rates: Merge.append },
})
  .node("rate", map("items", { tool: "shipping_rate", into: "rates" }))
  .node("place", place, { pause: ({ rates }) => ({ rates }) })
  .edge("rate", "place")
  .end("place");

function place({ rates }: { readonly rates: readonly number[] }) {
  ran.push("place");
  return { receipt: `placed with ${rates.length} rates` };
}
// endregion
console.log(order.toMermaid());

// region: run
const store = new MemoryApprovalStore();
const executor = new Executor(registry, {
  approval: new DeferredApproval(store),
  secret: "load me from your secret store, 32 bytes",
});
const paused = await runFlow(order, { items: [{ item: "laptop" }, { item: "desk" }] }, { executor });
// endregion
if (paused.status !== "paused") throw new Error("nobody was asked");
const { node, request } = paused.pending;
console.log(`  asks           before "${node}": ${JSON.stringify(request.arguments)}`);
console.log(`  ran so far     ${JSON.stringify(ran)}`);

// region: resume
await store.decide(paused.pending.binding, approve({ by: "ana" }));
const done = await resumeFlow(order, paused.checkpoint, null, { executor });
// endregion
console.log(`  ${done.status}           ${done.steps} steps, ${JSON.stringify(done.visits)}`);
console.log(`  receipt        ${done.state.receipt}`);
console.log(`  each ran once  ${JSON.stringify(ran)}`);
equal(done.state.receipt, "placed with 2 rates");
deepEqual(ran, ["shipping_rate laptop", "shipping_rate desk", "place"]);
deepEqual([done.status, done.steps, done.visits], ["done", 2, { rate: 1, place: 1 }]);
