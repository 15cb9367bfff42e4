// The options that say how a call is executed: timeout, retries, cache, once per run, parallel, cost. Settled here; what they
// do is the executor's part. None of them belongs to the definition digest: they change nothing a reviewer relies on.

import { flag, readOnce, refused } from "./options.js";
import type { AnyToolSpec, CacheRule, RetryPolicy } from "./spec.js";

export type ExecutionOptions = Pick<
  AnyToolSpec,
  "timeoutMs" | "retry" | "cache" | "oncePerRun" | "parallelSafe" | "cost"
>;

type Parts = Readonly<Record<string, unknown>>;

/** The longest wait a timer of the platform can do; beyond it fires at once (B37). */
const MAX_TIMER_MS = 2 ** 31 - 1;
const MAX_RETRIES = 100;
const RETRY_OPTIONS = ["maxAttempts", "initialDelayMs", "factor", "maxDelayMs", "jitter", "retryOn"];
const CACHE_OPTIONS = ["ttlMs", "scope"];

/** Throws `ToolUsageError` naming the tool and the option. */
export function executionOptions(
  tool: string,
  given: Parts,
  { effects, confirm }: Pick<AnyToolSpec, "effects" | "confirm">,
): ExecutionOptions {
  const isRead = effects === "read";
  // Only what is undefined has its default; null is a mistake that is refused below.
  const { timeoutMs, retries = 0, cache, oncePerRun = false, parallelSafe = isRead, cost = 0 } = given;
  return {
    timeoutMs:
      timeoutMs === undefined ? undefined : within(tool, "timeoutMs", timeoutMs, { least: 1, most: MAX_TIMER_MS }),
    retry: retryPolicy(tool, retries),
    cache: cache === undefined ? undefined : cacheRule(tool, cache, { effects, confirm }),
    oncePerRun: flag(tool, "oncePerRun", oncePerRun),
    parallelSafe: flag(tool, "parallelSafe", parallelSafe),
    cost: costOption(tool, cost),
  };
}

function retryPolicy(tool: string, retries: unknown): RetryPolicy {
  const given =
    typeof retries === "number"
      ? { maxAttempts: within(tool, "retries", retries, { least: 0, most: MAX_RETRIES, whole: true }) + 1 }
      : parts(tool, "retries", retries, RETRY_OPTIONS);
  const { maxAttempts, initialDelayMs = 200, factor = 2, maxDelayMs = 10_000, jitter = true, retryOn }: Parts = given;
  const delay = { least: 0, most: MAX_TIMER_MS };
  return Object.freeze({
    maxAttempts: within(tool, "retries.maxAttempts", maxAttempts, { least: 1, most: MAX_RETRIES + 1, whole: true }),
    initialDelayMs: within(tool, "retries.initialDelayMs", initialDelayMs, delay),
    factor: within(tool, "retries.factor", factor, { least: 1 }),
    maxDelayMs: within(tool, "retries.maxDelayMs", maxDelayMs, delay),
    jitter: flag(tool, "retries.jitter", jitter),
    retryOn: retryOnOption(tool, retryOn),
  });
}

function cacheRule(
  tool: string,
  cache: unknown,
  { effects, confirm }: Pick<AnyToolSpec, "effects" | "confirm">,
): CacheRule {
  const { ttlMs: given, scope } = parts(tool, "cache", cache, CACHE_OPTIONS);
  const ttlMs = within(tool, "cache.ttlMs", given, { least: 1, most: Number.MAX_SAFE_INTEGER });
  if (scope !== "run" && scope !== "principal" && scope !== "shared") {
    throw refused(tool, "cache.scope", 'it must be "run", "principal" or "shared"');
  }
  if (effects !== "read") throw refused(tool, "cache", 'only a tool with effects: "read" may be cached');
  if (confirm !== false) throw refused(tool, "cache", "a tool with confirm may not be cached: it would run unasked");
  return Object.freeze({ ttlMs, scope });
}

/** The members of an option that is an object; a member nobody knows is refused. */
function parts(tool: string, option: string, value: unknown, known: readonly string[]): Parts {
  const shape = `{ ${known.join(", ")} }`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refused(tool, option, option === "retries" ? `it must be a number or ${shape}` : `it must be ${shape}`);
  }
  const given = readOnce(value, known);
  for (const part of given.keys()) {
    if (!known.includes(part)) throw refused(tool, `${option}.${part}`, `there is no such option; known: ${shape}`);
  }
  return Object.fromEntries(given);
}

interface Range {
  readonly least: number;
  /** Default: any finite number. */
  readonly most?: number;
  readonly whole?: boolean;
}

function within(tool: string, option: string, value: unknown, range: Range): number {
  const { least, most = Number.MAX_VALUE, whole = false } = range;
  // NaN is in no range, and infinity is beyond all of them.
  const fits = typeof value === "number" && value >= least && value <= most && (!whole || Number.isInteger(value));
  if (fits) return value;
  const upTo = range.most === undefined ? "" : `, at most ${most}`;
  throw refused(tool, option, `it must be a ${whole ? "whole" : "finite"} number, at least ${least}${upTo}`);
}

function retryOnOption(tool: string, value: unknown): RetryPolicy["retryOn"] {
  if (value === undefined || isRetryOn(value)) return value;
  throw refused(tool, "retries.retryOn", "it must be a function");
}

function costOption(tool: string, value: unknown): AnyToolSpec["cost"] {
  if (isCostFunction(value)) return value;
  return within(tool, "cost", value, { least: 0 });
}

// `defineTool`'s types vouch for the parameters; what such a function really returns is checked by whoever calls it.
function isRetryOn(value: unknown): value is Exclude<RetryPolicy["retryOn"], undefined> {
  return typeof value === "function";
}

function isCostFunction(value: unknown): value is Exclude<AnyToolSpec["cost"], number> {
  return typeof value === "function";
}
