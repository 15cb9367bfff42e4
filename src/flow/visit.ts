// One visit of one node: its work with timeout and retries, what it writes, and where it leads. The local runner and the LangGraph
// compiler call this very function, so that a flow behaves the same in both.
//   V1  everything that ends a visit is decided in it: a loop over its cap or a wrong write fails the visit, and nothing of it counts
//   V2  an attempt starts from the top; what finished in an earlier attempt, here or before a pause, replays
//   V3  a pause, an abort and an answer for the model are never retried
//   V4  a visit is over when the calls it started are: one that runs on beside a pause or a failure would be missing in what is kept
//       of the visit, and run again; an abort leaves them behind. Once it is over, its code starts nothing more

import { backoffMs } from "../async/backoff.js";
import { untilAborted, withDeadline } from "../async/deadline.js";
import { randomFraction } from "../crypto/random.js";
import { isAgentAdapterError, ToolTimeout, ToolUsageError } from "../errors.js";
import { isControlFlow, isHostSignal } from "../executor/control-flow.js";
import { partsOf, type Executor } from "../executor/executor.js";
import { hiddenFailure } from "../executor/run-many.js";
import { GATE_CALL } from "../executor/run-gate.js";
import { enterScope, type Scope } from "../executor/scope.js";
import type { TaskRun } from "../journal/task-run.js";
import type { AnyToolSpec } from "../tools/spec.js";
import { onward, type LoopCounts, type Onward } from "./loops.js";
import type { CallNode, FlowCallOptions, FlowContext, FlowFunction, MapNode } from "./nodes.js";
import type { FlowPlan, PlanNode } from "./plan.js";
import { checkWrites, withWrites, writesTo, type FlowState, type Writes } from "./state.js";

export interface Visit {
  readonly plan: FlowPlan;
  readonly node: PlanNode;
  /** 1 for the first visit of this node in this run. */
  readonly number: number;
  /** What every node of the step sees. */
  readonly state: FlowState;
  readonly counts: LoopCounts;
}

/** What a visit came to. */
export interface Visited extends Onward {
  /** What it writes to the state. */
  readonly writes: Writes;
}

/**
 * Run the visit in its task run.
 *
 * @throws whatever the node throws; FlowError, FlowLoopExceeded, ToolTimeout; the host's pause
 */
export async function visitNode(visit: Visit, executor: Executor, scope: Scope): Promise<Visited> {
  const writes = await withRetries(visit, executor, scope);
  const { plan, node, state, counts } = visit;
  return { writes, ...onward(plan, node, withWrites(plan.fields, state, node.name, writes), counts) };
}

async function withRetries(visit: Visit, executor: Executor, scope: Scope): Promise<Writes> {
  const { retry } = visit.node;
  const { clock } = partsOf(executor);
  const runSignal = scope.context.signal;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withinTime(visit, executor, { scope, attempt });
    } catch (error) {
      // Whatever a node throws once it was told to stop, the reason to stop is what happened.
      if (runSignal?.aborted === true && !isHostSignal(error)) throw runSignal.reason;
      // A pause stays one, also when code caught it and threw something else.
      const isOver = attempt >= retry.maxAttempts || scope.task.host.raised !== undefined;
      if (isOver || !mayRetry(visit, error, runSignal)) throw error;
      await clock.sleep(
        backoffMs(retry, attempt, randomFraction()),
        AbortSignal.any(runSignal === undefined ? [] : [runSignal]),
      );
    }
  }
}

const RETRIED: ReadonlySet<string> = new Set(["ToolFailed", "ToolTimeout", "StoreUnavailable"]);

/** What a repeat may mend: failures of tools and stores, and whatever a node function throws itself. */
function mayRetry({ node }: Visit, error: unknown, signal: AbortSignal | undefined): boolean {
  if (isControlFlow(error, signal)) return false;
  if (isAgentAdapterError(error) && !RETRIED.has(error.kind)) return false;
  const { retryOn } = node.retry;
  return retryOn === undefined || retryOn(error) === true;
}

interface AttemptAt {
  readonly scope: Scope;
  readonly attempt: number;
}

function withinTime(visit: Visit, executor: Executor, at: AttemptAt): Promise<Writes> {
  const { name, timeoutMs: ms } = visit.node;
  const { signal } = at.scope.context;
  if (ms === undefined) return workOf(visit, executor, at);
  const { clock } = partsOf(executor);
  const expired = () => new ToolTimeout(`node "${name}" took longer than ${ms} ms`);
  return withDeadline({ clock, ms, signal, expired }, (own) => {
    const context = { ...at.scope.context, signal: own };
    return workOf(visit, executor, { ...at, scope: { ...at.scope, context } });
  });
}

/** Each attempt numbers its calls from the start. */
async function workOf(visit: Visit, executor: Executor, { scope, attempt }: AttemptAt): Promise<Writes> {
  const task = scope.task.again(scope.context.signal);
  const within = { ...scope, task };
  return task.attempt(async () => {
    try {
      return await enterScope(within, () => work(visit, executor, { scope: within, attempt }));
    } finally {
      await callsEnded(task);
    }
  });
}

