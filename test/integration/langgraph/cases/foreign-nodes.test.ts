// Tools of ours inside LangGraph's own ToolNode: an answer that is none never becomes a tool message.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { Command, END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { approve, Executor, Registry } from "agent-adapter";
import { INTEGRATION, LangGraphApproval, toolNode } from "agent-adapter/langgraph";
import { asking, counted, KEY, one, turnOf, type App } from "../../../support/langgraph.js";

/** Says what it is asked to say, reads the answers, and is done. */
class OneMessageModel extends BaseChatModel {
  _llmType(): string {
    return "one-message";
  }

  override bindTools(): never {
    return this as never;
  }

  _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const answered = messages.some((message) => ToolMessage.isInstance(message));
    const message = answered ? new AIMessage("done") : new AIMessage({ content: "", tool_calls: said });
    return Promise.resolve({ generations: [{ text: "", message }] });
  }
}
let said: NonNullable<AIMessage["tool_calls"]> = [];

type Tools = ReturnType<typeof toolNode>["tools"];

/** Whose node runs the tools. */
const NODES: Readonly<Record<string, (tools: Tools, checkpointer: MemorySaver) => App>> = {
  "LangGraph's ToolNode": (tools, checkpointer) =>
    new StateGraph(MessagesAnnotation)
      .addNode("tools", new ToolNode(tools))
      .addEdge(START, "tools")
      .addEdge("tools", END)
      .compile({ checkpointer }) as unknown as App,
  "the tool node of LangChain's createAgent": (tools, checkpointer) =>
    createAgent({ model: new OneMessageModel({}), tools: tools as never, checkpointer }) as unknown as App,
};

function foreign(ran: string[], make: (typeof NODES)[string]) {
  const registry = new Registry([asking(ran, "pay"), counted(ran, "rate", { effects: "read" })]);
  const port = new LangGraphApproval({ key: KEY });
  const executor = new Executor(registry, { approval: port });
  const app = make(toolNode(registry, { executor }).tools, new MemorySaver());
  const config = { configurable: { thread_id: "t" } };
  return { port, executor, app, config };
}

/** What the model says; an agent's own model says it after it was asked. */
function asks(...calls: { name: string; n: number; id: string }[]) {
  said = calls.map(({ name, n, id }) => ({ name, args: { n }, id }));
  return { messages: [new HumanMessage("go"), new AIMessage({ content: "", tool_calls: said })] };
}

describe.each(Object.entries(NODES))("L5: %s", (_whose, make) => {
  it("L5: pauses, asks again with the same id for an answer that is none, and runs once", async () => {
    const ran: string[] = [];
    const { app, config, port, executor } = foreign(ran, make);
    const first = one(turnOf(await app.invoke(asks({ name: "pay", n: 1, id: "c1" }), config)).interrupts);
    const forged = { ...port.resumeValue(first, approve()), mac: "x" };
    for (const bad of ["yes", { approved: true }, null, forged]) {
      const again = one(turnOf(await app.invoke(new Command({ resume: { [first.id]: bad } }), config)).interrupts);
      expect([again.id, again.value.binding]).toEqual([first.id, first.value.binding]);
    }
    expect(ran).toEqual([]);
    const answer = port.resumeValue(first, approve());
    const done = turnOf(await app.invoke(new Command({ resume: { [first.id]: answer } }), config));
    expect(done.tools.map((message) => [message.tool_call_id, message.content])).toEqual([["c1", "pay 1"]]);
    expect(ran).toEqual(["pay 1"]);
    expect((await executor.ledger.entries()).map(({ status, callId }) => [status, callId])).toEqual([["ok", "c1"]]);
  });

  it("L5, B01: two calls side by side in one task: each answer reaches its own call", async () => {
    const ran: string[] = [];
    const { app, config, port } = foreign(ran, make);
    const input = asks(
      { name: "pay", n: 1, id: "c1" },
      { name: "rate", n: 9, id: "c0" },
      { name: "pay", n: 2, id: "c2" },
    );
    let turn = turnOf(await app.invoke(input, config));
    const shown: string[] = [];
    for (let rounds = 0; turn.interrupts.length > 0 && rounds < 4; rounds += 1) {
      // Calls in tasks of their own show their requests together.
      const pending = turn.interrupts.at(-1);
      if (pending === undefined) break;
      shown.push(pending.value.request.callId);
      const answer = port.resumeValue(pending, approve());
      turn = turnOf(await app.invoke(new Command({ resume: { [pending.id]: answer } }), config));
    }
    expect(shown.toSorted()).toEqual(["c1", "c2"]);
    expect(ran.toSorted()).toEqual(["pay 1", "pay 2", "rate 9"]);
    expect(turn.tools.map((message) => [message.tool_call_id, message.content])).toEqual([
      ["c1", "pay 1"],
      ["c0", "rate 9"],
      ["c2", "pay 2"],
    ]);
  });
});

describe("R8: INTEGRATION", () => {
  it("R8: exports one tool as a node, and knows the ids of a call inside a graph", async () => {
    const ran: string[] = [];
    const spec = counted(ran, "rate", { effects: "read" });
    const node = INTEGRATION.exportTool(spec);
    expect(node.tools.map((tool) => tool.name)).toEqual(["rate"]);
    expect(INTEGRATION.bindContext({ id: "c1" })).toEqual({ runId: undefined, threadId: undefined, callId: "c1" });
    const seen: unknown[] = [];
    const app = new StateGraph(MessagesAnnotation)
      .addNode("n", () => {
        seen.push(INTEGRATION.bindContext({ id: "c1" }));
        return {};
      })
      .addEdge(START, "n")
      .compile();
    await app.invoke({ messages: [] }, { configurable: { thread_id: "t", run_id: "r" } });
    expect(seen).toEqual([{ runId: "r", threadId: "t", callId: "c1" }]);
  });
});
