// The checkpoint of a local run, version 1, as plain data, and its parser. Owns the form; sealing it is sealed-checkpoint.ts.

import { parseAnswer, type Answer } from "../../approvals/answer.js";
import { hasShape, isCount, isObject, isText, isTextOrNull, type Shape } from "../../approvals/shape.js";
import { isJsonObject, jsonCopy, type JsonObject, type JsonValue } from "../../crypto/canonical-json.js";
import { FlowError } from "../../errors.js";
import { parseSnapshot, snapshotOf, type Snapshot } from "../../journal/snapshot.js";
import type { TaskEntry } from "../../journal/process-state.js";
import { visitsOf, type Progress } from "../runner/progress.js";
import type { Visited } from "../visit.js";

/** Everything another process needs to go on. */
export interface Checkpoint {
  readonly runId: string;
  readonly principal: string | null;
  readonly progress: Progress;
  /** Nodes of the step that have finished: they do not run again. */
  readonly finished: ReadonlyMap<string, Visited>;
  /** What is known about the task runs of the step, by node. */
  readonly tasks: ReadonlyMap<string, Snapshot>;
  /** First results of tools that run once per run. */
  readonly once: Snapshot;
  /** Answers that were given and not used yet. They are verified again when they are used. */
  readonly answers: readonly Answer[];
}

/** A checkpoint about to be written. */
export interface CheckpointParts extends Omit<Checkpoint, "tasks" | "once"> {
  readonly tasks: ReadonlyMap<string, TaskEntry>;
  readonly once: TaskEntry;
}

export function checkpointToJson(parts: CheckpointParts): JsonValue {
  const { runId, principal, progress, finished, tasks, once, answers } = parts;
  return {
    v: 1,
    runId,
    principal,
    progress: { ...progress, visits: visitsOf(progress) },
    finished: [...finished].map(([node, visited]) => [node, visitedToJson(visited)]),
    tasks: [...tasks].map(([node, entry]) => [node, snapshotOf(entry)]),
    once: snapshotOf(once),
    answers: answers.map((answer) => ({ ...answer, decision: { ...answer.decision } })),
  };
}

function visitedToJson({ writes, goto, counts }: Visited): JsonValue {
  return { writes: [...writes].map(([field, values]) => [field, [...values]]), goto: [...goto], counts: { ...counts } };
}

const CHECKPOINT: Shape<Checkpoint & { readonly v: 1 }> = {
  v: (value) => value === 1,
  runId: isText,
  principal: isTextOrNull,
  progress: isProgress,
  finished: (value) => isPairs(value, isVisited),
  tasks: (value) => isPairs(value, isObject),
  once: isObject,
  answers: Array.isArray,
};

type ProgressJson = Omit<Progress, "visits"> & { readonly visits: Readonly<Record<string, number>> };

const PROGRESS: Shape<Progress> = {
  state: isObject,
  steps: isCount,
  visits: isCounts,
  counts: isCounts,
  ready: isTexts,
  joins: isTexts,
};

const VISITED: Shape<Visited> = {
  writes: (value) => isPairs(value, Array.isArray),
  goto: isTexts,
  counts: isCounts,
};

function isProgress(value: unknown): value is ProgressJson {
  return hasShape(value, PROGRESS);
}

function isVisited(value: unknown): boolean {
  return hasShape(value, VISITED);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isCounts(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every(isCount);
}

function isPairs(value: unknown, fits: (second: unknown) => boolean): boolean {
  return (
    Array.isArray(value) &&
    value.every((pair) => Array.isArray(pair) && pair.length === 2 && isText(pair[0]) && fits(pair[1]))
  );
}

type Plain = Pick<Checkpoint, "runId" | "principal"> & { readonly progress: ProgressJson };
type Raw = Plain & Readonly<Record<Exclude<keyof Checkpoint, keyof Plain>, JsonValue>>;

/**
 * The seal vouches for who wrote it; this checks that it is of a form this version understands.
 *
 * @throws FlowError
 */
export function checkpointFromJson(value: JsonValue): Checkpoint {
  if (!hasShape(value, CHECKPOINT)) throw unreadable();
  // The shape was tested field by field.
  const { runId, principal, progress, finished, tasks, once, answers } = value as unknown as Raw;
  return {
    runId,
    principal,
    progress: { ...progress, state: stateOf(progress.state), visits: new Map(Object.entries(progress.visits)) },
    finished: new Map(pairs(finished).map(([node, visited]) => [node, visitedOf(visited)])),
    tasks: new Map(pairs(tasks).map(([node, snapshot]) => [node, snapshotOfJson(snapshot)])),
    once: snapshotOfJson(once),
    answers: list(answers).map(answerOf),
  };
}

function stateOf(state: unknown): JsonObject {
  const copy = jsonCopy(state);
  if (isJsonObject(copy)) return copy;
  throw unreadable();
}

function visitedOf(value: JsonValue): Visited {
  // `isVisited` has looked at it.
  const { writes, goto, counts } = value as unknown as { readonly writes: JsonValue } & Pick<
    Visited,
    "goto" | "counts"
  >;
  return { writes: new Map(pairs(writes).map(([field, values]) => [field, list(jsonCopy(values))])), goto, counts };
}

function snapshotOfJson(value: JsonValue): Snapshot {
  const snapshot = parseSnapshot(value);
  if (snapshot === undefined) throw unreadable();
  return snapshot;
}

/** It had the limits of its executor when it came in. */
const SEALED = { maxDepth: 256, maxBytes: Number.POSITIVE_INFINITY };

function answerOf(value: JsonValue): Answer {
  const answer = parseAnswer(value, SEALED);
  if (answer === undefined) throw unreadable();
  return answer;
}

function pairs(value: JsonValue): [string, JsonValue][] {
  // `isPairs` has looked at it.
  return list(value).map((pair) => pair as unknown as [string, JsonValue]);
}

function list(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function unreadable(): FlowError {
  return new FlowError("the checkpoint is not of a version this release can read");
}
