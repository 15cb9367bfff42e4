// Runs a flow in this process, step by step, and pauses into a sealed checkpoint. Owns the loop over the steps; what a step does is
// step.ts, which nodes come next is progress.ts.

import type { Answers } from "../../approvals/answering.js";
import { FlowError, ToolUsageError } from "../../errors.js";
import { GATE_CALL } from "../../executor/run-gate.js";
import type { TaskEntry } from "../../journal/process-state.js";
import { refuseNoObject } from "../../options.js";
import { restore } from "../../journal/snapshot.js";
import type { Checkpoint } from "../checkpoint/checkpoint.js";
import { definitionOf, type StateSchema } from "../definition.js";
import type { Flow, InputOf, StateOf } from "../flow.js";
import { refuseMoreSteps } from "../loops.js";
import type { FlowPlan } from "../plan.js";
import { isStateOf, parseInput } from "../state.js";
import { openRun, settle, type OpenRun, type ResumeFlowOptions, type RunFlowOptions } from "./open-run.js";
import { pendingOf, takeAnswers } from "./pending.js";
import { advance, begin, nextStep, visitsOf, type Progress } from "./progress.js";
import { withCheckpoint, type FlowResult } from "./result.js";
import { isOwnGrant, runStep, visitEntry, type Step, type StepEnd, type WaitingAsk } from "./step.js";

/**
 * Run a flow until it is done, waits for a human, or a human said no.
 *
 * @throws FlowError when flow, input or what a node returned cannot be used; ToolUsageError when an option cannot; FlowLoopExceeded; whatever a node throws. Errors that
 * end a run carry a checkpoint, see `checkpointOf`.
 * @example
 * const result = await runFlow(order, { item: "laptop" }, { executor });
 * if (result.status === "paused") show(result.pending.request);
 */
export async function runFlow<Schema extends StateSchema, Rules, Nodes extends string>(
  flow: Flow<Schema, Rules, Nodes>,
  input: InputOf<Schema>,
  options: RunFlowOptions<StateOf<Schema>>,
): Promise<FlowResult<StateOf<Schema>>> {
  refuseNoObject("runFlow", options);
  const { principal, runId, ...rest } = options;
  if (runId === "") throw new ToolUsageError("runFlow: runId must not be empty");
  const settled = settle("runFlow", definitionOf(flow), rest);
  const names = { ...(runId === undefined ? {} : { runId }), ...(principal === undefined ? {} : { principal }) };
  const state = await parseInput(settled.plan.fields, input);
  const run = openRun(settled, names);
  return typed<StateOf<Schema>>(
    await holding(run, () => drive(run, { from: begin(settled.plan, state), finished: new Map() })),
  );
}

/**
 * Go on from a checkpoint, in any process with the key: with a decision for what waits (several by binding), or with `null`
 * after a store decided or to try again after a failure.
 *
 * @throws FlowError when the checkpoint was changed, is of another flow, or under another key; nothing runs
 * @throws ToolUsageError when the answer is for nothing that waits; ApprovalAlreadyDecided when it was given before
 * @example
 * let result = await runFlow(order, { item: "laptop" }, { executor });
 * if (result.status === "paused") {
 *   result = await resumeFlow(order, result.checkpoint, approve({ by: "ana" }), { executor });
 * }
 */
export async function resumeFlow<Schema extends StateSchema, Rules, Nodes extends string>(
  flow: Flow<Schema, Rules, Nodes>,
  checkpoint: string,
  answers: Answers | null,
  options: ResumeFlowOptions<StateOf<Schema>>,
): Promise<FlowResult<StateOf<Schema>>> {
  refuseNoObject("resumeFlow", options);
  const { runId, ...rest } = options;
  const settled = settle("resumeFlow", definitionOf(flow), rest);
  const opened = settled.checkpoints.open(checkpoint);
  if (runId !== undefined && runId !== opened.runId) throw new FlowError("the checkpoint is of another run");
  checkAgainst(settled.plan, opened);
  const run = openRun(settled, {
    runId: opened.runId,
    ...(opened.principal === null ? {} : { principal: opened.principal }),
  });
  const result = await holding(run, async () => {
    recall(run, opened);
    if (answers !== null) await takeAnswers(run, opened, answers);
    return drive(run, { from: opened.progress, finished: new Map(opened.finished) });
  });
  return typed<StateOf<Schema>>(result);
}

async function holding<T>(run: OpenRun, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } finally {
    run.held.close();
  }
}

