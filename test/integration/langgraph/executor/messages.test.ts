// Properties proved: which calls of a message list a tool node runs and says so of the others; what the model reads of every
// kind of result, cut or not; what a model is told about the tools.
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, defineTool, Registry, type AnyToolSpec, type Logger } from "agent-adapter";
import { importLangChain, toolOutput } from "agent-adapter/langchain";
import { Command } from "@langchain/langgraph";
import { one, table, text } from "../../../support/langgraph.js";
import { tool } from "../../../unit/executor/tools.js";
import { asks, calls, graph } from "./graphs.js";

const quiet = () => undefined;

/** A logger and what it was warned of. */
function warnings(): { logger: Logger; warned: string[] } {
  const warned: string[] = [];
  return { warned, logger: { debug: quiet, info: quiet, warn: (line) => void warned.push(line), error: quiet } };
}

/** A tool that says what it ran, and a graph that writes its warnings down. */
function listening(confirm: boolean) {
  const ran: string[] = [];
  const { logger, warned } = warnings();
  const act = tool({
    confirm,
    execute: ({ to }) => {
      ran.push(to);
      return `did ${to}`;
    },
  });
  return { ran, warned, ...graph([act], { executor: { logger } }) };
}

const answer = (id: string) => new ToolMessage({ content: "from elsewhere", tool_call_id: id });

describe("which calls are run (B20)", () => {
  it.each([false, true])(
    "B20, T2: those of the last AIMessage, also with a HumanMessage after it (asks: %j)",
    async (confirm) => {
      const stand = listening(confirm);
      const first = await stand.messages([asks(calls(1)), new HumanMessage("wait")]);
      const end = confirm ? await stand.approve(first) : first;
      expect(stand.ran).toEqual(["0"]);
      expect(table(end.tools)).toEqual([["c0", "success", "did 0"]]);
      expect(stand.warned).toEqual([]);
    },
  );

  it("B20, T2: those of an earlier AIMessage are not, and the logger is told how many: never silently, never what they are", async () => {
    const stand = listening(false);
    const earlier = [asks([...calls(2), { name: "act", args: { to: "secret" }, id: "c9" }]), answer("c1")];
    const end = await stand.messages([...earlier, asks([{ name: "act", args: { to: "z" }, id: "z" }])]);
    expect(stand.ran).toEqual(["z"]);
    expect(end.tools.map((message) => message.tool_call_id)).toEqual(["c1", "z"]);
    expect(stand.warned).toEqual([
      "toolNode runs the last AIMessage's calls; calls of earlier ones without an answer: 2",
    ]);
  });

  it("B20, T2: an earlier call that nobody could parse, or without an id, is open as well", async () => {
    const stand = listening(false);
    const broken = new AIMessage({
      content: "",
      invalid_tool_calls: [{ name: "act", args: "{", id: "b", error: "x" }],
    });
    const nameless = asks([{ name: "act", args: { to: "n" } }]);
    await stand.messages([broken, nameless, asks(calls(1))]);
    expect(stand.ran).toEqual(["0"]);
    expect(stand.warned).toEqual([
      "toolNode runs the last AIMessage's calls; calls of earlier ones without an answer: 2",
    ]);
  });

  it("B20, T2: earlier calls that were answered are nothing to tell", async () => {
    const stand = listening(false);
    await stand.messages([asks([{ name: "act", args: { to: "a" }, id: "a" }]), answer("a"), asks(calls(1))]);
    expect(stand.ran).toEqual(["0"]);
    expect(stand.warned).toEqual([]);
  });

  it("B20, T2: of the last message what was answered is not run again, also when that is everything", async () => {
    const stand = listening(true);
    const some = await stand.messages([asks(calls(2)), answer("c0")]);
    expect(one(some.interrupts).value.request.callId).toBe("c1");
    expect(table((await stand.approve(some)).tools)).toEqual([
      ["c0", undefined, "from elsewhere"],
      ["c1", "success", "did 1"],
    ]);
    const all = listening(true);
    const end = await all.messages([asks(calls(2)), answer("c0"), answer("c1")]);
    expect([all.ran, end.tools.length, end.interrupts.length]).toEqual([[], 2, 0]);
  });
});

/** The one ToolMessage of one call of this tool. */
async function shown(made: AnyToolSpec, maxResultChars?: number): Promise<ToolMessage> {
  const stand = graph([made], { node: maxResultChars === undefined ? {} : { maxResultChars } });
  const call = { name: made.name, args: { to: "x" }, id: "c" };
  const first = await stand.start([call]);
  return one((first.interrupts.length === 0 ? first : await stand.approve(first)).tools);
}

const png = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };

