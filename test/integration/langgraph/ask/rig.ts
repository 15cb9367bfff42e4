// A thread with one checkpointer and as many "processes" on it as a test wants. Real LangGraph, MemorySaver; a new process
// is simulated by dropping the structure this process keeps and building executor, port and graph again.

import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, END, INTERRUPT, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect } from "vitest";
import { z } from "zod";
import {
  approve,
  Executor,
  isAgentAdapterError,
  MemoryLedger,
  Registry,
  type ApprovalDecision,
  type ApprovalRequest,
  type Hook,
  type Secrets,
  type ToolContext,
} from "agent-adapter";
import { isInvalidAnswer, LangGraphApproval, toolNode, type ApprovalInterrupt } from "agent-adapter/langgraph";
import { ManualClock } from "agent-adapter/testing";
import { forgetProcess } from "../../../support/process.js";

export const SECRET = "a root secret of this test, 32 bytes or more";
const START_MS = Date.UTC(2026, 0, 1);
export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/** A pause as `invoke` returned it. */
export interface Ask {
  readonly id: string;
  readonly value: ApprovalInterrupt;
}

/** What one `invoke` came to. */
export interface Step {
  readonly asks: readonly Ask[];
  readonly messages: readonly BaseMessage[];
  readonly error: unknown;
}

export interface InvokeOptions {
  readonly thread?: string;
  readonly checkpointId?: string;
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly update?: Readonly<Record<string, unknown>>;
}

export interface Snapshot {
  readonly config: { readonly configurable: Readonly<Record<string, unknown>> };
  readonly next: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

export interface App {
  invoke(input: unknown, config: unknown): Promise<Record<PropertyKey, unknown>>;
  getState(config: unknown): Promise<Snapshot & { readonly tasks: readonly { readonly interrupts: readonly Ask[] }[] }>;
  getStateHistory(config: unknown): AsyncIterable<Snapshot>;
  updateState(config: unknown, values: unknown, asNode?: string): Promise<unknown>;
}

export interface Built {
  readonly registry: Registry;
  readonly executor: Executor;
  readonly port: LangGraphApproval;
  readonly tools: ReturnType<typeof toolNode>;
}

type Body = (callId: string, ctx: ToolContext) => unknown;

/** Everything a deployment decides; change a field, then `redeploy()` or `newProcess()`. */
export interface Deployment {
  version: string;
  secret: Secrets;
  /** The answer key; default: the secret. */
  key: Secrets | undefined;
  answerTtlMs: number | undefined;
  confirm: boolean | (() => boolean);
  effects: "write" | "destructive";
  hooks: Partial<Hook>[];
  /** What the tools do; counted before it runs. */
  body: Body;
  nodeOptions: Readonly<Record<string, unknown>>;
  durability: "sync" | "async" | "exit" | undefined;
  graph: (built: Built, nodeOptions: Readonly<Record<string, unknown>>) => unknown;
  extraTools: (registry: Registry, built: () => Built) => void;
}

export class Rig {
  readonly clock = new ManualClock(START_MS);
  readonly ledger = new MemoryLedger();
  /** Call ids in the order their bodies started, over all processes. */
  readonly ran: string[] = [];
  saver = new MemorySaver();
  readonly is: Deployment;
  built!: Built;
  app!: App;

  constructor(deployment: Partial<Deployment> = {}) {
    this.is = {
      version: "1",
      secret: SECRET,
      key: undefined,
      answerTtlMs: undefined,
      confirm: true,
      effects: "destructive",
      hooks: [],
      body: (callId) => `did ${callId}`,
      nodeOptions: {},
      durability: undefined,
      graph: oneNode,
      extraTools: () => undefined,
      ...deployment,
    };
    this.redeploy();
  }

  /** New executor, port and graph in the same process. */
  redeploy(changes: Partial<Deployment> = {}): this {
    Object.assign(this.is, changes);
    const { version, secret, key, answerTtlMs, confirm, hooks, effects } = this.is;
    const registry = new Registry();
    const run = (callId: string, ctx: ToolContext) => {
      this.ran.push(callId);
      return this.is.body(callId, ctx);
    };
    const inputSchema = z.object({ n: z.string() });
    const execute = (_args: unknown, ctx: ToolContext) => run(ctx.callId, ctx);
    registry.tool({ name: "pay", description: "Pays.", inputSchema, version, confirm, effects, execute });
    registry.tool({ name: "rate", description: "Reads.", inputSchema, effects: "read", execute });
    this.is.extraTools(registry, () => this.built);
    const port = new LangGraphApproval({
      ...(key === undefined ? {} : { key }),
      ...(answerTtlMs === undefined ? {} : { answerTtlMs }),
    });
    const executor = new Executor(registry, { approval: port, secret, hooks, clock: this.clock, ledger: this.ledger });
    this.built = { registry, executor, port, tools: toolNode(registry, { executor }) };
    // The graph function leaves the checkpointer to the rig.
    this.app = (this.is.graph(this.built, this.is.nodeOptions) as { compile(options: unknown): App }).compile({
      checkpointer: this.saver,
    });
    return this;
  }

  /** What a restart leaves: the checkpointer. */
  newProcess(changes: Partial<Deployment> = {}): this {
    forgetProcess();
    return this.redeploy(changes);
  }

  config({ thread = "t", checkpointId, configurable = {}, signal }: InvokeOptions = {}) {
    return {
      configurable: {
        thread_id: thread,
        ...(checkpointId === undefined ? {} : { checkpoint_id: checkpointId }),
        ...configurable,
      },
      ...(signal === undefined ? {} : { signal }),
      ...(this.is.durability === undefined ? {} : { durability: this.is.durability }),
    };
  }

