// A process that runs a graph of this package on a shared checkpointer: one message is one step of one thread, everything is
// built anew for it. Bodies append to a file outside of the process. Told to, it kills itself at the n-th moment: before or
// after any write or read of a store, or anywhere in a body.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
// First, because it repairs how `pg` is loaded.
import { Moments, openSaver, type SaverPlace } from "./moments.js";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  INTERRUPT,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
  type Send,
} from "@langchain/langgraph";
import { z } from "zod";
import {
  approve,
  DeferredApproval,
  deny,
  Executor,
  isAgentAdapterError,
  Registry,
  ToolError,
  type Answer,
  type ApprovalDecision,
  type ApprovalPort,
  type ApprovalRequest,
  type ClaimStore,
  type DecisionFields,
  type Secrets,
  type ToolContext,
} from "agent-adapter";
import {
  fanOut,
  isInvalidAnswer,
  LangGraphApproval,
  oneUse,
  pendingApprovals,
  resume,
  toolNode,
  toolTask,
  type ApprovalInterrupt,
  type Durable,
  type GraphApp,
} from "agent-adapter/langgraph";
import { openSqlite, type SqlStores } from "agent-adapter/sqlite";

export type { SaverPlace };

/** What all processes of a test share. */
export interface World {
  readonly saver: SaverPlace;
  /** The SQLite file of `claims` and of approvals in a store. */
  readonly stores: string;
  /** What the bodies append to. */
  readonly effects: string;
  /** Of programs that have none of their own. */
  readonly secret: string;
}

/** What a program decides; another process may decide otherwise. */
export interface Program {
  readonly node: "toolNode" | "oneUse" | "toolTask";
  readonly durable?: Durable;
  readonly durability?: "sync" | "async" | "exit";
  readonly claims?: boolean;
  /** Entries go into the stores' ledger, which all processes share. */
  readonly ledger?: boolean;
  /** Decided in the store beside the checkpointer instead of by a resume value. */
  readonly deferred?: boolean;
  /** `null`: none at all, so a random one of the process. */
  readonly secret?: Secrets | null;
  /** The answer key; default: the secret. */
  readonly key?: Secrets;
  readonly version?: string;
  readonly unknownAfterMs?: number;
  readonly requestTtlMs?: number;
  /** How far the clock of this process is ahead. */
  readonly aheadMs?: number;
  /** Calls whose body fails after its effect: with an error the model reads, or any other. */
  readonly failing?: Readonly<Record<string, "visible" | "hidden">>;
  /** Calls that a hook refuses before anything is used. */
  readonly refusing?: readonly string[];
  /** A call after which the node's own code fails (`oneUse`). */
  readonly stumbling?: string;
  readonly bodyMs?: number;
}

export type Op =
  | { readonly do: "start"; readonly calls: readonly string[] }
  | { readonly do: "null" }
  /** A raw `invoke` with answers by interrupt id. */
  | { readonly do: "by-id"; readonly values: Readonly<Record<string, unknown>> }
  | { readonly do: "plain"; readonly value: unknown }
  /** Through `resume`: a signed answer, several by name, or null. */
  | { readonly do: "resume"; readonly answer: Answer | Readonly<Record<string, Answer>> | null }
  /** Through `resume`: decisions made in this process. */
  | { readonly do: "decide"; readonly decisions: DecisionFields | Readonly<Record<string, DecisionFields>> }
  | { readonly do: "pending" };

export interface Step {
  readonly [key: string]: unknown;
  readonly thread: string;
  readonly program: Program;
  readonly op: Op;
  /** How often at once; default once. */
  readonly times?: number;
  /** Die at this moment: counted from 1, or the first of that name. */
  readonly killAt?: number | string;
  readonly checkpointId?: string;
}

export interface Ask {
  readonly id: string;
  readonly value: ApprovalInterrupt;
}

export interface Waiting {
  readonly id: string;
  readonly callId: string;
  readonly status: "waiting" | "used";
  readonly interrupt: Ask;
}