describe("what the model reads of a result (T4)", () => {
  it.each([false, true])("T4/blocks: content blocks pass as they are (asks: %j)", async (confirm) => {
    const blocks = [{ type: "text", text: "two offers" }, png, { type: "audio", data: "AA", mimeType: "audio/wav" }];
    expect((await shown(tool({ confirm, execute: () => blocks }))).content).toEqual(blocks);
  });

  it.each([[[{ type: "offer", price: 1 }]], [[{ type: "text", text: "a" }, { price: 1 }]], [[]]])(
    "T4/text: an array that only looks like blocks is JSON: %j",
    async (rows) => {
      expect((await shown(tool({ execute: () => rows }))).content).toBe(JSON.stringify(rows));
    },
  );

  it.each([false, true])(
    "T4/blocks: an artifact goes beside the content, not to the model (asks: %j)",
    async (confirm) => {
      const offers = [{ id: 1 }, { id: 2 }];
      const message = await shown(tool({ confirm, execute: () => toolOutput("2 offers", offers) }));
      expect([message.content, message.artifact]).toEqual(["2 offers", offers]);
      const blocks = await shown(
        tool({ confirm, execute: () => toolOutput([{ type: "text", text: "2" }, png], offers) }),
      );
      expect([blocks.content, blocks.artifact]).toEqual([[{ type: "text", text: "2" }, png], offers]);
      const json = await shown(tool({ confirm, execute: () => toolOutput({ n: 2 }, null) }));
      expect([json.content, json.artifact]).toEqual(['{"n":2}', null]);
    },
  );

  it.each([false, true])(
    "T4/blocks: so does that of an imported content_and_artifact tool (asks: %j)",
    async (confirm) => {
      const registry = new Registry();
      const search = langchainTool(() => [[{ type: "text", text: "found" }], { hits: [1] }], {
        name: "act",
        description: "d",
        schema: z.object({ to: z.string() }),
        responseFormat: "content_and_artifact",
      });
      const [spec] = importLangChain(registry, [search], { confirm });
      const message = await shown(one(spec === undefined ? [] : [spec]));
      expect(message).toMatchObject({ content: [{ type: "text", text: "found" }], artifact: { hits: [1] } });
    },
  );

  it("T4/blocks: an artifact is given again when the call is replayed", async () => {
    const act = tool({ execute: ({ to }) => toolOutput(`did ${to}`, { to }) });
    const gated = tool({ name: "gated", confirm: true });
    const stand = graph([act, gated]);
    const paused = await stand.start([...calls(1), { name: "gated", args: { to: "g" }, id: "g" }]);
    const end = await stand.approve(paused);
    expect(end.tools.map(({ content, artifact }) => [content, artifact])).toEqual([
      ["did 0", { to: "0" }],
      ["did g", undefined],
    ]);
  });

  it("T4/blocks: an edit is told before the blocks", async () => {
    const act = tool({ confirm: true, execute: () => [png] });
    const stand = graph([act]);
    const { id, ...rest } = one((await stand.start(calls(1))).interrupts);
    const value = stand.port.resumeValue({ id, ...rest }, approve({ editedArgs: { to: "bob" }, by: "ana" }));
    const { content } = one((await stand.invoke(new Command({ resume: { [id]: value } }))).tools);
    expect(content).toEqual([
      { type: "text", text: '[A reviewer changed the arguments of this call to {"to":"bob"}]' },
      png,
    ]);
  });
});

describe("a result that is cut (T4, B51)", () => {
  const pairs = "\u{1F600}".repeat(6);
  it.each([1, 2, 3, 4, 5, 6, 7, 11, 12, 13])(
    "T4/blocks, B51: at %d characters no pair is split, and the model is told how much is missing",
    async (limit) => {
      const { content } = await shown(tool({ execute: () => pairs }), limit);
      const kept = Math.floor(limit / 2) * 2;
      const expected =
        limit >= 12 ? pairs : `${pairs.slice(0, kept)}\n[shortened: ${12 - kept} of 12 characters left out]`;
      expect(content).toBe(expected);
      expect(content).not.toMatch(/\p{Surrogate}/u);
    },
  );

  it("T4/blocks: the texts of blocks share the size; other blocks stay", async () => {
    const blocks = [
      { type: "text", text: "12345" },
      png,
      { type: "text", text: "678901" },
      { type: "text", text: "z" },
    ];
    const { content } = await shown(tool({ execute: () => blocks }), 8);
    expect(content).toEqual([
      { type: "text", text: "12345" },
      png,
      { type: "text", text: "678\n[shortened: 3 of 6 characters left out]" },
      { type: "text", text: "\n[shortened: 1 of 1 characters left out]" },
    ]);
  });

  it("T4/blocks: an artifact is not cut, JSON is", async () => {
    const message = await shown(tool({ execute: () => toolOutput({ text: "0123456789" }, "0123456789") }), 5);
    expect(message.content).toBe('{"tex\n[shortened: 16 of 21 characters left out]');
    expect(message.artifact).toBe("0123456789");
  });

  it.each<[string, unknown, unknown]>([
    ["half a pair in text", "a\ud83d", "a\ufffd"],
    ["the other half", "\ude00b", "\ufffdb"],
    ["half a pair in JSON", { a: "\ud83d" }, '{"a":"\\ud83d"}'],
    ["half a pair in a block", [{ type: "text", text: "\ud83d!" }], [{ type: "text", text: "\ufffd!" }]],
    ["a whole pair", "a\u{1F600}b", "a\u{1F600}b"],
    ["NUL, right-to-left marks, combining marks", "\u0000\u202ee\u0301", "\u0000\u202ee\u0301"],
  ])("B51, T4/blocks: %s reaches the model well-formed", async (_what, result, expected) => {
    expect((await shown(tool({ execute: () => result }))).content).toEqual(expected);
  });

  it("B51: half a pair in arguments, also deep inside, is refused for that call only", async () => {
    const deep = defineTool({
      name: "deep",
      description: "d",
      inputSchema: z.object({ rows: z.array(z.object({ text: z.string() })) }),
      execute: () => "ran",
    });
    const stand = graph([deep, tool()]);
    const bad = { name: "deep", args: { rows: [{ text: "ok" }, { text: "\ud83d" }] }, id: "b" };
    const end = await stand.start([bad, ...calls(1)]);
    expect(end.tools.map(({ status }) => status)).toEqual(["error", "success"]);
    expect(JSON.parse(text(one(end.tools.slice(0, 1))))).toMatchObject({ error: { kind: "ToolArgsInvalid" } });
  });

  it("B51: a megabyte of text passes untouched", async () => {
    const large = "\u{1F600}é".repeat(350_000);
    expect((await shown(tool({ execute: () => large }))).content).toBe(large);
  });
});

