// Does this call need a human? The rule is awaited once; a call that was ever asked stays one that needs a human.

import { specOf, type Attempt } from "../attempt.js";
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
  if (attempt.needsHuman && fresh) await spec.assertFixedPoint(attempt.arguments, parts.limits);
}
