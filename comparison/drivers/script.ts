// What the scripted model of every driver says. The user's message is the script: the calls to ask for, as JSON. So the model
// needs no memory of its own, and says the same in another process.

import { z } from "zod";
import type { AttackCall, AttackTool } from "../../src/testing/attacks/driver.js";

export const LAST_WORD = "done";

/** No provider gives a call of one thread the id of a call of another. */
export function messageFor(thread: string, calls: readonly AttackCall[]): string {
  return JSON.stringify({ callsToAskFor: calls.map((call) => ({ ...call, id: `${call.id}-of-${thread}` })) });
}

/** The calls of this message; none when it is no script, or when something came after it. */
export function callsOf(text: unknown, isLast: boolean): readonly AttackCall[] {
  if (!isLast || !isScript(text)) return [];
  // messageFor wrote it.
  return (JSON.parse(text) as { callsToAskFor: AttackCall[] }).callsToAskFor;
}

export function isScript(text: unknown): text is string {
  return typeof text === "string" && text.startsWith('{"callsToAskFor":');
}

/** The arguments of a tool, checked: every stack gets the same schema. */
export function argumentsOf(tool: AttackTool) {
  return z.strictObject({ to: z.string(), amount: z.int(), ref: z.string() }).describe(tool.description);
}
