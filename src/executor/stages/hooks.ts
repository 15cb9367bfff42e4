// Before-hooks run in order before anything is asked; after-hooks unwind in reverse once the tool returned.

import { openHooks, unwindHooks } from "../../hooks/dispatch.js";
import type { HookCall } from "../../hooks/hook.js";
import { sameJson } from "../../crypto/canonical-json.js";
import { ToolUsageError } from "../../errors.js";
import { about, specOf, type Attempt } from "../attempt.js";

export async function beforeHooks(attempt: Attempt): Promise<void> {
  const { hooks } = attempt.parts;
  if (hooks.length === 0) return;
  const opened = await openHooks(hooks, hookCall(attempt), {
    mayReplace: attempt.asked === undefined,
    accept: (replacement) => accept(attempt, replacement),
  });
  attempt.opened = opened.opened;
  attempt.arguments = opened.arguments;
}

export async function afterHooks(attempt: Attempt, next: () => Promise<unknown>): Promise<unknown> {
  const value = await next();
  if (attempt.opened.length > 0) await unwindHooks(attempt.opened, hookCall(attempt), value);
  return value;
}

function hookCall(attempt: Attempt): HookCall {
  return { tool: attempt.name, callId: attempt.callId, arguments: attempt.arguments, context: attempt.context };
}

async function accept(attempt: Attempt, replacement: unknown): Promise<unknown> {
  const parsed = await specOf(attempt).parseArguments(replacement, attempt.parts.limits);
  if (sameJson(parsed, replacement)) return parsed;
  throw new ToolUsageError(
    `a beforeTool hook replaced the arguments of ${attempt.name} by some that the schema changes again`,
    about(attempt),
  );
}
