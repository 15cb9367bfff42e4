// One call from start to end: its attempt is made here, then it passes the stages.

import { isWellFormed } from "../crypto/canonical-json.js";
import { digest } from "../crypto/digest.js";
import { ToolUsageError } from "../errors.js";
import { callEntry } from "../journal/journal.js";
import type { CallEntry } from "../journal/process-state.js";
import type { Registry } from "../tools/registry.js";
import type { AnyToolSpec } from "../tools/spec.js";
import type { Attempt } from "./attempt.js";
import type { ExecutorParts } from "./parts.js";
import { compose, prepare as runPrepare } from "./pipeline.js";
import type { Scope } from "./scope.js";
import { PERFORM, PREPARE } from "./stages.js";

/** A call somebody wants: a tool by name, raw arguments, and an id if it has one. Names and ids come from models. */
export interface CallRequest {
  readonly tool: string;
  readonly args: unknown;
  readonly callId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Where the name is looked up, when that is only a part of the executor's registry. */
  readonly registry?: Registry | undefined;
  /** A gate instead of a registered tool: what it asks for and what its edits must fit. */
  readonly gate?: AnyToolSpec | undefined;
  /** Called when it cannot ask any more: it needs nobody, or its answer is used. */
  readonly decided?: () => void;
  /** What makes it the same call again, when that is more than its arguments. */
  readonly rawDigest?: string | undefined;
}

const NOT_JSON = "not JSON";
const MAX_PLAIN_ID = 200;
const MAX_NAME = 200;

export const performCall = compose(PERFORM);

/** Make the attempt and run the first phase. Never rejects: a call that cannot even begin comes back settled. */
export async function prepareCall(parts: ExecutorParts, scope: Scope, request: CallRequest): Promise<Attempt> {
  const attempt = newAttempt(parts, scope, request);
  await runPrepare(PREPARE, attempt);
  return attempt;
}

export async function runCall(parts: ExecutorParts, scope: Scope, request: CallRequest): Promise<unknown> {
  // `prepareCall` without its promise: nearly every call passes here.
  const attempt = newAttempt(parts, scope, request);
  await runPrepare(PREPARE, attempt);
  if (!attempt.needsHuman) attempt.decided();
  return performCall(attempt);
}

export function newAttempt(parts: ExecutorParts, scope: Scope, request: CallRequest): Attempt {
  // No tool has the empty name, or one as long as what models may make up.
  const name = isWellFormed(request.tool) ? request.tool.slice(0, MAX_NAME) : "";
  const rawDigest = request.rawDigest ?? printOf(name, request.args, parts);
  const callId = callIdOf(scope, name, rawDigest, request.callId);
  const { task, context, outer } = scope;
  const call =
    request.callId === undefined || isWellFormed(request.callId)
      ? entryOf(scope, callId, rawDigest)
      : noEntry(rawDigest);
  const signal = signalOf(scope, request.signal);
  return {
    parts,
    task,
    context,
    outer,
    kind: request.gate === undefined ? "tool" : "gate",
    name,
    callId,
    raw: request.args,
    rawDigest,
    // A misused call id belongs to another call's entry: the refusal gets one of its own.
    id: idOf(call.misuse === undefined ? [...task.id, callId] : [...task.id, callId, rawDigest]),
    signal,
    spec: request.gate ?? (request.registry ?? parts.registry).get(name),
    call: call.entry,
    runNested: (around, nested) => runCall(parts, around, nested),
    decided: request.decided ?? nobodyWaits,
    asked: undefined,
    unknown: undefined,
    settled: call.misuse === undefined ? undefined : { ok: false, error: call.misuse, lost: false },
    replayed: false,
    arguments: undefined,
    opened: [],
    held: [],
    needsHuman: false,
    approved: undefined,
    edit: undefined,
    token: undefined,
    claimed: false,
    fromCache: false,
    bodySignal: signal,
    attempts: 0,
    durationMs: 0,
    cost: 0,
  };
}

const nobodyWaits = () => undefined;

/** Arguments that are not JSON, or too much of it, are refused by `validate`; here they only need a name. */
function printOf(name: string, args: unknown, { limits }: ExecutorParts): string {
  try {
    // The pair is one level, the name at most the limit again.
    const around = { maxDepth: limits.maxDepth + 1, maxBytes: limits.maxBytes + JSON.stringify(name).length + 3 };
    return digest("agent-adapter/arguments/v1", [name, args], around);
  } catch {
    return digest("agent-adapter/arguments/v1", [name, NOT_JSON]);
  }
}

/** Identifies a call everywhere. Databases index at most a few hundred characters: a long one is hashed. */
function idOf(parts: readonly string[]): string {
  const text = JSON.stringify(parts);
  return text.length <= MAX_PLAIN_ID ? text : digest("agent-adapter/row/v1", parts);
}

function callIdOf({ task, outer }: Scope, name: string, rawDigest: string, given: unknown): string {
  if (isWellFormed(given)) return given;
  if (outer === undefined) return task.nextCallId(name, rawDigest);
  outer.children += 1;
  return `${outer.callId}/${outer.children}`;
}

function entryOf({ task, outer }: Scope, callId: string, rawDigest: string): { entry: CallEntry; misuse: unknown } {
  try {
    if (outer?.callId === callId) throw new ToolUsageError("a call cannot run itself: its body used its own call id");
    return { entry: callEntry(task.entry, callId, rawDigest), misuse: undefined };
  } catch (misuse) {
    return { ...noEntry(rawDigest), misuse };
  }
}

function noEntry(rawDigest: string): { entry: CallEntry; misuse: unknown } {
  const entry = { rawDigest, outcome: undefined, running: undefined };
  return { entry, misuse: new ToolUsageError("a call id must be well-formed text") };
}

/** Everything that may stop a call, as one signal: its own, the body it was called by, its run. */
export function signalOf({ task, context, outer }: Scope, own: AbortSignal | undefined): AbortSignal | undefined {
  const run = context.signal ?? task.signal;
  // As nearly every call: nothing to join.
  if (outer?.signal === undefined && (own === undefined || own === run)) return run;
  const signals = [own, outer?.signal, run].filter((signal) => signal !== undefined);
  const [first, ...others] = new Set(signals);
  return first === undefined || others.length === 0 ? first : AbortSignal.any([first, ...others]);
}
