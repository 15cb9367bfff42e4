// `FlowPlan`: the checked graph that every runner reads. Owns the form; the checks are validate.ts.

import { FlowError } from "../errors.js";
import type { RetryPolicy } from "../tools/spec.js";
import { fingerprintOf } from "./fingerprint.js";
import type { AnyWork, FlowDefinition, NodeOptions } from "./definition.js";
import { shown } from "./names.js";
import type { Fields } from "./state.js";
import { faultsOf, settleFields, settleNode } from "./validate.js";
import { byStart, capOf, reachableFrom, waysOf } from "./ways.js";

export interface PlanEdge {
  readonly to: string;
  readonly maxLoops: number | undefined;
  readonly orElse: string | undefined;
}

export interface PlanRoute {
  readonly choose: (state: never) => string | readonly string[];
  /** By target. */
  readonly ways: ReadonlyMap<string, PlanEdge>;
}

/** One node of a plan. */
export interface PlanNode {
  /** Its name. */
  readonly name: string;
  /** What a visit does. */
  readonly work: AnyWork;
  /** Does it wait for every branch that can reach it? */
  readonly isJoin: boolean;
  /** Its gate, if it has one. */
  readonly pause: NodeOptions<never>["pause"];
  /** Milliseconds for each attempt; `undefined`: no limit. */
  readonly timeoutMs: number | undefined;
  /** How often a failed visit is attempted again. */
  readonly retry: RetryPolicy;
  /** The ways taken after every visit. */
  readonly edges: readonly PlanEdge[];
  /** The ways a function chooses among. */
  readonly routes: readonly PlanRoute[];
  /** Every node that can still be reached from here. */
  readonly reaches: ReadonlySet<string>;
}

/** A flow that passed its checks, with everything a runner looks up. */
export interface FlowPlan {
  /** The flow's name. */
  readonly name: string;
  /** The fields of the state, by name. */
  readonly fields: Fields;
  /** The nodes, by name. */
  readonly nodes: ReadonlyMap<string, PlanNode>;
  /** The node where a run begins. */
  readonly start: string;
  /** What a checkpoint is bound to. */
  readonly fingerprint: string;
}

const PLANS = new WeakMap<FlowDefinition, FlowPlan>();

/**
 * The plan of a flow, made once.
 *
 * @throws FlowError that names every fault at once
 */
export function planOf(definition: FlowDefinition): FlowPlan {
  const known = PLANS.get(definition);
  if (known !== undefined) return known;
  const faults = faultsOf(definition);
  if (faults.length > 0) {
    const list = faults.map((fault) => `\n- ${fault}`).join("");
    throw new FlowError(`flow ${shown(definition.name)} cannot run:${list}`);
  }
  const plan = makePlan(definition);
  PLANS.set(definition, plan);
  return plan;
}

/** @throws FlowError when there is no node of that name */
export function nodeOf(plan: FlowPlan, name: string): PlanNode {
  const node = plan.nodes.get(name);
  if (node !== undefined) return node;
  throw new FlowError(`flow "${plan.name}" has no such node`);
}

function makePlan(definition: FlowDefinition): FlowPlan {
  const ways = waysOf(definition);
  const [edges, routes] = [byStart(definition.edges), byStart(definition.routes)];
  const nodes = definition.nodes.map(({ name, work, options }): [string, PlanNode] => {
    const isJoin = typeof work !== "function" && work.kind === "join";
    let reaches: ReadonlySet<string> | undefined;
    const node = {
      name,
      work,
      isJoin,
      pause: options.pause,
      ...settleNode(name, options),
      edges: (edges.get(name) ?? []).map(planEdge),
      routes: (routes.get(name) ?? []).map(planRoute),
      // Asked for joins only: of every node of a long flow it would grow with the square.
      get reaches() {
        reaches ??= reachableFrom(ways, name);
        return reaches;
      },
    };
    return [name, node];
  });
  const [first] = definition.nodes;
  return {
    name: definition.name,
    fields: settleFields(definition),
    nodes: new Map(nodes),
    start: definition.starts[0] ?? first?.name ?? "",
    fingerprint: fingerprintOf(definition),
  };
}

function planEdge({ to, options: { maxLoops, orElse } }: FlowDefinition["edges"][number]): PlanEdge {
  return { to, maxLoops, orElse };
}

function planRoute({ choose, targets, options }: FlowDefinition["routes"][number]): PlanRoute {
  const { maxLoops, orElse } = options;
  return { choose, ways: new Map(targets.map((to) => [to, { to, maxLoops: capOf(maxLoops, to), orElse }])) };
}