  async step(input: unknown, options: InvokeOptions = {}): Promise<Step> {
    try {
      const out = await this.app.invoke(input, this.config(options));
      return {
        asks: (out[INTERRUPT] ?? []) as Ask[],
        messages: (out["messages"] ?? []) as BaseMessage[],
        error: undefined,
      };
    } catch (error) {
      return { asks: [], messages: [], error };
    }
  }

  /** Start the thread with one AIMessage of these calls: `a1` is a `pay` call, `p1` a `rate` call. */
  start(calls: readonly string[] = ["a1"], options: InvokeOptions = {}): Promise<Step> {
    return this.step({ messages: [aiMessage(calls)] }, options);
  }

  /** The start of most tests: exactly one ask. */
  async asked(calls: readonly string[] = ["a1"], options: InvokeOptions = {}): Promise<Ask> {
    return only(await this.start(calls, options));
  }

  nothing(options: InvokeOptions = {}): Promise<Step> {
    return this.step(null, options);
  }

  byId(ask: Pick<Ask, "id">, value: unknown, options: InvokeOptions = {}): Promise<Step> {
    return this.byMap({ [ask.id]: value }, options);
  }

  byMap(resume: Readonly<Record<string, unknown>>, options: InvokeOptions = {}): Promise<Step> {
    const { update } = options;
    return this.step(new Command({ resume, ...(update === undefined ? {} : { update }) }), options);
  }

  plain(value: unknown, options: InvokeOptions = {}): Promise<Step> {
    return this.step(new Command({ resume: value }), options);
  }

  answer(ask: Ask, decision: ApprovalDecision = approve({ by: "ana" })) {
    return this.built.port.resumeValue(ask, decision);
  }

  /** Approve whatever is asked until nothing is. */
  async finish(step: Step): Promise<Step> {
    let now = step;
    for (let rounds = 0; now.asks.length > 0; rounds += 1) {
      if (rounds > 50) throw new Error("it asks for ever");
      now = await this.byMap(Object.fromEntries(now.asks.map((ask) => [ask.id, this.answer(ask)])));
    }
    return now;
  }

  /** What the checkpointer shows as waiting. */
  async pending(): Promise<readonly Ask[]> {
    const state = await this.app.getState(this.config());
    return state.tasks.flatMap((task) => task.interrupts);
  }

  async checkpointId(): Promise<string> {
    return String((await this.app.getState(this.config())).config.configurable["checkpoint_id"]);
  }

  times(callId: string): number {
    return this.ran.filter((id) => id === callId).length;
  }
}

export function aiMessage(calls: readonly string[]): AIMessage {
  return new AIMessage({
    content: "",
    tool_calls: calls.map((id) => ({ id, name: toolNameOf(id), args: { n: id } })),
  });
}

function toolNameOf(id: string): string {
  if (id.includes(":")) return id.slice(0, id.indexOf(":"));
  return id.startsWith("p") ? "rate" : "pay";
}

function oneNode({ tools }: Built, nodeOptions: Readonly<Record<string, unknown>>): unknown {
  return new StateGraph(MessagesAnnotation)
    .addNode("tools", tools, nodeOptions)
    .addEdge(START, "tools")
    .addEdge("tools", END);
}

/** The one ask of a step. */
export function only(step: Step): Ask {
  if (step.error !== undefined) throw step.error;
  expect(step.asks).toHaveLength(1);
  const [ask] = step.asks;
  if (ask === undefined) throw new Error("no ask");
  return ask;
}

export function requestOf(ask: Ask): ApprovalRequest {
  return ask.value.request;
}

/** One word for how a step ended: what it asks about, the kind of its error, or `done`. */
export function ended(step: Step): string {
  if (step.error !== undefined) return kindOf(step.error);
  if (step.asks.length === 0) return "done";
  return `asks ${step.asks.map((ask) => `${requestOf(ask).callId}.${requestOf(ask).generation}`).join(" ")}`;
}

export function kindOf(error: unknown): string {
  if (isInvalidAnswer(error)) return "invalid";
  if (isAgentAdapterError(error)) return error.kind;
  if (error instanceof AggregateError) return error.errors.map(kindOf).toSorted().join("+");
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Content and status of the ToolMessages, by call id. */
export function toolMessages(step: Step): Readonly<Record<string, { status: string; content: unknown }>> {
  return Object.fromEntries(
    step.messages
      .filter((message) => ToolMessage.isInstance(message))
      .map((message) => [message.tool_call_id, { status: String(message.status), content: message.content }]),
  );
}

/** A promise to settle by hand. */
export function deferred(): { promise: Promise<string>; resolve(value: string): void; reject(error: unknown): void } {
  let settle: { resolve(value: string): void; reject(error: unknown): void } | undefined;
  const promise = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject };
  });
  if (settle === undefined) throw new Error("a promise without an executor");
  return { promise, ...(settle as { resolve(value: string): void; reject(error: unknown): void }) };
}

/** A body that never ends, as seen by whoever comes after a crash. */
export const never = (): Promise<never> => new Promise(() => undefined);

/** Let everything that can go on go on. */
export async function idle(rounds = 4): Promise<void> {
  for (let i = 0; i < rounds; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Wait until the condition holds; no fixed sleeps. */
export async function until(condition: () => boolean): Promise<void> {
  for (let rounds = 0; !condition(); rounds += 1) {
    if (rounds > 2000) throw new Error("waited in vain");
    await idle(1);
  }
}
