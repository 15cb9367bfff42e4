// Properties proved: which calls of a message are open and how they are named, that a repaired message stays itself, and what
// the model reads of results and errors.
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { isAgentAdapterError, ToolError } from "../../../../src/index.js";
import {
  errorMessage,
  openCallsOf,
  resultMessage,
  singleCall,
  type OpenCall,
} from "../../../../src/integrations/langchain-core/tool-messages.js";
import { toolOutput } from "../../../../src/integrations/langchain-core/tool-output.js";

const call = (name: string, id?: string | null, args: Record<string, unknown> = { to: "ana" }) =>
  ({ name, args, type: "tool_call", ...(id === undefined ? {} : { id }) }) as {
    name: string;
    args: typeof args;
    id?: string;
  };
const calling = (...calls: ReturnType<typeof call>[]) => new AIMessage({ content: "", tool_calls: calls });
const answer = (id: string) => new ToolMessage({ content: "x", tool_call_id: id });
const ids = (messages: readonly BaseMessage[]): string[] => openCallsOf(messages, "ns").calls.map(({ id }) => id);
const style = { announceEdits: true, maxResultChars: 1000 };
const one: OpenCall = { id: "c1", name: "pay", args: {}, refusal: undefined };

describe("openCallsOf", () => {
  test("T1, T2: gives the calls of the last AIMessage in order, with their own ids", () => {
    const { calls, repaired } = openCallsOf(
      [calling(call("old", "o")), new HumanMessage("hi"), calling(call("pay", "a"), call("search", "b", { q: 1 }))],
      "ns",
    );
    expect(calls).toEqual([
      { id: "a", name: "pay", args: { to: "ana" }, refusal: undefined },
      { id: "b", name: "search", args: { q: 1 }, refusal: undefined },
    ]);
    expect(repaired).toBeUndefined();
  });

  test("T2: leaves out what a later ToolMessage has answered, wherever it stands behind the message", () => {
    const message = calling(call("pay", "a"), call("pay", "b"), call("pay", "c"));
    expect(ids([message, answer("b")])).toEqual(["a", "c"]);
    expect(ids([message, answer("c"), new HumanMessage("hi"), answer("a")])).toEqual(["b"]);
    expect(ids([message, answer("a"), answer("b"), answer("c")])).toEqual([]);
    expect(ids([answer("a"), message])).toEqual(["a", "b", "c"]);
  });

  test("T2: a message without calls has none open", () => {
    expect(openCallsOf([new AIMessage("hello")], "ns")).toEqual({ calls: [], repaired: undefined });
  });

  test.each([[[]], [[new HumanMessage("hi")]], [[answer("a")]]])(
    "N1: input without an AIMessage is refused",
    (messages) => {
      const open = () => openCallsOf(messages, "ns");
      expect(open).toThrow(expect.objectContaining({ kind: "ToolUsageError" }));
    },
  );

  test("T1, B28: a call without an id is named by namespace and position, the same every time", () => {
    for (const missing of [undefined, null, ""]) {
      const message = calling(call("pay", missing), call("pay", "b"), call("pay", missing));
      expect(ids([message])).toEqual(["ns:0", "b", "ns:2"]);
    }
  });

  test("T2, B31: a call with broken JSON is an open call whose arguments stay text, never `{}`", () => {
    const message = new AIMessage({
      content: "",
      tool_calls: [call("pay", "a")],
      invalid_tool_calls: [
        { name: "pay", args: '{"to":', id: "b", error: "x" },
        { name: "pay", args: "{" },
      ],
    });
    const { calls } = openCallsOf([message], "ns");
    expect(calls.map(({ id }) => id)).toEqual(["a", "b", "ns:2"]);
    expect(calls[0]?.refusal).toBeUndefined();
    // Text, never an object: the executor refuses it like any arguments that are none.
    expect(calls.slice(1).map(({ args }) => typeof args)).toEqual(["string", "string"]);
  });

  test("T3: of two calls with one id the first counts, the other is refused", () => {
    const { calls } = openCallsOf([calling(call("pay", "a"), call("search", "a"), call("pay", "b"))], "ns");
    expect(calls.map(({ id, refusal }) => [id, refusal instanceof ToolError])).toEqual([
      ["a", false],
      ["a", true],
      ["b", false],
    ]);
  });

  test("T1: an id that was made up does not collide silently with one that was given", () => {
    const { calls } = openCallsOf([calling(call("pay"), call("search", "ns:0"))], "ns");
    expect(calls.map(({ refusal }) => refusal === undefined)).toEqual([true, false]);
  });

  test("T1: a streamed message counts like any other", () => {
    const chunk = new AIMessageChunk({ content: "", tool_calls: [call("pay", "a")] });
    expect(ids([chunk])).toEqual(["a"]);
  });
});

