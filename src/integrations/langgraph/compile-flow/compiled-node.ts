// A flow node as a graph node: the step's gates, then the very visit that the local runner makes, then its writes and its way on.
//   N1  a join that another join of the step can still reach puts itself off (LangGraph starts all of them at once)
//   N2  what the flow knows about its past comes from sealed progress only; without it, or with another's, nothing runs
//   N3  whatever is sent to a node, or led to by anything but the flow, comes from outside and is dropped; when something that the flow
//       led to is missing, nothing runs
//   N4  what a visit comes to is written in one go, before a sibling's failure can make LangGraph abort it

import { FlowError, type Executor } from "../../../index.js";
import {
  finishedCalls,
  nextStep,
  partsOf,
  recallOutcome,
  refuseMoreSteps,
  holding,
  runEntry,
  sameJson,
  visitNode,
  type FlowPlan,
  type FlowState,
  type JsonValue,
  type KeptOutcome,
  type KeyRing,
  type PlanNode,
  type Visited,
} from "../../../spi.js";
import type { NodeSettings } from "../node-settings.js";
import { homeOf, readState, scheduledOf, wasSent, writeAtOnce, type NodeConfig } from "../pregel-internals.js";
import { runInTask, type NodeRun } from "../run-in-task.js";
import { carriedWrite, replacedField } from "./field-channel.js";
import { capOf } from "./flow-app.js";
import { passStepGates, type StepAt } from "./gates.js";
import { PROGRESS_KEY, type FlowProgress, type ProgressSeals } from "./progress.js";
import { stepRunOf, type StepNames } from "./step-run.js";

/** What a flow was compiled with. */
export interface Compiled {
  readonly plan: FlowPlan;
  readonly executor: Executor;
  readonly settings: NodeSettings;
  readonly ring: KeyRing;
  readonly seals: ProgressSeals;
  readonly maxSteps: number;
}

type GraphNode = (input: unknown, config: StepAt["config"]) => Promise<void>;

export function compiledNode(compiled: Compiled, node: PlanNode): GraphNode {
  const { plan, executor, settings } = compiled;
  return async (_input, config) => {
    const step = stepRunOf(config);
    step.start(node.name);
    await step.beside(node.name, async () => {
      const progress = wasSent(config) ? undefined : ownProgress(compiled, node, config);
      const names = progress && step.namesFor(progress.id, () => stepNames(plan, progress, config));
      // N3
      if (progress === undefined || names?.scheduled.includes(node.name) !== true) {
        partsOf(executor).logger.warn(`node "${node.name}" was led to from outside of its flow; it did not run`);
        return;
      }
      const finished: StepAt["finished"] = (name, written) => hasFinished(compiled, progress, { name, written });
      const at: StepAt = { plan, node, names, config, step, finished };
      // N1
      const output = names.running.includes(node.name)
        ? await runInTask(config, { executor, settings }, (run) => visitInGraph(compiled, at, { run, progress }))
        : { state: [], next: [node.name] };
      // N4
      writeAtOnce(config, output);
    });
  };
}

/**
 * The nodes of this step, as the sealed progress says; LangGraph's schedule must have all of them.
 *
 * @throws FlowError when something is missing: the flow was changed from outside
 */
function stepNames(plan: FlowPlan, progress: FlowProgress, config: NodeConfig): StepNames {
  const { ready, joins } = progress;
  const scheduled = ready.length > 0 ? ready : joins;
  const there = new Set(scheduledOf(config, scheduled));
  const missing = scheduled.find((name) => !there.has(name));
  if (missing !== undefined)
    throw new FlowError(`flow "${plan.name}": node "${missing}" is to run now and was taken out; nothing was run`);
  const running = nextStep(plan, progress);
  return { scheduled, running, gated: running.filter((name) => plan.nodes.get(name)?.pause !== undefined) };
}

/** What a node wrote when it finished says so itself, sealed for the progress of this step. */
function hasFinished(
  { seals }: Compiled,
  progress: FlowProgress,
  { name, written }: { readonly name: string; readonly written: readonly unknown[] },
): boolean {
  return written.some((value) => {
    const addition = seals.openAddition(value);
    return addition?.node === name && addition.after === progress.id;
  });
}

