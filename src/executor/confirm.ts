// Would this call ask a human, and why? The one place that answers; the confirm-rule stage and `explain` read it.

import type { ConfirmContext, ConfirmPredicate } from "../tools/spec.js";
import { specOf, type Attempt } from "./attempt.js";

/** Why a call asks, or does not. */
export type ConfirmReason =
  /** The tool says `confirm: true`. */
  | "confirm"
  /** The tool's predicate says yes. */
  | "confirm-predicate"
  /** The executor's policy says yes. */
  | "policy"
  /** The rule said yes to this very call before. */
  | "asked-before"
  | "nobody-asks";

/** False when nobody could say yes: neither the tool nor the policy has a rule, and nobody was asked before. */
export function mayAsk(attempt: Attempt): boolean {
  return wasYes(attempt) || specOf(attempt).confirm !== false || attempt.parts.policy.has(attempt.name);
}

/** A rule that has said yes is not asked again: by then it may say something else. */
function wasYes({ asked, task, callId }: Attempt): boolean {
  return asked !== undefined || task.entry.needsHuman.has(callId);
}

export async function confirmReason(attempt: Attempt): Promise<ConfirmReason> {
  const { confirm } = specOf(attempt);
  if (wasYes(attempt)) return "asked-before";
  if (confirm === true) return "confirm";
  if (confirm !== false && (await saysYes(attempt, confirm))) return "confirm-predicate";
  const rule = attempt.parts.policy.get(attempt.name);
  if (rule !== undefined && (rule === true || (await saysYes(attempt, rule)))) return "policy";
  return "nobody-asks";
}

/** Anything but a plain `false` asks: a predicate that forgot to return must not open the gate. */
async function saysYes(
  { arguments: args, context, callId }: Attempt,
  predicate: ConfirmPredicate<never>,
): Promise<boolean> {
  const { runId, threadId, principal, metadata } = context;
  const ctx: ConfirmContext = { runId, threadId, callId, principal, metadata };
  // The predicate's argument type is the schema's output, and the arguments have passed that schema.
  return (await predicate(args as never, ctx)) !== false;
}
