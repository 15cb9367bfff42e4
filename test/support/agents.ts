// A real `createAgent` agent with our middleware and a scripted chat model. `rebuild` makes all of it anew on the same
// checkpointer, key, ledger and thread, as a restarted program would.
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { Command, MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import {
  approve,
  Executor,
  MemoryLedger,
  Registry,
  type AnyToolSpec,
  type ApprovalDecision,
  type Hook,
  type Ledger,
} from "agent-adapter";
import { agentAdapterMiddleware, type AgentAdapterOptions } from "agent-adapter/langchain/agents";
import { LangGraphApproval, pendingApprovals, type GraphApp } from "agent-adapter/langgraph";
import { ai, KEY, turnOf, type Call, type Pending, type Turn } from "./langgraph.js";

interface ScriptedOptions extends BaseChatModelCallOptions {
  readonly tools?: readonly BindToolsInput[];
}

/** Says its script, one message a turn; remembers what it was shown. An entry that is an Error is thrown, once. */
export class ScriptedModel extends BaseChatModel<ScriptedOptions> {
  readonly #script: (AIMessage | Error)[];
  /** The messages of every call. */
  readonly seen: BaseMessage[][] = [];
  /** The tools of the last call. */
  shown: readonly BindToolsInput[] = [];

  constructor(script: readonly (AIMessage | Error)[]) {
    super({});
    this.#script = [...script];
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(tools: BindToolsInput[]) {
    return this.withConfig({ tools });
  }

  override _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    this.seen.push([...messages]);
    this.shown = options.tools ?? [];
    const said = this.#script.shift() ?? new AIMessage("Done.");
    if (said instanceof Error) return Promise.reject(said);
    return Promise.resolve({ generations: [{ text: said.text, message: said }] });
  }
}

/** What the helpers use of an agent. */
export interface Agent extends GraphApp<unknown> {
  invoke(input: unknown, config?: object): Promise<unknown>;
  stream(input: unknown, config?: object): Promise<AsyncIterable<unknown>>;
}

export interface AgentOptions {
  /** Called for every build: a restarted program defines its tools again. */
  readonly tools: () => readonly AnyToolSpec[];
  /** What the model says, from the first turn of this build on. */
  readonly script?: readonly (AIMessage | Error)[];
  readonly saver?: BaseCheckpointSaver;
  readonly ledger?: Ledger;
  readonly hooks?: readonly Partial<Hook>[];
  readonly middleware?: Omit<AgentAdapterOptions, "registry" | "executor">;
  /** Other middleware, outside ours and inside it. LangChain's types refuse its own under exactOptionalPropertyTypes. */
  readonly around?: readonly { readonly name: string }[];
  readonly within?: readonly { readonly name: string }[];
  /** More for `createAgent`. */
  readonly agent?: object;
  readonly thread?: string;
}

let threads = 0;

export class AgentStand {
  readonly options: AgentOptions & { readonly saver: BaseCheckpointSaver; readonly ledger: Ledger };
  readonly model: ScriptedModel;
  readonly port = new LangGraphApproval({ key: KEY });
  readonly executor: Executor;
  readonly agent: Agent;
  readonly config: { readonly configurable: { readonly thread_id: string } };

  constructor(options: AgentOptions) {
    threads += 1;
    const { saver = new MemorySaver(), ledger = new MemoryLedger({ arguments: true }) } = options;
    const thread = options.thread ?? `agent-${threads}`;
    this.options = { ...options, saver, ledger, thread };
    this.config = { configurable: { thread_id: thread } };
    const registry = new Registry(options.tools());
    const { hooks = [], around = [], within = [], script = [] } = options;
    this.executor = new Executor(registry, { approval: this.port, ledger, hooks });
    this.model = new ScriptedModel(script);
    const ours = agentAdapterMiddleware({ ...options.middleware, registry, executor: this.executor });
    // Typed by its middleware; the helpers use the parts that every agent has.
    this.agent = createAgent({
      model: this.model,
      middleware: [...around, ours, ...within] as never,
      checkpointer: saver,
      ...options.agent,
    }) as unknown as Agent;
  }

  /** Everything anew but checkpointer, key, ledger and thread. */
  rebuild(changes: Partial<AgentOptions> = {}): AgentStand {
    return new AgentStand({ ...this.options, script: [], ...changes });
  }

  async invoke(input: unknown, config: object = {}): Promise<Turn> {
    const { configurable, ...more } = config as { configurable?: object };
    return turnOf(
      await this.agent.invoke(input, { configurable: { ...configurable, ...this.config.configurable }, ...more }),
    );
  }

  /** A human says something. */
  start(config: object = {}): Promise<Turn> {
    return this.invoke({ messages: [{ role: "user", content: "go" }] }, config);
  }

  /** Answer by id. */
  resume(values: Readonly<Record<string, unknown>>, config: object = {}): Promise<Turn> {
    return this.invoke(new Command({ resume: values }), config);
  }

  sign(pending: Pending, decision: ApprovalDecision = approve({ by: "ana" })) {
    return this.port.resumeValue(pending, decision);
  }

  pending() {
    return pendingApprovals(this.agent, this.config);
  }

  entries() {
    return this.options.ledger.entries();
  }
}

/** What the model says: these calls. */
export function says(...calls: readonly Call[]): AIMessage {
  return ai(calls);
}
