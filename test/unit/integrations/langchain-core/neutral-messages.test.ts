// Properties proved: LangChain's messages come back as the objects they were, blocks keep what providers read of them, and calls of
// every kind are seen.
import {
  AIMessage,
  ChatMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { expect, test } from "vitest";
import { CompressionPolicy, type NeutralMessage } from "../../../../src/index.js";
import { compressed, fromNeutral, toNeutral } from "../../../../src/integrations/langchain-core/neutral-messages.js";

const marked = { type: "text" as const, text: "be brief", cache_control: { type: "ephemeral" } };
const image = { type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } };
const call = { id: "a", name: "look", args: {} };
const policy = new CompressionPolicy({ maxMessages: 50 });

test("K2: messages of every kind come back as the objects they were", () => {
  const messages: BaseMessage[] = [
    new SystemMessage({ content: [marked] }),
    new HumanMessage({ content: [{ type: "text", text: "look" }, image] }),
    new AIMessage({ content: "", tool_calls: [call] }),
    new ToolMessage({ content: [image], tool_call_id: "a", status: "error" }),
    new ChatMessage({ role: "developer", content: "x" }),
  ];
  const neutral = toNeutral(messages);
  expect(neutral.map(({ role }) => role)).toEqual(["system", "human", "assistant", "tool", "assistant"]);
  expect(fromNeutral(neutral).every((message, at) => message === messages[at])).toBe(true);
  // Copied on the way, as a `countTokens` of somebody's could see it.
  const copies = neutral.map((message) => ({ ...message }));
  expect(fromNeutral(copies).every((message, at) => message === messages[at])).toBe(true);
});

test("K2: joined system messages keep the marks of their blocks", async () => {
  const [system] = await compressed([new SystemMessage({ content: [marked] }), new SystemMessage("be kind")], policy);
  expect(system?.content).toEqual([marked, { type: "text", text: "\n\nbe kind\n\n" }]);
});

test("K2: an image of an older result is left out by name, its text stays", async () => {
  const rule = new CompressionPolicy({ toolResults: { maxChars: 100, keepLast: 0 } });
  const result = new ToolMessage({
    id: "m",
    content: [{ type: "text", text: "found" }, image],
    tool_call_id: "a",
    name: "look",
  });
  const [, sent] = await compressed([new AIMessage({ content: "", tool_calls: [call] }), result], rule);
  expect(sent?.content).toEqual([
    { type: "text", text: "found" },
    { type: "text", text: "[image left out]" },
  ]);
  expect(result.content).toHaveLength(2);
});

test("K1, K2: a call that could not be parsed is a call: its answer stays with it, and without one it is closed", async () => {
  const broken = new AIMessage({
    content: "",
    invalid_tool_calls: [{ type: "invalid_tool_call", id: "x", name: "look", args: "{", error: "bad" }],
  });
  const answer = new ToolMessage({ content: "bad", tool_call_id: "x" });
  expect(await compressed([broken, answer], policy)).toEqual([broken, answer]);
  const [, closed] = await compressed([broken, new HumanMessage("well?")], policy);
  expect(closed).toMatchObject({ tool_call_id: "x", status: "error" });
});

test("K2: messages that never were LangChain's become its own", () => {
  const neutral: NeutralMessage[] = [
    { role: "human", content: "q" },
    { role: "assistant", content: "", calls: [call] },
    { role: "tool", callId: "a", status: "success", content: "found" },
  ];
  const [human, ai, tool] = fromNeutral(neutral);
  expect(human).toBeInstanceOf(HumanMessage);
  expect(ai).toMatchObject({ tool_calls: [call] });
  expect(tool).toMatchObject({ tool_call_id: "a", content: "found", status: "success" });
});
