// Calls that were left without a result because the user went on: the model is told that nobody knows how they ended.

import type { NeutralMessage, NeutralResultMessage } from "./message.js";
import { unitsOf } from "./units.js";

// Never "success" and never "it did not run": it may have.
const UNKNOWN = JSON.stringify({
  error: {
    kind: "ToolError",
    message: "outcome unknown: this call was interrupted and its result was never recorded; it may or may not have run",
  },
});

/**
 * The conversation with an error result, `outcome unknown`, for every call that has none and is followed by a message of a
 * human: providers refuse the conversation otherwise. Calls at the end stay open, they may be waiting for an approval. Adds
 * messages, changes none; with nothing to close the same messages come back.
 *
 * @example const sent = closeOpenCalls(history); // every call in it has a result
 */
export function closeOpenCalls(messages: readonly NeutralMessage[]): NeutralMessage[] {
  const lastHuman = messages.findLastIndex(({ role }) => role === "human");
  const left = new Map(
    unitsOf(messages).flatMap((unit) =>
      unit.kind === "exchange" && unit.at < lastHuman ? [[unit.at, unit.open] as const] : [],
    ),
  );
  const out: NeutralMessage[] = [];
  let missing: readonly NeutralResultMessage[] = [];
  messages.forEach((message, at) => {
    if (message.role !== "tool") {
      // Behind the results that are there, before anything else.
      out.push(...missing);
      missing = (left.get(at) ?? []).map(({ id, name }) => unknown(id, name));
    }
    out.push(message);
  });
  return out;
}

function unknown(callId: string, name: string): NeutralResultMessage {
  return { role: "tool", callId, name, status: "error", content: UNKNOWN };
}
