// A sketch as a real flow, with tools that fail and take their time as it says, and the two ways to run it in this process: at once,
// and with pauses, restarts and stops in between. `World` is what lies outside: it sees every body that ran.
import * as z from "zod";
import {
  approve,
  CallbackApproval,
  deny,
  Executor,
  isAgentAdapterError,
  MemoryLedger,
  Registry,
  type ApprovalDecision,
  type ApprovalPort,
} from "../../src/index.js";
import {
  call,
  checkpointOf,
  Flow,
  join,
  map,
  Merge,
  resumeFlow,
  runFlow,
  type FlowContext,
} from "../../src/flow/index.js";
import type { FlowResult, StateSchema, StepReport } from "../../src/flow/index.js";
import { defineTool } from "../../src/tools/define-tool.js";
import { forgetProcess } from "./process.js";
import { chosenBy, joined, noteOf, resultOf, says, TOOL_COSTS, TOOL_FAILURES, written } from "./flow-model.js";
import type { Counted, Outcome, SketchState } from "./flow-model.js";
import type { FlowSketch, NodeSketch, ToolName } from "./flow-sketch.js";

/** What failed on purpose: a run that ends with it can go on. */
const BOOM = "boom";

/** Outside of every process: how often each body was tried and finished. Keys are idempotency keys, one per call. */
export class World {
  readonly #tried = new Map<string, number>();
  readonly finished = new Map<string, number>();

