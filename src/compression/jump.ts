// Where the cut of a conversation with summaries stands. It moves only when it must, and then far, so that one summary serves many
// turns. Found by going through the conversation as it grew: it depends on nothing that was compressed before.

import type { CompressionSettings } from "./policy.js";
import { shortenResults } from "./shorten.js";
import { isWithin, minus, NOTHING, plus, sizeOf, type Limit, type Size } from "./size.js";
import { messagesOf, type Unit } from "./units.js";

/** The share of the room that is left to messages when they are cut. */
const SHARE_AFTER_CUT = 0.5;

interface Sized {
  /** While the results are among the newest. */
  readonly whole: Size;
  /** From then on. */
  readonly short: Size;
  readonly results: number;
}

/** The index of the first unit behind the cut. `whole` is the conversation before anything of it was cut. */
export function jump(whole: readonly Unit[], settings: CompressionSettings, limit: Limit): number {
  const isFixed = ({ kind }: Unit) => kind === "system" && settings.keepSystem;
  const fixed = sizeOf(whole.filter(isFixed).flatMap(messagesOf), settings);
  const room = { maxMessages: limit.maxMessages - fixed.messages, maxTokens: limit.maxTokens - fixed.tokens };
  return new Growth(sizedUnits(whole, settings, isFixed), settings.toolResults?.keepLast).cut(room);
}

function sizedUnits(whole: readonly Unit[], settings: CompressionSettings, isFixed: (unit: Unit) => boolean): Sized[] {
  const rule = settings.toolResults;
  const cut = rule === undefined ? whole : shortenResults(whole, { ...rule, keepLast: 0 });
  return whole.map((unit, at) => {
    if (isFixed(unit)) return { whole: NOTHING, short: NOTHING, results: 0 };
    const size = sizeOf(messagesOf(unit), settings);
    const short = cut[at];
    const isSame = short === undefined || short === unit;
    const results = unit.kind === "exchange" ? unit.results.length : 0;
    return { whole: size, short: isSame ? size : sizeOf(messagesOf(short), settings), results };
  });
}

/** A conversation that grows unit by unit. */
class Growth {
  readonly #units: readonly Sized[];
  readonly #keepLast: number | undefined;
  #start = 0;
  /** Units before it have short results. */
  #firstWhole = 0;
  /** Results from `#firstWhole` on. */
  #newer = 0;
  #size = NOTHING;

  constructor(units: readonly Sized[], keepLast: number | undefined) {
    this.#units = units;
    this.#keepLast = keepLast;
  }

  cut(room: Limit): number {
    const target = {
      maxMessages: room.maxMessages * SHARE_AFTER_CUT,
      maxTokens: room.maxTokens * SHARE_AFTER_CUT,
    };
    this.#units.forEach((unit, at) => {
      this.#size = plus(this.#size, unit.whole);
      this.#newer += unit.results;
      this.#shorten(at);
      if (isWithin(this.#size, room)) return;
      while (this.#start < at && !isWithin(this.#size, target)) this.#drop();
    });
    return this.#start;
  }

  /** What the unit at `at` pushed out of the newest results counts as short. */
  #shorten(at: number): void {
    if (this.#keepLast === undefined) return;
    for (; this.#firstWhole <= at; this.#firstWhole += 1) {
      const unit = this.#units[this.#firstWhole];
      if (unit === undefined || this.#newer - unit.results < this.#keepLast) return;
      this.#newer -= unit.results;
      if (this.#firstWhole >= this.#start) this.#size = plus(minus(this.#size, unit.whole), unit.short);
    }
  }

  #drop(): void {
    const unit = this.#units[this.#start];
    if (unit !== undefined) this.#size = minus(this.#size, this.#start < this.#firstWhole ? unit.short : unit.whole);
    this.#start += 1;
  }
}
