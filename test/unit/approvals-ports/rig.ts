// Executors and graphs whose approvals wait in a store, and stores that fail when told to.
import { MemorySaver, MessagesAnnotation, START, END, StateGraph, Command } from "@langchain/langgraph";
import { Executor, MemoryLedger, Registry, type AnyToolSpec, type ApprovalDecision, type Hook } from "agent-adapter";
import { toolNode } from "agent-adapter/langgraph";
import { ManualClock } from "agent-adapter/testing";
import { DeferredApproval, type DeferredApprovalOptions } from "../../../src/approvals/deferred-approval.js";
import { MemoryApprovalStore } from "../../../src/approvals/memory-store.js";
import type { ApprovalRequest } from "../../../src/approvals/request.js";
import type { ApprovalRecord, ApprovalStore } from "../../../src/approvals/store.js";
import { ai, asking, one, turnOf, type App, type Call, type Turn } from "../../support/langgraph.js";

const SECRET = "a shared secret of 32 bytes, test";

type Method = "create" | "get" | "consume" | "expire" | "supersede";

/** A store that fails once at each method it was told to, before or after doing what it was asked. */
export class FlakyStore extends MemoryApprovalStore {
  readonly #fails = new Map<Method, "before" | "after">();
  /** Called after a request was put in. */
  created: (record: ApprovalRecord) => Promise<unknown> = () => Promise.resolve();

  failAt(method: Method, when: "before" | "after" = "before"): this {
    this.#fails.set(method, when);
    return this;
  }

  override create(request: ApprovalRequest): Promise<ApprovalRecord> {
    return this.#step("create", async () => {
      const record = await super.create(request);
      await this.created(record);
      return record;
    });
  }

  override get(id: string): Promise<ApprovalRecord | undefined> {
    return this.#step("get", () => super.get(id));
  }

  override consume(id: string, token: string): Promise<ApprovalRecord> {
    return this.#step("consume", () => super.consume(id, token));
  }

  override expire(id: string): Promise<ApprovalRecord> {
    return this.#step("expire", () => super.expire(id));
  }

  override supersede(id: string, by: string): Promise<ApprovalRecord> {
    return this.#step("supersede", () => super.supersede(id, by));
  }

  async #step<T>(method: Method, act: () => Promise<T>): Promise<T> {
    const when = this.#fails.get(method);
    this.#fails.delete(method);
    if (when === "before") throw new TypeError("fetch failed");
    const value = await act();
    if (when === "after") throw new TypeError("socket hang up");
    return value;
  }
}

export interface PlainOptions {
  readonly store?: ApprovalStore;
  readonly port?: DeferredApprovalOptions;
  readonly tools?: readonly AnyToolSpec[];
  readonly hooks?: readonly Partial<Hook>[];
  readonly clock?: ManualClock;
}

/** A program with one asking tool, "send", whose calls are named. */
export class Plain {
  readonly ran: string[] = [];
  readonly clock: ManualClock;
  readonly store: ApprovalStore;
  readonly ledger = new MemoryLedger();
  readonly executor: Executor;
  readonly #context;

  constructor(options: PlainOptions = {}) {
    this.clock = options.clock ?? new ManualClock(1_000_000);
    this.store = options.store ?? new MemoryApprovalStore({ clock: this.clock });
    this.executor = new Executor(new Registry(options.tools ?? [asking(this.ran, "send")]), {
      approval: new DeferredApproval(this.store, options.port),
      secret: SECRET,
      ledger: this.ledger,
      clock: this.clock,
      hooks: options.hooks ?? [],
    });
    this.#context = this.executor.context({ runId: "run-1", principal: "requester" });
  }

  send(n = 1, callId = "call-1"): Promise<unknown> {
    return this.executor.run("send", { n }, { context: this.#context, callId });
  }

  async waiting(): Promise<ApprovalRecord> {
    return one(await this.store.list({ status: "pending" }));
  }

  async decide(decision: ApprovalDecision): Promise<ApprovalRecord> {
    return this.store.decide((await this.waiting()).id, decision);
  }
}

export interface GraphOptions {
  readonly store: ApprovalStore;
  readonly tools: readonly AnyToolSpec[];
  readonly saver?: MemorySaver;
  readonly port?: DeferredApprovalOptions;
  readonly clock?: ManualClock;
}

let threads = 0;

/** A graph of one tool node on a thread; `again` continues it. */
export class Graph {
  readonly saver: MemorySaver;
  readonly app: App;
  readonly config: { readonly configurable: { readonly thread_id: string } };
  readonly #options: GraphOptions;

  constructor(options: GraphOptions, thread = `deferred-${(threads += 1)}`) {
    this.#options = options;
    this.saver = options.saver ?? new MemorySaver();
    this.config = { configurable: { thread_id: thread } };
    const registry = new Registry(options.tools);
    const executor = new Executor(registry, {
      approval: new DeferredApproval(options.store, options.port),
      secret: SECRET,
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    });
    // The generics of a compiled graph say nothing the tests use.
    this.app = new StateGraph(MessagesAnnotation)
      .addNode("tools", toolNode(registry, { executor }))
      .addEdge(START, "tools")
      .addEdge("tools", END)
      .compile({ checkpointer: this.saver }) as unknown as App;
  }

  /** The same thread in another program: new registry, port, executor and graph. */
  rebuild(changes: Partial<GraphOptions> = {}): Graph {
    return new Graph({ ...this.#options, saver: this.saver, ...changes }, this.config.configurable.thread_id);
  }

  async start(...calls: readonly Call[]): Promise<Turn> {
    return turnOf(await this.app.invoke({ messages: [ai(calls)] }, this.config));
  }

  async again(): Promise<Turn> {
    return turnOf(await this.app.invoke(null, this.config));
  }

  async resume(value: unknown): Promise<Turn> {
    return turnOf(await this.app.invoke(new Command({ resume: value }), this.config));
  }
}

/** A copy of everything a saver holds, as a backup that somebody puts back. */
export function backupOf(saver: MemorySaver): MemorySaver {
  const copy = new MemorySaver();
  copy.storage = structuredClone(saver.storage);
  copy.writes = structuredClone(saver.writes);
  return copy;
}