/** What one call of the app came to. */
export interface Turn {
  /** `done`, `asks a1.0 a2.0`, or the kind of an error. */
  readonly ended: string;
  readonly message: string;
  readonly asks: readonly Ask[];
  readonly waiting: readonly Waiting[];
  /** Of `pending`: the newest checkpoint. */
  readonly checkpointId: string;
  /** Of `pending`: nodes that have not finished. */
  readonly unfinished: readonly string[];
  /** What each call came to, in the order of the state. */
  readonly results: readonly (readonly [callId: string, result: string])[];
}

/** One line of the effects file. */
export interface Effect {
  readonly thread: string;
  readonly callId: string;
  readonly nonce: string;
  readonly pid: number;
}

interface Surroundings {
  readonly saver: BaseCheckpointSaver;
  readonly stores: SqlStores;
  readonly claims: ClaimStore;
  readonly moments: Moments;
  readonly effects: string;
  readonly secret: string;
}

async function open(world: World): Promise<Surroundings> {
  const moments = new Moments(world.effects);
  const stores = await openSqlite(world.stores, { synchronous: "normal" });
  return {
    saver: moments.watch(await openSaver(world.saver), ["getTuple", "put", "putWrites"]),
    stores,
    claims: moments.watch({ claim: (...args) => stores.claims.claim(...args) } satisfies ClaimStore, ["claim"]),
    moments,
    effects: world.effects,
    secret: world.secret,
  };
}

type Body = (args: { n: string; nonce: string }, ctx: ToolContext) => Promise<string>;

function bodyOf(around: Surroundings, { failing = {}, bodyMs = 0 }: Program): Body {
  return async ({ n, nonce }, { threadId = "" }) => {
    around.moments.pass("body, before its effect");
    const effect: Effect = { thread: threadId, callId: n, nonce, pid: process.pid };
    appendFileSync(around.effects, `${JSON.stringify(effect)}\n`);
    around.moments.pass("body, after its effect");
    if (bodyMs > 0) await sleep(bodyMs);
    around.moments.pass("body, at its end");
    if (failing[n] === "visible") throw new ToolError(`${n} failed after its effect`);
    if (failing[n] === "hidden") throw new Error(`${n} failed after its effect`);
    return `did ${n} ${nonce}`;
  };
}

interface Built {
  readonly executor: Executor;
  readonly registry: Registry;
  readonly port: ApprovalPort;
}

function portOf(around: Surroundings, program: Program): ApprovalPort {
  if (program.deferred === true) return new DeferredApproval(around.stores.approvals);
  const { key, unknownAfterMs, requestTtlMs } = program;
  return new LangGraphApproval({
    ...(key === undefined ? {} : { key }),
    ...(unknownAfterMs === undefined ? {} : { unknownAfterMs }),
    ...(requestTtlMs === undefined ? {} : { requestTtlMs }),
  });
}

function build(around: Surroundings, program: Program): Built {
  const execute = bodyOf(around, program);
  const inputSchema = z.object({ n: z.string(), nonce: z.string() });
  const { version = "1", aheadMs = 0, secret = around.secret, refusing = [] } = program;
  const registry = new Registry();
  const pay = { name: "pay", description: "Pays.", inputSchema, version, confirm: true } as const;
  registry.tool({ ...pay, effects: "destructive", execute });
  registry.tool({ name: "rate", description: "Reads.", inputSchema, effects: "read", execute });
  const port = portOf(around, program);
  const executor = new Executor(registry, {
    approval: port,
    clock: { now: () => Date.now() + aheadMs, sleep: (ms) => sleep(ms) },
    hooks: [
      {
        beforeTool: ({ arguments: args }) => {
          if (refusing.some((callId) => isAbout(args, callId))) throw new Error("a hook failed");
        },
      },
    ],
    ...(secret === null ? {} : { secret }),
    ...(program.claims === true ? { claims: around.claims } : {}),
    ...(program.ledger === true ? { ledger: around.stores.ledger } : {}),
  });
  return { executor, registry, port };
}

