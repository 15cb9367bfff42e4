// What a node of a flow can do: a function of yours, a tool call, a call per item, or a join. Data only; visit.ts runs it.

import type { Logger } from "../tools/logger.js";
import type { AnyToolSpec, ToolSpec } from "../tools/spec.js";

// Never present at run time: it only carries a type.
declare const PRODUCES: unique symbol;

/** What a node function is told about its visit. */
export interface FlowContext {
  readonly runId: string;
  readonly threadId: string | undefined;
  readonly node: string;
  /** 1 for the first visit of this node in this run. */
  readonly visit: number;
  /** 1 for the first attempt of this visit. */
  readonly attempt: number;
  /** Aborted when the run is, or when the visit takes too long. */
  readonly signal: AbortSignal;
  readonly principal: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly log: Logger;
  /**
   * Run a registered tool as a call of this visit. When the visit is run again (after a pause, a failure, a retry) what finished
   * is not: give a call a `callId` when its position among the calls of its tool with its arguments may change.
   */
  run<In, Out>(tool: ToolSpec<In, Out>, args: NoInfer<In>, options?: FlowCallOptions): Promise<Out>;
  run(tool: string, args: unknown, options?: FlowCallOptions): Promise<unknown>;
}

export interface FlowCallOptions {
  readonly callId?: string;
}

/** A node of yours: reads the whole state, returns the fields it changes. */
export type FlowFunction<State, Writes> = (
  state: State,
  ctx: FlowContext,
) => Partial<Writes> | undefined | void | Promise<Partial<Writes> | undefined | void>;

/** A tool call as a node. `Produces` is the state field that gets the result. */
export interface CallNode<State, Produces> {
  readonly kind: "call";
  readonly tool: string;
  readonly spec: AnyToolSpec | undefined;
  readonly args: (state: State) => unknown;
  readonly into: string;
  readonly [PRODUCES]?: Produces;
}

/** A tool call per item as a node: one step, however many items. */
export interface MapNode<State, Produces> {
  readonly kind: "map";
  readonly over: (state: State) => unknown;
  /** For drawings and messages. */
  readonly overName: string;
  readonly tool: string;
  readonly spec: AnyToolSpec | undefined;
  readonly args: (item: never, state: State, index: number) => unknown;
  readonly into: string;
  readonly concurrency: number | undefined;
  readonly [PRODUCES]?: Produces;
}

/** Runs once after all branches that reach it, however long they are. */
export interface JoinNode<State, Writes> {
  readonly kind: "join";
  readonly run: FlowFunction<State, Writes> | undefined;
}

interface CallOptions<State, Args, Into extends string> {
  /** What the tool is called with: fixed, or made from the state. A function must give the same for the same state. */
  readonly args: Args | ((state: State) => Args);
  /** The state field that gets the result. */
  readonly into: Into;
}

/**
 * A node that calls one tool and writes its result.
 *
 * @example .node("rate", call(shippingRate, { args: (state) => ({ item: state.item }), into: "rate" }))
 */
export function call<State, In, Out, const Into extends string>(
  tool: ToolSpec<In, Out>,
  options: CallOptions<State, NoInfer<In>, Into>,
): CallNode<State, Record<Into, Out>>;
export function call<State, const Into extends string>(
  tool: string,
  options: CallOptions<State, unknown, Into>,
): CallNode<State, Record<Into, never>>;
export function call<State>(
  tool: string | ToolSpec<never, unknown>,
  options: CallOptions<State, unknown, string>,
): CallNode<State, Record<string, never>> {
  const { args, into } = options;
  return Object.freeze({
    kind: "call",
    ...named(tool),
    // Anything that can be called is a function of the state: arguments are JSON, which no function is.
    args: typeof args === "function" ? (args as (state: State) => unknown) : () => args,
    into,
  });
}

interface MapOptions<State, Item, Args, Into extends string> {
  /** What each item is called with. Default: the item itself. Must give the same for the same state. */
  readonly args?: (item: Item, state: State, index: number) => Args;
  /** The state field that gets the results, in item order: one write per item, or, for a field without a merge rule, the list. */
  readonly into: Into;
  /** How many items run at once. Default: the executor's. */
  readonly concurrency?: number;
}

type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;
type ItemsOf<State, Over> = Over extends keyof State ? ItemOf<State[Over]> : never;

/**
 * A node that calls a tool for each item of a list. Calls that need nobody run first, then the others one by one.
 *
 * @example .node("rates", map("items", { tool: shippingRate, args: (item) => ({ item: item.name }), into: "rates" }))
 */
export function map<State, const Over extends string, In, Out, const Into extends string>(
  over: Over,
  options: MapOptions<State, ItemsOf<State, Over>, NoInfer<In>, Into> & { readonly tool: ToolSpec<In, Out> },
): MapNode<State & Record<Over, readonly unknown[]>, Record<Into, Out> | Record<Into, readonly Out[]>>;
export function map<State, const Over extends string, const Into extends string>(
  over: Over,
  options: MapOptions<State, ItemsOf<State, Over>, unknown, Into> & { readonly tool: string },
): MapNode<State & Record<Over, readonly unknown[]>, Record<Into, never>>;
export function map<State extends object>(
  over: string,
  options: MapOptions<State, never, unknown, string> & { readonly tool: string | ToolSpec<never, unknown> },
): MapNode<State, Record<string, never>> {
  const { tool, args = (item: unknown) => item, into, concurrency } = options;
  return Object.freeze({
    kind: "map",
    over: (state: State) => (Object.hasOwn(state, over) ? Reflect.get(state, over) : undefined),
    overName: over,
    ...named(tool),
    args,
    into,
    concurrency,
  });
}

/**
 * A node that waits for every branch that may still reach it and runs once. The function is optional.
 *
 * @example .node("all", join((state) => ({ total: state.rates.length })))
 */
export function join<State, Writes>(run?: FlowFunction<State, Writes>): JoinNode<State, Writes> {
  return Object.freeze({ kind: "join", run });
}

function named(tool: string | AnyToolSpec): { readonly tool: string; readonly spec: AnyToolSpec | undefined } {
  return typeof tool === "string" ? { tool, spec: undefined } : { tool: tool.name, spec: tool };
}
