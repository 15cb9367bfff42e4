// docs/migration/from-human-in-the-loop-middleware.md: the same agent with LangChain's middleware and with ours, and what each
// does with the same attempts. Checks itself.

import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { approve, deny, Executor, Registry } from "agent-adapter";
import { importLangChain } from "agent-adapter/langchain";
import { agentAdapterMiddleware } from "agent-adapter/langchain/agents";
import { LangGraphApproval, pendingApprovals, resume } from "agent-adapter/langgraph";
import { createAgent, humanInTheLoopMiddleware as untyped, tool, type AnyAgentMiddleware } from "langchain";
import { z } from "zod";
import { finish, heading, tried } from "./support/page.js";
import { ScriptedChatModel } from "./support/scripted-model.js";

// LangChain's types refuse its own middleware under exactOptionalPropertyTypes; at run time it is what createAgent takes.
const humanInTheLoopMiddleware = untyped as unknown as (options: {
  interruptOn: Record<string, boolean>;
}) => AnyAgentMiddleware;

const ran: string[] = [];
const model = () => new ScriptedChatModel([script(), new AIMessage("Done."), new AIMessage("Done.")]);

// region: tools
const shippingRate = tool(
  ({ item }) => {
    ran.push(`shipping_rate ${item}`);
    return 5;
  },
  { name: "shipping_rate", description: "Shipping rate, in percent.", schema: z.object({ item: z.string() }) },
);
const sendStatement = tool(
  ({ period }) => {
    ran.push(`send_statement ${period}`);
    return `sent ${period}`;
  },
  { name: "send_statement", description: "Send the account statement.", schema: z.object({ period: z.string() }) },
);
// endregion

function agentBefore() {
  // region: before
  return createAgent({
    model: model(),
    tools: [shippingRate, sendStatement],
    middleware: [humanInTheLoopMiddleware({ interruptOn: { send_statement: true } })],
    checkpointer: new MemorySaver(),
  });
  // endregion
}

// region: registry
const registry = new Registry();
importLangChain(registry, [shippingRate], { effects: "read" });
importLangChain(registry, [sendStatement], { confirm: true, effects: "destructive" }); // a human decides
const port = new LangGraphApproval({ key: "16 bytes or more from your secret store" });
const executor = new Executor(registry, { approval: port });
// endregion

function agentAfter() {
  // region: after
  return createAgent({
    model: model(),
    middleware: [agentAdapterMiddleware({ registry, executor })], // brings the tools
    checkpointer: new MemorySaver(),
  });
  // endregion
}

/** Two statements and a rate, in one reply. */
function script(): AIMessage {
  const calls = [
    { id: "call-1", name: "send_statement", args: { period: "2026-09" } },
    { id: "call-2", name: "send_statement", args: { period: "2026-10" } },
    { id: "call-3", name: "shipping_rate", args: { item: "laptop" } },
  ];
  return new AIMessage({ content: "", tool_calls: calls });
}

const go = { messages: [{ role: "user", content: "go" }] };
let threads = 0;
const thread = () => ({ configurable: { thread_id: `thread-${(threads += 1)}` } });

/** What ran while this happened. */
async function whatRan(work: () => Promise<unknown>): Promise<string> {
  const before = ran.length;
  await work();
  return ran.length === before ? "nothing ran" : `ran ${ran.slice(before).join(", ")}`;
}

/** What the model reads: the calls of its message, and what answered each of them. */
function pairs(messages: readonly BaseMessage[]): string {
  const asked = messages.flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []));
  const answers = messages.filter((message) => ToolMessage.isInstance(message));
  const answered = asked.filter(({ id }) => answers.some((message) => message.tool_call_id === id));
  return `${asked.length} calls, ${answered.length} of them answered`;
}

function agentWithOthers() {
  const writeTodos = tool(() => "noted", { name: "write_todos", description: "Note it.", schema: z.object({}) });
  return createAgent({
    model: new ScriptedChatModel([
      new AIMessage({ content: "", tool_calls: [{ id: "call-1", name: "write_todos", args: {} }] }),
      new AIMessage("Done."),
    ]),
    tools: [writeTodos],
    // region: unmanaged
    middleware: [agentAdapterMiddleware({ registry, executor, unmanaged: ["write_todos"] })],
    // endregion
  });
}

heading("Before: humanInTheLoopMiddleware");
{
  const [agent, config] = [agentBefore(), thread()];
  await agent.invoke(go, config);
  // region: before-answer
  const decisions = [{ type: "approve" }, { type: "approve" }];
  // endregion
  tried(
    "anybody who can resume approves",
    await whatRan(() => agent.invoke(new Command({ resume: { decisions } }), config)),
    "ran shipping_rate laptop, send_statement 2026-09, send_statement 2026-10",
  );
}
{
  const [agent, config] = [agentBefore(), thread()];
  const context = { interruptOn: { send_statement: false } };
  tried(
    "a caller's context, no answer",
    await whatRan(() => agent.invoke(go, { ...config, context })),
    "ran send_statement 2026-09, send_statement 2026-10, shipping_rate laptop",
  );
}
{
  const [agent, config] = [agentBefore(), thread()];
  await agent.invoke(go, config);
  const decisions = [{ type: "approve" }, { type: "reject", message: "no" }];
  const resumed = agent.invoke(new Command({ resume: { decisions } }), config);
  tried("one approved, one rejected", await whatRan(() => resumed), "nothing ran");
  tried("the conversation", pairs((await resumed).messages), "2 calls, 1 of them answered");
}

heading("After: agentAdapterMiddleware");
{
  const [agent, config] = [agentAfter(), thread()];
  tried("before anybody decides", await whatRan(() => agent.invoke(go, config)), "ran shipping_rate laptop");
  const decisions = [{ type: "approve" }, { type: "approve" }];
  const waiting = await pendingApprovals(agent, config);
  const bare = Object.fromEntries(waiting.map(({ id }) => [id, { decisions }]));
  tried(
    "anybody who can resume",
    await whatRan(() => agent.invoke(new Command({ resume: bare }), config)),
    "nothing ran",
  );
  // region: answer
  const [september, october] = await pendingApprovals(agent, config); // show a reviewer each one's `request`
  if (september === undefined || october === undefined) throw new Error("two requests should wait");
  const decided = {
    [september.id]: approve({ by: "ana" }),
    [october.id]: deny({ by: "ben", reason: "not this month" }),
  };
  // endregion
  const resumed = resume(agent, decided, config);
  tried("one approved, one denied", await whatRan(() => resumed), "ran send_statement 2026-09");
  tried("the conversation", pairs((await resumed).messages), "3 calls, 3 of them answered");
}
{
  const [agent, config] = [agentAfter(), thread()];
  const context = { interruptOn: { send_statement: false } };
  tried(
    "a caller's context, no answer",
    await whatRan(() => agent.invoke(go, { ...config, context } as typeof config)),
    "ran shipping_rate laptop",
  );
}
{
  const { messages } = await agentWithOthers().invoke(go, thread());
  tried("a tool that is none of ours", pairs(messages), "1 calls, 1 of them answered");
  tried("in the ledger", String((await executor.ledger.entries()).some((it) => it.tool === "write_todos")), "false");
}
finish();