interface Started {
  readonly run: NodeRun;
  readonly progress: FlowProgress;
}

async function visitInGraph(compiled: Compiled, at: StepAt, { run, progress }: Started): Promise<Output> {
  const { plan, executor, maxSteps } = compiled;
  const { node, config } = at;
  refuseMoreSteps(plan, progress.steps, maxSteps);
  const parts = partsOf(executor);
  const once = runEntry(parts, run.scope.context);
  for (const kept of progress.once) recallOutcome(once, kept);
  // What is known of the run must not be forgotten before what it adds is sealed, however much else the process remembers.
  return holding(once, async () => {
    const known = { state: stateIn(plan, config), progress };
    const gates = { executor, parts, scope: run.scope };
    const state = at.names.gated.length === 0 ? known.state : await passStepGates(at, known.state, gates);
    const number = (progress.visits[node.name] ?? 0) + 1;
    const visit = { plan, node, number, state, counts: progress.counts };
    const visited = await at.step.within(capOf(config.configurable), () => visitNode(visit, executor, run.scope));
    return outputOf(compiled, at, { known, state, visited, calls: finishedCalls(once) });
  });
}

/** What a node knows when it starts. */
interface Known {
  readonly state: FlowState;
  readonly progress: FlowProgress;
}

/** @throws FlowError: N2 */
function ownProgress(compiled: Compiled, node: PlanNode, config: NodeConfig): FlowProgress {
  const progress = progressIn(compiled, config);
  if (progress === undefined)
    throw new FlowError(`node "${node.name}" was reached without the sealed progress of its flow; nothing was run`);
  const home = homeOf(config);
  if (progress.thread === home.thread && progress.namespace === home.namespace) return progress;
  throw new FlowError(
    `the sealed progress of flow "${compiled.plan.name}" belongs to another thread or graph; nothing was run`,
  );
}

/** What is known of the run that the node belongs to; `undefined` before the first one of the thread. @throws FlowError */
export function progressIn({ seals }: Compiled, config: NodeConfig): FlowProgress | undefined {
  const { [PROGRESS_KEY]: sealed } = readState(config, [PROGRESS_KEY]);
  return sealed === undefined ? undefined : seals.openProgress(sealed);
}

/** The channels give frozen JSON. */
function stateIn({ fields }: FlowPlan, config: NodeConfig): FlowState {
  return Object.freeze(readState(config, [...fields.keys()]) as Record<string, JsonValue>); // see above
}

type Output = Parameters<typeof writeAtOnce>[1];

interface Ended {
  readonly known: Known;
  /** What the visit saw: with edits in it. */
  readonly state: FlowState;
  readonly visited: Visited;
  readonly calls: readonly KeptOutcome[];
}

function outputOf(compiled: Compiled, { node }: StepAt, { known, state, visited, calls }: Ended): Output {
  const { plan, seals } = compiled;
  const replaced = node.pause === undefined ? [] : changedFields(known.state, state);
  const writes = [...visited.writes].flatMap(([field, values]) =>
    values.map((value): [string, unknown] => [field, carriedWrite(field, value)]),
  );
  const firsts = new Set(known.progress.once.map(({ callId }) => callId));
  const addition = seals.sealAddition({
    after: known.progress.id,
    node: node.name,
    next: visited.goto,
    counts: visited.counts,
    once: calls.filter(({ callId }) => !firsts.has(callId)),
    singles: [...visited.writes.keys()].filter((field) => plan.fields.get(field)?.rule === undefined),
  });
  return { state: [...replaced, ...writes, [PROGRESS_KEY, addition]], next: visited.goto };
}

/** Values that are not in the channels yet: a reviewer's edit. */
function changedFields(channels: FlowState, state: FlowState): [string, unknown][] {
  return Object.entries(state).flatMap(([field, value]): [string, unknown][] =>
    channels[field] === value || sameJson(channels[field], value) ? [] : [[field, replacedField(field, value)]],
  );
}
