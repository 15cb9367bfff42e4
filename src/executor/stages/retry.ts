// Attempts of one call, under one approval: only failures that may be repeated, never after an abort. Counts attempts, time
// and cost, each attempt for itself, so that a body that ends late adds nothing.

import { backoffMs } from "../../async/backoff.js";
import { randomFraction } from "../../crypto/random.js";
import { isAgentAdapterError } from "../../errors.js";
import { specOf, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";
import { isControlFlow } from "../control-flow.js";

export async function retry(attempt: Attempt, next: Next): Promise<unknown> {
  const { clock } = attempt.parts;
  const { cost } = specOf(attempt);
  for (;;) {
    attempt.signal?.throwIfAborted();
    attempt.attempts += 1;
    if (typeof cost === "number") attempt.cost += cost;
    const startedAt = clock.now();
    try {
      const value = await next(attempt);
      if (typeof cost === "function") attempt.cost += costOf(attempt, cost, value);
      return value;
    } catch (error) {
      if (!mayRepeat(attempt, error)) throw error;
    } finally {
      attempt.durationMs += clock.now() - startedAt;
    }
    await backOff(attempt);
  }
}

function backOff(attempt: Attempt): Promise<void> {
  const { parts, attempts, signal } = attempt;
  // A signal of its own: a hundred calls must not pile their listeners onto the one of the run.
  const stop = AbortSignal.any(signal === undefined ? [] : [signal]);
  return parts.clock.sleep(backoffMs(specOf(attempt).retry, attempts, randomFraction()), stop);
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
