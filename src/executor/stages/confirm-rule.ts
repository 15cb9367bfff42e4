// Does this call need a human? The rule is awaited once; a call that was ever asked stays one that needs a human.

import { isJsonObject, type JsonValue } from "../../crypto/canonical-json.js";
import { ToolArgsInvalid } from "../../errors.js";
import { about, specOf, type Attempt } from "../attempt.js";
import { confirmReason, mayAsk } from "../confirm.js";

export function confirmRule(attempt: Attempt): Promise<void> | void {
  if (mayAsk(attempt)) return evaluate(attempt);
}

async function evaluate(attempt: Attempt): Promise<void> {
  const spec = specOf(attempt);
  const { asked, parts } = attempt;
  attempt.needsHuman = (await confirmReason(attempt)) !== "nobody-asks";
  if (attempt.needsHuman) attempt.task.entry.needsHuman.add(attempt.callId);
  const fresh = asked === undefined || asked.request.definitionDigest !== spec.definitionDigest;
  // What the reviewer sees must be what runs: a schema that would change it again is refused before anybody is asked.
  if (!attempt.needsHuman || !fresh) return;
  await spec.assertFixedPoint(attempt.arguments, parts.limits);
  refuseUncarried(attempt);
}

/** The model can send others; a request that a host cannot give back would be in the way of all that wait beside it. */
function refuseUncarried(attempt: Attempt): void {
  // The fixed-point check has just seen that they are JSON.
  const args = attempt.arguments as JsonValue;
  const why = isJsonObject(args) ? attempt.task.host.cannotCarry(args, "request") : undefined;
  if (why === undefined) return;
  // Such a host may hand its own reading of them to a re-run: that is no other call of the same id, and nothing of this one ran.
  attempt.task.entry.calls.delete(attempt.callId);
  throw new ToolArgsInvalid(`the arguments of ${attempt.name} ${why}`, about(attempt));
}
