// A flow as plain data, as it was written down: what the builder fills and the checks, the plan and the drawing read.

import type { JsonObject } from "../crypto/canonical-json.js";
import { ToolUsageError } from "../errors.js";
import type { RetryOptions, StandardSchemaV1 } from "../tools/spec.js";
import type { KindFor, RuleMaker } from "./merge.js";
import type { CallNode, FlowFunction, JoinNode, MapNode } from "./nodes.js";

/** An object schema with a `shape` (zod), or one schema per field. */
export type StateSchema = StandardSchemaV1<unknown, object> | Readonly<Record<string, StandardSchemaV1>>;

/** A rule as a flow keeps it, without its types. */
export type AnyRule = { readonly name: string; readonly apply: (current: never, writes: never) => unknown } | RuleMaker;

/** A rule that gives values of the field, or one of those that are made for it. */
type RuleFor<Value> =
  | {
      readonly name: string;
      readonly apply: (current: Value | undefined, writes: readonly never[]) => Value;
      // Functions have a name and an `apply`, too.
      readonly kind?: never;
    }
  | RuleMaker<KindFor<Value>>;

/** A merge rule per field that several nodes may write in one step. */
export type MergeRules<State> = { readonly [Field in keyof State]?: RuleFor<State[Field]> };

/** What holds for every visit of a node. */
export interface NodeOptions<State> {
  /**
   * A gate: nothing of the step runs before a human approved. Gives what the human sees; edits are fields of the state.
   * Default: no gate.
   */
  readonly pause?: (state: Readonly<State>) => JsonObject;
  /** Milliseconds for each attempt at a visit, 1 to 2^31 - 1. Default: none. */
  readonly timeoutMs?: number;
  /** Attempts after a failed one; finished calls are not repeated. A number from 0 to 100, or the whole policy. Default 0. */
  readonly retries?: number | RetryOptions;
}

/** How often a way may be taken. */
export interface EdgeOptions<Nodes extends string> {
  /** How often this way may be taken in one run. Default: without limit, which is only for ways outside loops. */
  readonly maxLoops?: number;
  /** Where to go instead when it may not be taken again. Default: `FlowLoopExceeded`. */
  readonly orElse?: Nodes;
}

/** How often the ways of a route may be taken. */
export interface RouteOptions<Target extends string, Nodes extends string> {
  /**
   * How often each target may be chosen in one run: one number for all, or one per target. Default: without limit, which is
   * only for ways outside loops.
   */
  readonly maxLoops?: number | { readonly [Name in Target]?: number };
  /** Where to go instead when the chosen way may not be taken again. Default: `FlowLoopExceeded`. */
  readonly orElse?: Nodes;
}

/** A node's work, whatever its types. */
export type AnyWork =
  | FlowFunction<never, never>
  | CallNode<never, never>
  | MapNode<never, never>
  | JoinNode<never, never>;

/** A flow as plain data, as it was written down; unchecked. */
export interface FlowDefinition {
  readonly name: string;
  readonly state: StateSchema;
  readonly merge: Readonly<Record<string, AnyRule | undefined>>;
  readonly nodes: readonly {
    readonly name: string;
    readonly work: AnyWork;
    readonly options: NodeOptions<never>;
  }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly options: EdgeOptions<string> }[];
  readonly routes: readonly {
    readonly from: string;
    readonly choose: (state: never) => string | readonly string[];
    readonly targets: readonly string[];
    readonly options: RouteOptions<string, string>;
  }[];
  readonly starts: readonly string[];
  readonly ends: readonly string[];
}

const DEFINITIONS = new WeakMap<object, FlowDefinition>();

export function keepDefinition(flow: object, definition: FlowDefinition): void {
  DEFINITIONS.set(flow, definition);
}

/**
 * What a flow was drawn as.
 *
 * @throws ToolUsageError when it is not a flow of this copy of the package
 */
export function definitionOf(flow: object): FlowDefinition {
  const definition = DEFINITIONS.get(flow);
  if (definition !== undefined) return definition;
  throw new ToolUsageError("not a Flow of this copy of agent-adapter");
}
