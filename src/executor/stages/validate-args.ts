// Arguments are parsed once. A call that was asked before runs on the arguments the reviewer was shown: parsing again
// could give others (generated ids, clocks).

import { about, specOf, type Attempt } from "../attempt.js";
import { ToolUsageError } from "../../errors.js";

export async function validateArgs(attempt: Attempt): Promise<void> {
  const spec = specOf(attempt);
  const shown = attempt.asked?.request;
  if (shown === undefined || shown.definitionDigest !== spec.definitionDigest) {
    attempt.arguments = await spec.parseArguments(attempt.raw, attempt.parts.limits);
    return;
  }
  if (shown.tool !== spec.name)
    throw new ToolUsageError("a call id was used for two tools in one task run", about(attempt));
  attempt.arguments = shown.arguments;
}
