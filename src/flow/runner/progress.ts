// Where a run stands between two steps, and the rules that say which nodes run next. Pure data and functions.
//   P1  all ready nodes run in one step; a node that several ways reach runs once
//   P2  joins run when no other node is ready; of several, one that another ready join can still reach waits (if they reach each
//       other, the first by name runs)

import { applyWrites, type FlowState } from "../state.js";
import type { LoopCounts } from "../loops.js";
import { nodeOf, type FlowPlan } from "../plan.js";
import type { Visited } from "../visit.js";

export interface Progress {
  readonly state: FlowState;
  /** Finished steps. */
  readonly steps: number;
  /** Finished visits by node. A map: each step copies it, and a record of a thousand names is slow to copy. */
  readonly visits: ReadonlyMap<string, number>;
  readonly counts: LoopCounts;
  /** Nodes that run now, in name order. */
  readonly ready: readonly string[];
  /** Joins that a branch has reached, in name order. */
  readonly joins: readonly string[];
}

export function begin(plan: FlowPlan, state: FlowState): Progress {
  return { state, steps: 0, visits: new Map(), counts: {}, ...reached(plan, [], [plan.start]) };
}

/** Finished visits by node, for whoever called. */
export function visitsOf({ visits }: Progress): Readonly<Record<string, number>> {
  return Object.fromEntries(visits);
}

/** The nodes of the next step, in name order; none when the run is over. */
export function nextStep(plan: FlowPlan, { ready, joins }: Pick<Progress, "ready" | "joins">): readonly string[] {
  return ready.length > 0 ? ready : joinsToRun(plan, joins);
}

/** P2: of the joins that are ready, those that run now. */
function joinsToRun(plan: FlowPlan, joins: readonly string[]): readonly string[] {
  const reach = (from: string, to: string) => from !== to && nodeOf(plan, from).reaches.has(to);
  return joins.filter((join) => joins.every((other) => !reach(other, join) || (reach(join, other) && join < other)));
}

/**
 * The next boundary: all writes of the step at once, all ways taken.
 *
 * @throws FlowError of the merge
 */
export function advance(
  plan: FlowPlan,
  from: Progress,
  step: ReadonlyMap<string, Visited>,
  state: FlowState,
): Progress {
  const writes = [...step].map(([node, { writes: written }]) => [node, written] as const);
  const left = from.joins.filter((join) => !step.has(join));
  const visits = new Map(from.visits);
  for (const node of step.keys()) visits.set(node, (visits.get(node) ?? 0) + 1);
  return {
    state: applyWrites(plan.fields, state, writes),
    steps: from.steps + 1,
    visits,
    counts: Object.assign({}, from.counts, ...[...step.values()].map(({ counts }) => counts)),
    ...reached(
      plan,
      left,
      [...step.values()].flatMap(({ goto }) => goto),
    ),
  };
}

/** P1: the next step's nodes, and the joins that wait with them. */
export function reached(
  plan: FlowPlan,
  joins: readonly string[],
  names: readonly string[],
): Pick<Progress, "ready" | "joins"> {
  const isJoin = (name: string) => nodeOf(plan, name).isJoin;
  return {
    ready: sorted(names.filter((name) => !isJoin(name))),
    joins: sorted([...joins, ...names.filter(isJoin)]),
  };
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}
