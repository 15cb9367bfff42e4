// One call from start to end: its attempt is made here, then it passes the stages.

import { canonicalJson } from "../crypto/canonical-json.js";
import { digest } from "../crypto/digest.js";
import { callEntry } from "../journal/journal.js";
import type { CallEntry } from "../journal/process-state.js";
import type { AnyToolSpec } from "../tools/spec.js";
import type { Attempt } from "./attempt.js";
import type { ExecutorParts } from "./parts.js";
import { compose, prepare as runPrepare } from "./pipeline.js";
import type { Scope } from "./scope.js";
import { PERFORM, PREPARE } from "./stages.js";

/** A call somebody wants: a tool by name or spec, raw arguments, and an id if it has one. */
export interface CallRequest {
  readonly tool: string | AnyToolSpec;
  readonly args: unknown;
  readonly callId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const NOT_JSON = "not JSON";

export const performCall = compose(PERFORM);

/** Make the attempt and run the first phase. Never rejects: a call that cannot even begin comes back settled. */
export async function prepareCall(parts: ExecutorParts, scope: Scope, request: CallRequest): Promise<Attempt> {
  const attempt = newAttempt(parts, scope, request);
  await runPrepare(PREPARE, attempt);
  return attempt;
}

export async function runCall(parts: ExecutorParts, scope: Scope, request: CallRequest): Promise<unknown> {
  return performCall(await prepareCall(parts, scope, request));
}

export function newAttempt(parts: ExecutorParts, scope: Scope, request: CallRequest): Attempt {
  const name = typeof request.tool === "string" ? request.tool : request.tool.name;
  const rawDigest = digest("agent-adapter/arguments/v1", [name, textOf(request.args, parts)]);
  const callId = callIdOf(scope, name, rawDigest, request.callId);
  const { task, context, outer } = scope;
  const call = entryOf(scope, callId, rawDigest);
  const signal = joined(request.signal, context.signal ?? task.signal);
  return {
    parts,
    task,
    context,
    outer,
    name,
    callId,
    raw: request.args,
    rawDigest,
    // A misused call id belongs to another call's entry: the refusal gets one of its own.
    id: digest(
      "agent-adapter/row/v1",
      call.misuse === undefined ? [...task.id, callId] : [...task.id, callId, rawDigest],
    ),
    signal,
    spec: typeof request.tool === "string" ? parts.registry.get(request.tool) : request.tool,
    call: call.entry,
    runNested: (self, nested) => runCall(parts, { task, context, outer: self }, nested),
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

/** Arguments that are not JSON are refused by `validate`; here they only need a name. */
function textOf(args: unknown, parts: ExecutorParts): string {
  try {
    return canonicalJson(args, parts.limits);
  } catch {
    return NOT_JSON;
  }
}

function callIdOf({ task, outer }: Scope, name: string, rawDigest: string, given: string | undefined): string {
  if (given !== undefined) return given;
  if (outer === undefined) return task.nextCallId(name, rawDigest);
  outer.children += 1;
  return `${outer.callId}/${outer.children}`;
}

function entryOf({ task }: Scope, callId: string, rawDigest: string): { entry: CallEntry; misuse: unknown } {
  try {
    return { entry: callEntry(task.entry, callId, rawDigest), misuse: undefined };
  } catch (misuse) {
    return { entry: { rawDigest, outcome: undefined, running: undefined }, misuse };
  }
}

function joined(own: AbortSignal | undefined, run: AbortSignal | undefined): AbortSignal | undefined {
  if (own === undefined || run === undefined || own === run) return own ?? run;
  return AbortSignal.any([own, run]);
}
