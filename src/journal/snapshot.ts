// What a process remembers about one task run, as plain data: for checkpoints that carry it to another process. Owns that form.

import { askFromJson, askToJson, type AskRecord } from "../approvals/ask.js";
import { markFromJson, markToJson, type Mark } from "../approvals/mark.js";
import type { JsonValue } from "../crypto/canonical-json.js";
import { keptFromJson, keptToJson, type KeptOutcome } from "./outcome.js";
import type { TaskEntry } from "./process-state.js";
import { recallMark, recallOutcome } from "./recall.js";

/** A task run as plain data, parsed. */
export interface Snapshot {
  readonly asks: readonly AskRecord[];
  readonly marks: readonly Mark[];
  readonly calls: readonly KeptOutcome[];
  /** Ids of calls whose rule has said yes. */
  readonly needsHuman: readonly string[];
}

/** What came to an end of a task run. */
export function finishedCalls({ calls }: TaskEntry): KeptOutcome[] {
  return [...calls].flatMap(([callId, { rawDigest, outcome }]) =>
    outcome === undefined ? [] : [{ callId, rawDigest, outcome }],
  );
}

/** Everything of the entry that another process needs. */
export function snapshotOf(entry: TaskEntry): JsonValue {
  return {
    asks: entry.asks.list().map(askToJson),
    marks: [...entry.marks.values()].map(markToJson),
    calls: finishedCalls(entry).map(keptToJson),
    needsHuman: [...entry.needsHuman],
  };
}

/** `undefined` when it is not of a form this version knows. */
export function parseSnapshot(value: unknown): Snapshot | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { asks, marks, calls, needsHuman }: Readonly<Record<string, unknown>> = { ...value };
  if (!Array.isArray(asks) || !Array.isArray(marks) || !Array.isArray(calls) || !Array.isArray(needsHuman))
    return undefined;
  const kept = calls.map(keptFromJson);
  if (!kept.every((call) => call !== undefined) || !needsHuman.every((id) => typeof id === "string")) return undefined;
  return { asks: asks.map(askFromJson), marks: marks.map(markFromJson), calls: kept, needsHuman };
}

/** Put it into the entry of this process; what the process knows itself stays. */
export function restore(entry: TaskEntry, { asks, marks, calls, needsHuman }: Snapshot): void {
  for (const ask of asks) if (entry.asks.bound(ask.binding) === undefined) entry.asks.remember(ask);
  for (const mark of marks) recallMark(entry, mark);
  for (const call of calls) recallOutcome(entry, call);
  for (const callId of needsHuman) entry.needsHuman.add(callId);
}
