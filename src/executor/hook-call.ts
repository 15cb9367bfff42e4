// A call as hooks see it.

import type { HookCall } from "../hooks/hook.js";
import type { Attempt } from "./attempt.js";

export function hookCall(attempt: Attempt): HookCall {
  const { spec, parts } = attempt;
  return {
    tool: attempt.name,
    callId: attempt.callId,
    arguments: attempt.arguments,
    context: attempt.context,
    cost: typeof spec?.cost === "number" ? spec.cost : undefined,
    maxAttempts: spec?.retry.maxAttempts ?? 1,
    ledger: parts.ledger,
  };
}
