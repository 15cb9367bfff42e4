// How a program that uses this package is tested: answers from a list, a clock that is moved by hand, a model that says what it was
// told to. Any test runner will do; here it is plain assertions. Checks itself.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { AIMessage } from "@langchain/core/messages";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { approve, deny, Executor, MemoryApprovalStore, Registry, type Clock } from "agent-adapter";
import { LangGraphApproval, pendingApprovals, resume, toolNode } from "agent-adapter/langgraph";
import { approvalStoreContract, ManualClock, scriptedApproval } from "agent-adapter/testing";
import { z } from "zod";
import { finish, heading, tried } from "./support/page.js";

const paid: string[] = [];
const registry = new Registry();
const pay = registry.tool({
  name: "pay",
  description: "Pay an invoice.",
  inputSchema: z.object({ invoice: z.string(), euros: z.number() }),
  confirm: ({ euros }) => euros > 100,
  effects: "destructive",
  execute: ({ invoice }) => {
    paid.push(invoice);
    return `paid ${invoice}`;
  },
});

heading("The rules of a tool");
{
  // region: explain
  const executor = new Executor(registry);
  const small = await executor.explain(pay, { invoice: "7", euros: 20 });
  const large = await executor.explain(pay, { invoice: "8", euros: 120 });
  deepEqual([small.asks, large.asks], [false, true]);
  // endregion
  tried("20 euros, 120 euros", `${small.because}, ${large.because}`, "nobody-asks, confirm-predicate");
}

heading("Answers from a list");
{
  // region: scripted
  const approval = scriptedApproval([approve({ by: "ana" }), deny({ reason: "too much" })]);
  const executor = new Executor(registry, { approval });
  await executor.run(pay, { invoice: "8", euros: 120 });
  await rejects(executor.run(pay, { invoice: "9", euros: 9000 }), { kind: "ApprovalDenied" });
  deepEqual(
    approval.requests.map(({ arguments: { euros } }) => euros),
    [120, 9000],
  );
  deepEqual(paid, ["8"]);
  // endregion
  tried("asked twice, paid", paid.join(), "8");
}

heading("The graph, and time");
{
  // region: clock
  const clock = new ManualClock(Date.UTC(2026, 8, 1));
  const { app, port, config } = shop(clock); // the program as it is, with this clock
  await app.invoke({ messages: [callOf({ invoice: "10", euros: 500 })] }, config);
  const [pending] = await pendingApprovals(app, config);
  if (pending === undefined) throw new Error("nothing waits");
  const answer = port.resumeValue(pending.interrupt, approve({ by: "ana" }));
  clock.advance(24 * 60 * 60 * 1000 + 1); // a day later
  equal(port.check(pending.interrupt, answer), "expired");
  // endregion
  tried("a day later", port.check(pending.interrupt, answer), "expired");
  const { messages } = await resume(app, approve({ by: "ana" }), config);
  tried("a new answer", messages.at(-1)?.text ?? "", "paid 10");
}

heading("A store of your own");
{
  const makeStore = (clock: Clock) => new MemoryApprovalStore({ clock });
  // region: contract
  const cases = approvalStoreContract((clock) => makeStore(clock)); // yours
  for (const { name, run } of cases) await run().catch((cause: unknown) => Promise.reject(new Error(name, { cause })));
  // endregion
  tried("every case passed", String(cases.length > 30), "true");
}
finish();

function shop(clock: Clock) {
  const port = new LangGraphApproval({ key: "a key for tests, 16 bytes or more" });
  const executor = new Executor(registry, { approval: port, clock });
  const app = new StateGraph(MessagesAnnotation)
    .addNode("tools", toolNode(registry, { executor }))
    .addEdge(START, "tools")
    .compile({ checkpointer: new MemorySaver() });
  return { app, port, config: { configurable: { thread_id: "test" } } };
}

function callOf(args: Readonly<Record<string, unknown>>): AIMessage {
  return new AIMessage({ content: "", tool_calls: [{ id: "call-1", name: "pay", args: { ...args } }] });
}
