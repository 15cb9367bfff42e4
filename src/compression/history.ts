// Where a conversation is cut. Knows sizes and what must stay; makes no messages.

import { jump } from "./jump.js";
import type { CompressionSettings } from "./policy.js";
import { isWithin, minus, NOTHING, plus, sizeOf, type Limit, type Size } from "./size.js";
import { messagesOf, type Unit } from "./units.js";

/** With a summary: the share of the tokens that the messages beside it may grow to. The rest is the summary's. */
const SHARE_BESIDE_SUMMARY = 0.8;

interface Parts {
  /** As they came. */
  readonly whole: readonly Unit[];
  /** The same, with older results cut. */
  readonly units: readonly Unit[];
  readonly settings: CompressionSettings;
}

/** The units of one conversation with their sizes. */
export class History {
  readonly #parts: Parts;
  readonly #sizes: readonly Size[];
  readonly #lastHuman: number;
  /** Units from here on hold the newest `keepLast` messages. */
  readonly #newest: number;

  constructor(parts: Parts) {
    const { units, settings } = parts;
    this.#parts = parts;
    this.#sizes = units.map((unit) => sizeOf(messagesOf(unit), settings));
    this.#lastHuman = units.findLastIndex(({ kind }) => kind === "human");
    this.#newest = newestFrom(units, settings.keepLast);
  }

  mustKeep(at: number): boolean {
    const { units, settings } = this.#parts;
    const unit = units[at];
    if (unit?.kind === "system") return settings.keepSystem;
    return at === this.#lastHuman || at >= this.#newest || (unit?.kind === "exchange" && unit.open.length > 0);
  }

  /** What is sent when everything before `start` is dropped that may be. */
  sizeFrom(start: number): Size {
    return this.#sizes.filter((_, at) => at >= start || this.mustKeep(at)).reduce(plus, NOTHING);
  }

  /** The index of the first unit that is kept though it need not be. */
  cut(): number {
    const { whole, settings } = this.#parts;
    if (isWithin(this.sizeFrom(0), settings)) return 0;
    const summarizes = settings.summaries !== undefined;
    const limit = summarizes ? besideSummary(settings) : settings;
    let start = summarizes ? jump(whole, settings, limit) : 0;
    let size = this.sizeFrom(start);
    for (; start < this.#sizes.length && !isWithin(size, limit); start += 1) {
      if (!this.mustKeep(start)) size = minus(size, this.#sizes[start] ?? NOTHING);
    }
    return this.#toHuman(start);
  }

  /** Providers want a human first: answers whose question is dropped go with it. What must stay stays. */
  #toHuman(from: number): number {
    const { units } = this.#parts;
    let start = from;
    while (start < this.#lastHuman && units[start]?.kind !== "human") start += 1;
    return start;
  }
}

function besideSummary({ maxMessages, maxTokens }: Limit): Limit {
  return { maxMessages: maxMessages - 1, maxTokens: maxTokens * SHARE_BESIDE_SUMMARY };
}

function newestFrom(units: readonly Unit[], keepLast: number): number {
  let at = units.length;
  let held = 0;
  while (at > 0 && held < keepLast) {
    at -= 1;
    const unit = units[at];
    if (unit !== undefined) held += messagesOf(unit).length;
  }
  return at;
}
