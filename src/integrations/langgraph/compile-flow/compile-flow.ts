// `compileFlow`: a flow as a LangGraph `StateGraph` that behaves as the local runner does. Owns what the graph is made of; what a
// node does is compiled-node.ts.

import {
  Annotation,
  Send,
  START,
  StateGraph,
  type BaseChannel,
  type LangGraphRunnableConfig,
} from "@langchain/langgraph";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  FlowCompileError,
  isAgentAdapterError,
  Registry,
  ToolUsageError,
  type AnyToolSpec,
  type Executor,
} from "../../../index.js";
import {
  checkTools,
  countOption,
  definitionOf,
  KeyRing,
  parseInput,
  partsOf,
  planOf,
  refuseUnknown,
  seal,
  type FlowPlan,
  type Secrets,
} from "../../../spi.js";
import type { Flow, InputOf, StateOf, StateSchema } from "../../../flow/index.js";
import { graphExecutor } from "../graph-executor.js";
import { membersOf, nameIn } from "../members.js";
import { markAsking, settleNode, type DurableOptions } from "../node-settings.js";
import { addNamedLikeField } from "../pregel-internals.js";
import { BEGIN_KEY, compiledNode, inputOwner, type Compiled } from "./compiled-node.js";
import { FieldChannel } from "./field-channel.js";
import { FlowApp } from "./flow-app.js";
import { ProgressChannel, ProgressSeals, PROGRESS_KEY } from "./progress.js";

/** `durable` is `"call"` here unless you say otherwise: every finished call is kept at once. */
export interface CompileFlowOptions extends DurableOptions {
  /** Runs the tools of the flow; its port and its keys let answers in. Default: one for the tools the flow was given as specs. */
  readonly executor?: Executor;
  /** Seals the flow's progress; `[current, ...older]` to rotate. Default: the executor's root secret. */
  readonly checkpointKey?: Secrets;
  /** Steps a run may take, resumes included. Default 100. */
  readonly maxSteps?: number;
}

const MAX_STEPS = 100;
/** LangGraph counts steps of its own: the start, and joins that put themselves off. */
const SPARE_STEPS = 10;

const COMPILED = new WeakMap<object, Compiled>();

/** What a graph, or its app, was compiled from; `undefined` for any other graph. */
export function compiledOf(app: unknown): Compiled | undefined {
  if (typeof app !== "object" || app === null) return undefined;
  const builder: unknown = Reflect.get(app, "builder") ?? app;
  return typeof builder === "object" && builder !== null ? COMPILED.get(builder) : undefined;
}

/** A flow's graph. Compile it as any other; gates need nothing more. */
export class FlowGraph<State, Input> extends StateGraph<unknown, State, Input, string> {
  /** @internal */
  constructor(compiled: Compiled) {
    const fields = Object.fromEntries(
      [...compiled.plan.fields.values()].map((field) => [field.name, () => new FieldChannel(field)]),
    );
    const progress = { [PROGRESS_KEY]: () => new ProgressChannel(compiled.seals) };
    // Reserved keys are in neither input nor output. The builder's types know the fields; LangGraph's need not.
    super({
      stateSchema: annotation({ ...fields, ...progress }),
      input: annotation(fields),
      output: annotation(fields),
    } as never);
    COMPILED.set(this, compiled);
    for (const node of compiled.plan.nodes.values()) this.#add(compiled, node.name);
    const recursionLimit = (compiled.maxSteps + SPARE_STEPS) * (1 + joinsOf(compiled.plan));
    // The flow's own `maxSteps` ends it, at the same step as locally; LangGraph's limit is only behind that. Reserved keys are in
    // no stream and no snapshot.
    const settings = { config: { recursionLimit }, streamChannels: Object.keys(fields) };
    this.compile = withSettings(this.compile.bind(this), settings);
    this.addConditionalEdges(START, beginning(compiled) as never, [compiled.plan.start] as never); // the path gives one Send
  }