describe("a repaired message", () => {
  const message = new AIMessage({
    id: "m1",
    name: "agent",
    content: [{ type: "text", text: "let me" }],
    additional_kwargs: { k: 1 },
    response_metadata: { model: "m" },
    // LangChain's own types refuse it under exactOptionalPropertyTypes.
    usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } as never,
    tool_calls: [call("pay"), call("search", "b")],
    invalid_tool_calls: [{ name: "pay", args: "{" }],
  });
  const { repaired } = openCallsOf([message], "ns");

  test("T2: has an id for every call, the ones its answers carry", () => {
    expect(repaired?.tool_calls?.map(({ id }) => id)).toEqual(["ns:0", "b"]);
    expect(repaired?.invalid_tool_calls?.map(({ id }) => id)).toEqual(["ns:2"]);
    expect(ids([repaired ?? message])).toEqual(ids([message]));
  });

  test("T2: keeps id, name, content blocks, metadata and usage, so that it replaces the original", () => {
    expect(repaired).toBeInstanceOf(AIMessage);
    expect(repaired).toMatchObject({
      id: "m1",
      name: "agent",
      content: [{ type: "text", text: "let me" }],
      additional_kwargs: { k: 1 },
      response_metadata: { model: "m" },
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    });
    expect(repaired?.tool_calls?.map(({ name, args }) => [name, args])).toEqual([
      ["pay", { to: "ana" }],
      ["search", { to: "ana" }],
    ]);
  });

  test("T2: is another object; the one in the state is not written on", () => {
    expect(repaired).not.toBe(message);
    expect(message.tool_calls?.[0]?.id).toBeUndefined();
  });

  test("T2: is only made when an id was missing, also of a call with broken JSON", () => {
    const broken = { name: "pay", args: "{", id: "b" };
    const complete = new AIMessage({ content: "", tool_calls: [call("pay", "a")], invalid_tool_calls: [broken] });
    expect(openCallsOf([complete], "ns").repaired).toBeUndefined();
    const half = new AIMessage({ content: "", invalid_tool_calls: [{ name: "pay", args: "{" }] });
    expect(openCallsOf([half], "ns").repaired?.invalid_tool_calls?.[0]?.id).toBe("ns:0");
  });
});

describe("singleCall", () => {
  test("T1: has its own id, or the namespace's first", () => {
    expect(singleCall(call("pay", "a"), "ns")).toEqual({ ...one, id: "a", args: { to: "ana" } });
    expect(singleCall(call("pay"), "ns").id).toBe("ns:0");
    expect(singleCall({ name: 5, args: undefined, id: 7 }, "ns")).toMatchObject({ id: "ns:0", name: "" });
  });
});