/** What the checkpoint says, put beside what this process knows itself. */
function recall(run: OpenRun, opened: Checkpoint): void {
  for (const answer of opened.answers) run.answers.set(answer.binding, answer);
  restore(run.held.run, opened.once);
  for (const [node, snapshot] of opened.tasks) {
    restore(visitEntry(run, opened.progress, node), snapshot);
    // A gate that the checkpoint saw passed was passed by this run; one without an end was another's.
    if (!snapshot.calls.some(({ callId }) => callId === GATE_CALL)) continue;
    for (const { record } of snapshot.marks) if (record.request.kind === "gate") run.used.add(record.binding);
  }
}

type AnyResult = FlowResult<unknown>;

function typed<State>(result: AnyResult): FlowResult<State> {
  // The state was parsed by the flow's schema, and writes to it were typed by the builder.
  return result as FlowResult<State>;
}

async function drive(run: OpenRun, start: Pick<Step, "from" | "finished">): Promise<AnyResult> {
  let step: Step = { ...start, names: nextStep(run.plan, start.from) };
  for (;;) {
    const { from, names } = step;
    if (names.length === 0) return { status: "done", ...endedAt(from) };
    const end = await endOfStep(run, step);
    switch (end.status) {
      case "paused":
        return paused(run, step, end.waiting);
      case "denied":
        return { status: "denied", ...endedAt(from), node: end.node, error: end.error };
      case "failed":
        throw withCheckpoint(end.error, seal(run, step), run.context.runId);
      case "done":
        step = await nextAfter(run, step, end.state);
    }
  }
}

function endedAt(progress: Progress) {
  return { state: progress.state, steps: progress.steps, visits: visitsOf(progress) };
}

async function endOfStep(run: OpenRun, step: Step): Promise<StepEnd> {
  const { plan, maxSteps, signal } = run;
  try {
    refuseMoreSteps(plan, step.from.steps, maxSteps);
  } catch (error) {
    return { status: "failed", error };
  }
  if (signal?.aborted === true) return { status: "failed", error: signal.reason };
  return runStep(run, step);
}

async function nextAfter(run: OpenRun, step: Step, state: Progress["state"]): Promise<Step> {
  let from: Progress;
  try {
    from = advance(run.plan, step.from, step.finished, state);
  } catch (error) {
    throw withCheckpoint(error, seal(run, step), run.context.runId);
  }
  run.held.release();
  // They were for requests of the step that is over.
  run.answers.clear();
  const next = { from, names: nextStep(run.plan, from), finished: new Map<string, never>() };
  try {
    await run.onStep?.({
      step: from.steps,
      // The report's state has the type of the flow that `onStep` was given with.
      state: from.state as never,
      get visits() {
        return visitsOf(from);
      },
      checkpoint: () => seal(run, next),
    });
  } catch (error) {
    throw withCheckpoint(error, seal(run, next), run.context.runId);
  }
  return next;
}

function seal(run: OpenRun, step: Step): string {
  const { checkpoints, context, held, answers } = run;
  const tasks = new Map(step.names.map((node) => [node, ownPart(run, visitEntry(run, step.from, node))]));
  const used = new Set([...tasks.values()].flatMap(({ marks }) => [...marks.keys()]));
  return checkpoints.seal({
    runId: context.runId,
    principal: context.principal ?? null,
    progress: step.from,
    finished: step.finished,
    tasks,
    once: held.run,
    answers: [...answers.values()].filter(({ binding }) => !used.has(binding)),
  });
}

/** Without the end of a gate that another run passed: whoever goes on from this checkpoint is not let through by it. */
function ownPart(run: OpenRun, entry: TaskEntry): TaskEntry {
  if (isOwnGrant(run, entry)) return entry;
  return { ...entry, calls: new Map([...entry.calls].filter(([callId]) => callId !== GATE_CALL)) };
}

function paused(run: OpenRun, step: Step, waiting: readonly WaitingAsk[]): AnyResult {
  const pendings = waiting.map(pendingOf);
  const [pending] = pendings;
  if (pending === undefined) throw new Error("internal: a step paused for nothing");
  return { status: "paused", ...endedAt(step.from), pending, pendings, checkpoint: seal(run, step) };
}

/** The fingerprint is in the seal; this says that nothing in it names what the plan does not have. */
function checkAgainst(plan: FlowPlan, { progress, tasks, finished }: Checkpoint): void {
  const names = [...progress.ready, ...progress.joins, ...tasks.keys(), ...finished.keys()];
  if (names.every((name) => plan.nodes.has(name)) && isStateOf(plan.fields, progress.state)) return;
  throw new ToolUsageError("internal: a checkpoint of this flow names what the flow does not have; nothing was run");
}