/** Calls whose name begins with `p` read, the others pay. */
function toolOf(callId: string): "rate" | "pay" {
  return callId.startsWith("p") ? "rate" : "pay";
}

function isAbout(args: unknown, callId: string): boolean {
  return typeof args === "object" && args !== null && "n" in args && args.n === callId;
}

const argumentsOf = (callId: string) => ({ n: callId, nonce: "model" });

const Results = Annotation.Root({
  calls: Annotation<string[]>({ reducer: (_, next) => next, default: () => [] }),
  results: Annotation<string[]>({ reducer: (known, more) => known.concat(more), default: () => [] }),
});

function graphOf({ executor, registry }: Built, { node, durable, stumbling }: Program) {
  const options = { executor, ...(durable === undefined ? {} : { durable }) };
  switch (node) {
    case "toolNode":
      return new StateGraph(MessagesAnnotation)
        .addNode("tools", toolNode(registry, options))
        .addEdge(START, "tools")
        .addEdge("tools", END);
    case "oneUse":
      return new StateGraph(Results)
        .addNode(
          "own",
          oneUse(async ({ calls }: typeof Results.State) => {
            const results: string[] = [];
            for (const callId of calls) {
              results.push(await runOne(executor, callId));
              if (callId === stumbling) throw new Error("the node's own code failed");
            }
            return { results };
          }, options),
        )
        .addEdge(START, "own")
        .addEdge("own", END);
    case "toolTask":
      return new StateGraph(Results)
        .addNode("rate", toolTask(registry.get("rate") ?? missing(), { ...options, into: "results" }))
        .addNode("pay", toolTask(registry.get("pay") ?? missing(), { ...options, into: "results" }))
        .addConditionalEdges(
          START,
          ({ calls }) =>
            (["rate", "pay"] as const).flatMap((tool): Send[] => {
              const items = calls.filter((callId) => toolOf(callId) === tool).map(argumentsOf);
              // Without `orElse` it is a list.
              return fanOut(tool, () => items)({}) as Send[];
            }),
          ["rate", "pay"],
        )
        .addEdge("rate", END)
        .addEdge("pay", END);
  }
}

/** A node of your own catches what a model would read. */
async function runOne(executor: Executor, callId: string): Promise<string> {
  try {
    return String(await executor.run(toolOf(callId), argumentsOf(callId), { callId }));
  } catch (error) {
    if (isAgentAdapterError(error) && error.modelVisible) return `${callId}: ${error.kind}`;
    throw error;
  }
}

function missing(): never {
  throw new Error("there is no such tool");
}

interface App extends GraphApp<unknown> {
  invoke(input: unknown, config: unknown): Promise<unknown>;
  getState(config: unknown): Promise<{
    readonly config: { readonly configurable: Readonly<Record<string, unknown>> };
    readonly tasks: readonly { readonly name: string; readonly result?: unknown }[];
    readonly values: Readonly<Record<string, unknown>>;
  }>;
}

function decisionOf(fields: DecisionFields): ApprovalDecision {
  const { approved, ...remarks } = fields;
  return approved ? approve(remarks) : deny(remarks);
}

function isDecision(value: DecisionFields | Readonly<Record<string, DecisionFields>>): value is DecisionFields {
  return "approved" in value && typeof value.approved === "boolean";
}

function inputOf(op: Op, node: Program["node"]): unknown {
  if (op.do === "by-id") return new Command({ resume: op.values });
  if (op.do === "plain") return new Command({ resume: op.value });
  if (op.do !== "start") return null;
  if (node !== "toolNode") return { calls: op.calls };
  const tool_calls = op.calls.map((id) => ({ id, name: toolOf(id), args: argumentsOf(id) }));
  return { messages: [new AIMessage({ content: "", tool_calls })] };
}

