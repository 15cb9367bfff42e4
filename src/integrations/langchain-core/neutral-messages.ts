// LangChain's messages as neutral ones, and back. A message that was not changed comes back as the object it was.

import {
  AIMessage,
  BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type ContentBlock,
} from "@langchain/core/messages";
import {
  closeOpenCalls,
  compress,
  type CompressionPolicy,
  type MediaPart,
  type NeutralCall,
  type NeutralContent,
  type NeutralMessage,
  type TextPart,
} from "../../index.js";

type Part = TextPart | MediaPart;

/** In order, one for one. A message of a kind of its own (`function`, `developer`) stands as one of the assistant. */
export function toNeutral(messages: readonly BaseMessage[]): NeutralMessage[] {
  return messages.map((message): NeutralMessage => {
    const common = { content: neutralContent(message.content), origin: message };
    if (SystemMessage.isInstance(message)) return { ...common, role: "system" };
    if (HumanMessage.isInstance(message)) return { ...common, role: "human" };
    if (ToolMessage.isInstance(message)) {
      const { tool_call_id: callId, name, status = "success" } = message;
      return { ...common, role: "tool", callId, name, status };
    }
    return { ...common, role: "assistant", calls: AIMessage.isInstance(message) ? callsOf(message) : [] };
  });
}

/** The messages that these stand for: the ones they were made from, or new ones where the content is another. */
export function fromNeutral(messages: readonly NeutralMessage[]): BaseMessage[] {
  return messages.map((message) => {
    const { origin } = message;
    if (BaseMessage.isInstance(origin) && isSame(message.content, origin.content)) return origin;
    return newMessage(message, origin);
  });
}

/** What the model is sent of these: abandoned calls answered, then shortened. */
export async function compressed(messages: readonly BaseMessage[], policy: CompressionPolicy): Promise<BaseMessage[]> {
  const { messages: sent } = await compress(closeOpenCalls(toNeutral(messages)), policy);
  return fromNeutral(sent);
}

function newMessage(message: NeutralMessage, origin: unknown): BaseMessage {
  const content = langchainContent(message.content);
  const id = BaseMessage.isInstance(origin) && origin.id !== undefined ? { id: origin.id } : {};
  switch (message.role) {
    case "system":
      return new SystemMessage({ content, ...id });
    case "human":
      return new HumanMessage({ content, ...id });
    case "tool": {
      const name = message.name === undefined ? {} : { name: message.name };
      return new ToolMessage({ content, tool_call_id: message.callId, status: message.status, ...name, ...id });
    }
    case "assistant": {
      const calls = message.calls.map(({ id: callId, name, args }) => ({
        id: callId,
        name,
        args: { ...Object(args) },
      }));
      return new AIMessage({ content, tool_calls: calls, ...id });
    }
  }
}

/** Calls that could not be parsed are calls, too: tool nodes answer them, and their answers must find them. */
function callsOf({ tool_calls = [], invalid_tool_calls = [] }: AIMessage): NeutralCall[] {
  return [...tool_calls, ...invalid_tool_calls].map(({ id = "", name = "", args }) => ({ id, name, args }));
}

function neutralContent(content: BaseMessage["content"]): NeutralContent {
  return typeof content === "string" ? content : content.map((block) => neutralPart(block));
}

function neutralPart(block: ContentBlock): Part {
  if (typeof block.text === "string") return { kind: "text", text: block.text, source: block };
  return { kind: "media", type: block.type.replace(/_url$/, ""), source: block };
}

function langchainContent(content: NeutralContent): string | ContentBlock[] {
  return typeof content === "string" ? content : content.map(blockOf);
}

function blockOf(part: Part): ContentBlock {
  if (isBlock(part.source) && (part.kind === "media" || part.source.text === part.text)) return part.source;
  return { type: "text", text: part.kind === "text" ? part.text : `[${part.type}]` };
}

function isSame(content: NeutralContent, original: BaseMessage["content"]): boolean {
  if (typeof content === "string" || typeof original === "string") return content === original;
  return content.length === original.length && content.every((part, index) => blockOf(part) === original[index]);
}

function isBlock(value: unknown): value is ContentBlock {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
