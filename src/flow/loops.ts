// Which way a node goes on: its edges and what its routes choose, within their caps. Pure: counts in, ways and counts out.

import { FlowError, FlowLoopExceeded } from "../errors.js";
import type { FlowState } from "./state.js";
import type { FlowPlan, PlanEdge, PlanNode } from "./plan.js";

/** How often each way was taken in this run, by `wayKey`. Only ways with a cap are counted. */
export type LoopCounts = Readonly<Record<string, number>>;

export interface Onward {
  readonly goto: readonly string[];
  /** The counts that changed. */
  readonly counts: LoopCounts;
}

/** Steps a run may take, resumes included, when nobody says otherwise. */
export const MAX_STEPS = 100;

/**
 * Refuses another step of a run that took as many as it may.
 *
 * @throws FlowLoopExceeded when a run that has finished so many steps may not take another
 */
export function refuseMoreSteps({ name }: FlowPlan, steps: number, maxSteps: number): void {
  if (steps < maxSteps) return;
  throw new FlowLoopExceeded(`flow "${name}" took ${maxSteps} steps, which is as many as it may`);
}

/** Names are plain, so the text says which way it is. */
function wayKey(from: string, to: string): string {
  return `${from}>${to}`;
}

/**
 * Where a node leads to after it ran.
 *
 * @throws FlowLoopExceeded when a way may not be taken again and there is no other
 * @throws FlowError when a route chooses what is no target of it
 */
export function onward(plan: FlowPlan, node: PlanNode, state: FlowState, counts: LoopCounts): Onward {
  const chosen = node.routes.flatMap(({ choose, ways }) => {
    // The builder's types say that the function takes this flow's state.
    const targets: unknown = choose(state as never);
    return (Array.isArray(targets) ? targets : [targets]).map((target: unknown) => wayTo(node, ways, target));
  });
  const goto = new Set<string>();
  const changed: Record<string, number> = {};
  for (const way of new Set([...node.edges, ...chosen])) {
    const key = wayKey(node.name, way.to);
    const taken = changed[key] ?? counts[key] ?? 0;
    if (way.maxLoops === undefined || taken < way.maxLoops) {
      if (way.maxLoops !== undefined) changed[key] = taken + 1;
      goto.add(way.to);
    } else if (way.orElse !== undefined) goto.add(way.orElse);
    else throw exceeded(plan, node, way);
  }
  return { goto: [...goto].toSorted(), counts: changed };
}

function exceeded(plan: FlowPlan, { name }: PlanNode, { to, maxLoops }: PlanEdge): FlowLoopExceeded {
  const why = `the way from "${name}" to "${to}" was taken ${maxLoops} times, which is its cap`;
  return new FlowLoopExceeded(`flow "${plan.name}": ${why}`);
}

function wayTo(node: PlanNode, ways: ReadonlyMap<string, PlanEdge>, target: unknown): PlanEdge {
  const way = typeof target === "string" ? ways.get(target) : undefined;
  if (way !== undefined) return way;
  throw new FlowError(`the route from "${node.name}" chose something that is no target of it`);
}
