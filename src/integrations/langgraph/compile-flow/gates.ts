// Gates in a compiled flow: every node of a step passes all gates of the step before anything else of it runs. Its own gate it asks
// itself, so that a gate is an ordinary approval of its node; of the others it waits to hear.
//   G1  gates are passed one by one, in node-name order; a node behind a gate that is not passed stops without having run
//   G2  which nodes run in the step is LangGraph's schedule, not state that somebody may have written

import { GraphInterrupt } from "@langchain/langgraph";
import type { Executor } from "../../../index.js";
import {
  passGate,
  withEdit,
  type ExecutorParts,
  type FlowPlan,
  type FlowState,
  type PlanNode,
  type Scope,
} from "../../../spi.js";
import { readTask, type NodeConfig } from "../pregel-internals.js";
import { gateMarkBeside } from "../task-journal.js";
import type { GateEnd, StepRun } from "./step-run.js";

export interface StepAt {
  readonly plan: FlowPlan;
  readonly node: PlanNode;
  /** The nodes of the step, in name order. */
  readonly names: readonly string[];
  readonly config: NodeConfig & { readonly maxConcurrency?: number | undefined };
  readonly step: StepRun;
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
  for (const name of at.names) {
    if (at.plan.nodes.get(name)?.pause === undefined) continue;
    if (name === at.node.name) {
      const before = passed;
      passed = await passGate({ plan: at.plan, node: at.node, state: before }, executor, scope);
      at.step.closeGate(name, { status: "passed", edit: editOf(before, passed) });
    } else {
      const end = await gateBeside(at, parts, name);
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

async function gateBeside({ config, names, step }: StepAt, parts: ExecutorParts, name: string): Promise<GateEnd> {
  if (!step.hasStarted(name)) {
    const pregel = readTask(config);
    const mark = pregel.resuming ? await gateMarkBeside(pregel, parts.keys, name) : undefined;
    if (mark?.decision.approved === true) return { status: "passed", edit: mark.decision.editedArgs };
    // With a cap on concurrency it may be started only after this node has ended.
    if (config.maxConcurrency !== undefined && config.maxConcurrency < names.length) return { status: "closed" };
  }
  return step.gateOf(name);
}
