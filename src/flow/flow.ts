// `Flow`: the builder. A drawing in code: nodes, edges, routes, ends; immutable, so that every step gives a new flow. Owns the
// types that check names and fields; what is wrong beyond types is validate.ts, what runs is plan.ts and visit.ts.

import {
  definitionOf,
  keepDefinition,
  type AnyWork,
  type EdgeOptions,
  type FlowDefinition,
  type MergeRules,
  type NodeOptions,
  type RouteOptions,
  type StateSchema,
} from "./definition.js";
import type { RuleMaker, WritesByKind } from "./merge.js";
import type { CallNode, FlowFunction, ItemOf, JoinNode, MapNode } from "./nodes.js";
import { refuseNoObject, refuseUnknown } from "../options.js";
import { mermaidOf } from "./mermaid.js";
import { planOf } from "./plan.js";
import type { StandardSchemaV1 } from "../tools/spec.js";

type FieldOutputs<Schema> = {
  [Field in keyof Schema]: Schema[Field] extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema[Field]> : never;
};

/** The state that nodes read. */
export type StateOf<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : FieldOutputs<Schema>;

/** What a run may start from: every field, those with a default left out. */
export type InputOf<Schema> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Schema>
  : {
      [Field in keyof Schema]?: Schema[Field] extends StandardSchemaV1
        ? StandardSchemaV1.InferInput<Schema[Field]>
        : never;
    };

type WriteOf<Value, Rule> =
  Rule extends RuleMaker<infer Kind extends keyof WritesByKind<Value>>
    ? WritesByKind<Value>[Kind]
    : Rule extends { readonly apply: (current: never, writes: readonly (infer Write)[]) => unknown }
      ? Write
      : Value;

/** What a node may write to each field. */
export type WritesOf<Schema, Rules> = {
  [Field in keyof StateOf<Schema>]: Field extends keyof Rules
    ? WriteOf<StateOf<Schema>[Field], Rules[Field]>
    : StateOf<Schema>[Field];
};

/** What one item's result may be: a write where there is a rule, an item of the list where there is none. */
export type ItemWritesOf<Schema, Rules> = {
  [Field in keyof StateOf<Schema>]: Field extends keyof Rules
    ? WriteOf<StateOf<Schema>[Field], Rules[Field]>
    : ItemOf<StateOf<Schema>[Field]>;
};

/** Says in the compiler's message what is wrong with a rule for a field that is not there. */
type NoStrayRules<State, Rules> = {
  readonly [Field in Exclude<keyof Rules, keyof State>]: "the state has no field of this name";
};

type RulesFor<Schema, Rules> = Rules & MergeRules<StateOf<Schema>> & NoStrayRules<StateOf<Schema>, Rules>;

/** The state of a flow. */
export interface FlowOptions<Schema extends StateSchema, Rules> {
  /** A schema for each field; writes are parsed by it. */
  readonly state: Schema;
  /** What happens to several writes of one step to one field. Default: two writers are refused. */
  readonly merge?: Rules;
}

type Work<State, Writes, ItemWrites> =
  | FlowFunction<Readonly<State>, Writes>
  | CallNode<State, Writes>
  | MapNode<State, ItemWrites>
  | JoinNode<Readonly<State>, Writes>;

/**
 * A flow that reads like a drawing. Nodes first, then the ways between them.
 *
 * @example
 * const order = new Flow("order", { state: z.object({ item: z.string(), rate: z.number().default(0) }) })
 *   .node("rate", call(shippingRate, { args: (state) => ({ item: state.item }), into: "rate" }))
 *   .node("place", async (state, { run }) => { await run("placeOrder", { item: state.item }); }, {
 *     pause: (state) => ({ item: state.item, rate: state.rate }),
 *   })
 *   .edge("rate", "place")
 *   .end("place");
 */
// The one class with three type parameters: schema and rules say what may be read and written, names what may be linked.
export class Flow<Schema extends StateSchema, Rules = object, Nodes extends string = never> {
  /** Names the flow in requests, messages and checkpoints. */
  readonly name: string;

