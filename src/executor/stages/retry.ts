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
      // A signal of its own: a hundred calls must not pile their listeners onto the one of the run.
      const stop = AbortSignal.any(attempt.signal === undefined ? [] : [attempt.signal]);
      await clock.sleep(backoffMs(policy, attempt.attempts, randomFraction()), stop);
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
    if (typeof cost === "function") attempt.cost += costOf(attempt, cost, value);
    return value;
  } finally {
    attempt.durationMs += attempt.parts.clock.now() - startedAt;
  }
}

/** The tool ran: a cost function that fails or gives nonsense must not take its result away. */
function costOf(attempt: Attempt, cost: (args: unknown, result: unknown) => number, result: unknown): number {
  try {
    const amount = cost(attempt.arguments, result);
    if (Number.isFinite(amount) && amount >= 0) return amount;
  } catch {
    // Said below.
  }
  attempt.parts.logger.warn(`the cost function of ${attempt.name} gave no amount; nothing was counted`);
  return 0;
}

function mayRepeat(attempt: Attempt, error: unknown): boolean {
  const { retry: policy, idempotent } = specOf(attempt);
  if (attempt.attempts >= policy.maxAttempts || isControlFlow(error, attempt.signal)) return false;
  // A timed-out body may still be at work: only a harmless repeat is repeated.
  if (isAgentAdapterError(error, "ToolTimeout")) return idempotent && allows(policy.retryOn, error);
  if (!isAgentAdapterError(error, "ToolFailed")) return false;
  return allows(policy.retryOn, error.cause);
}

/** Only a plain `true` repeats: a promise (an async predicate) is not one. */
function allows(retryOn: ((error: unknown) => boolean) | undefined, error: unknown): boolean {
  return retryOn === undefined || retryOn(error) === true;
}
