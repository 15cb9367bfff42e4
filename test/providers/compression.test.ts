// What the real provider packages send of a compressed conversation. Properties proved, over random conversations and every limit:
// the package builds a request, and the request keeps the provider's own rules about calls and results. No network.
import { ChatAnthropic } from "@langchain/anthropic";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { CompressionPolicy, type CompressionOptions } from "agent-adapter";
import { langgraphCompressor } from "agent-adapter/langgraph";

type Json = Readonly<Record<string, unknown>>;

const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

/** The one request that a model makes; the answer is a failure, which nobody retries. */
async function bodyOf(model: BaseChatModel, messages: BaseMessage[]): Promise<Json> {
  const bodies: Json[] = [];
  globalThis.fetch = async (input, init) => {
    const body = init?.body ?? (input instanceof Request ? await input.text() : undefined);
    if (typeof body !== "string") throw new Error("a request without a text");
    bodies.push(JSON.parse(body) as Json);
    return new Response('{"error":{"message":"no network in tests","type":"invalid_request_error"}}', { status: 400 });
  };
  const failed = await model.invoke(messages).then(
    () => undefined,
    (error: unknown) => error,
  );
  const [body, ...more] = bodies;
  if (body === undefined || more.length > 0) throw new Error(`${bodies.length} requests: ${String(failed)}`);
  return body;
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []) as readonly Json[];
const sorted = (ids: readonly unknown[]) => ids.map(String).toSorted();

/** Every call is answered by the messages right behind it, and every result by a call right before it. */
function openAiFaults(body: Json): string[] {
  const faults: string[] = [];
  let wanted: string[] = [];
  for (const message of list(body["messages"])) {
    const id = String(message["tool_call_id"]);
    if (message["role"] === "tool") {
      if (!wanted.includes(id)) faults.push(`result of ${id} without a call`);
      wanted.splice(wanted.indexOf(id), 1);
      continue;
    }
    if (wanted.length > 0) faults.push(`no results of ${wanted.join()}`);
    wanted = list(message["tool_calls"]).map((call) => String(call["id"]));
  }
  return wanted.length > 0 ? [...faults, `no results of ${wanted.join()}`] : faults;
}

/** The first message is the user's; all results of a message are in the user message right behind it, and only those. */
function anthropicFaults(body: Json): string[] {
  const messages = list(body["messages"]);
  const blocks = (at: number, type: string, id: string) =>
    sorted(list(messages[at]?.["content"]).flatMap((block) => (block["type"] === type ? block[id] : [])));
  const faults = messages[0]?.["role"] === "user" ? [] : [`starts with ${String(messages[0]?.["role"])}`];
  messages.forEach((message, at) => {
    if (message["role"] === "system") faults.push("a system message that is not in front");
    if (message["role"] !== "user") return;
    const [calls, results] = [blocks(at - 1, "tool_use", "id"), blocks(at, "tool_result", "tool_use_id")];
    if (calls.join() !== results.join()) faults.push(`calls ${calls.join()}, results ${results.join()}`);
  });
  return faults;
}

/** The first turn is the user's; a turn with calls follows a user's or a result's, and as many results follow it. */
function googleFaults(body: Json): string[] {
  const turns = list(body["contents"]).map((turn) => {
    const count = (kind: string) => list(turn["parts"]).filter((part) => kind in part).length;
    return { role: turn["role"], calls: count("functionCall"), results: count("functionResponse") };
  });
  const faults = turns[0]?.role === "user" ? [] : [`starts with ${String(turns[0]?.role)}`];
  let wanted = 0;
  turns.forEach(({ role, calls, results }, at) => {
    if (results > wanted) faults.push(`${results} results, ${wanted} calls`);
    if (results === 0 && wanted > 0) faults.push(`${wanted} calls without a result`);
    if (role === "model" && calls > 0 && turns[at - 1]?.role === "model") faults.push("a call behind a model's turn");
    // The package gives every result a turn of its own.
    wanted = results > 0 ? wanted - results : calls;
  });
  return wanted > 0 ? [...faults, `${wanted} calls without a result`] : faults;
}

