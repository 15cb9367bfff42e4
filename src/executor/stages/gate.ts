// A gate always asks, about what it was given or about what it asked before.

import { jsonCopy } from "../../crypto/canonical-json.js";
import type { Attempt } from "../attempt.js";

export function openGate(attempt: Attempt): void {
  const { asked, raw } = attempt;
  const isSame = asked !== undefined && asked.rawDigest === attempt.rawDigest;
  attempt.arguments = isSame ? asked.request.arguments : jsonCopy(raw);
  attempt.needsHuman = true;
  // Nothing runs, so there is nothing before and after it; hooks hear of the question and of its answer.
  attempt.opened = attempt.parts.hooks;
}
