// A tool marked `oncePerRun` runs once per run: its first result is given again, other arguments are refused. It is the
// replay journal with the run for a task run and the tool for a call id; a cache carries it across processes.

import { canonicalJson, isJson } from "../../crypto/canonical-json.js";
import { digest } from "../../crypto/digest.js";
import { isAgentAdapterError, ToolError } from "../../errors.js";
import { keepOutcome } from "../../journal/journal.js";
import { outcomeOf, replay, type Settled } from "../../journal/outcome.js";
import type { CallEntry, TaskEntry } from "../../journal/process-state.js";
import { about, specOf, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";
import { runEntry } from "../run-entry.js";

/** Before the rule: a call that replays asks nobody. */
export function replayFirst(attempt: Attempt): Promise<void> | void {
  if (specOf(attempt).oncePerRun) return lookUpFirst(attempt);
}

async function lookUpFirst(attempt: Attempt): Promise<void> {
  const run = runEntry(attempt.parts, attempt.context);
  if (run.calls.get(slotOf(attempt))?.outcome === undefined) await recall(attempt, run);
  const first = run.calls.get(slotOf(attempt));
  if (first?.outcome !== undefined) attempt.settled = again(attempt, first);
}

/** The second of two calls that were prepared together waits for the first. */
export function oncePerRun(attempt: Attempt, next: Next): Promise<unknown> {
  return specOf(attempt).oncePerRun ? runOrRepeat(attempt, next) : next(attempt);
}

async function runOrRepeat(attempt: Attempt, next: Next): Promise<unknown> {
  const run = runEntry(attempt.parts, attempt.context);
  for (
    let other = run.calls.get(slotOf(attempt));
    other?.running !== undefined;
    other = run.calls.get(slotOf(attempt))
  ) {
    await other.running.settled;
  }
  const first = run.calls.get(slotOf(attempt));
  const settled = first?.outcome === undefined ? await runFirst(attempt, run, next) : again(attempt, first);
  if (settled.ok) return settled.value;
  throw settled.error;
}

async function runFirst(attempt: Attempt, run: TaskEntry, next: Next): Promise<Settled> {
  const call: CallEntry = { rawDigest: printOf(attempt), outcome: undefined, running: undefined };
  const settled = settle(attempt, next);
  call.running = { approved: false, owner: attempt.task, settled };
  run.calls.set(slotOf(attempt), call);
  const result = await settled;
  const outcome = result.ok ? outcomeOf(result, false) : undefined;
  if (outcome !== undefined) keepOutcome(run, call, outcome);
  call.running = undefined;
  if (outcome !== undefined) {
    await attempt.task.host.keepFirst({ callId: slotOf(attempt), rawDigest: call.rawDigest, outcome });
    await carry(attempt, call);
  }
  return result;
}

async function settle(attempt: Attempt, next: Next): Promise<Settled> {
  try {
    return { ok: true, value: await next(attempt) };
  } catch (error) {
    return { ok: false, error, lost: !isAgentAdapterError(error) };
  }
}

function again(attempt: Attempt, first: CallEntry): Settled {
  attempt.fromCache = true;
  const names = about(attempt);
  if (first.rawDigest !== printOf(attempt)) {
    const error = new ToolError(`${attempt.name} runs once per run, and it ran with other arguments`, names);
    return { ok: false, error, lost: false };
  }
  if (first.outcome === undefined) throw new Error("internal: a first call without an outcome");
  return replay(first.outcome, names);
}

function printOf({ arguments: args, rawDigest }: Attempt): string {
  // What a schema makes of arguments need not be JSON; what it makes it of is.
  if (!isJson(args)) return rawDigest;
  return digest("agent-adapter/arguments/v1", args);
}

/** A changed definition is another tool. */
function slotOf(attempt: Attempt): string {
  return specOf(attempt).definitionDigest;
}

/**
 * Under which keys a cache carries it: written under the first, found under any. A cache is shared by whoever is given it, so
 * that those with another secret are told apart by a MAC. A secret of one process could find nothing in the next one, and
 * nothing tells such executors apart.
 */
function carriedKeys(attempt: Attempt): readonly string[] {
  const { context, parts } = attempt;
  const run = [context.threadId ?? null, context.runId, slotOf(attempt)];
  if (parts.keys.perProcess) return [digest("agent-adapter/cache/v1", ["once", ...run])];
  return parts.keys.names("once", "agent-adapter/once/v1", run);
}

async function carry(attempt: Attempt, { rawDigest, outcome }: CallEntry): Promise<void> {
  const [key] = carriedKeys(attempt);
  if (outcome?.status !== "ok" || key === undefined) return;
  try {
    await attempt.parts.sharedCache?.set(key, canonicalJson([rawDigest, outcome.json]), undefined);
  } catch {
    attempt.parts.logger.warn(`the first result of ${attempt.name} could not be kept in the cache`);
  }
}

/** @throws what the cache throws: without it nobody knows whether the tool ran, so it does not run */
async function recall(attempt: Attempt, run: TaskEntry): Promise<void> {
  const carried = await carriedBy(attempt);
  if (carried === undefined || run.calls.get(slotOf(attempt))?.outcome !== undefined) return;
  const pair: unknown = JSON.parse(carried);
  if (!Array.isArray(pair)) return;
  const [rawDigest, json]: unknown[] = pair;
  if (typeof rawDigest !== "string" || (typeof json !== "string" && json !== null)) return;
  run.calls.set(slotOf(attempt), { rawDigest, outcome: { status: "ok", json }, running: undefined });
}

async function carriedBy(attempt: Attempt): Promise<string | undefined> {
  const { sharedCache } = attempt.parts;
  if (sharedCache === undefined) return undefined;
  for (const key of carriedKeys(attempt)) {
    const carried = await sharedCache.get(key);
    if (carried !== undefined) return carried;
  }
  return undefined;
}
