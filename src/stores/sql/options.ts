// Options that are none are refused by name.

import { ToolUsageError } from "../../index.js";

/** @throws ToolUsageError naming the first option that is none */
export function refuseUnknown(what: string, rest: object): void {
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined) throw new ToolUsageError(`${what}: there is no option ${JSON.stringify(unknown)}`);
}
