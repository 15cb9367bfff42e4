// A batch of calls: all are prepared, those that ask nobody run, then the asking ones run one by one, so that each pause
// asks one question and what could finish has finished.
//   M1  nothing is thrown while another call of the batch is still running
//   M2  a failure the model may not read stops the batch before a human is asked

import { checkConcurrency, settleAll } from "../async/limit.js";
import { isAgentAdapterError } from "../errors.js";
import type { JsonObject } from "../crypto/canonical-json.js";
import type { Attempt } from "./attempt.js";
import { isHostSignal } from "./control-flow.js";
import type { ExecutorParts } from "./parts.js";
import { performCall, prepareCall, type CallRequest } from "./run-call.js";
import type { Scope } from "./scope.js";

/** How one call of a batch ended, in the terms of `Promise.allSettled`. */
export type CallOutcome = PromiseSettledResult<unknown> & {
  /** The id of the call, given or made. */
  readonly callId: string;
  /** What ran instead, when a reviewer edited the arguments; also on a replay. */
  readonly editedArguments: JsonObject | undefined;
};

interface BatchOptions {
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Settled outcomes in input order.
 *
 * @throws whatever control flow a call ended with (a pause, an abort), once the others have settled; and a failure the model
 * may not read when calls that need a human are still waiting to be asked
 */
export async function runBatch(
  parts: ExecutorParts,
  scope: Scope,
  calls: readonly CallRequest[],
  { concurrency, signal }: BatchOptions,
): Promise<CallOutcome[]> {
  checkConcurrency(concurrency);
  const prepared = await Promise.all(calls.map((call) => prepareCall(parts, scope, { ...call, signal })));
  const asking = prepared.filter((attempt) => isAsking(attempt));
  const plain = prepared.filter((attempt) => !isAsking(attempt));
  const results = new Map<Attempt, PromiseSettledResult<unknown>>();
  try {
    await runPrepared({ plain, asking, results }, { concurrency, signal });
  } catch (error) {
    await leave(
      asking.filter((attempt) => !results.has(attempt)),
      error,
    );
    throw error;
  }
  return prepared.map((attempt) => outcome(attempt, results));
}

function isAsking({ settled, needsHuman }: Attempt): boolean {
  return settled === undefined && needsHuman;
}

interface Prepared {
  readonly plain: readonly Attempt[];
  readonly asking: readonly Attempt[];
  readonly results: Map<Attempt, PromiseSettledResult<unknown>>;
}

async function runPrepared({ plain, asking, results }: Prepared, { concurrency, signal }: BatchOptions): Promise<void> {
  const settled = await runPlain(plain, results, concurrency);
  throwControlFlow(settled, signal);
  if (asking.length > 0) throwHiddenFailure(settled);
  for (const attempt of asking) {
    // One at a time is the promise: each pause asks one question.
    const [result] = await settleAll([() => performCall(attempt)], 1);
    if (result === undefined) continue;
    results.set(attempt, result);
    throwControlFlow([result], signal);
    if (attempt !== asking.at(-1)) throwHiddenFailure([result]);
  }
}

/** Calls that the batch does not reach any more: nothing of them runs, their entries are closed, what hooks held is let go. */
async function leave(attempts: readonly Attempt[], error: unknown): Promise<void> {
  for (const attempt of attempts) attempt.settled = { ok: false, error, lost: true };
  await Promise.allSettled(attempts.map((attempt) => performCall(attempt)));
}

/** What prepare settled runs nothing, so it may end beside anything. */
function isSafe(attempt: Attempt): boolean {
  return attempt.settled !== undefined || attempt.spec?.parallelSafe === true;
}

/** Parallel-safe calls share a pool; beside it the others run one at a time. */
async function runPlain(
  plain: readonly Attempt[],
  results: Map<Attempt, PromiseSettledResult<unknown>>,
  concurrency: number,
): Promise<PromiseSettledResult<unknown>[]> {
  const lanes = [
    { lane: plain.filter(isSafe), width: concurrency },
    { lane: plain.filter((attempt) => !isSafe(attempt)), width: 1 },
  ];
  const settled = await Promise.all(
    lanes.map(async ({ lane, width }) => {
      const ended = await settleAll(
        lane.map((attempt) => () => performCall(attempt)),
        width,
      );
      lane.forEach((attempt, index) => results.set(attempt, settledAt(ended, index)));
      return ended;
    }),
  );
  return settled.flat();
}

function outcome(attempt: Attempt, results: ReadonlyMap<Attempt, PromiseSettledResult<unknown>>): CallOutcome {
  const result = results.get(attempt) ?? { status: "rejected", reason: new Error("internal: a call was not run") };
  return { ...result, callId: attempt.callId, editedArguments: attempt.edit ?? recordedEdit(attempt) };
}

/** A replayed call says what ran, too. */
export function recordedEdit({ task, callId }: Attempt): JsonObject | undefined {
  const ask = task.askOf(callId);
  const decision = ask && task.entry.marks.get(ask.binding)?.decision;
  return decision?.approved === true ? decision.editedArgs : undefined;
}

function settledAt(results: readonly PromiseSettledResult<unknown>[], index: number): PromiseSettledResult<unknown> {
  return results[index] ?? { status: "rejected", reason: new Error("internal: a call was not run") };
}

/** A call that failed before an abort keeps its failure: what stops the batch is the abort's own reason. */
function throwControlFlow(results: readonly PromiseSettledResult<unknown>[], signal: AbortSignal | undefined): void {
  for (const result of results) {
    if (result.status !== "rejected") continue;
    const { reason }: { readonly reason: unknown } = result;
    if (isHostSignal(reason) || (signal?.aborted === true && reason === signal.reason)) throw reason;
  }
}

/** The error of a call that failed in a way the model may not read. */
export function hiddenFailure(
  results: readonly PromiseSettledResult<unknown>[],
): { readonly reason: unknown } | undefined {
  return results.find(isHidden);
}

function isHidden(result: PromiseSettledResult<unknown>): result is PromiseRejectedResult {
  return result.status === "rejected" && !isModelVisible(result.reason);
}

function isModelVisible(error: unknown): boolean {
  return isAgentAdapterError(error) && error.modelVisible;
}

function throwHiddenFailure(results: readonly PromiseSettledResult<unknown>[]): void {
  const failure = hiddenFailure(results);
  if (failure !== undefined) throw failure.reason;
}