const PROVIDERS: Readonly<Record<string, { model: () => BaseChatModel; faultsOf: (body: Json) => string[] }>> = {
  openai: {
    model: () => new ChatOpenAI({ model: "gpt-4o", apiKey: "fake", maxRetries: 0 }),
    faultsOf: openAiFaults,
  },
  anthropic: {
    model: () => new ChatAnthropic({ model: "claude-sonnet-4-5", apiKey: "fake", maxRetries: 0 }),
    faultsOf: anthropicFaults,
  },
  "google-genai": {
    model: () => new ChatGoogleGenerativeAI({ model: "gemini-2.5-flash", apiKey: "fake", maxRetries: 0 }),
    faultsOf: googleFaults,
  },
};

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } };

interface Step {
  readonly ids: readonly string[];
  /** How many of its calls were answered before the user went on; only the last step of a turn can lack some. */
  readonly answered: number;
  readonly long: boolean;
  readonly interleaved: boolean;
}
interface Turn {
  readonly steps: readonly Step[];
  readonly system: boolean;
  readonly picture: boolean;
}

const step = fc.record({
  ids: fc.uniqueArray(fc.constantFrom("call_a", "call_b", "call_c"), { minLength: 1, maxLength: 3 }),
  answered: fc.nat({ max: 3 }),
  long: fc.boolean(),
  interleaved: fc.boolean(),
});
const turns = fc.array(
  fc.record({ steps: fc.array(step, { maxLength: 3 }), system: fc.boolean(), picture: fc.boolean() }),
  { minLength: 1, maxLength: 4 },
);

function stepMessages({ ids, answered, long, interleaved }: Step, isAbandoned: boolean): BaseMessage[] {
  const call = new AIMessage({ content: "", tool_calls: ids.map((id) => ({ id, name: "look", args: { id } })) });
  const results = ids
    .slice(0, isAbandoned ? answered : ids.length)
    .map((id) => new ToolMessage({ tool_call_id: id, name: "look", content: long ? "found ".repeat(99) : "found" }));
  return [call, ...results, ...(interleaved ? [new SystemMessage("be careful")] : [])];
}

/** A conversation that a model could be asked to go on with: it ends with the user or with results. */
function conversation(all: readonly Turn[]): BaseMessage[] {
  return all.flatMap(({ steps, system, picture }, index) => {
    const isLast = index === all.length - 1;
    const question = picture
      ? new HumanMessage({ content: [{ type: "text", text: "look" }, image] })
      : new HumanMessage("go");
    const messages = steps.flatMap((each, at) => stepMessages(each, !isLast && at === steps.length - 1));
    const end = isLast || steps.length > 0 ? [] : [new AIMessage("done")];
    return [...(system ? [new SystemMessage(`turn ${index}`)] : []), question, ...messages, ...end];
  });
}

const LIMITS: readonly CompressionOptions[] = [
  ...[1, 2, 3, 4, 5, 7, 9, 12, 40].map((maxMessages) => ({ maxMessages })),
  ...[1, 20, 60, 120, 200, 400, 900, 2000].map((maxTokens) => ({
    maxTokens,
    toolResults: { maxChars: 50, keepLast: 1 },
  })),
  ...[3, 6, 9].map((maxMessages) => ({ maxMessages, summarize: () => "they talked" })),
];

describe.each(Object.entries(PROVIDERS))("K1: %s", (_, { model, faultsOf }) => {
  it("K1, B38, B53: takes every compressed conversation", async () => {
    await fc.assert(
      fc.asyncProperty(turns, fc.constantFrom(...LIMITS), async (all, options) => {
        const sent = await langgraphCompressor(new CompressionPolicy(options))(conversation(all));
        expect(faultsOf(await bodyOf(model(), sent))).toEqual([]);
      }),
      { numRuns: 250 },
    );
  });

  it("K1: its rules are broken by a conversation that is cut without regard to calls", async () => {
    const history = [
      new HumanMessage("go"),
      ...stepMessages({ ids: ["call_a"], answered: 0, long: false, interleaved: false }, true),
    ];
    expect(faultsOf(await bodyOf(model(), [...history, new HumanMessage("well?")]))).not.toEqual([]);
  });
});
