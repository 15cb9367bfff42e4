// A conversation without a framework: what compression needs to know of a message, and no more. Owns the shapes and the
// estimate of their size; adapters convert their messages into these and back.

/** Text that adapters may keep the original block of (cache marks, ids). */
export interface TextPart {
  /** Tells the parts apart. */
  readonly kind: "text";
  /** The text. */
  readonly text: string;
  /** The adapter's own block; used again while the text is unchanged. */
  readonly source?: unknown;
}

/** An image, a file, anything that is not text. It is kept or left out as a whole. */
export interface MediaPart {
  /** Tells the parts apart. */
  readonly kind: "media";
  /** What it is called when it is left out: `image`, `file`. */
  readonly type: string;
  /** The adapter's own block. */
  readonly source: unknown;
}

/** What a message says: a text, or parts. */
export type NeutralContent = string | readonly (TextPart | MediaPart)[];

/** A call that the model asked for. */
export interface NeutralCall {
  /** By which its result names it. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** Its arguments, as the model wrote them. */
  readonly args: unknown;
}

interface Common {
  readonly content: NeutralContent;
  /** The adapter's own message; carried along, never looked at. */
  readonly origin?: unknown;
}

/** Instructions to the model. */
export interface NeutralSystemMessage extends Common {
  /** Tells the messages apart. */
  readonly role: "system";
}

/** What a human said. */
export interface NeutralHumanMessage extends Common {
  /** Tells the messages apart. */
  readonly role: "human";
}

/** What the model said, and the calls it asked for. */
export interface NeutralAssistantMessage extends Common {
  /** Tells the messages apart. */
  readonly role: "assistant";
  /** The calls it asks for, in order; often none. */
  readonly calls: readonly NeutralCall[];
}

/** What came of one call. */
export interface NeutralResultMessage extends Common {
  /** Tells the messages apart. */
  readonly role: "tool";
  /** The call it answers. */
  readonly callId: string;
  /** The tool's name, when the framework gives it. */
  readonly name?: string | undefined;
  /** Did the call succeed? */
  readonly status: "success" | "error";
}

/** One message of a conversation, whichever framework it came from. */
export type NeutralMessage =
  | NeutralSystemMessage
  | NeutralHumanMessage
  | NeutralAssistantMessage
  | NeutralResultMessage;

/** Per message, for role and separators. */
const MESSAGE_TOKENS = 4;
/** Per image or file; between what the large providers count for one. */
const MEDIA_TOKENS = 1200;
const BYTES_PER_TOKEN = 4;
const encoder = new TextEncoder();

/**
 * An estimate without a tokenizer: 4 tokens a message, a token per 4 bytes of UTF-8 (so that scripts with long characters are
 * not taken for short), 1200 for each image or file. Give `countTokens` where the limit must be exact.
 *
 * @example const tokens = history.reduce((sum, message) => sum + estimateTokens(message), 0);
 */
export function estimateTokens(message: NeutralMessage): number {
  const { content } = message;
  const parts = typeof content === "string" ? [{ kind: "text" as const, text: content }] : content;
  const calls = message.role === "assistant" ? message.calls : [];
  const written = [
    ...parts.flatMap((part) => (part.kind === "text" ? part.text : [])),
    ...calls.flatMap(({ id, name, args }) => [id, name, jsonText(args)]),
    message.role === "tool" ? message.callId : "",
  ];
  const bytes = written.reduce((sum, text) => sum + encoder.encode(text).length, 0);
  const media = parts.filter((part) => part.kind === "media").length;
  return MESSAGE_TOKENS + Math.ceil(bytes / BYTES_PER_TOKEN) + media * MEDIA_TOKENS;
}

/** A value as text, also one that JSON cannot carry: it is measured and compared, never parsed again. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(not JSON)";
  }
}
