// The summaries made so far: one per beginning of a conversation. A beginning that was summarized is never summarized again, and
// a longer one starts from the summary of its longest known part.

import { digest } from "../crypto/digest.js";
import { jsonText, type NeutralMessage } from "./message.js";

/** A summary of these messages; `earlier` summarizes what came before them. */
export type Summarize = (messages: readonly NeutralMessage[], earlier: string | undefined) => string | Promise<string>;

const MAX_SUMMARIES = 1000;
// What is digested is text that was in memory before: no limit of its own.
const NO_LIMITS = { maxDepth: 2, maxBytes: Number.MAX_SAFE_INTEGER };

export class Summaries {
  readonly #summarize: Summarize;
  /** By the digest of everything summarized; the least recently used first. */
  readonly #known = new Map<string, Promise<string>>();

  constructor(summarize: Summarize) {
    this.#summarize = summarize;
  }

  /** @throws what the function throws; nothing is remembered of it */
  of(messages: readonly NeutralMessage[]): Promise<string> {
    const keys = keysOf(messages);
    const known = keys.findLastIndex((key) => this.#known.has(key));
    const key = keys.at(-1) ?? "";
    const earlier = this.#known.get(keys[known] ?? "");
    const summary =
      known === keys.length - 1 && earlier !== undefined ? earlier : this.#make(messages.slice(known + 1), earlier);
    // Again at the end: the newest.
    this.#known.delete(key);
    this.#known.set(key, summary);
    summary.catch(() => this.#known.delete(key));
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_SUMMARIES) break;
      this.#known.delete(oldest);
    }
    return summary;
  }

  async #make(messages: readonly NeutralMessage[], earlier: Promise<string> | undefined): Promise<string> {
    const text: unknown = await this.#summarize(messages, await earlier);
    return typeof text === "string" ? text : "";
  }
}

/** A key for each beginning: each is over the one before it and one more message. */
function keysOf(messages: readonly NeutralMessage[]): string[] {
  let key = "";
  return messages.map((message) => {
    key = digest("agent-adapter/history/v1", [key, fingerprint(message)], NO_LIMITS);
    return key;
  });
}

/** Everything of a message that a summary could be about. */
function fingerprint(message: NeutralMessage): string {
  const { origin: _, ...seen } = message;
  return jsonText(seen);
}
