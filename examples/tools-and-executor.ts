// A tool with its options, and an executor around it, in a plain program: no graph, no model. Checks itself.

import { deepEqual, equal } from "node:assert/strict";
import { approve, BudgetHook, CallbackApproval, defineTool, Executor, Registry, ToolError } from "agent-adapter";
import { z } from "zod";
import { finish, heading, line, table, tried } from "./support/page.js";

const ran: string[] = [];
const shelf: Readonly<Record<string, number>> = { laptop: 900, desk: 350 };
let outages = 1;

// region: tools
const priceOf = defineTool({
  name: "price_of",
  description: "The price of an item, in euros.",
  inputSchema: z.object({ item: z.string() }),
  outputSchema: z.number(),
  effects: "read", // so it may run beside others, be repeated and be cached
  timeoutMs: 2000,
  retries: 2,
  cache: { ttlMs: 60_000, scope: "shared" },
  execute: ({ item }, { log }) => {
    ran.push(`price_of ${item}`);
    if (outages-- > 0) throw new Error("the shelf does not answer"); // tried again
    const price = shelf[item];
    if (price === undefined) throw new ToolError(`there is no ${item}`); // for the model
    log.debug("looked up a price");
    return price;
  },
});

const buy = defineTool({
  name: "buy",
  description: "Buy an item.",
  inputSchema: z.object({ item: z.string(), euros: z.number() }),
  effects: "destructive",
  confirm: ({ euros }) => euros > 500, // on the parsed arguments; anything but false asks
  cost: 1,
  execute: ({ item }, { idempotencyKey }) => {
    ran.push(`buy ${item}`);
    return `bought ${item}, receipt ${idempotencyKey.slice(0, 8)}`; // hand the key to a shop that deduplicates
  },
});
// endregion

// region: executor
const executor = new Executor(new Registry([priceOf, buy], { strict: true }), {
  approval: new CallbackApproval(({ request }) => {
    line("a person is asked", JSON.stringify(request.arguments));
    return approve({ by: "ana" });
  }),
  policy: { buy: ({ item }) => item === "desk" }, // asks more than the tool does, never less
  hooks: [new BudgetHook({ maxCalls: 6, tools: { buy: { maxCalls: 2 } } })],
  principal: () => "user-7",
});
// endregion

heading("One call");
// region: run
const context = executor.context({ runId: "order-1" });
const price = await executor.run(priceOf, { item: "laptop" }, { context }); // a number, says the compiler
// endregion
tried("the price, at the second try", String(price), "900");
const again = await executor.run(priceOf, { item: "laptop" }, { context, callId: "again" });
tried("again, from the cache", `${again}, ran ${ran.length} times in all`, "900, ran 2 times in all");

heading("Would it ask?");
// region: explain
const cheap = await executor.explain(buy, { item: "lamp", euros: 40 });
const dear = await executor.explain(buy, { item: "laptop", euros: 900 });
const desk = await executor.explain(buy, { item: "desk", euros: 350 });
// endregion
for (const [name, { asks, because }] of Object.entries({ cheap, dear, desk })) line(name, `${asks}, ${because}`);
deepEqual([cheap.asks, dear.asks, desk.asks], [false, true, true]);

heading("A batch");
// region: batch
const outcomes = await executor.runMany(
  [
    { tool: "buy", args: { item: "laptop", euros: 900 }, callId: "1" },
    { tool: "price_of", args: { item: "unicorn" }, callId: "2" },
    { tool: "price_of", args: { item: "desk" }, callId: "3" },
    { tool: "prise_of", args: {}, callId: "4" },
  ],
  { context },
);
// endregion
for (const outcome of outcomes) {
  if (outcome.status === "fulfilled")
    line(outcome.callId, String(outcome.value).replace(/receipt .*/, "with a receipt"));
  else line(outcome.callId, String(outcome.reason)); // an error of this package holds no arguments
}
deepEqual(
  outcomes.map(({ status }) => status),
  ["fulfilled", "rejected", "fulfilled", "rejected"],
);

heading("The ledger");
const entries = await executor.ledger.entries();
table(
  ["tool", "status", "attempts", "decided by", "error"],
  entries.map((it) => [it.tool, it.status, String(it.attempts), it.decidedBy ?? "", it.errorKind ?? ""]),
);
equal(entries.length, 6);
finish();
