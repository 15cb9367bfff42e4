// Properties proved on a real `createAgent`: the model gets what the policy leaves, the agent's state keeps everything, the system
// prompt stays the first thing the model reads.
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { expect, test } from "vitest";
import { z } from "zod";
import { CompressionPolicy, type CompressionOptions } from "agent-adapter";
import { compressionMiddleware } from "agent-adapter/langchain/agents";
import { ScriptedChatModel } from "../../../examples/support/scripted-model.js";

const look = tool(() => "found ".repeat(50), { name: "look", description: "Looks.", schema: z.object({}) });

/** Answers by what was said last, not by a count: it does not see everything. */
class Model extends ScriptedChatModel {
  readonly seen: BaseMessage[][] = [];
  #calls = 0;

  constructor() {
    super([]);
  }

  override bindTools() {
    return this.withConfig({});
  }

  override _generate(messages: BaseMessage[]) {
    this.seen.push(messages);
    const asks = HumanMessage.isInstance(messages.at(-1));
    this.#calls += asks ? 1 : 0;
    const tool_calls = asks ? [{ id: `call-${this.#calls}`, name: "look", args: {} }] : [];
    const message = new AIMessage({ content: asks ? "" : "done", tool_calls });
    return Promise.resolve({ generations: [{ text: message.text, message }] });
  }
}

function agent(options: CompressionOptions, systemPrompt?: string) {
  const model = new Model();
  const made = createAgent({
    model,
    tools: [look],
    checkpointer: new MemorySaver(),
    middleware: [compressionMiddleware(new CompressionPolicy(options))],
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
  });
  const say = async (...messages: BaseMessage[]): Promise<BaseMessage[]> =>
    (await made.invoke({ messages }, { configurable: { thread_id: "t" } })).messages;
  return { seen: model.seen, say };
}

const types = (messages: readonly BaseMessage[]) => messages.map(({ type }) => type);

test("K2, B53: the model gets what the policy leaves, the state of the agent keeps everything as it was", async () => {
  const { seen, say } = agent({ maxMessages: 6, toolResults: { maxChars: 10, keepLast: 1 } }, "be brief");
  let state: BaseMessage[] = [];
  for (let turn = 0; turn < 4; turn += 1) state = await say(new HumanMessage(`turn ${turn}`));
  expect(types(state)).toEqual(Array.from({ length: 4 }, () => ["human", "ai", "tool", "ai"]).flat());
  const results = state.filter((message) => ToolMessage.isInstance(message));
  expect(results.map(({ text }) => text)).toEqual(results.map(() => "found ".repeat(50)));
  expect(Math.max(...seen.map(({ length }) => length))).toBe(6);
  for (const sent of seen) expect([sent[0]?.type, sent[0]?.text]).toEqual(["system", "be brief"]);
  // The turn before is cut and still there while it fits, then it is dropped whole.
  expect(seen.at(-2)?.map(({ type }) => type)).toEqual(["system", "human", "ai", "tool", "ai", "human"]);
  expect(seen.at(-2)?.[3]?.text).toBe("found ".repeat(50));
  expect(types(seen.at(-1) ?? [])).toEqual(["system", "human", "ai", "tool"]);
});

test("K2: system messages of the state join the prompt, in front", async () => {
  const { seen, say } = agent({ maxMessages: 50 }, "be brief");
  await say(new SystemMessage("be kind"), new HumanMessage("hi"));
  await say(new SystemMessage("be quick"), new HumanMessage("hi"));
  expect(types(seen.at(-1) ?? [])).toEqual(["system", "human", "ai", "tool", "ai", "human", "ai", "tool"]);
  expect(seen.at(-1)?.[0]?.text.trim().split(/\n+/)).toEqual(["be brief", "be kind", "be quick"]);
});

test("K2: without a prompt there is none, and one that the policy drops is not sent", async () => {
  const without = agent({ maxMessages: 50 });
  await without.say(new HumanMessage("hi"));
  expect(types(without.seen[0] ?? [])).toEqual(["human"]);
  const dropped = agent({ maxMessages: 1, keepSystem: false }, "be brief");
  await dropped.say(new HumanMessage("hi"));
  expect(types(dropped.seen[0] ?? [])).toEqual(["human"]);
});
