// Results of tools that only read. Values travel as JSON text, so that no two callers share an object; failures are never
// kept; identical calls in flight run once.

import { untilAborted } from "../../async/deadline.js";
import { exactJson, NotJson, type JsonValue } from "../../crypto/canonical-json.js";
import { cacheKey } from "../../cache/key.js";
import { specOf, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";

export function cached(attempt: Attempt, next: Next): Promise<unknown> {
  const key = keyOf(attempt);
  return key === undefined ? next(attempt) : lookUpOrRun(attempt, key, next);
}

async function lookUpOrRun(attempt: Attempt, key: string, next: Next): Promise<unknown> {
  const { inFlight } = attempt.parts;
  for (;;) {
    const found = await lookUp(attempt, key);
    if (found !== undefined) return found.value;
    const leader = inFlight.get(key);
    if (leader === undefined) return lead(attempt, key, next);
    // Whether it filled the cache or failed, the next look-up tells; after a failure one of those who waited leads.
    await leader;
  }
}

async function lead(attempt: Attempt, key: string, next: Next): Promise<unknown> {
  const { inFlight } = attempt.parts;
  const running = next(attempt);
  const filled = running.then((value) => fill(attempt, key, value)).catch(() => undefined);
  // Once it is aborted nobody waits for it: its body may not listen.
  const over = untilAborted(attempt.signal, filled)
    .catch(() => undefined)
    .finally(() => inFlight.get(key) === over && inFlight.delete(key));
  inFlight.set(key, over);
  try {
    return await running;
  } finally {
    await over;
  }
}

/** `undefined`: this call is not cached. */
function keyOf(attempt: Attempt): string | undefined {
  const spec = specOf(attempt);
  const scope = spec.cache === undefined ? undefined : scopeOf(attempt, spec.cache.scope);
  if (scope === undefined) return undefined;
  return cacheKey({ definitionDigest: spec.definitionDigest, arguments: attempt.arguments, scope });
}

function scopeOf({ context }: Attempt, scope: "run" | "principal" | "shared"): JsonValue[] | undefined {
  switch (scope) {
    case "run":
      return ["run", context.threadId ?? null, context.runId];
    case "principal":
      return context.principal === undefined ? undefined : ["principal", context.principal];
    case "shared":
      return ["shared"];
  }
}

/** A cache that cannot be read is an empty one: running a read again is harmless. */
async function lookUp(attempt: Attempt, key: string): Promise<{ readonly value: unknown } | undefined> {
  try {
    const text = await attempt.parts.cache.get(key);
    if (text === undefined) return undefined;
    const value: unknown = JSON.parse(text);
    attempt.fromCache = true;
    return { value };
  } catch {
    attempt.parts.logger.warn("the result cache cannot be read");
    return undefined;
  }
}

async function fill(attempt: Attempt, key: string, value: unknown): Promise<void> {
  const { cache, clock, logger } = attempt.parts;
  const rule = specOf(attempt).cache;
  if (rule === undefined || attempt.signal?.aborted === true) return;
  try {
    await cache.set(key, exactJson(value), clock.now() + rule.ttlMs);
  } catch (error) {
    if (!(error instanceof NotJson)) logger.warn("the result cache cannot be written");
  }
}
