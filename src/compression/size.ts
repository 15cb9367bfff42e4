// How much of a limit messages take.

import type { NeutralMessage } from "./message.js";

export interface Size {
  readonly messages: number;
  readonly tokens: number;
}

export interface Limit {
  readonly maxMessages: number;
  readonly maxTokens: number;
}

interface Counting extends Limit {
  readonly countTokens: (message: NeutralMessage) => number;
}

export const NOTHING: Size = { messages: 0, tokens: 0 };

/** Nobody's counter is called when there is no limit to compare with. */
export function sizeOf(messages: readonly NeutralMessage[], { maxTokens, countTokens }: Counting): Size {
  const counts = maxTokens < Number.POSITIVE_INFINITY;
  const tokens = counts ? messages.reduce((sum, message) => sum + countTokens(message), 0) : 0;
  return { messages: messages.length, tokens };
}

export function plus(a: Size, b: Size): Size {
  return { messages: a.messages + b.messages, tokens: a.tokens + b.tokens };
}

export function minus(a: Size, b: Size): Size {
  return { messages: a.messages - b.messages, tokens: a.tokens - b.tokens };
}

export function isWithin({ messages, tokens }: Size, { maxMessages, maxTokens }: Limit): boolean {
  return messages <= maxMessages && tokens <= maxTokens;
}
