// Before-hooks run in order before anything is asked; after- and error-hooks unwind in reverse. What a hook holds for the
// call (a reservation) is let go at the very end, however the call ended.

import { openHooks, unwindAfter, unwindError } from "../../hooks/dispatch.js";
import { sameJson } from "../../crypto/canonical-json.js";
import { isAgentAdapterError, ToolUsageError } from "../../errors.js";
import { about, specOf, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";
import { isControlFlow } from "../control-flow.js";
import { hookCall } from "../hook-call.js";

export function beforeHooks(attempt: Attempt): Promise<void> | void {
  if (attempt.parts.hooks.length > 0) return callHooks(attempt);
}

function callHooks(attempt: Attempt): Promise<void> {
  return openHooks(attempt.parts.hooks, hookCall(attempt), {
    mayReplace: attempt.asked === undefined,
    replace: (replacement) => replace(attempt, replacement),
    opened(hook, answer) {
      attempt.opened = [...attempt.opened, hook];
      if (answer?.finally !== undefined) attempt.held = [...attempt.held, answer.finally];
    },
  });
}

export function unwindHooks(attempt: Attempt, next: Next): Promise<unknown> {
  return attempt.opened.length === 0 ? next(attempt) : runInside(attempt, next);
}

async function runInside(attempt: Attempt, next: Next): Promise<unknown> {
  let value: unknown;
  try {
    value = await next(attempt);
  } catch (error) {
    if (!isLost(attempt, error)) await tellError(attempt, error);
    throw error;
  }
  await unwindAfter(attempt.opened, hookCall(attempt), value);
  return value;
}

export function releaseHeld(attempt: Attempt, next: Next): Promise<unknown> {
  return attempt.held.length === 0 ? next(attempt) : runHolding(attempt, next);
}

async function runHolding(attempt: Attempt, next: Next): Promise<unknown> {
  try {
    return await next(attempt);
  } finally {
    for (const release of attempt.held.toReversed()) letGo(attempt, release);
  }
}

/** The call is over: one that fails here changes nothing about it, and keeps nobody else's. */
function letGo({ parts, name }: Attempt, release: () => void): void {
  try {
    release();
  } catch {
    parts.logger.error(`what a hook held for a call of ${name} could not be let go`);
  }
}

/** A pause, also of a program that cannot pause, or an abort is no failure, nor is a call that its batch does not reach. */
function isLost({ settled, signal }: Attempt, error: unknown): boolean {
  if (isControlFlow(error, signal) || isAgentAdapterError(error, "ApprovalPending")) return true;
  return settled?.ok === false && settled.lost;
}

async function tellError(attempt: Attempt, error: unknown): Promise<void> {
  const failed = () => attempt.parts.logger.error(`an onError hook failed for a call of ${attempt.name}`);
  await unwindError(attempt.opened, hookCall(attempt), { error, failed });
}

async function replace(attempt: Attempt, replacement: unknown): Promise<unknown> {
  const parsed = await specOf(attempt).parseArguments(replacement, attempt.parts.limits);
  if (sameJson(parsed, replacement)) return (attempt.arguments = parsed);
  throw new ToolUsageError(
    `a beforeTool hook replaced the arguments of ${attempt.name} by some that the schema changes again`,
    about(attempt),
  );
}
