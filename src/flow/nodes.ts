// What a node of a flow can do: a function of yours, a tool call, a call per item, or a join. Data only; visit.ts runs it.

import { ToolUsageError } from "../errors.js";
import { refuseNoFunction, refuseNoObject, refuseUnknown } from "../options.js";
import { isToolSpec } from "../tools/define-tool.js";
import type { Logger } from "../tools/logger.js";
import type { AnyToolSpec, ToolSpec } from "../tools/spec.js";

// Never present at run time: they only carry the type of what may be written to each field.
declare const WRITES: unique symbol;
declare const ITEM_WRITES: unique symbol;

/** What a node function is told about its visit. */
export interface FlowContext {
  /** The run the visit belongs to. */
  readonly runId: string;
  /** The thread, in a compiled flow. */
  readonly threadId: string | undefined;
  /** The node's name. */
  readonly node: string;
  /** 1 for the first visit of this node in this run. */
  readonly visit: number;
  /** 1 for the first attempt of this visit. */
  readonly attempt: number;
  /** Aborted when the run is, or when the visit takes too long. */
  readonly signal: AbortSignal;
  /** Who the run acts for. */
  readonly principal: string | undefined;
  /** What the runner was given, or the framework's metadata of the run; kept nowhere. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The executor's logger. */
  readonly log: Logger;
  /**
   * Run a registered tool as a call of this visit. When the visit is run again (after a pause, a failure, a retry) what finished
   * is not: give a call a `callId` when its position among the calls of its tool with its arguments may change.
   */
  readonly run: FlowRun;
}

/** Typed by a tool that is given as a spec; by name the result is `unknown`. */
export interface FlowRun {
  <In, Out>(tool: ToolSpec<In, Out>, args: NoInfer<In>, options?: FlowCallOptions): Promise<Out>;
  (tool: string, args: unknown, options?: FlowCallOptions): Promise<unknown>;
}

/** How a call of a node function is named. */
export interface FlowCallOptions {
  /** Stable name of the call within its visit. Default: its position among the calls of its tool with its arguments. */
  readonly callId?: string;
}

/** A node of yours: reads the whole state, returns the fields it changes. */
export type FlowFunction<State, Writes> = (
  state: State,
  ctx: FlowContext,
) => Partial<Writes> | undefined | void | Promise<Partial<Writes> | undefined | void>;

/** A tool call as a node. `Writes` is what may be written to each field. */
export interface CallNode<State, Writes> {
  /** Tells the kinds of node apart. */
  readonly kind: "call";
  /** The tool's name. */
  readonly tool: string;
  /** The tool, when it was given and not named: the executor must have this very one. */
  readonly spec: AnyToolSpec | undefined;
  /** The arguments, from the state. */
  readonly args: (state: State) => unknown;
  /** The field that gets the result. */
  readonly into: string;
  readonly [WRITES]?: (writes: Writes) => void;
}

/** A tool call per item as a node: one step, however many items. `Writes` is what one item may write to each field. */
export interface MapNode<State, Writes> {
  /** Tells the kinds of node apart. */
  readonly kind: "map";
  /** The items, from the state. */
  readonly over: (state: State) => unknown;
  /** For drawings and messages. */
  readonly overName: string;
  /** The tool's name. */
  readonly tool: string;
  /** The tool, when it was given and not named: the executor must have this very one. */
  readonly spec: AnyToolSpec | undefined;
  /** The arguments of one item's call. */
  readonly args: (item: never, state: State, index: number) => unknown;
  /** The field that gets the results, one write per item, in the order of the items. */
  readonly into: string;
  /** How many items run at once; `undefined`: as many as the executor's `concurrency`. */
  readonly concurrency: number | undefined;
  readonly [ITEM_WRITES]?: (writes: Writes) => void;
}

/** Runs once after all branches that reach it, however long they are. */
export interface JoinNode<State, Writes> {
  /** Tells the kinds of node apart. */
  readonly kind: "join";
  /** What it does when all have arrived; `undefined`: nothing. */
  readonly run: FlowFunction<State, Writes> | undefined;
}

/** Where no flow is around: any field, and `validate` finds what is none. */
type AnyWrites = Readonly<Record<string, unknown>>;

interface CallOptions<State, Args, Into> {
  /** What the tool is called with: fixed, or made from the state. A function must give the same for the same state. */
  readonly args: Args | ((state: State) => Args);
  /** The state field that gets the result. */
  readonly into: Into;
}

