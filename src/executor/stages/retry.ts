// Attempts of one call, under one approval: only failures that may be repeated, never after an abort. Counts attempts, time
// and cost, each attempt for itself, so that a body that ends late adds nothing.

import { backoffMs } from "../../async/backoff.js";
import { randomFraction } from "../../crypto/random.js";
import { isAgentAdapterError } from "../../errors.js";
import { specOf, type Attempt } from "../attempt.js";
import { isControlFlow } from "../control-flow.js";

export async function retry(attempt: Attempt, next: () => Promise<unknown>): Promise<unknown> {
  const { clock } = attempt.parts;
  const { retry: policy } = specOf(attempt);
  for (;;) {
    try {
      return await measured(attempt, next);
    } catch (error) {
      if (!mayRepeat(attempt, error)) throw error;
      await clock.sleep(
        backoffMs(policy, attempt.attempts, randomFraction()),
        attempt.signal ?? new AbortController().signal,
      );
    }
  }
}

async function measured(attempt: Attempt, next: () => Promise<unknown>): Promise<unknown> {
  const { cost } = specOf(attempt);
  attempt.signal?.throwIfAborted();
  attempt.attempts += 1;
  if (typeof cost === "number") attempt.cost += cost;
  const startedAt = attempt.parts.clock.now();
  try {
    const value = await next();
    if (typeof cost === "function") attempt.cost += cost(attempt.arguments, value);
    return value;
  } finally {
    attempt.durationMs += attempt.parts.clock.now() - startedAt;
  }
}

function mayRepeat(attempt: Attempt, error: unknown): boolean {
  const { retry: policy, idempotent } = specOf(attempt);
  if (attempt.attempts >= policy.maxAttempts || isControlFlow(error, attempt.signal)) return false;
  // A timed-out body may still be at work: only a harmless repeat is repeated.
  if (isAgentAdapterError(error, "ToolTimeout")) return idempotent && (policy.retryOn?.(error) ?? true);
  if (!isAgentAdapterError(error, "ToolFailed")) return false;
  return policy.retryOn?.(error.cause) ?? true;
}
