// Does this call need a human? The rule is awaited once; a call that was ever asked stays one that needs a human.

import { specOf, type Attempt } from "../attempt.js";

export async function confirmRule(attempt: Attempt): Promise<void> {
  const spec = specOf(attempt);
  const { asked, context, callId, parts } = attempt;
  const fresh = asked === undefined || asked.request.definitionDigest !== spec.definitionDigest;
  attempt.needsHuman = asked !== undefined || (await saysYes(attempt));
  // What the reviewer sees must be what runs: a schema that would change it again is refused before anybody is asked.
  if (attempt.needsHuman && fresh) await spec.assertFixedPoint(attempt.arguments, parts.limits);

  async function saysYes({ arguments: args }: Attempt): Promise<boolean> {
    if (typeof spec.confirm === "boolean") return spec.confirm;
    const { runId, threadId, principal, metadata } = context;
    // Anything but a plain `false` asks: a predicate that forgot to return must not open the gate.
    return (await spec.confirm(args, { runId, threadId, callId, principal, metadata })) !== false;
  }
}
