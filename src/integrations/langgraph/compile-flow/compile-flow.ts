// `compileFlow`: a flow as a LangGraph `StateGraph` that behaves as the local runner does. Owns what the graph is made of; what a
// node does is compiled-node.ts.

import { Annotation, Command, END, START, StateGraph, type BaseChannel } from "@langchain/langgraph";
import type { RunnableConfig } from "@langchain/core/runnables";
import { FlowCompileError, isAgentAdapterError, Registry, type Executor } from "../../../index.js";
import {
  checkTools,
  countOption,
  definitionOf,
  isJson,
  KeyRing,
  MAX_STEPS,
  parseInput,
  partsOf,
  planOf,
  randomId,
  refuseUnknown,
  type FlowPlan,
  type Secrets,
} from "../../../spi.js";
import type { Flow, InputOf, StateOf, StateSchema } from "../../../flow/index.js";
import { graphExecutor } from "../graph-executor.js";
import { membersOf } from "../members.js";
import { markAsking, settleNode, type DurableOptions } from "../node-settings.js";
import {
  addNamedLikeField,
  homeOf,
  readState,
  replaceBeginning,
  skipIdleWriters,
  writeAtOnce,
  type NodeConfig,
} from "../pregel-internals.js";
import { runContextOf } from "../run-in-task.js";
import { compiledNode, progressIn, type Compiled } from "./compiled-node.js";
import { FieldChannel, refuseRevived, replacedField } from "./field-channel.js";
import { checkInputs, FlowApp } from "./flow-app.js";
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
    const shown = annotation(fields);
    super({ stateSchema: annotation({ ...fields, ...progress }), input: shown, output: shown } as never); // see above
    COMPILED.set(this, compiled);
    checkInputs(this, (input) => refuseUncarried(compiled, input));
    for (const node of compiled.plan.nodes.values()) this.#add(compiled, node.name, shown);
    const recursionLimit = (compiled.maxSteps + SPARE_STEPS) * (1 + joinsOf(compiled.plan));
    // The flow's own `maxSteps` ends it, at the same step as locally; LangGraph's limit is only behind that. Reserved keys are in
    // no stream and no snapshot.
    const settings = { config: { recursionLimit }, streamChannels: Object.keys(fields) };
    this.compile = withSettings(this.compile.bind(this), settings, (app) => {
      replaceBeginning(app, (input, config) => begin(compiled, input, config));
      const led = this.#ledOnByOthers();
      skipIdleWriters(
        app,
        [...compiled.plan.nodes.keys()].filter((name) => !led.has(name)),
      );
    });
    this.addEdge(START, compiled.plan.start);
  }

  /** Nodes that somebody has added a way from: LangGraph's own writers take it. */
  #ledOnByOthers(): ReadonlySet<string> {
    const edges = [...this.edges].map(([from]) => from);
    const joined = [...this.waitingEdges].flatMap(([froms]) => froms);
    return new Set<string>([...edges, ...joined, ...Object.keys(this.branches)]);
  }

  #add(compiled: Compiled, name: string, input: unknown): void {
    const { plan, executor } = compiled;
    const node = plan.nodes.get(name);
    if (node === undefined) return;
    const ways = [...node.edges, ...node.routes.flatMap((route) => [...route.ways.values()])];
    const next = ways.flatMap(({ to, orElse }) => (orElse === undefined ? [to] : [to, orElse]));
    // A join may put itself off. Where nothing comes after, the drawing shows the end.
    const ends = [...new Set(node.isJoin ? [...next, name] : next), ...(next.length === 0 ? [END] : [])];
    const run = markAsking(compiledNode(compiled, node), executor);
    addNamedLikeField(this, name, () => this.addNode(name, run as never, { defer: node.isJoin, ends, input } as never)); // typed by the flow
  }
}

interface Settings {
  config?: RunnableConfig;
  streamChannels?: unknown;
}

/** What every app of this graph gets, however it is compiled. */
function withSettings<Compile extends (...args: never[]) => Settings>(
  compile: Compile,
  settings: Settings,
  finish: (app: FlowApp) => void,
): Compile {
  const configured = (...args: Parameters<Compile>) => {
    const app = compile(...args);
    const config = { ...app.config, ...settings.config };
    // As LangGraph's `withConfig` makes an app of an app.
    const flowApp = new FlowApp({ ...app, ...settings, config } as never);
    finish(flowApp);
    return flowApp;
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

/** LangGraph keeps an input before anything looks at it: what it would give to the beginning is something else, or an error. */
function refuseUncarried({ plan }: Compiled, input: unknown): void {
  if (input instanceof Command) return;
  for (const [field, value] of Object.entries(membersOf(input)))
    if (plan.fields.has(field) && isJson(value)) refuseRevived(field, value);
}

/** A run starts from its input alone, parsed once: whatever the thread held before, and whatever the merge rules would make of it. */
async function begin(compiled: Compiled, input: unknown, config: NodeConfig): Promise<void> {
  const { plan, seals, executor } = compiled;
  // As a subgraph it is given all of its parent's state.
  const given = Object.entries(membersOf(input)).filter(([name]) => plan.fields.has(name));
  const state = await parseInput(plan.fields, Object.fromEntries(given));
  const held = readState(config, [...plan.fields.keys()]);
  const fields = [...plan.fields.keys()].flatMap((name): [string, unknown][] => {
    if (Object.hasOwn(state, name)) return [[name, replacedField(name, state[name])]];
    return Object.hasOwn(held, name) ? [[name, replacedField(name, undefined)]] : [];
  });
  const { runId } = runContextOf(config, partsOf(executor));
  const addition = seals.sealBeginning(progressIn(compiled, config)?.id ?? null, {
    ...homeOf(config),
    runId,
    nonce: randomId(),
  });
  writeAtOnce(config, { state: [...fields, [PROGRESS_KEY, addition]], next: [plan.start] });
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
  const executor = withItsTools(plan, given ?? executorFor(plan));
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

/** For a flow that was given all of its tools as specs. */
function executorFor(plan: FlowPlan): Executor {
  const works = [...plan.nodes].flatMap(([node, { work }]) =>
    typeof work === "function" || work.kind === "join" ? [] : [{ node, tool: work.tool, spec: work.spec }],
  );
  const named = works.flatMap(({ node, tool, spec }) => (spec === undefined ? [`"${node}" (${tool})`] : []));
  if (named.length > 0)
    throw new FlowCompileError(
      `flow "${plan.name}": give an \`executor\` that has the tools which these nodes only name: ${named.join(", ")}`,
    );
  return graphExecutor(new Registry(new Set(works.flatMap(({ spec }) => spec ?? []))));
}

/** @throws FlowCompileError naming every node whose tool the executor does not have */
function withItsTools(plan: FlowPlan, executor: Executor): Executor {
  try {
    checkTools(plan, executor);
  } catch (error) {
    if (!isAgentAdapterError(error, "ToolUsageError")) throw error;
    throw new FlowCompileError(error.message, { cause: error });
  }
  return executor;
}