describe("integers that JSON rounds (B27)", () => {
  it("B27, G3: are refused before anybody is asked, as text they pass byte for byte", async () => {
    const bodies: unknown[] = [];
    const send = defineTool({
      name: "send",
      description: "d",
      inputSchema: z.object({ id: z.union([z.number().int(), z.string()]) }),
      confirm: true,
      execute: (args) => void bodies.push(args),
    });
    const stand = graph([send]);
    // As a model's JSON is parsed: the digits are gone before anybody sees them.
    const rounded: unknown = JSON.parse('{"id": 9007199254740993}');
    const refused = await stand.start([{ name: "send", args: rounded, id: "c" }]);
    expect(refused.interrupts).toEqual([]);
    const { error } = JSON.parse(text(one(refused.tools))) as { error: { kind: string; message: string } };
    expect(error.kind).toBe("ToolArgsInvalid");
    expect(error.message).toContain("integer");
    const next = graph([send]);
    const paused = await next.start([{ name: "send", args: { id: "9007199254740993" }, id: "c" }]);
    expect(one(paused.interrupts).value.request.arguments).toEqual({ id: "9007199254740993" });
    await next.approve(paused);
    expect(bodies).toEqual([{ id: "9007199254740993" }]);
  });
});

describe("what a model is told about the tools (B54)", () => {
  const shared = z.object({ street: z.string() }).describe("an address");
  const tree: z.ZodType = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }));
  const schemas: readonly [string, unknown][] = [
    ["a shared part", z.object({ from: shared, to: shared.optional() })],
    ["defaults and descriptions", z.object({ n: z.number().default(5).describe("how many"), s: z.string() })],
    [
      "optional, nullable, nullish",
      z.object({ a: z.string().optional(), b: z.string().nullable(), c: z.string().nullish() }),
    ],
    [
      "a union at the root",
      z.discriminatedUnion("k", [z.object({ k: z.literal("a") }), z.object({ k: z.literal("b"), n: z.number() })]),
    ],
    ["a tree", z.object({ root: tree })],
    ["records and enums", z.object({ r: z.record(z.string(), z.number()), e: z.enum(["x", "y"]) })],
    ["JSON Schema", { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { type: "string" } } }],
  ];

  const refs = (value: unknown): string[] => {
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) =>
      key === "$ref" && typeof inner === "string" ? [inner] : refs(inner),
    );
  };

  it.each(schemas)("B54, G2: %s through toolNode(...).tools, in the format of bindTools", (_what, inputSchema) => {
    const made = defineTool({
      name: "act",
      description: "Acts.",
      inputSchema: inputSchema as z.ZodType,
      execute: () => 1,
    });
    const { node } = graph([made]);
    const { tools } = node;
    const { type, function: told } = convertToOpenAITool(one(tools) as never);
    expect([type, told.name, told.description]).toEqual(["function", "act", "Acts."]);
    expect(told.parameters).toMatchObject({ type: "object" });
    for (const ref of refs(told.parameters)) expect(ref).toMatch(/^#\/\$defs\/[^/]+$/);
    expect(told.parameters).toEqual({ ...made.inputJsonSchema, type: "object" });
  });

  it("B54, G2: fields with a default are not required", () => {
    const made = tool();
    const withDefault = defineTool({
      name: "n",
      description: "d",
      inputSchema: z.object({ n: z.number().default(5), s: z.string() }),
      execute: () => 1,
    });
    const { node } = graph([made, withDefault]);
    const told = node.tools.map((each) => convertToOpenAITool(each as never).function.parameters);
    expect(told).toMatchObject([{ required: ["to"] }, { required: ["s"] }]);
  });
});
