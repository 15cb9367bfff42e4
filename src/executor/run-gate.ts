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
 * it lets through: a grant for one state lets no other through.
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
  if (asked !== undefined && asked.rawDigest !== rawDigest) throw otherState(spec.name);
  const args = asked?.request.arguments ?? gate.payload();
  const attempt = newAttempt(parts, scope, { tool: spec.name, args, callId: GATE_CALL, gate: spec, rawDigest });
  await prepare(GATE_PREPARE, attempt);
  await performGate(attempt);
  return attempt.edit ?? recordedEdit(attempt);
}

function otherState(gate: string): ToolUsageError {
  return new ToolUsageError(
    `gate "${gate}": this visit was asked about with another state, and what is approved is that one; nothing was run`,
    { tool: gate, callId: GATE_CALL },
  );
}