/** V4 */
async function callsEnded(task: TaskRun): Promise<void> {
  await task.allDecided();
  for (;;) {
    const own = [...task.entry.calls.values()].flatMap(({ running }) =>
      running?.owner === task ? [running.settled] : [],
    );
    if (own.length === 0) {
      task.close();
      return;
    }
    // They never reject. Those that were waited for may have started others.
    await untilAborted(task.signal, Promise.all(own));
  }
}

function work(visit: Visit, executor: Executor, at: AttemptAt): Promise<Writes> {
  const { node } = visit;
  if (typeof node.work === "function") return runFunction(visit, node.work, contextOf(visit, executor, at));
  switch (node.work.kind) {
    case "call":
      return runCallNode(visit, executor, node.work);
    case "map":
      return runMapNode(visit, executor, node.work);
    case "join":
      return runFunction(visit, node.work.run, contextOf(visit, executor, at));
  }
}

type AnyFunction = FlowFunction<never, never> | undefined;

async function runFunction({ plan, node, state }: Visit, run: AnyFunction, ctx: FlowContext): Promise<Writes> {
  return checkWrites(plan.fields, node.name, await run?.(typed(state), ctx));
}

async function runCallNode({ node, state }: Visit, executor: Executor, call: CallNode<never, never>): Promise<Writes> {
  const { tool, spec, args, into } = call;
  const result = await executor.run(registered(executor, tool, spec), args(typed(state)), { callId: "call" });
  return writesTo(into, node.name, [result]);
}

async function runMapNode(
  { plan, node, state }: Visit,
  executor: Executor,
  map: MapNode<never, never>,
): Promise<Writes> {
  const { tool, spec, over, overName, args, into, concurrency } = map;
  const name = registered(executor, tool, spec);
  const items: unknown = over(typed(state));
  if (!Array.isArray(items))
    throw new ToolUsageError(`node "${node.name}" maps over "${overName}", which holds no list`);
  const calls = items.map((item: unknown, index) => ({
    tool: name,
    args: args(typed(item), typed(state), index),
    callId: `item-${index}`,
  }));
  const outcomes = await executor.runMany(calls, concurrency === undefined ? {} : { concurrency });
  const failure = hiddenFailure(outcomes) ?? outcomes.find((outcome) => outcome.status === "rejected");
  if (failure !== undefined) throw failure.reason;
  const results = outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : undefined));
  return writesTo(into, node.name, plan.fields.get(into)?.rule === undefined ? [results] : results);
}

/** The builder's types say that a node's functions take this flow's state, and items of the list they map over. */
function typed(value: unknown): never {
  return value as never; // see above
}

/**
 * Every tool that a node of the flow calls is registered: looked at before anything runs.
 *
 * @throws ToolUsageError naming each node whose tool is not
 */
export function checkTools({ name, nodes }: FlowPlan, executor: Executor): void {
  const missing = [...nodes.values()].flatMap((node) => {
    if (typeof node.work === "function" || node.work.kind === "join") return [];
    const { tool, spec } = node.work;
    const found = executor.registry.get(tool);
    return found !== undefined && (spec === undefined || found === spec) ? [] : [`"${node.name}" (${tool})`];
  });
  if (missing.length === 0) return;
  throw new ToolUsageError(
    `flow "${name}" calls tools that the executor's registry does not have: ${missing.join(", ")}`,
  );
}

/** Runs by name: another tool of that name must not run instead. */
function registered(executor: Executor, tool: string, spec: AnyToolSpec | undefined): string {
  if (spec === undefined || executor.registry.get(tool) === spec) return tool;
  throw new ToolUsageError(`${tool} is not registered in the executor's registry`, { tool });
}

function contextOf({ node, number }: Visit, executor: Executor, { scope, attempt }: AttemptAt): FlowContext {
  const { context } = scope;
  const source = context.signal;
  let signal: AbortSignal | undefined;
  const run = async (tool: string | AnyToolSpec, args: unknown, { callId }: FlowCallOptions = {}): Promise<unknown> => {
    // A visit that was left behind does nothing more.
    source?.throwIfAborted();
    const name = typeof tool === "string" ? tool : registered(executor, tool.name, tool);
    if (callId === GATE_CALL && node.pause !== undefined)
      throw new ToolUsageError(
        `node "${node.name}": its gate has the call id "${GATE_CALL}"; give the call another one`,
      );
    return enterScope(scope, () => executor.run(name, args, callId === undefined ? {} : { callId }));
  };
  return {
    runId: context.runId,
    threadId: context.threadId,
    node: node.name,
    visit: number,
    attempt,
    // A signal of its own: a hundred calls must not pile their listeners onto the one of the run.
    get signal() {
      signal ??= AbortSignal.any(source === undefined ? [] : [source]);
      return signal;
    },
    principal: context.principal,
    metadata: context.metadata,
    log: partsOf(executor).logger,
    // The overload by spec gives what the spec says; `registered` has seen that it is the one that runs.
    run: run,
  };
}
