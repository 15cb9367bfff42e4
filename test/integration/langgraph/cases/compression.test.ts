// Properties proved on a real StateGraph with a checkpointer: the model gets a shorter list that a provider takes, the state keeps
// every message as it was, and a thread whose calls were left open goes on.
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { toolsCondition } from "@langchain/langgraph/prebuilt";
import { expect, test } from "vitest";
import { CompressionPolicy, Executor, Registry, type CompressionOptions } from "agent-adapter";
import { langgraphCompressor, LangGraphApproval, toolNode } from "agent-adapter/langgraph";
import { asking, counted, KEY } from "../../../support/langgraph.js";

/** An agent whose model calls a tool on "look" and on "send", and answers otherwise. What the model was sent is written down. */
function agent(options: CompressionOptions) {
  const shorten = langgraphCompressor(new CompressionPolicy(options));
  const seen: BaseMessage[][] = [];
  const registry = new Registry([
    counted([], "look", { effects: "read", body: () => "found ".repeat(50) }),
    asking([], "send"),
  ]);
  const executor = new Executor(registry, { approval: new LangGraphApproval({ key: KEY }) });
  let calls = 0;
  const model = (messages: BaseMessage[]): AIMessage => {
    seen.push(messages);
    const last = messages.at(-1);
    if (!HumanMessage.isInstance(last) || !["look", "send"].includes(last.text)) return new AIMessage("done");
    calls += 1;
    return new AIMessage({ content: "", tool_calls: [{ id: `call-${calls}`, name: last.text, args: { n: calls } }] });
  };
  const app = new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: [model(await shorten(messages))] }))
    .addNode("tools", toolNode(registry, { executor }))
    .addEdge(START, "model")
    .addConditionalEdges("model", toolsCondition, ["tools", END])
    .addEdge("tools", "model")
    .compile({ checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "t" } };
  return {
    seen,
    say: (...messages: (string | BaseMessage)[]) =>
      app.invoke(
        { messages: messages.map((each) => (typeof each === "string" ? new HumanMessage(each) : each)) },
        config,
      ),
    history: async (): Promise<BaseMessage[]> => (await app.getState(config)).values.messages,
  };
}

const types = (messages: readonly BaseMessage[]) => messages.map(({ type }) => type);

test("K2, B53: the model gets a shorter list, the state keeps every message as it was", async () => {
  const { say, seen, history } = agent({ maxMessages: 6, toolResults: { maxChars: 20, keepLast: 1 } });
  await say(new SystemMessage("be brief"), "look");
  for (let turn = 0; turn < 5; turn += 1) await say("look");
  const all = await history();
  expect(types(all)).toEqual(["system", ...Array.from({ length: 6 }, () => ["human", "ai", "tool", "ai"]).flat()]);
  const results = all.filter((message) => ToolMessage.isInstance(message));
  expect(results.map(({ text }) => text)).toEqual(results.map(() => "found ".repeat(50)));
  expect(Math.max(...seen.map(({ length }) => length))).toBe(6);
  expect(types(seen.at(-1) ?? [])).toEqual(["system", "human", "ai", "tool"]);
  expect(seen.at(-1)?.at(-1)?.text).toBe("found ".repeat(50));
});

test("K2: older results are cut for the model only, and keep their id, name and status", async () => {
  const { say, seen, history } = agent({ toolResults: { maxChars: 11, keepLast: 1 } });
  await say("look");
  await say("look");
  const sent = seen.at(-1)?.filter((message) => ToolMessage.isInstance(message)) ?? [];
  expect(sent.map(({ text }) => text)).toEqual([
    "found found\n[shortened: 289 of 300 characters left out]",
    "found ".repeat(50),
  ]);
  const kept = (await history()).filter((message) => ToolMessage.isInstance(message));
  expect(sent[0]).toMatchObject({ tool_call_id: "call-1", name: "look", status: "success", id: kept[0]?.id });
  expect(sent[1]).toBe(seen.at(-1)?.find((message) => message.id === kept[1]?.id));
  expect(kept.map(({ text }) => text.length)).toEqual([300, 300]);
});

test("K1, K2, B38: a thread whose approval nobody waited for goes on: the model reads `outcome unknown`, the state has no answer", async () => {
  const { say, seen, history } = agent({ maxMessages: 50 });
  await say("send");
  await say("never mind");
  const sent = seen.at(-1) ?? [];
  expect(types(sent)).toEqual(["human", "ai", "tool", "human"]);
  const repaired = sent.find((message) => ToolMessage.isInstance(message));
  expect(repaired).toMatchObject({ tool_call_id: "call-1", name: "send", status: "error" });
  expect(repaired?.text).toContain("outcome unknown");
  expect(types(await history())).toEqual(["human", "ai", "human", "ai"]);
});
