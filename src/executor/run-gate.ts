// A gate: a question before something that is not a tool. It has the life of an approved call whose body does nothing.

import type { JsonObject } from "../crypto/canonical-json.js";
import { ToolUsageError } from "../errors.js";
import type { AnyToolSpec } from "../tools/spec.js";
import type { ExecutorParts } from "./parts.js";
import { compose, prepare } from "./pipeline.js";
import { newAttempt } from "./run-call.js";
import { recordedEdit } from "./run-many.js";
import type { Scope } from "./scope.js";
import { GATE_PERFORM, GATE_PREPARE } from "./stages.js";

/** The call id of every gate: a task run has one at most. */
export const GATE_CALL = "gate";

const performGate = compose(GATE_PERFORM);

/**
 * Pass the gate, or stop: pause, be denied, expire. Gives the reviewer's edit, if there is one, also when it was passed before.
 * `payload` is what the reviewer sees; a gate that was asked about before shows what it showed then. `guards` is a digest of what
 * it lets through: a grant for one state lets no other through. Asked about another one, it asks again as long as nobody has used
 * that request; afterwards nothing but the state that was approved gets through.
 *
 * @throws ApprovalDenied, ApprovalExpired, ApprovalAlreadyDecided, ToolUsageError, and the host's pause
 */
export async function runGate(
  parts: ExecutorParts,
  scope: Scope,
  gate: { readonly spec: AnyToolSpec; readonly guards: string; readonly payload: () => JsonObject },
): Promise<JsonObject | undefined> {
  const { spec, guards: rawDigest } = gate;
  const asked = scope.task.askOf(GATE_CALL);
  const isOther = asked !== undefined && asked.rawDigest !== rawDigest;
  if (isOther) {
    if (isUsed(scope, asked.binding)) throw otherState(spec.name);
    // The call is the gate of another state now.
    scope.task.entry.calls.set(GATE_CALL, { rawDigest, outcome: undefined, running: undefined });
  }
  const args = asked === undefined || isOther ? gate.payload() : asked.request.arguments;
  const attempt = newAttempt(parts, scope, { tool: spec.name, args, callId: GATE_CALL, gate: spec, rawDigest });
  await prepare(GATE_PREPARE, attempt);
  await performGate(attempt);
  return attempt.edit ?? recordedEdit(attempt);
}

/** Registered as running in the turn of the claim, so that nothing is between the two. */
function isUsed({ task }: Scope, binding: string): boolean {
  const call = task.entry.calls.get(GATE_CALL);
  return task.entry.marks.has(binding) || call?.outcome !== undefined || call?.running !== undefined;
}

function otherState(gate: string): ToolUsageError {
  return new ToolUsageError(
    `gate "${gate}": this visit was let through with another state, and what was approved is that one; nothing was run`,
    { tool: gate, callId: GATE_CALL },
  );
}