async function callApp(app: App, step: Step, executor: Executor): Promise<unknown> {
  const { op, program, thread, checkpointId } = step;
  const config = {
    configurable: { thread_id: thread, ...(checkpointId === undefined ? {} : { checkpoint_id: checkpointId }) },
    durability: program.durability ?? "async",
  };
  if (op.do === "resume") return resume(app, op.answer, config, { executor });
  if (op.do !== "decide") return app.invoke(inputOf(op, program.node), config);
  const { decisions } = op;
  const made = isDecision(decisions)
    ? decisionOf(decisions)
    : Object.fromEntries(Object.entries(decisions).map(([name, fields]) => [name, decisionOf(fields)]));
  return resume(app, made, config, { executor });
}

/** Which call it is about: of `toolTask` the call's id is another one. */
function callIn(request: ApprovalRequest): string {
  const { n } = request.arguments;
  return typeof n === "string" ? n : "?";
}

function kindOf(error: unknown): string {
  if (isInvalidAnswer(error)) return "invalid";
  if (isAgentAdapterError(error)) return error.kind;
  if (error instanceof AggregateError) return [...new Set(error.errors.map(kindOf))].toSorted().join("+");
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

function turnOf(output: unknown): Turn {
  const state = { ...(output as Readonly<Record<PropertyKey, unknown>>) };
  const asks = (state[INTERRUPT] ?? []) as Ask[];
  const names = asks.map(({ value: { request } }) => `${callIn(request)}.${request.generation}`);
  return {
    ended: asks.length === 0 ? "done" : `asks ${names.join(" ")}`,
    message: "",
    asks,
    waiting: [],
    checkpointId: "",
    unfinished: [],
    results: resultsIn(state),
  };
}

function resultsIn({ messages, results }: Readonly<Record<string, unknown>>): Turn["results"] {
  if (Array.isArray(messages)) {
    return messages
      .filter((message) => ToolMessage.isInstance(message))
      .map((message) => [message.tool_call_id, JSON.stringify(message.content)]);
  }
  if (!Array.isArray(results)) return [];
  return results.map((result) => [/\b[a-z]\d+\b/.exec(String(result))?.[0] ?? "?", String(result)]);
}

/** What a person is shown. */
async function lookAt(app: App, thread: string) {
  const config = { configurable: { thread_id: thread } };
  const pending = await pendingApprovals(app, config);
  const waiting = pending.map(({ id, status, request, interrupt }) => {
    return { id, status, callId: callIn(request), interrupt: interrupt as Ask };
  });
  const state = await app.getState(config);
  const checkpointId = String(state.config.configurable["checkpoint_id"]);
  const unfinished = state.tasks.filter(({ result }) => result === undefined).map(({ name }) => name);
  return { ended: "pending", waiting, checkpointId, unfinished, results: resultsIn(state.values) };
}

async function turn(around: Surroundings, step: Step): Promise<Turn> {
  const nothing = { message: "", asks: [], waiting: [], results: [], checkpointId: "", unfinished: [] };
  const built = build(around, step.program);
  const app = graphOf(built, step.program).compile({ checkpointer: around.saver }) as unknown as App;
  try {
    if (step.op.do === "pending") return { ...nothing, ...(await lookAt(app, step.thread)) };
    return turnOf(await callApp(app, step, built.executor));
  } catch (error) {
    return { ...nothing, ended: kindOf(error), message: error instanceof Error ? error.message : "" };
  }
}

async function main(): Promise<void> {
  const world: World = JSON.parse(process.argv[2] ?? "null");
  const around = await open(world);
  const answer = async (step: Step): Promise<void> => {
    around.moments.start(step.killAt);
    const turns = await Promise.all(Array.from({ length: step.times ?? 1 }, () => turn(around, step)));
    process.send?.({ turns, moments: around.moments.seen });
  };
  process.on("message", (step: Step) => void answer(step));
  process.on("disconnect", () => process.exit());
  process.send?.({ ready: true });
}

await main();
