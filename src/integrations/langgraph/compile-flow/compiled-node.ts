// A flow node as a graph node: the step's gates, then the very visit that the local runner makes, then its writes and its way on.
//   N1  a join that another join of the step can still reach puts itself off (LangGraph starts all of them at once)
//   N2  what the flow knows about its past comes from sealed progress only; without it, or with another's, nothing runs
//   N3  only the first node of a run is ever sent its input, and nothing runs beside it; whatever else is sent to a node comes from
//       outside and is dropped: the nodes of its step would not know of it

import { Command, Overwrite } from "@langchain/langgraph";
import { FlowError, FlowLoopExceeded, type Executor } from "../../../index.js";
import {
  joinsToRun,
  openSeal,
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
import { membersOf, nameIn } from "../members.js";
import type { NodeSettings } from "../node-settings.js";
import { readState, readTask, scheduledOf, sentAs, type NodeConfig } from "../pregel-internals.js";
import { runInTask, type NodeRun } from "../run-in-task.js";
import { carriedWrite } from "./field-channel.js";
import { capOf } from "./flow-app.js";
import { passStepGates, type StepAt } from "./gates.js";
import { NO_PROGRESS, PROGRESS_KEY, type FlowProgress, type Home, type ProgressSeals } from "./progress.js";
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

/** In the input of the first node of a run: the parsed input, sealed. */
export const BEGIN_KEY = "aa_begin";

/** Where sealed input opens: it was parsed for this flow and thread. */
export function inputOwner({ plan }: Compiled, thread: string): JsonValue {
  return ["input", plan.name, plan.fingerprint, thread];
}

type GraphNode = (input: unknown, config: StepAt["config"]) => Promise<Command>;

export function compiledNode(compiled: Compiled, node: PlanNode): GraphNode {
  const { plan, executor, settings } = compiled;
  return async (input, config) => {
    if (isFromOutside(compiled, node, { input, config })) {
      partsOf(executor).logger.warn(`what was sent to node "${node.name}" from outside of its flow was dropped`);
      return new Command({});
    }
    const step = stepRunOf(config);
    step.start(node.name);
    return step.beside(node.name, async () => {
      const names = stepNames(plan, node, config);
      // N1
      if (!names.includes(node.name)) return new Command({ goto: node.name });
      const finished: StepAt["finished"] = (name, written) => hasFinished(compiled, config, { name, written });
      const at: StepAt = { plan, node, names, config, step, finished };
      return runInTask(config, { executor, settings }, (run) => visitInGraph(compiled, at, { input, run }));
    });
  };
}

/** The nodes of this step that run, in name order. */
function stepNames(plan: FlowPlan, node: PlanNode, config: NodeConfig): readonly string[] {
  const scheduled = scheduledOf(config, [...plan.nodes.keys()]);
  const joins = scheduled.filter((name) => plan.nodes.get(name)?.isJoin === true);
  if (node.isJoin && joins.includes(node.name)) return joinsToRun(plan, joins.toSorted());
  // The first one of a run is sent its input, and has no channel that says so.
  return scheduled.length === 0 ? [node.name] : scheduled.filter((name) => !joins.includes(name)).toSorted();
}

/** N3 */
function isFromOutside({ plan }: Compiled, node: PlanNode, { input, config }: { input: unknown; config: NodeConfig }) {
  const sent = sentAs(config);
  if (sent === undefined) return false;
  const begins = sent === 0 && node.name === plan.start && Object.hasOwn(membersOf(input), BEGIN_KEY);
  return !begins || scheduledOf(config, [...plan.nodes.keys()]).length > 0;
}

/** What a node wrote when it finished says so itself, sealed for the progress of this step. */
function hasFinished(
  { seals }: Compiled,
  config: NodeConfig,
  { name, written }: { readonly name: string; readonly written: readonly unknown[] },
): boolean {
  const { [PROGRESS_KEY]: progress } = readState(config, [PROGRESS_KEY]);
  // The channel gives progress and nothing else.
  const after = (progress as FlowProgress | undefined)?.id ?? null;
  return written.some((value) => {
    const addition = seals.readAddition(value);
    return addition?.node === name && addition.after === after;
  });
}

interface Entered {
  readonly input: unknown;
  readonly run: NodeRun;
}

async function visitInGraph(compiled: Compiled, at: StepAt, { input, run }: Entered): Promise<Command> {
  const { plan, executor, maxSteps } = compiled;
  const { node } = at;
  const known = knownOf(compiled, at, input);
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
  return commandOf(compiled, at, { known, state, visited, calls });
}

/** What a node knows when it starts. */
interface Known {
  readonly state: FlowState;
  readonly progress: Pick<FlowProgress, "steps" | "visits" | "counts" | "once">;
  readonly after: string | null;
  readonly begins: Home | null;
  /** What the channels hold, which the writes go on top of. */
  readonly channels: FlowState;
}

function knownOf(compiled: Compiled, { config, node }: StepAt, input: unknown): Known {
  const { plan } = compiled;
  const home = homeOf(config);
  const members = membersOf(input);
  const held = readState(config, [...plan.fields.keys(), PROGRESS_KEY]);
  const channels = stateIn(plan, held);
  // The channel gives progress and nothing else.
  const progress = held[PROGRESS_KEY] as FlowProgress | undefined;
  const after = progress?.id ?? null;
  if (Object.hasOwn(members, BEGIN_KEY)) {
    const state = stateIn(plan, openInput(compiled, home, members[BEGIN_KEY]));
    return { state, progress: NO_PROGRESS, after, begins: home, channels };
  }
  if (progress === undefined)
    throw new FlowError(`node "${node.name}" was reached without the sealed progress of its flow; nothing was run`);
  if (progress.thread !== home.thread || progress.namespace !== home.namespace)
    throw new FlowError(
      `the sealed progress of flow "${plan.name}" belongs to another thread or graph; nothing was run`,
    );
  return { state: channels, progress, after, begins: null, channels };
}

/** The thread and namespace of the graph that the node is in. */
export function homeOf(config: NodeConfig): Home {
  const { threadId, address } = readTask(config);
  return { thread: threadId, namespace: address.configurable.checkpoint_ns };
}

function openInput(compiled: Compiled, { thread }: Home, sealed: unknown): Readonly<Record<string, unknown>> {
  return membersOf(
    openSeal(compiled.ring, { purpose: "checkpoint", owner: inputOwner(compiled, thread) }, nameIn(sealed)),
  );
}

/** The channels give frozen JSON, and an opened seal JSON of our own making. */
function stateIn({ fields }: FlowPlan, values: Readonly<Record<string, unknown>>): FlowState {
  const present = [...fields.keys()].filter((field) => Object.hasOwn(values, field));
  return Object.freeze(Object.fromEntries(present.map((field) => [field, values[field] as JsonValue]))); // see above
}

interface Ended {
  readonly known: Known;
  /** What the visit saw: with parsed input and edits in it. */
  readonly state: FlowState;
  readonly visited: Visited;
  readonly calls: readonly KeptOutcome[];
}

function commandOf(compiled: Compiled, { node }: StepAt, { known, state, visited, calls }: Ended): Command {
  const { plan, seals } = compiled;
  const replaced = node.pause !== undefined || known.begins !== null ? changedFields(known.channels, state) : [];
  const writes = [...visited.writes].flatMap(([field, values]) =>
    values.map((value): [string, unknown] => [field, carriedWrite(field, value)]),
  );
  const firsts = new Set(known.progress.once.map(({ callId }) => callId));
  const addition = seals.sealAddition({
    after: known.after,
    node: node.name,
    counts: visited.counts,
    once: calls.filter(({ callId }) => !firsts.has(callId)),
    singles: [...visited.writes.keys()].filter((field) => plan.fields.get(field)?.rule === undefined),
    begins: known.begins,
  });
  return new Command({ update: [...replaced, ...writes, [PROGRESS_KEY, addition]], goto: [...visited.goto] });
}

/** Values that are not in the channels yet: parsed input, or a reviewer's edit. */
function changedFields(channels: FlowState, state: FlowState): [string, unknown][] {
  return Object.entries(state).flatMap(([field, value]): [string, unknown][] =>
    channels[field] === value || sameJson(channels[field], value)
      ? []
      : [[field, new Overwrite(carriedWrite(field, value))]],
  );
}
