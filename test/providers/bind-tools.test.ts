// What the real provider packages send for our tools. Properties proved: every kind of tool we give out is accepted by
// `bindTools`; the schema in the request body is the one of the spec, within what the provider can say; no network.
import { ChatAnthropic } from "@langchain/anthropic";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { tool } from "@langchain/core/tools";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { defineTool, Executor, Registry, type AnyToolSpec } from "agent-adapter";
import { exportTool, importLangChain } from "agent-adapter/langchain";
import { agentAdapterMiddleware } from "agent-adapter/langchain/agents";
import { toolNode } from "agent-adapter/langgraph";

type Json = Readonly<Record<string, unknown>>;

interface Declared {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

/** Read a body, as deep as a path says; numbers are indexes. */
function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)?.[key], value);
}

function listAt(value: unknown, ...path: (string | number)[]): unknown[] {
  const found = at(value, ...path);
  if (!Array.isArray(found)) throw new Error(`no list at ${path.join(".")} of ${JSON.stringify(value)}`);
  return found;
}

interface Provider {
  readonly model: () => BaseChatModel;
  /** The tools in a request body. */
  readonly declared: (body: unknown) => Declared[];
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: {
    model: () => new ChatOpenAI({ model: "gpt-4o", apiKey: "fake", maxRetries: 0 }),
    declared: (body) =>
      listAt(body, "tools").map((each) => ({
        name: String(at(each, "function", "name")),
        description: String(at(each, "function", "description")),
        schema: at(each, "function", "parameters") as Json,
      })),
  },
  anthropic: {
    model: () => new ChatAnthropic({ model: "claude-sonnet-4-5", apiKey: "fake", maxRetries: 0 }),
    declared: (body) =>
      listAt(body, "tools").map((each) => ({
        name: String(at(each, "name")),
        description: String(at(each, "description")),
        schema: at(each, "input_schema") as Json,
      })),
  },
  "google-genai": {
    model: () => new ChatGoogleGenerativeAI({ model: "gemini-2.5-flash", apiKey: "fake", maxRetries: 0 }),
    declared: (body) =>
      listAt(body, "tools", 0, "functionDeclarations").map((each) => ({
        name: String(at(each, "name")),
        description: String(at(each, "description")),
        schema: at(each, "parameters") as Json,
      })),
  },
};

const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

/** The one request that a model makes; the answer is a failure, which nobody retries. */
async function bodyOf(ask: () => Promise<unknown>): Promise<unknown> {
  const bodies: unknown[] = [];
  globalThis.fetch = async (input, init) => {
    const body = init?.body ?? (input instanceof Request ? await input.text() : undefined);
    bodies.push(typeof body === "string" ? JSON.parse(body) : body);
    return new Response('{"error":{"message":"no network in tests","type":"invalid_request_error"}}', { status: 400 });
  };
  const failed = await ask().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (bodies.length !== 1) throw new Error(`${bodies.length} requests; the model failed with ${String(failed)}`);
  return bodies[0];
}

/** The same tool, its input said in three ways. */
const JSON_INPUT = {
  type: "object",
  properties: {
    to: { type: "string", description: "who is paid" },
    amount: { type: "number" },
    kind: { type: "string", enum: ["once", "monthly"], default: "once" },
    note: { type: "string" },
    lines: { type: "array", items: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] } },
  },
  required: ["to", "amount", "lines"],
} as const;
const about = { name: "pay", description: "Pays an invoice.", confirm: true, effects: "destructive" } as const;
const execute = () => "paid";

function imported(langchainTool: unknown): AnyToolSpec {
  const [spec] = importLangChain(new Registry(), [langchainTool as never]);
  if (spec === undefined) throw new Error("nothing was imported");
  return spec;
}