  #add(compiled: Compiled, name: string): void {
    const { plan, executor } = compiled;
    const node = plan.nodes.get(name);
    if (node === undefined) return;
    const ways = [...node.edges, ...node.routes.flatMap((route) => [...route.ways.values()])];
    const next = ways.flatMap(({ to, orElse }) => (orElse === undefined ? [to] : [to, orElse]));
    // A join may put itself off.
    const ends = [...new Set(node.isJoin ? [...next, name] : next)];
    const run = markAsking(compiledNode(compiled, node), executor);
    addNamedLikeField(this, name, () => this.addNode(name, run as never, { defer: node.isJoin, ends } as never)); // typed by the flow
  }
}

interface Settings {
  config?: RunnableConfig;
  streamChannels?: unknown;
}

/** What every app of this graph gets, however it is compiled. */
function withSettings<Compile extends (...args: never[]) => Settings>(compile: Compile, settings: Settings): Compile {
  const configured = (...args: Parameters<Compile>) => {
    const app = compile(...args);
    const config = { ...app.config, ...settings.config };
    // As LangGraph's `withConfig` makes an app of an app.
    return new FlowApp({ ...app, ...settings, config } as never);
  };
  // The same function but for these settings, and the class, of what it returns.
  return configured as unknown as Compile;
}

function annotation(channels: Readonly<Record<string, () => BaseChannel>>) {
  return Annotation.Root(channels as never); // factories are what it takes; its types want to infer from them
}

function joinsOf({ nodes }: FlowPlan): number {
  return [...nodes.values()].filter(({ isJoin }) => isJoin).length;
}

/** The input is parsed once, and what came of it is kept sealed with the first node: a re-run must not parse it again. */
function beginning(compiled: Compiled) {
  const { plan, ring } = compiled;
  return async (input: unknown, config: LangGraphRunnableConfig): Promise<Send> => {
    const given = Object.entries(membersOf(input)).filter(([name]) => plan.fields.has(name));
    const state = await parseInput(plan.fields, Object.fromEntries(given));
    const thread = nameIn(config.configurable?.["thread_id"]) ?? "";
    const sealed = seal(ring, { purpose: "checkpoint", owner: inputOwner(compiled, thread) }, state);
    return new Send(plan.start, { [BEGIN_KEY]: sealed });
  };
}

/**
 * Compile a flow to a LangGraph graph with the same behaviour: steps, joins, routes, caps, gates, approvals, what is kept.
 *
 * @throws FlowCompileError when the flow has faults (all of them named) or LangGraph cannot run it; ToolUsageError naming an option
 * @example
 * const app = compileFlow(order, { executor }).compile({ checkpointer });
 * const result = await runCompiled(app, { item: "laptop" }, { configurable: { thread_id: "order-1" } });
 */
export function compileFlow<Schema extends StateSchema, Rules, Nodes extends string>(
  flow: Flow<Schema, Rules, Nodes>,
  options: CompileFlowOptions = {},
): FlowGraph<StateOf<Schema>, InputOf<Schema>> {
  const { executor: given, checkpointKey, maxSteps = MAX_STEPS, durable = "call", maxEntryBytes, ...rest } = options;
  refuseUnknown("compileFlow", rest);
  const plan = planFor(flow);
  const executor = given ?? graphExecutor(new Registry(specsOf(plan)));
  checkTools(plan, executor);
  const ring = checkpointKey === undefined ? partsOf(executor).keys : KeyRing.of(checkpointKey, "checkpointKey");
  const settings = settleNode("compileFlow", { durable, maxEntryBytes });
  const seals = new ProgressSeals(ring, plan);
  return new FlowGraph({
    plan,
    executor,
    settings,
    ring,
    seals,
    maxSteps: countOption("compileFlow", "maxSteps", maxSteps),
  });
}

function planFor(flow: object): FlowPlan {
  try {
    return planOf(definitionOf(flow));
  } catch (error) {
    if (!isAgentAdapterError(error, "FlowError")) throw error;
    throw new FlowCompileError(error.message, { cause: error });
  }
}

/** The tools of a flow that was given all of them as specs. */
function specsOf({ nodes }: FlowPlan): AnyToolSpec[] {
  const specs = new Set<AnyToolSpec>();
  for (const { name, work } of nodes.values()) {
    if (typeof work === "function" || work.kind === "join") continue;
    if (work.spec === undefined)
      throw new ToolUsageError(`compileFlow: node "${name}" names its tool, so give an \`executor\` that has it`);
    specs.add(work.spec);
  }
  return [...specs];
}
