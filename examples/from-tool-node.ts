// docs/migration/from-tool-node-with-interrupt.md: LangGraph's ToolNode with `interrupt()` in a tool, and toolNode, in the same
// graph, with the same attempts. Checks itself.

import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, INTERRUPT, interrupt, isInterrupted } from "@langchain/langgraph";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { approve, Executor, Registry } from "agent-adapter";
import { LangGraphApproval, pendingApprovals, resume, toolNode } from "agent-adapter/langgraph";
import { z } from "zod";
import { refusalOf } from "./support/conversation.js";
import { finish, heading, tried } from "./support/page.js";

const ran: string[] = [];
function send(period: string): string {
  ran.push(`send_statement ${period}`);
  return `sent ${period}`;
}

// region: before
const sendAfterAsking = tool(
  ({ period }) => {
    if (interrupt({ period }) !== "yes") return "cancelled";
    return send(period);
  },
  {
    name: "send_statement",
    description: "Send the account statement for a period, after asking a human.",
    schema: z.object({ period: z.string() }),
  },
);
const toolsBefore = new ToolNode([sendAfterAsking]);
// endregion

// region: after
const registry = new Registry();
registry.tool({
  name: "send_statement",
  description: "Send the account statement for a period (needs approval).",
  inputSchema: z.object({ period: z.string() }),
  confirm: true, // instead of interrupt()
  effects: "destructive",
  execute: ({ period }) => send(period),
});
const port = new LangGraphApproval({ key: "16 bytes or more from your secret store" });
const toolsAfter = toolNode(registry, { executor: new Executor(registry, { approval: port }) });
// endregion

function graphWith(tools: ToolNode) {
  // region: graph
  return new StateGraph(MessagesAnnotation)
    .addNode("tools", tools)
    .addEdge(START, "tools")
    .compile({ checkpointer: new MemorySaver() });
  // endregion
}

const asked = {
  messages: [
    new AIMessage({ content: "", tool_calls: [{ id: "call-1", name: "send_statement", args: { period: "2026-09" } }] }),
  ],
};
const config = { configurable: { thread_id: "thread-1" } };

/** What ran while this happened, and how it was refused if it was. */
async function whatRan(work: () => Promise<unknown>): Promise<string> {
  const before = ran.length;
  const refusal = await work().then(
    () => "",
    (error: unknown) => `${refusalOf(error)}, `,
  );
  return `${refusal}${ran.length === before ? "nothing ran" : `ran ${ran.slice(before).join(", ")}`}`;
}

heading("Before: ToolNode, and interrupt() in the tool");
{
  const app = graphWith(toolsBefore);
  await app.invoke(asked, config);
  const paused = (await app.getState(config)).config;
  // region: before-answer
  const answer = (at: typeof paused) => app.invoke(new Command({ resume: "yes" }), at);
  // endregion
  tried("anybody who can resume", await whatRan(() => answer(config)), "ran send_statement 2026-09");
  tried("the old checkpoint again", await whatRan(() => answer(paused)), "ran send_statement 2026-09");
}

heading("After: toolNode, and confirm on the tool");
{
  const app = graphWith(toolsAfter);
  const first = await app.invoke(asked, config);
  const paused = (await app.getState(config)).config;
  tried(
    "anybody who can resume",
    await whatRan(() => app.invoke(new Command({ resume: "yes" }), config)),
    "refused: invalid answer, nothing ran",
  );
  const [pause] = isInterrupted(first) ? first[INTERRUPT] : [];
  if (pause?.id === undefined) throw new Error("it did not pause");
  const signed = { [pause.id]: port.resumeValue(pause, approve({ by: "ana" })) };
  // region: answer
  const [pending] = await pendingApprovals(app, config); // show a reviewer `pending.request`
  if (pending === undefined) throw new Error("nothing waits");
  const resumed = () => resume(app, { [pending.binding]: approve({ by: "ana" }) }, config); // that one, no newer one
  // endregion
  tried("waits for a human", JSON.stringify(pending.request.arguments), '{"period":"2026-09"}');
  tried("ana approves", await whatRan(resumed), "ran send_statement 2026-09");
  tried(
    "the old checkpoint again",
    await whatRan(() => app.invoke(new Command({ resume: signed }), paused)),
    "refused: ApprovalAlreadyDecided, nothing ran",
  );
}
finish();