describe("resultMessage", () => {
  const content = (value: unknown) => resultMessage(one, { value, edited: undefined }, style).content;

  test.each([
    ["text", "paid", "paid"],
    ["empty text", "", ""],
    ["text that looks like JSON", '{"a":1}', '{"a":1}'],
    ["a number", 0, "0"],
    ["false", false, "false"],
    ["null", null, "null"],
    ["nothing", undefined, "null"],
    ["an object", { a: [1] }, '{"a":[1]}'],
    ["an empty list", [], "[]"],
    ["a list of data with a type", [{ type: "invoice" }], '[{"type":"invoice"}]'],
  ])("T4: %s reaches the model as it is or as JSON", (_what, value, expected) => {
    expect(content(value)).toBe(expected);
  });

  test("T2: carries id, name and status of its call", () => {
    const message = resultMessage(one, { value: "paid", edited: undefined }, style);
    expect(message).toMatchObject({ tool_call_id: "c1", name: "pay", status: "success", metadata: undefined });
  });

  test("T2: says that a reviewer edited the arguments, to the model and to programs", () => {
    const message = resultMessage(one, { value: "paid", edited: { to: "bob" } }, style);
    expect(message.content).toMatch(/^\[.*\{"to":"bob"\}.*\]\npaid$/);
    expect(message.metadata).toEqual({ agentAdapter: { arguments: { to: "bob" } } });
    const silent = resultMessage(one, { value: "paid", edited: { to: "bob" } }, { ...style, announceEdits: false });
    expect(silent.content).toBe("paid");
    expect(silent.metadata).toEqual({ agentAdapter: { arguments: { to: "bob" } } });
  });

  test("T4/blocks: content blocks and artifact pass; an edit is a block before them", () => {
    const blocks = [
      { type: "text", text: "see" },
      { type: "image_url", image_url: "https://x" },
    ];
    const message = resultMessage(one, { value: toolOutput(blocks, { rows: 1 }), edited: { to: "bob" } }, style);
    expect(message.content).toMatchObject([{ type: "text" }, ...blocks]);
    expect(message.artifact).toEqual({ rows: 1 });
  });

  test("T4/blocks: a result that is too long is cut, with how much is missing, and never inside a character", () => {
    const long = resultMessage(
      one,
      { value: `${"a".repeat(9)}\u{1f600}b`, edited: undefined },
      { ...style, maxResultChars: 10 },
    );
    expect(long.content).toMatch(/^a{9}\n\[shortened: 3 of 12 /);
  });

  test.each([
    ["a bigint", 1n],
    ["a cycle", (() => Object.assign([], { 0: null }) as unknown[])()],
  ])("T4, N1: %s that JSON cannot say is a ToolUsageError", (what, value) => {
    const cyclic = Array.isArray(value) ? value : [value];
    if (what === "a cycle") cyclic[0] = cyclic;
    expect(() => content(cyclic)).toThrow(expect.objectContaining({ kind: "ToolUsageError" }));
  });

  test("N1: the name of a tool that a model made up is cut, between characters", () => {
    const name = resultMessage({ ...one, name: "\u{1f600}".repeat(100) }, { value: 1, edited: undefined }, style).name;
    expect(name).toBe("\u{1f600}".repeat(64));
  });
});

describe("errorMessage", () => {
  test("T3: is an error with kind and message, as JSON, under the call's id", () => {
    const message = errorMessage(one, new ToolError('no "account"'));
    expect(message).toMatchObject({ tool_call_id: "c1", name: "pay", status: "error" });
    expect(JSON.parse(message.text)).toEqual({ error: { kind: "ToolError", message: 'no "account"' } });
  });

  test("T3, B34: never reaches the model as an empty object", () => {
    for (const thrown of [new Error("x"), "x", undefined, null, { a: 1 }]) {
      const { error } = JSON.parse(errorMessage(one, thrown).text);
      expect(error.kind).toBe("ToolError");
      expect(error.message.length).toBeGreaterThan(0);
    }
  });

  test("T3: the refusals of open calls are errors of ours, fit for the model", () => {
    const message = new AIMessage({
      content: "",
      tool_calls: [call("pay", "a"), call("pay", "a")],
      invalid_tool_calls: [{ name: "pay", args: "{", id: "b" }],
    });
    const refusals = openCallsOf([message], "ns").calls.flatMap(({ refusal }) => refusal ?? []);
    expect(refusals.length).toBeGreaterThanOrEqual(1);
    expect(refusals.every((refusal) => isAgentAdapterError(refusal) && refusal.modelVisible)).toBe(true);
  });
});
