// The scripted model as the AI SDK and Mastra take one: the language model specification v4, whole and streamed.

import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { callsOf, isScript, LAST_WORD } from "./script.js";

type Options = Parameters<MockLanguageModelV4["doGenerate"]>[0];
type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

function generate({ prompt }: Options): Generated {
  const last = prompt.at(-1);
  const text = last?.role === "user" ? last.content.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
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

export function scriptedLanguageModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async (options) => generate(options),
    doStream: async (options) => {
      const { content, finishReason, usage } = generate(options);
      const parts = content.flatMap((part, index) =>
        part.type === "text"
          ? [
              { type: "text-start" as const, id: String(index) },
              { type: "text-delta" as const, id: String(index), delta: part.text },
              { type: "text-end" as const, id: String(index) },
            ]
          : part.type === "tool-call"
            ? [part]
            : [],
      );
      const chunks = [{ type: "stream-start" as const, warnings: [] }, ...parts, { type: "finish" as const, finishReason, usage }];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
}