  /** Fails so many times, then not any more. */
  failFirst(key: string, failures: number): void {
    const tried = (this.#tried.get(key) ?? 0) + 1;
    this.#tried.set(key, tried);
    if (tried <= failures) throw new Error(BOOM);
  }

  finish(key: string): void {
    this.finished.set(key, (this.finished.get(key) ?? 0) + 1);
  }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** The tools of a sketch. */
export function toolsOf({ nodes }: FlowSketch, world: World): Registry {
  const slowOf = (name: string) => nodes.find((node) => node.name === name)?.slow ?? 0;
  const fields = { node: z.string(), n: z.number(), total: z.number() };
  const retries = { maxAttempts: 2, initialDelayMs: 0 };
  const tool = (name: ToolName, confirm: boolean) =>
    defineTool({
      name,
      description: name,
      inputSchema: z.object(fields),
      confirm,
      retries,
      cost: TOOL_COSTS[name],
      execute: async ({ node, n, total }, { idempotencyKey }) => {
        await turns(slowOf(node));
        world.failFirst(idempotencyKey, TOOL_FAILURES[name]);
        world.finish(idempotencyKey);
        return resultOf(node, n, total);
      },
    });
  const once = defineTool({
    name: "once",
    description: "once",
    inputSchema: z.object({}),
    oncePerRun: true,
    cost: TOOL_COSTS.once,
    execute: () => {
      world.finish("once");
      return "once";
    },
  });
  const each = defineTool({
    name: "each",
    description: "each",
    inputSchema: z.object({ ...fields, text: z.string(), how: z.enum(["plain", "ask", "flaky"]) }),
    confirm: ({ how }) => how === "ask",
    retries,
    cost: TOOL_COSTS.each,
    execute: async ({ node, n, total, text, how }, { idempotencyKey }) => {
      await turns(slowOf(node));
      world.failFirst(idempotencyKey, how === "flaky" ? 2 : 0);
      world.finish(idempotencyKey);
      return `${text}${resultOf(node, n, total)}`;
    },
  });
  return new Registry([
    tool("work", false),
    tool("ask", true),
    tool("flaky", false),
    tool("askFlaky", true),
    once,
    each,
  ]);
}

const state = {
  log: z.array(z.string()).default([]),
  total: z.number(),
  low: z.number().optional(),
  high: z.number().optional(),
  seen: z.array(z.string()).default([]),
  bag: z.record(z.string(), z.string()).default({}),
  last: z.string().optional(),
  text: z.string().default(""),
  one: z.string().optional(),
  list: z.array(z.string()).default([]),
  note: z.string().default(""),
  items: z.array(z.object({ text: z.string(), how: z.enum(["plain", "ask", "flaky"]) })),
};
const merge = {
  log: Merge.append,
  total: Merge.sum,
  low: Merge.min,
  high: Merge.max,
  seen: Merge.union,
  bag: Merge.assign,
  last: Merge.last,
  text: Merge.by<string, string>(joined),
};

/** A flow whose names are not known to the compiler. */
export type AnyFlow = Flow<StateSchema, object, string>;

/** The sketch as a flow; its code fails as `world` says. */
export function buildFlow(sketch: FlowSketch, world: World): AnyFlow {
  let flow = new Flow<typeof state, typeof merge, string>("sketch", { state, merge });
  for (const node of sketch.nodes) {
    const { name, gate, retries } = node;
    // A map writes texts or a list of them, into a field of that kind: more than the types can follow when names are data.
    flow = flow.node(name, workOf(node, world) as never, {
      retries: { maxAttempts: retries + 1, initialDelayMs: 0 },
      ...(gate ? { pause: ({ total }) => ({ node: name, total }) } : {}),
    });
  }
  for (const { from, to, cap, orElse } of sketch.edges)
    flow = flow.edge(from, to, { ...capped(cap), ...otherwise(orElse) });
  for (const route of sketch.routes) {
    const { from, targets, caps, orElse } = route;
    flow = flow.route(from, ({ total }) => chosenBy(route, total), targets, { ...capped(caps), ...otherwise(orElse) });
  }
  for (const name of sketch.ends) flow = flow.end(name);
  // Node names and state are data here.
  return flow as unknown as AnyFlow;
}

const capped = <Cap>(maxLoops: Cap | null) => (maxLoops === null ? {} : { maxLoops });
const otherwise = (orElse: string | null) => (orElse === null ? {} : { orElse });

function workOf(node: NodeSketch, world: World) {
  const { name, kind, tool, into } = node;
  if (kind === "call") {
    const args = ({ total }: SketchState) => (tool === "once" ? {} : { node: name, n: 0, total });
    return call(tool, { args, into });
  }
  if (kind === "map") {
    const args = (item: object, { total }: SketchState, n: number) => ({ ...item, node: name, n, total });
    return map("items", { tool: "each", args, into });
  }
  const code = (seen: SketchState, ctx: FlowContext) => runCode(node, world, { seen, ctx });
  return kind === "join" ? join(code) : code;
}

async function runCode(
  node: NodeSketch,
  world: World,
  { seen, ctx }: { readonly seen: SketchState; readonly ctx: FlowContext },
) {
  const { name, calls, together, failures, slow } = node;
  await turns(slow);
  const one = (tool: ToolName, n: number) => ctx.run(tool, tool === "once" ? {} : { node: name, n, total: seen.total });
  if (together) await Promise.all(calls.map(one));
  else for (const [n, tool] of calls.entries()) await one(tool, n);
  world.failFirst(`node ${name} ${ctx.visit}`, failures);
  return written(node, ctx.visit, seen);
}

/** What the reviewer decides; gates are told by the name of their node. */
export function decide({ nodes }: FlowSketch, { kind, tool, arguments: args }: Asked): ApprovalDecision {
  const { node: name, total } = args as { readonly node: string; readonly total: number };
  const node = nodes.find((one) => one.name === name);
  if (node === undefined) throw new Error(`nobody knows who asks for ${tool}`);
  if (says(node, total) === "no") return deny({ by: "ana" });
  const edit = kind === "gate" && node.edits ? { editedArgs: { note: noteOf(name, total) } } : {};
  return approve({ by: "ana", ...edit });
}

interface Asked {
  readonly kind: "tool" | "gate";
  readonly tool: string;
  readonly arguments: unknown;
}

/** How a run ended, in the words of the model. `undefined`: not known, for no step of it ended. */
export interface Observed {
  readonly status: "done" | "denied" | "loop" | "conflict";
  readonly state: unknown;
  readonly steps: number;
  readonly visits: Readonly<Record<string, number>>;
  readonly ledger: readonly Counted[];
  /** How many times each call ran to its end. */
  readonly finished: readonly number[];
}

export const SECRET = "a secret of at least 32 bytes, for tests";

type Ended = Pick<Observed, "status" | "state"> & Partial<Pick<Observed, "steps" | "visits">>;

/** Everything that one run of a sketch needs, and that outlives its processes. */
class Rig {
  readonly world = new World();
  readonly ledger = new MemoryLedger();
  readonly registry: Registry;
  readonly flow: AnyFlow;
  readonly sketch: FlowSketch;
  last: StepReport<unknown> | undefined;

  constructor(sketch: FlowSketch) {
    this.sketch = sketch;
    this.registry = toolsOf(sketch, this.world);
    this.flow = buildFlow(sketch, this.world);
  }

  executor(approval?: ApprovalPort): Executor {
    const { registry, ledger } = this;
    return new Executor(registry, { secret: SECRET, ledger, ...(approval === undefined ? {} : { approval }) });
  }

  /** `steps` and `visits` of a run that threw are what its last report said. */
  observe(end: Ended): Promise<Observed> {
    const { steps = this.last?.step ?? 0, visits = this.last?.visits ?? {} } = end;
    return observed(this, { status: end.status, state: end.state, steps, visits });
  }
}

/** How a run ended, with what the world and the ledger saw of it. */
export async function observed(
  { ledger, world }: { readonly ledger: MemoryLedger; readonly world: World },
  end: Pick<Observed, "status" | "state" | "steps" | "visits">,
): Promise<Observed> {
  const entries = await ledger.entries();
  return {
    ...end,
    ledger: entries.map(({ tool, status, attempts, cost }) => [tool, status, attempts, cost] as const).toSorted(byText),
    finished: [...world.finished.values()],
  };
}

/** What was observed, as far as the rules say what it must be. */
export function told({ finished, ...seen }: Observed, outcome: Outcome) {
  // What else of the last step had run when the run ended otherwise, no rule says.
  const isWhole = outcome.status === "done" || outcome.status === "conflict";
  return {
    ...seen,
    orDenied: outcome.orDenied,
    status: outcome.orDenied && seen.status === "denied" ? outcome.status : seen.status,
    // A run that threw before its first step ended has shown no state.
    state: seen.state ?? outcome.state,
    ledger: isWhole ? seen.ledger : outcome.ledger,
    runTwice: finished.filter((times) => times !== 1).length,
  };
}

type Choose = (sides: number) => number;

/** The choices of a random run, one after the other and over again. */
export function chooser(choices: readonly number[]): Choose {
  let turn = 0;
  return (sides) => {
    turn += 1;
    return (choices[turn % choices.length] ?? 0) % sides;
  };
}

interface Waiting {
  readonly binding: string;
  readonly request: Parameters<typeof decide>[1];
}

/** Answers to some of what waits, by binding: sometimes none, sometimes one, sometimes all. */
export function someAnswers(
  sketch: FlowSketch,
  pendings: readonly Waiting[],
  choose: Choose,
): Readonly<Record<string, ApprovalDecision>> | null {
  const count = [pendings.length, 1, 0][choose(3)] ?? 0;
  const from = choose(pendings.length);
  const chosen = [...pendings.slice(from), ...pendings.slice(0, from)].slice(0, count);
  if (chosen.length === 0) return null;
  return Object.fromEntries(chosen.map(({ binding, request }) => [binding, decide(sketch, request)]));
}

/** A port that decides at once; failures go on from their checkpoint. */
export async function runAtOnce(sketch: FlowSketch): Promise<Observed> {
  const rig = new Rig(sketch);
  const executor = rig.executor(new CallbackApproval(({ request }) => decide(sketch, request)));
  return drive(rig, { executor: () => executor, answer: () => null, stops: () => false });
}

/**
 * Nobody decides at once: every request pauses the run. `choices` say, turn by turn, which requests are answered, whether the
 * process is a new one, and whether a run is stopped after a step.
 */
export async function runWithPauses(sketch: FlowSketch, choices: readonly number[]): Promise<Observed> {
  const rig = new Rig(sketch);
  const choose = chooser(choices);
  let executor = rig.executor();
  return drive(rig, {
    executor: () => {
      if (choose(3) > 0) return executor;
      forgetProcess();
      executor = rig.executor();
      return executor;
    },
    answer: (pendings) => someAnswers(sketch, pendings, choose),
    stops: () => choose(4) === 1,
  });
}

interface Driver {
  executor(): Executor;
  answer(pendings: readonly Pending[]): Readonly<Record<string, ApprovalDecision>> | null;
  /** Is the run stopped after this step, to go on from the checkpoint? */
  stops(): boolean;
}

type Pending = Extract<FlowResult<unknown>, { status: "paused" }>["pendings"][number];

export const STOPPED = new Error("stopped after a step");
const MOST_TURNS = 1000;

async function drive(rig: Rig, driver: Driver): Promise<Observed> {
  const { flow, sketch } = rig;
  const onStep = (report: StepReport<unknown>) => {
    rig.last = report;
    if (driver.stops()) throw STOPPED;
  };
  const options = () => ({ executor: driver.executor(), maxSteps: sketch.maxSteps, onStep });
  let going: () => Promise<FlowResult<unknown>> = () => runFlow(flow, sketch.input, { ...options(), runId: "run" });
  forgetProcess();
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    let result: FlowResult<unknown>;
    try {
      result = await going();
    } catch (error) {
      const status = endOf(error);
      if (status !== undefined) return rig.observe({ status, state: rig.last?.state });
      const checkpoint = checkpointOf(error) ?? "";
      going = () => resumeFlow(flow, checkpoint, null, options());
      continue;
    }
    if (result.status !== "paused") return rig.observe(result);
    const { checkpoint, pendings } = result;
    going = () => resumeFlow(flow, checkpoint, driver.answer(pendings), options());
  }
  throw new Error("the run does not end");
}

/** How a run ended that threw; `undefined`: it can go on. */
export function endOf(error: unknown): "loop" | "conflict" | undefined {
  if (isAgentAdapterError(error, "FlowLoopExceeded")) return "loop";
  if (isAgentAdapterError(error, "FlowError") && error.message.includes("no merge rule")) return "conflict";
  if (error === STOPPED || isBoom(error)) return undefined;
  throw error;
}

function isBoom(error: unknown): boolean {
  return error instanceof Error && (error.message === BOOM || isBoom(error.cause));
}

const byText = (a: readonly unknown[], b: readonly unknown[]): number => {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  return one < other ? -1 : one > other ? 1 : 0;
};
