// A gate: a question before something that is not a tool. It has the life of an approved call whose body does nothing.

import type { JsonObject } from "../crypto/canonical-json.js";
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
 * `payload` is what the reviewer sees; a gate that was asked about before shows what it showed then.
 *
 * @throws ApprovalDenied, ApprovalExpired, ApprovalAlreadyDecided, and the host's pause
 */
export async function runGate(
  parts: ExecutorParts,
  scope: Scope,
  gate: { readonly spec: AnyToolSpec; readonly payload: () => JsonObject },
): Promise<JsonObject | undefined> {
  const args = scope.task.askOf(GATE_CALL)?.request.arguments ?? gate.payload();
  const attempt = newAttempt(parts, scope, { tool: gate.spec.name, args, callId: GATE_CALL, gate: gate.spec });
  await prepare(GATE_PREPARE, attempt);
  await performGate(attempt);
  return attempt.edit ?? recordedEdit(attempt);
}
