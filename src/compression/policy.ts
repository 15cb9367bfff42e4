// `CompressionPolicy`: when and how much to shorten. Owns the options, their defaults, and the summaries made so far; compress.ts
// applies them.

import { ToolUsageError } from "../errors.js";
import { countOption, refuseNoFunction, refuseNoObject, refuseUnknown } from "../options.js";
import { estimateTokens, type NeutralMessage } from "./message.js";
import type { ToolResultRule } from "./shorten.js";
import { Summaries, type Summarize } from "./summaries.js";

/** How older results are cut. */
export interface ToolResultOptions {
  /** Characters that are left of an older result. Images and files of it are left out. */
  readonly maxChars: number;
  /** So many of the newest results stay whole, and with each of them the other results of its message. Default 1. */
  readonly keepLast?: number;
}

/** At least one of `maxTokens`, `maxMessages` and `toolResults`. */
export interface CompressionOptions {
  /**
   * The most tokens the model is sent, as `countTokens` counts them. Tool definitions are not counted. Default: no limit.
   */
  readonly maxTokens?: number;
  /** The most messages the model is sent; all system messages together are one. Default: no limit. */
  readonly maxMessages?: number;
  /** Tokens of one message. Default: an estimate from its size (a token per 4 bytes, 1200 per image). */
  readonly countTokens?: (message: NeutralMessage) => number;
  /** So many of the newest messages are never dropped, with the messages they belong to. Default 1. */
  readonly keepLast?: number;
  /** `false`: what the system messages say is the first to be dropped. Default `true`: never. */
  readonly keepSystem?: boolean;
  /** Cut older results, whether or not the history is too long. Default: results stay as they are. */
  readonly toolResults?: ToolResultOptions;
  /**
   * Writes the summary that stands for what is dropped. `earlier` is the summary of the messages before these, if there is one.
   * With it, more is dropped at a time (to half of the limit), so that a summary serves several turns; a fifth of
   * `maxTokens` is left to it, and a longer one is cut. An empty text: none. Default: what is dropped is just left out.
   */
  readonly summarize?: Summarize;
}

/** @internal What `compress` reads. */
export interface CompressionSettings {
  readonly maxTokens: number;
  readonly maxMessages: number;
  /** Checked: a finite number from 0. */
  readonly countTokens: (message: NeutralMessage) => number;
  readonly keepLast: number;
  readonly keepSystem: boolean;
  readonly toolResults: ToolResultRule | undefined;
  readonly summaries: Summaries | undefined;
}

/**
 * How a conversation is shortened for the model. What is dropped is dropped from the oldest on, in whole exchanges; never
 * dropped are system messages, the last message of a human, calls without a result, and the newest `keepLast` messages. One
 * policy may serve any number of conversations; it remembers the newest 1000 summaries.
 *
 * @example new CompressionPolicy({ maxTokens: 20_000, toolResults: { maxChars: 2000, keepLast: 4 } })
 */
export class CompressionPolicy {
  /** @internal */
  readonly settings: CompressionSettings;

  /** @throws ToolUsageError naming the option that does not exist or has a value that cannot be meant */
  constructor(options: CompressionOptions) {
    refuseNoObject(OWNER, options);
    const { maxTokens, maxMessages, countTokens, toolResults, summarize, ...more } = options;
    const { keepLast = 1, keepSystem = true, ...rest } = more;
    refuseUnknown(OWNER, rest);
    if (maxTokens === undefined && maxMessages === undefined && toolResults === undefined) {
      throw new ToolUsageError(`${OWNER}: give maxTokens, maxMessages or toolResults, or nothing is ever shortened`);
    }
    if (typeof keepSystem !== "boolean") throw new ToolUsageError(`${OWNER}: keepSystem must be true or false`);
    refuseNoFunction(OWNER, "countTokens", countTokens);
    refuseNoFunction(OWNER, "summarize", summarize);
    this.settings = {
      maxTokens: limitOption("maxTokens", maxTokens),
      maxMessages: limitOption("maxMessages", maxMessages),
      countTokens: checkedCount(countTokens ?? estimateTokens),
      keepLast: fromZero("keepLast", keepLast),
      keepSystem,
      toolResults: resultRule(toolResults),
      summaries: summarize === undefined ? undefined : new Summaries(summarize),
    };
  }
}

const OWNER = "CompressionPolicy";

function limitOption(name: string, value: number | undefined): number {
  return value === undefined ? Number.POSITIVE_INFINITY : countOption(OWNER, name, value);
}

function fromZero(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new ToolUsageError(`${OWNER}: ${name} must be a whole number from 0`);
}

function resultRule(options: ToolResultOptions | undefined): ToolResultRule | undefined {
  if (options === undefined) return undefined;
  refuseNoObject(`${OWNER}, toolResults`, options);
  const { maxChars, keepLast = 1, ...rest } = options;
  refuseUnknown(`${OWNER}: toolResults`, rest);
  return { maxChars: fromZero("toolResults.maxChars", maxChars), keepLast: fromZero("toolResults.keepLast", keepLast) };
}

/** A counter that fails silently (NaN) would keep everything, or nothing. */
function checkedCount(count: (message: NeutralMessage) => number) {
  return (message: NeutralMessage): number => {
    const tokens: unknown = count(message);
    if (typeof tokens === "number" && Number.isFinite(tokens) && tokens >= 0) return tokens;
    throw new ToolUsageError(`${OWNER}: countTokens must give a finite number from 0`);
  };
}
