// Where a conversation is cut. Knows sizes and what must stay; makes no messages.

import type { CompressionSettings } from "./policy.js";
import { shortenResults } from "./shorten.js";
import { isWithin, minus, NOTHING, plus, sizeOf, type Limit, type Size } from "./size.js";
import { messagesOf, type Unit } from "./units.js";

/** With a summary: the share of the limit that is left to the messages behind it when they are cut... */
const SHARE_AFTER_CUT = 0.5;
/** ... and that they may grow to before they are cut again. The rest is the summary's. */
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
    const { settings } = this.#parts;
    if (isWithin(this.sizeFrom(0), settings)) return 0;
    const summarizes = settings.summaries !== undefined;
    const limit = summarizes ? besideSummary(settings) : settings;
    let start = summarizes ? this.#jump(limit) : 0;
    let size = this.sizeFrom(start);
    for (; start < this.#sizes.length && !isWithin(size, limit); start += 1) {
      if (!this.mustKeep(start)) size = minus(size, this.#sizes[start] ?? NOTHING);
    }
    return this.#toHuman(start);
  }

  /**
   * Where the cut stands when it moves only if it must, and then far: found by going through the conversation as it grew, so
   * that it does not depend on what was compressed before, and a summary serves many turns. Results count as short ones from
   * the start, or a cut would move back when they become short.
   */
  #jump(limit: Limit): number {
    const { whole, settings } = this.#parts;
    const { toolResults: rule, keepSystem } = settings;
    const units = rule === undefined ? whole : shortenResults(whole, { ...rule, keepLast: 0 });
    const isFixed = ({ kind }: Unit) => kind === "system" && keepSystem;
    const fixed = sizeOf(units.filter(isFixed).flatMap(messagesOf), settings);
    const sizes = units.map((unit) => (isFixed(unit) ? NOTHING : sizeOf(messagesOf(unit), settings)));
    const room = { maxMessages: limit.maxMessages - fixed.messages, maxTokens: limit.maxTokens - fixed.tokens };
    const target = {
      maxMessages: room.maxMessages * SHARE_AFTER_CUT,
      maxTokens: room.maxTokens * SHARE_AFTER_CUT,
    };
    let start = 0;
    let size = NOTHING;
    sizes.forEach((added, at) => {
      size = plus(size, added);
      if (isWithin(size, room)) return;
      for (; start < at && !isWithin(size, target); start += 1) size = minus(size, sizes[start] ?? NOTHING);
    });
    return start;
  }

  /** Providers want a human first: answers whose question is dropped go with it. */
  #toHuman(from: number): number {
    const { units } = this.#parts;
    let start = from;
    while (start > 0 && start < this.#lastHuman && units[start]?.kind !== "human" && !this.mustKeep(start)) start += 1;
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
    if (unit !== undefined && unit.kind !== "system") held += messagesOf(unit).length;
  }
  return at;
}
