// The scripted model as the AI SDK and Mastra take one: the language model specification v4, whole and streamed.

import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { callsOf, isScript, LAST_WORD } from "./script.js";

type Options = Parameters<MockLanguageModelV4["doGenerate"]>[0];
type Streamed = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"];
type StreamPart = Streamed extends ReadableStream<infer Part> ? Part : never;
type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

function generate({ prompt }: Options): Generated {
  const last = prompt.at(-1);
  const text =
    last?.role === "user" ? last.content.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
  const calls = callsOf(text, isScript(text));
  const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  return {
    content:
      calls.length === 0
        ? [{ type: "text", text: LAST_WORD }]
        : calls.map(({ id, tool, args }) => ({
            type: "tool-call",
            toolCallId: id,
            toolName: tool,
            input: JSON.stringify(args),
          })),
    finishReason: { unified: calls.length === 0 ? "stop" : "tool-calls", raw: undefined },
    usage: { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } },
    warnings: [],
  };
}

function streamOf({ content, finishReason, usage }: Generated): StreamPart[] {
  const parts = content.flatMap((part, index): StreamPart[] => {
    const id = String(index);
    if (part.type === "tool-call") return [part];
    if (part.type !== "text") return [];
    return [
      { type: "text-start", id },
      { type: "text-delta", id, delta: part.text },
      { type: "text-end", id },
    ];
  });
  return [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }];
}

export function scriptedLanguageModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async (options) => generate(options),
    doStream: async (options) => ({ stream: simulateReadableStream({ chunks: streamOf(generate(options)) }) }),
  });
}
