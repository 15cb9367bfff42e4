// Gates in a compiled flow: every node of a step passes all gates of the step before anything else of it runs. Its own gate it asks
// itself, so that a gate is an ordinary approval of its node; of the others it waits to hear.
//   G1  gates are passed one by one, in node-name order; a node behind a gate that is not passed stops without having run
//   G3  a node that has finished in an earlier invocation is not started again: its sealed grant says how its gate was passed, and for
//       which state
//   G2  which nodes run in the step is LangGraph's schedule, not state that somebody may have written

import { GraphInterrupt } from "@langchain/langgraph";
import { FlowError, type Executor } from "../../../index.js";
import {
  guardedBy,
  passGate,
  withDeadline,
  withEdit,
  type ExecutorParts,
  type FlowPlan,
  type FlowState,
  type Mark,
  type PlanNode,
  type Scope,
} from "../../../spi.js";
import { readTask, type NodeConfig } from "../pregel-internals.js";
import { gateRowsBeside } from "../task-journal.js";
import { PROGRESS_KEY } from "./progress.js";
import type { GateEnd, StepNames, StepRun } from "./step-run.js";

/** Far more than the start of a node takes. */
const STARTS_WITHIN_MS = 30_000;

export interface StepAt {
  readonly plan: FlowPlan;
  readonly node: PlanNode;
  readonly names: StepNames;
  readonly config: NodeConfig;
  readonly step: StepRun;
  /** Is one of these values what that node wrote when it finished in this step? */
  finished(node: string, written: readonly unknown[]): boolean;
}

/**
 * The state with the edits of all gates of the step.
 *
 * @throws the pause of the own gate, or an empty one that waits for another gate; ApprovalDenied, ApprovalExpired of the own gate
 */
export async function passStepGates(
  at: StepAt,
  state: FlowState,
  { executor, parts, scope }: { readonly executor: Executor; readonly parts: ExecutorParts; readonly scope: Scope },
): Promise<FlowState> {
  let passed = state;
  for (const name of at.names.gated) {
    if (name === at.node.name) {
      const before = passed;
      passed = await passGate({ plan: at.plan, node: at.node, state: before }, executor, scope);
      at.step.closeGate(name, { status: "passed", edit: editOf(before, passed) });
    } else {
      const end = await gateBeside(at, parts, { name, state: passed });
      // Nothing of this node has run, and nothing is lost: LangGraph runs it again with whoever waits.
      if (end.status === "closed") throw new GraphInterrupt([]);
      passed = withEdit(passed, end.edit);
    }
  }
  return passed;
}

/** What an edit changed: values are kept as they are, so those that are others were edited. */
function editOf(before: FlowState, after: FlowState): FlowState | undefined {
  if (before === after) return undefined;
  return Object.fromEntries(Object.entries(after).filter(([field, value]) => before[field] !== value));
}

interface Beside {
  readonly name: string;
  /** The state that its gate guards. */
  readonly state: FlowState;
}

async function gateBeside(at: StepAt, parts: ExecutorParts, { name, state }: Beside): Promise<GateEnd> {
  const { plan, config, step } = at;
  const pregel = readTask(config);
  if (!step.hasStarted(name) && pregel.resuming) {
    const { marks, written } = await gateRowsBeside(pregel, parts.keys, { node: name, channel: PROGRESS_KEY });
    // G3
    if (at.finished(name, written)) return passedBefore(nodeOf(plan, name), { plan, state, marks });
  }
  if (step.hasStarted(name)) return step.gateOf(name);
  // LangGraph starts all of a step at once. One that does not come was made to look finished by somebody else.
  const expired = () =>
    new FlowError(`node "${name}" did not come to its gate, and nothing says that it has run; nothing more was run`);
  const { clock } = parts;
  return withDeadline({ clock, ms: STARTS_WITHIN_MS, signal: config.signal, expired }, () => step.gateOf(name));
}

function passedBefore(
  node: PlanNode,
  { plan, state, marks }: { readonly plan: FlowPlan; readonly state: FlowState; readonly marks: readonly Mark[] },
): GateEnd {
  const guards = guardedBy(plan, node, state);
  // After a crash it may have been asked again: the last grant is the one that was passed with.
  const newestFirst = marks.toSorted((a, b) => b.record.request.generation - a.record.request.generation);
  for (const { record, decision } of newestFirst)
    if (record.rawDigest === guards && decision.approved) return { status: "passed", edit: decision.editedArgs };
  throw new FlowError(
    `node "${node.name}" has run, and nothing says that its gate was passed with this state; nothing more was run`,
  );
}

function nodeOf({ nodes }: FlowPlan, name: string): PlanNode {
  const node = nodes.get(name);
  if (node === undefined) throw new Error(`internal: no node ${name}`);
  return node;
}