  /** @throws ToolUsageError naming the option that does not exist, or when the options or the state are no objects */
  constructor(name: string, options: FlowOptions<Schema, RulesFor<Schema, Rules>>) {
    refuseNoObject("new Flow", options);
    const { state, merge = {}, ...rest } = options;
    refuseUnknown("new Flow", rest);
    refuseNoObject("new Flow, state", state);
    this.name = name;
    keepDefinition(this, { name, state, merge, nodes: [], edges: [], routes: [], starts: [], ends: [] });
  }

  /**
   * Add a node, in a new flow: this one stays as it is. What it returns, and `into`, are checked against the state. Faults are found by `validate`.
   *
   * @throws ToolUsageError when this is not a flow of this copy of the package
   */
  node<const Name extends string>(
    name: Name,
    work: Work<StateOf<Schema>, WritesOf<Schema, Rules>, ItemWritesOf<Schema, Rules>>,
    options: NodeOptions<StateOf<Schema>> = {},
  ): Flow<Schema, Rules, Nodes | Name> {
    // Functions of the state are kept without its type; the plan gives them the state that this type describes.
    const node = { name, work: work as AnyWork, options: { ...options } as NodeOptions<never> };
    return this.#with((flow) => ({ nodes: [...flow.nodes, node] }));
  }

  /**
   * After `from` comes `to`. Several edges from one node are taken at once.
   *
   * @throws ToolUsageError when this is not a flow of this copy of the package
   */
  edge(from: Nodes, to: NoInfer<Nodes>, options: EdgeOptions<NoInfer<Nodes>> = {}): Flow<Schema, Rules, Nodes> {
    return this.#with((flow) => ({ edges: [...flow.edges, { from, to, options: { ...options } }] }));
  }

  /**
   * After `from` comes what the function chooses of the targets: one, several, or none (`[]` ends this branch).
   *
   * @throws ToolUsageError when this is not a flow of this copy of the package
   */
  route<const Target extends Nodes>(
    from: Nodes,
    choose: (state: Readonly<StateOf<Schema>>) => NoInfer<Target> | readonly NoInfer<Target>[],
    targets: readonly Target[],
    options: RouteOptions<NoInfer<Target>, NoInfer<Nodes>> = {},
  ): Flow<Schema, Rules, Nodes> {
    // Kept without the type of the state, as a node's function is.
    const chosen = choose as (state: never) => string | readonly string[];
    const route = { from, choose: chosen, targets: [...targets], options: { ...options } };
    return this.#with((flow) => ({ routes: [...flow.routes, route] }));
  }

  /**
   * Where a run begins. Default: the first node.
   *
   * @throws ToolUsageError when this is not a flow of this copy of the package
   */
  start(name: Nodes): Flow<Schema, Rules, Nodes> {
    return this.#with((flow) => ({ starts: [...flow.starts, name] }));
  }

  /**
   * A branch that comes here is over after this node.
   *
   * @throws ToolUsageError when this is not a flow of this copy of the package
   */
  end(name: Nodes): Flow<Schema, Rules, Nodes> {
    return this.#with((flow) => ({ ends: [...flow.ends, name] }));
  }

  /**
   * Check the whole flow. Runners do it themselves.
   *
   * @throws FlowError that names every fault at once: node, edge or field
   * @throws ToolUsageError when this is not a flow of this copy of the package
   */
  validate(): void {
    planOf(definitionOf(this));
  }

  /**
   * The flow as a Mermaid flowchart.
   *
   * @throws ToolUsageError when this is not a flow of this copy of the package
   */
  toMermaid(): string {
    return mermaidOf(definitionOf(this));
  }

  #with<Names extends string>(
    change: (definition: FlowDefinition) => Partial<FlowDefinition>,
  ): Flow<Schema, Rules, Names> {
    const definition = definitionOf(this);
    const { state, merge } = definition;
    // The schema and the rules that this flow was made with, kept without their types.
    const options = { state, merge } as unknown as FlowOptions<Schema, RulesFor<Schema, Rules>>;
    const flow = new Flow<Schema, Rules, Names>(this.name, options);
    keepDefinition(flow, { ...definition, ...change(definition) });
    return flow;
  }
}