// The types of `into` and `over` are spelled out below, so that the compiler's message lists the fields that would do. A tool that
// is only named gives `never`, which may go anywhere.

/**
 * A node that calls one tool and writes its result.
 *
 * @throws ToolUsageError when the tool is neither a defined one nor a name, or naming the option that does not exist
 * @example
 * new Flow("order", { state: z.object({ item: z.string(), rate: z.number().default(0) }) })
 *   .node("rate", call(shippingRate, { args: (state) => ({ item: state.item }), into: "rate" }));
 */
export function call<State, Writes = AnyWrites, In = unknown, Out = never>(
  tool: string | ToolSpec<In, Out>,
  options: CallOptions<
    State,
    NoInfer<In>,
    { [Field in keyof Writes]-?: [Out] extends [Writes[Field]] ? Field : never }[keyof Writes]
  >,
): CallNode<State, Writes> {
  refuseNoObject("call()", options);
  const { args, into, ...rest } = options;
  refuseUnknown("call()", rest);
  return Object.freeze({
    kind: "call",
    ...named("call()", tool),
    // Anything that can be called is a function of the state: arguments are JSON, which no function is.
    args: typeof args === "function" ? (args as (state: State) => unknown) : () => args,
    into: String(into),
  });
}

interface MapOptions<State, Item, Args, Into> {
  /** What each item is called with. Default: the item itself. Must give the same for the same state. */
  readonly args?: (item: Item, state: State, index: number) => Args;
  /** The state field that gets the results, in item order: one write per item, or, for a field without a merge rule, the list. */
  readonly into: Into;
  /** How many items run at once. Default: the executor's. */
  readonly concurrency?: number;
}

export type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;
type ItemsOf<State, Over> = Over extends keyof State ? ItemOf<State[Over]> : never;
/**
 * A node that calls a tool for each item of a list. Calls that need nobody run first, then the others one by one.
 *
 * @throws ToolUsageError when the tool is neither a defined one nor a name, or naming the option that does not exist
 * @example
 * const state = z.object({ items: z.array(z.object({ name: z.string() })), rates: z.array(z.number()).default([]) });
 * new Flow("order", { state }).node("rates", map("items", { tool: shippingRate, args: (item) => ({ item: item.name }), into: "rates" }));
 */
export function map<
  State,
  const Over extends {
    [Field in keyof State]-?: State[Field] extends readonly unknown[] | undefined ? Field : never;
  }[keyof State],
  Writes = AnyWrites,
  In = unknown,
  Out = never,
>(
  over: Over,
  options: MapOptions<
    State,
    ItemsOf<State, Over>,
    NoInfer<In>,
    { [Field in keyof Writes]-?: [Out] extends [Writes[Field]] ? Field : never }[keyof Writes]
  > & { readonly tool: string | ToolSpec<In, Out> },
): MapNode<State, Writes> {
  refuseNoObject("map()", options);
  const { tool, args = (item: unknown) => item, into, concurrency, ...rest } = options;
  refuseUnknown("map()", rest);
  refuseNoFunction("map()", "args", args);
  return Object.freeze({
    kind: "map",
    // A field without a value is not there.
    over: (state: State): unknown => (Object.hasOwn(Object(state), over) ? state[over] : undefined),
    overName: String(over),
    ...named("map()", tool),
    args,
    into: String(into),
    concurrency,
  });
}

/**
 * A node that waits for every branch that may still reach it and runs once. The function is optional.
 *
 * @example
 * const state = z.object({ rates: z.array(z.number()), total: z.number().default(0) });
 * new Flow("order", { state }).node("all", join((state) => ({ total: state.rates.length })));
 */
export function join<State, Writes>(run?: FlowFunction<State, NoInfer<Writes>>): JoinNode<State, Writes> {
  return Object.freeze({ kind: "join", run });
}

function named(
  owner: string,
  tool: string | AnyToolSpec,
): { readonly tool: string; readonly spec: AnyToolSpec | undefined } {
  if (typeof tool === "string") return { tool, spec: undefined };
  if (isToolSpec(tool)) return { tool: tool.name, spec: tool };
  throw new ToolUsageError(`${owner}: the tool must be one that defineTool() or registry.tool() made, or a name`);
}
