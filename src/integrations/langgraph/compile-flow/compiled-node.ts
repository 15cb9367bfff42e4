// A flow node as a graph node: the step's gates, then the very visit that the local runner makes, then its writes and its way on.
//   N1  a join that another join of the step can still reach puts itself off (LangGraph starts all of them at once)
//   N2  what the flow knows about its past comes from sealed progress only; without it, or with another's, nothing runs
//   N3  whatever is sent to a node comes from outside and is dropped: the nodes of its step would not know of it
//   N4  what a visit comes to is written in one go, before a sibling's failure can make LangGraph abort it

import { FlowError, FlowLoopExceeded, type Executor } from "../../../index.js";
import {
  joinsToRun,
  partsOf,
  recallOutcome,
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
import { readState, readTask, scheduledOf, wasSent, writeAtOnce, type NodeConfig } from "../pregel-internals.js";
import { runInTask, type NodeRun } from "../run-in-task.js";
import { carriedWrite, replacedField } from "./field-channel.js";
import { capOf } from "./flow-app.js";
import { passStepGates, type StepAt } from "./gates.js";
import { PROGRESS_KEY, type FlowProgress, type Home, type ProgressSeals } from "./progress.js";
import { stepRunOf } from "./step-run.js";

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
    // N3
    if (wasSent(config)) {
      partsOf(executor).logger.warn(`what was sent to node "${node.name}" from outside of its flow was dropped`);
      return;
    }
    const step = stepRunOf(config);
    step.start(node.name);
    await step.beside(node.name, async () => {
      const names = stepNames(plan, node, config);
      const finished: StepAt["finished"] = (name, written) => hasFinished(compiled, config, { name, written });
      const at: StepAt = { plan, node, names, config, step, finished };
      // N1
      const output = names.includes(node.name)
        ? await runInTask(config, { executor, settings }, (run) => visitInGraph(compiled, at, run))
        : { state: [], next: [node.name] };
      // N4
      writeAtOnce(config, output);
    });
  };
}

/** The nodes of this step that run, in name order. */
function stepNames(plan: FlowPlan, node: PlanNode, config: NodeConfig): readonly string[] {
  const scheduled = scheduledOf(config, [...plan.nodes.keys()]);
  const joins = scheduled.filter((name) => plan.nodes.get(name)?.isJoin === true);
  if (node.isJoin && joins.includes(node.name)) return joinsToRun(plan, joins.toSorted());
  return scheduled.filter((name) => !joins.includes(name)).toSorted();
}

/** What a node wrote when it finished says so itself, sealed for the progress of this step. */
function hasFinished(
  { seals }: Compiled,
  config: NodeConfig,
  { name, written }: { readonly name: string; readonly written: readonly unknown[] },
): boolean {
  const after = progressIn(config)?.id ?? null;
  return written.some((value) => {
    const addition = seals.readAddition(value);
    return addition?.node === name && addition.after === after;
  });
}

async function visitInGraph(compiled: Compiled, at: StepAt, run: NodeRun): Promise<Output> {
  const { plan, executor, maxSteps } = compiled;
  const { node } = at;
  const known = knownOf(compiled, at);
  const { progress } = known;
  if (progress.steps >= maxSteps)
    throw new FlowLoopExceeded(`flow "${plan.name}" took ${maxSteps} steps, which is as many as it may`);
  const parts = partsOf(executor);
  const once = runEntry(parts, run.scope.context);
  for (const kept of progress.once) recallOutcome(once, kept);
  const state = await passStepGates(at, known.state, { executor, parts, scope: run.scope });
  const number = (progress.visits[node.name] ?? 0) + 1;
  const visit = { plan, node, number, state, counts: progress.counts };
  const visited = await at.step.within(capOf(at.config.configurable), () => visitNode(visit, executor, run.scope));
  const calls = [...once.calls].flatMap(([callId, { rawDigest, outcome }]) =>
    outcome === undefined ? [] : [{ callId, rawDigest, outcome }],
  );
  return outputOf(compiled, at, { known, state, visited, calls });
}

/** What a node knows when it starts. */
interface Known {
  readonly state: FlowState;
  readonly progress: FlowProgress;
}

function knownOf({ plan }: Compiled, { config, node }: StepAt): Known {
  const home = homeOf(config);
  const state = stateIn(plan, readState(config, [...plan.fields.keys()]));
  const progress = progressIn(config);
  if (progress === undefined)
    throw new FlowError(`node "${node.name}" was reached without the sealed progress of its flow; nothing was run`);
  if (progress.thread !== home.thread || progress.namespace !== home.namespace)
    throw new FlowError(
      `the sealed progress of flow "${plan.name}" belongs to another thread or graph; nothing was run`,
    );
  return { state, progress };
}

/** What is known of the run that the node belongs to; `undefined` before the first one of the thread. */
export function progressIn(config: NodeConfig): FlowProgress | undefined {
  // The channel gives progress and nothing else.
  return readState(config, [PROGRESS_KEY])[PROGRESS_KEY] as FlowProgress | undefined;
}

/** The thread and namespace of the graph that the node is in. */
export function homeOf(config: NodeConfig): Home {
  const { threadId, address } = readTask(config);
  return { thread: threadId, namespace: address.configurable.checkpoint_ns };
}

/** The channels give frozen JSON. */
function stateIn({ fields }: FlowPlan, values: Readonly<Record<string, unknown>>): FlowState {
  const present = [...fields.keys()].filter((field) => Object.hasOwn(values, field));
  return Object.freeze(Object.fromEntries(present.map((field) => [field, values[field] as JsonValue]))); // see above
}

type Output = Parameters<typeof writeAtOnce>[1];

interface Ended {
  readonly known: Known;
  /** What the visit saw: with edits in it. */
  readonly state: FlowState;
  readonly visited: Visited;
  readonly calls: readonly KeptOutcome[];
}

function outputOf(compiled: Compiled, { node, names }: StepAt, { known, state, visited, calls }: Ended): Output {
  const { plan, seals } = compiled;
  const replaced = node.pause === undefined ? [] : changedFields(known.state, state);
  const writes = [...visited.writes].flatMap(([field, values]) =>
    values.map((value): [string, unknown] => [field, carriedWrite(field, value)]),
  );
  const firsts = new Set(known.progress.once.map(({ callId }) => callId));
  const addition = seals.sealAddition({
    after: known.progress.id,
    node: node.name,
    step: names,
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
