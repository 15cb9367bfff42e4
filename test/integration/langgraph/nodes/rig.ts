// A graph around a node of one's own, or around tasks of one tool each. Real LangGraph; a new process is one that remembers
// nothing and builds everything again on the same checkpointer.
import {
  Command,
  END,
  INTERRUPT,
  MemorySaver,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from "@langchain/langgraph";
import {
  approve,
  Executor,
  MemoryLedger,
  Registry,
  type AnyToolSpec,
  type ApprovalDecision,
  type ApprovalPort,
  type ExecutorOptions,
} from "agent-adapter";
import { LangGraphApproval, type GraphApp } from "agent-adapter/langgraph";
import { forgetProcess } from "../../../support/process.js";
import { KEY, one, type Pending } from "../../../support/langgraph.js";

export interface Built {
  readonly executor: Executor;
  readonly registry: Registry;
}

type Graph = { compile(options: { checkpointer: BaseCheckpointSaver }): unknown };

export interface Options extends Pick<ExecutorOptions, "hooks" | "policy" | "claims"> {
  readonly tools: readonly AnyToolSpec[];
  readonly graph: (built: Built) => Graph;
  readonly port?: () => ApprovalPort;
  readonly saver?: BaseCheckpointSaver;
}

export interface Ran {
  readonly values: Readonly<Record<string, unknown>>;
  readonly pending: readonly Pending[];
}

/** An app, its thread, and whoever answers. */
export class Nodes {
  readonly saver: BaseCheckpointSaver;
  readonly ledger = new MemoryLedger({ arguments: true });
  readonly desk = new LangGraphApproval({ key: KEY });
  readonly config: { readonly configurable: { readonly thread_id: string } };
  readonly #options: Options;
  executor!: Executor;
  app!: GraphApp<Record<PropertyKey, unknown>>;

  constructor(options: Options, thread = "t") {
    this.#options = options;
    this.saver = options.saver ?? new MemorySaver();
    this.config = { configurable: { thread_id: thread } };
    this.build();
  }

  /** Everything anew but checkpointer and ledger. */
  build(): this {
    const { tools, graph, port, saver: _saver, ...rest } = this.#options;
    const registry = new Registry(tools);
    const approval = port?.() ?? new LangGraphApproval({ key: KEY });
    this.executor = new Executor(registry, { approval, ledger: this.ledger, secret: KEY, ...rest });
    this.app = graph({ registry, executor: this.executor }).compile({ checkpointer: this.saver }) as typeof this.app;
    return this;
  }

  elsewhere(): this {
    forgetProcess();
    return this.build();
  }

  async invoke(input: unknown, config: object = this.config): Promise<Ran> {
    // A compiled graph's input is typed by its state, which differs from test to test.
    const output = await this.app.invoke(input as never, config as never);
    return { values: output as Readonly<Record<string, unknown>>, pending: (output[INTERRUPT] ?? []) as Pending[] };
  }

  again(): Promise<Ran> {
    return this.invoke(null);
  }

  answer(pending: Pending, decision: ApprovalDecision = approve({ by: "ana" })): Promise<Ran> {
    return this.answerAll([pending], decision);
  }

  answerAll(
    pending: readonly Pending[],
    decision: ApprovalDecision = approve({ by: "ana" }),
    config: object = this.config,
  ): Promise<Ran> {
    const values = pending.map((each) => [each.id, this.desk.resumeValue(each, decision)] as const);
    return this.invoke(new Command({ resume: Object.fromEntries(values) }), config);
  }

  async asked(input: unknown = {}): Promise<Pending> {
    return one((await this.invoke(input)).pending);
  }
}

/** START, that node, END. */
export function oneNodeGraph(state: object, node: unknown): Graph {
  return new StateGraph(state as never)
    .addNode("node", node as never)
    .addEdge(START, "node" as never)
    .addEdge("node" as never, END) as unknown as Graph;
}
