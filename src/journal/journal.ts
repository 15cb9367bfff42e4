// The replay journal: a call that finished gives its result again and never runs twice; a running one is joined.
//   J1  a call is registered as running in the same turn in which it was seen not to be
//   J2  its outcome is in the entry before anybody who waits for it goes on

import { follow } from "../approvals/transitions.js";
import { ApprovalAlreadyDecided, ToolUsageError, type ErrorDetails } from "../errors.js";
import { outcomeOf, type Outcome, type Settled } from "./outcome.js";
import { addBytes, processState, type CallEntry, type RunningCall, type TaskEntry } from "./process-state.js";
import { groupSettled, type TaskRun } from "./task-run.js";

/**
 * The entry of a call, made on first use.
 *
 * @throws ToolUsageError when the call id was used in this task run with another tool or other arguments
 */
export function callEntry(entry: TaskEntry, callId: string, rawDigest: string): CallEntry {
  const asked = entry.asks.of(callId);
  const known = entry.calls.get(callId);
  if ((known ?? asked)?.rawDigest !== undefined && (known ?? asked)?.rawDigest !== rawDigest) {
    throw new ToolUsageError("a call id was used twice in one task run with another tool or other arguments", {
      callId,
    });
  }
  if (known !== undefined) return known;
  const made: CallEntry = { rawDigest, outcome: undefined, running: undefined };
  entry.calls.set(callId, made);
  return made;
}

/**
 * Wait for a call that is running. A plain one is shared; an approved one whose owner is alive is refused once the approved
 * calls beside it have settled; one that its owner left behind is adopted.
 *
 * @throws ApprovalAlreadyDecided
 */
export async function joinRunning(task: TaskRun, running: RunningCall, about: ErrorDetails): Promise<Settled> {
  if (running.approved && running.owner.alive) {
    follow("running", "re-run", "join");
    await groupSettled(task.group);
    throw new ApprovalAlreadyDecided("this approval is being used by another run", about);
  }
  if (!running.owner.alive) running.owner = task;
  return running.settled;
}

interface OnceOptions {
  readonly task: TaskRun;
  readonly callId: string;
  readonly call: CallEntry;
  readonly approved: boolean;
  /** Did it end by a pause or an abort, so that nobody knows what it did? */
  isLost(error: unknown): boolean;
  /** Was the answer used? A failure before that leaves nothing behind. */
  claimed(): boolean;
}

/** Run the body as the one running instance of this call, and keep what it came to. The caller checked `call.running`. */
export async function runOnce(options: OnceOptions, body: () => Promise<unknown>): Promise<Settled> {
  const { call, task } = options;
  const settled = settle(options, body);
  const running: RunningCall = { approved: options.approved, owner: task, settled };
  call.running = running;
  const done = options.approved ? enterGroup(task.group, settled) : undefined;
  const result = await settled;
  if (call.running === running) call.running = undefined;
  done?.();
  return result;
}

async function settle(options: OnceOptions, body: () => Promise<unknown>): Promise<Settled> {
  let result: Settled;
  try {
    result = { ok: true, value: await body() };
  } catch (error) {
    result = { ok: false, error, lost: options.isLost(error) };
  }
  const spent = options.approved && options.claimed();
  if (options.approved && !spent) return result;
  const outcome = outcomeOf(result, options.approved);
  if (outcome === undefined) return result;
  const { task, call, callId } = options;
  keepOutcome(task.entry, call, outcome);
  const kept = task.host.keepOutcome({ callId, rawDigest: call.rawDigest, outcome }, spent);
  if (kept !== undefined) await kept;
  return result;
}

/** Write an outcome into the entry; the first one stays. */
export function keepOutcome(entry: TaskEntry, call: CallEntry, outcome: Outcome): void {
  if (call.outcome !== undefined) return;
  call.outcome = outcome;
  addBytes(entry, outcome.status === "ok" ? (outcome.json?.length ?? 0) * 2 : 64);
}

function enterGroup(group: string, settled: Promise<unknown>): () => void {
  const { busy } = processState();
  const members = busy.get(group) ?? new Set();
  busy.set(group, members);
  members.add(settled);
  return () => {
    members.delete(settled);
    if (members.size === 0) busy.delete(group);
  };
}
