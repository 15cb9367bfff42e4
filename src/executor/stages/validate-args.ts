// Arguments are parsed once. A call that was asked before runs on the arguments the reviewer was shown: parsing again
// could give others (generated ids, clocks).

import { ToolUsageError } from "../../errors.js";
import { isThenable } from "../../tools/schema.js";
import { about, specOf, type Attempt } from "../attempt.js";

export function validateArgs(attempt: Attempt): Promise<void> | void {
  const spec = specOf(attempt);
  const shown = attempt.asked?.request;
  if (shown === undefined || shown.definitionDigest !== spec.definitionDigest) {
    const parsed = spec.parseArguments(attempt.raw, attempt.parts.limits);
    if (isThenable(parsed)) return parsedLater(attempt, parsed);
    attempt.arguments = parsed;
    return;
  }
  if (shown.tool !== spec.name)
    throw new ToolUsageError("a call id was used for two tools in one task run", about(attempt));
  attempt.arguments = shown.arguments;
}

async function parsedLater(attempt: Attempt, parsing: PromiseLike<unknown>): Promise<void> {
  attempt.arguments = await parsing;
}
