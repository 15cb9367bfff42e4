// The options that say how a call is executed: timeout, retries, cache, once per run, parallel, cost. Settled here; what they
// do is the executor's part. None of them belongs to the definition digest: they change nothing a reviewer relies on.

import { flag, readOnce, refused, type GivenOptions } from "./options.js";
import type { AnyToolSpec, CacheRule, RetryPolicy } from "./spec.js";

export type ExecutionOptions = Pick<
  AnyToolSpec,
  "timeoutMs" | "retry" | "cache" | "oncePerRun" | "parallelSafe" | "cost"
>;

/** The longest wait a timer of the platform can do; beyond it fires at once (B37). */
const MAX_TIMER_MS = 2 ** 31 - 1;
const MAX_RETRIES = 100;
const RETRY_OPTIONS = ["maxAttempts", "initialDelayMs", "factor", "maxDelayMs", "jitter", "retryOn"];
const CACHE_OPTIONS = ["ttlMs", "scope"];

/** Throws `ToolUsageError` naming the tool and the option. */
export function executionOptions(
  tool: string,
  given: GivenOptions,
  { effects, confirm }: Pick<AnyToolSpec, "effects" | "confirm">,
): ExecutionOptions {
  const timeoutMs = given.get("timeoutMs");
  const cache = given.get("cache");
  return {
    timeoutMs:
      timeoutMs === undefined ? undefined : within(tool, "timeoutMs", timeoutMs, { least: 1, most: MAX_TIMER_MS }),
    retry: retryPolicy(tool, given.get("retries") ?? 0),
    cache: cache === undefined ? undefined : cacheRule(tool, cache, { effects, confirm }),
    oncePerRun: flag(tool, "oncePerRun", given.get("oncePerRun") ?? false),
    parallelSafe: flag(tool, "parallelSafe", given.get("parallelSafe") ?? effects === "read"),
    cost: costOption(tool, given.get("cost") ?? 0),
  };
}

function retryPolicy(tool: string, retries: unknown): RetryPolicy {
  const given =
    typeof retries === "number"
      ? new Map([["maxAttempts", within(tool, "retries", retries, { least: 0, most: MAX_RETRIES, whole: true }) + 1]])
      : parts(tool, "retries", retries, RETRY_OPTIONS);
  const delay = { least: 0, most: MAX_TIMER_MS };
  const attempts = { least: 1, most: MAX_RETRIES + 1, whole: true };
  return Object.freeze({
    maxAttempts: within(tool, "retries.maxAttempts", given.get("maxAttempts"), attempts),
    initialDelayMs: within(tool, "retries.initialDelayMs", given.get("initialDelayMs") ?? 200, delay),
    factor: within(tool, "retries.factor", given.get("factor") ?? 2, { least: 1, most: Number.MAX_VALUE }),
    maxDelayMs: within(tool, "retries.maxDelayMs", given.get("maxDelayMs") ?? 10_000, delay),
    jitter: flag(tool, "retries.jitter", given.get("jitter") ?? true),
    retryOn: retryOnOption(tool, given.get("retryOn")),
  });
}

function cacheRule(
  tool: string,
  cache: unknown,
  { effects, confirm }: Pick<AnyToolSpec, "effects" | "confirm">,
): CacheRule {
  const given = parts(tool, "cache", cache, CACHE_OPTIONS);
  const ttlMs = within(tool, "cache.ttlMs", given.get("ttlMs"), { least: 1, most: Number.MAX_SAFE_INTEGER });
  const scope = given.get("scope");
  if (scope !== "run" && scope !== "principal" && scope !== "shared") {
    throw refused(tool, "cache.scope", 'it must be "run", "principal" or "shared"');
  }
  if (effects !== "read") throw refused(tool, "cache", 'only a tool with effects: "read" may be cached');
  if (confirm !== false) throw refused(tool, "cache", "a tool with confirm may not be cached: it would run unasked");
  return Object.freeze({ ttlMs, scope });
}

/** The members of an option that is an object; a member nobody knows is refused. */
function parts(tool: string, option: string, value: unknown, known: readonly string[]): GivenOptions {
  const shape = `{ ${known.join(", ")} }`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refused(tool, option, option === "retries" ? `it must be a number or ${shape}` : `it must be ${shape}`);
  }
  const given = readOnce(value, known);
  for (const part of given.keys()) {
    if (!known.includes(part)) throw refused(tool, `${option}.${part}`, `there is no such option; known: ${shape}`);
  }
  return given;
}

interface Range {
  readonly least: number;
  readonly most: number;
  readonly whole?: boolean;
}

function within(tool: string, option: string, value: unknown, { least, most, whole = false }: Range): number {
  // NaN is in no range, and infinity in none of these.
  const fits = typeof value === "number" && value >= least && value <= most && (!whole || Number.isInteger(value));
  if (fits) return value;
  const upTo = most === Number.MAX_VALUE ? "" : ` and at most ${most}`;
  throw refused(tool, option, `it must be a ${whole ? "whole" : "finite"} number, at least ${least}${upTo}`);
}

function retryOnOption(tool: string, value: unknown): RetryPolicy["retryOn"] {
  if (value === undefined || isRetryOn(value)) return value;
  throw refused(tool, "retries.retryOn", "it must be a function");
}

function costOption(tool: string, value: unknown): AnyToolSpec["cost"] {
  if (isCostFunction(value)) return value;
  return within(tool, "cost", value, { least: 0, most: Number.MAX_VALUE });
}

// `defineTool`'s types vouch for the parameters; what such a function really returns is checked by whoever calls it.
function isRetryOn(value: unknown): value is Exclude<RetryPolicy["retryOn"], undefined> {
  return typeof value === "function";
}

function isCostFunction(value: unknown): value is Exclude<AnyToolSpec["cost"], number> {
  return typeof value === "function";
}