const SPECS: Readonly<Record<string, () => AnyToolSpec>> = {
  "zod 4": () =>
    defineTool({
      ...about,
      inputSchema: z.object({
        to: z.string().describe("who is paid"),
        amount: z.number(),
        kind: z.enum(["once", "monthly"]).default("once"),
        note: z.string().optional(),
        lines: z.array(z.object({ sku: z.string() })),
      }),
      execute,
    }),
  "JSON Schema": () => defineTool({ ...about, inputSchema: JSON_INPUT, execute }),
  "zod 3, imported": () =>
    imported(
      tool(execute, {
        name: "pay",
        description: "Pays an invoice.",
        // LangChain's own types refuse zod 3 under exactOptionalPropertyTypes.
        schema: z3.object({
          to: z3.string().describe("who is paid"),
          amount: z3.number(),
          kind: z3.enum(["once", "monthly"]).default("once"),
          note: z3.string().optional(),
          lines: z3.array(z3.object({ sku: z3.string() })),
        }) as never,
      }),
    ),
  "zod 4, imported": () =>
    imported(
      tool(execute, {
        name: "pay",
        description: "Pays an invoice.",
        schema: z.object({
          to: z.string().describe("who is paid"),
          amount: z.number(),
          kind: z.enum(["once", "monthly"]).default("once"),
          note: z.string().optional(),
          lines: z.array(z.object({ sku: z.string() })),
        }),
      }),
    ),
};

/** Shared and recursive parts. */
function tree(): AnyToolSpec {
  const address = z.object({ city: z.string() });
  const node = z.object({
    label: z.string(),
    get children() {
      return z.array(node);
    },
  });
  const inputSchema = z.object({ home: address, work: address, root: node });
  return defineTool({ ...about, inputSchema, execute });
}

/** References that lead nowhere, or out of `$defs`. */
function dangling(schema: Json): string[] {
  const references = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => ref ?? "");
  const defs = Object.keys((schema["$defs"] ?? {}) as Json);
  return references.filter((ref) => !defs.some((name) => ref === `#/$defs/${name}`));
}

/** The ways a tool of ours reaches a model. */
const WAYS: Readonly<Record<string, (spec: AnyToolSpec) => DynamicStructuredTool[]>> = {
  "toolNode's tools": (spec) => toolNode(new Registry([spec])).tools as DynamicStructuredTool[],
  "an exported tool": (spec) => [exportTool(spec, new Executor(new Registry([spec])))],
};

describe.each(Object.entries(PROVIDERS))("I1/export: %s", (_provider, { model, declared }) => {
  describe.each(Object.entries(WAYS))("I1/export: %s", (_way, toolsOf) => {
    it.each(Object.entries(SPECS))(
      "I1/export, B54, G2: a tool with an input of %s is sent as it is",
      async (_kind, specOf) => {
        const bound = model().bindTools?.(toolsOf(specOf()));
        const body = await bodyOf(() => bound?.invoke("pay ana") ?? Promise.resolve());
        expect(declared(body)).toEqual([
          {
            name: "pay",
            description: "Pays an invoice.",
            schema: expect.objectContaining({
              type: "object",
              required: ["to", "amount", "lines"],
              properties: {
                to: expect.objectContaining({ type: "string", description: "who is paid" }),
                amount: expect.objectContaining({ type: "number" }),
                kind: expect.objectContaining({ type: "string", enum: ["once", "monthly"] }),
                note: expect.objectContaining({ type: "string" }),
                lines: expect.objectContaining({
                  type: "array",
                  items: expect.objectContaining({
                    type: "object",
                    properties: { sku: expect.objectContaining({ type: "string" }) },
                  }),
                }),
              },
            }),
          },
        ]);
      },
    );
  });

  it("I1/export, B54: a recursive input refers to $defs of its own schema only, and to nothing that is missing", async () => {
    const body = await bodyOf(
      () =>
        model()
          .bindTools?.(toolNode(new Registry([tree()])).tools as never[])
          ?.invoke("go") ?? Promise.resolve(),
    );
    const [{ schema }] = declared(body) as [Declared];
    expect(schema).toMatchObject({ type: "object" });
    expect(dangling(schema)).toEqual([]);
  });

  it("I2: the middleware's tools are what createAgent sends", async () => {
    const spec = SPECS["zod 4"]?.();
    if (spec === undefined) throw new Error("no spec");
    const agent = createAgent({
      model: model(),
      middleware: [agentAdapterMiddleware({ registry: new Registry([spec]) })],
    });
    const body = await bodyOf(() => agent.invoke({ messages: [{ role: "user", content: "pay ana" }] }));
    expect(declared(body)).toMatchObject([
      { name: "pay", schema: { type: "object", required: ["to", "amount", "lines"] } },
    ]);
  });
});
