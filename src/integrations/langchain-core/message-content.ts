// What the model reads of a result: strings as they are, content blocks as they are, anything else as JSON; well-formed and
// within a size. Owns truncation.

import type { ContentBlock } from "@langchain/core/messages";
import { ToolUsageError } from "../../index.js";
import { cutText } from "../../spi.js";

/** The block types of LangChain's messages; an array of anything else is data. */
const BLOCK_TYPES: ReadonlySet<string> = new Set([
  "text",
  "text-plain",
  "image",
  "image_url",
  "audio",
  "video",
  "file",
  "input_audio",
]);
// Half a surrogate pair: providers and databases refuse it.
const LONE_SURROGATE = /\p{Surrogate}/gu;

export type MessageContent = string | ContentBlock[];

/** @throws ToolUsageError when the result cannot be written as JSON */
export function messageContent(value: unknown, maxChars: number): MessageContent {
  if (typeof value === "string") return cutText(value.replace(LONE_SURROGATE, "\uFFFD"), maxChars);
  if (isBlocks(value)) return shortenedBlocks(value, maxChars);
  return cutText(jsonText(value), maxChars);
}

/** The content with a line before it. */
export function withFirstLine(line: string, content: MessageContent): MessageContent {
  return typeof content === "string" ? `${line}\n${content}` : [{ type: "text", text: line }, ...content];
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (cause) {
    throw new ToolUsageError("a result cannot be written as JSON for the model", { cause });
  }
}

function isBlocks(value: unknown): value is ContentBlock[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => isBlock(item));
}

function isBlock(item: unknown): boolean {
  return (
    typeof item === "object" &&
    item !== null &&
    "type" in item &&
    typeof item.type === "string" &&
    BLOCK_TYPES.has(item.type)
  );
}

/** Text blocks share the size; other blocks cannot be cut and stay. */
function shortenedBlocks(blocks: readonly ContentBlock[], maxChars: number): ContentBlock[] {
  let left = maxChars;
  return blocks.map((block) => {
    if (!("text" in block) || typeof block.text !== "string") return block;
    const text = cutText(block.text.replace(LONE_SURROGATE, "\uFFFD"), Math.max(0, left));
    left -= block.text.length;
    return { ...block, text };
  });
}
