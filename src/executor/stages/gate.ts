// A gate always asks, about what it was given or about what it asked before.

import { isJsonObject, jsonCopy } from "../../crypto/canonical-json.js";
import { FlowError } from "../../errors.js";
import { about, type Attempt } from "../attempt.js";

export function openGate(attempt: Attempt): void {
  const { asked, raw } = attempt;
  const isSame = asked !== undefined && asked.rawDigest === attempt.rawDigest;
  const shown = isSame ? asked.request.arguments : jsonCopy(raw);
  const why = !isSame && isJsonObject(shown) ? attempt.task.host.cannotCarry(shown, "request") : undefined;
  if (why !== undefined) throw new FlowError(`what gate "${attempt.name}" shows ${why}`, about(attempt));
  attempt.arguments = shown;
  attempt.needsHuman = true;
  // Nothing runs, so there is nothing before and after it; hooks hear of the question and of its answer.
  attempt.opened = attempt.parts.hooks;
}
