// A real LangGraph app around one tool node, built from the same parts a user would build it from: registry, port,
// executor, `toolNode`, `StateGraph`, checkpointer. `rebuild` makes all of them anew on the same checkpointer, key, ledger
// and thread, as a restarted program would.
import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import {
  Command,
  END,
  INTERRUPT,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from "@langchain/langgraph";
import { z } from "zod";
import {
  approve,
  defineTool,
  Executor,
  MemoryLedger,
  Registry,
  type AnyToolSpec,
  type ApprovalDecision,
  type ClaimStore,
  type Clock,
  type ConfirmPredicate,
  type Effects,
  type Hook,
  type Ledger,
  type LedgerEntry,
} from "agent-adapter";
import {
  LangGraphApproval,
  toolNode,
  type ApprovalInterrupt,
  type LangGraphApprovalOptions,
  type ToolNodeOptions,
} from "agent-adapter/langgraph";

export const KEY = "a shared secret of 32 bytes, test";

/** A pause as LangGraph hands it out. */
export interface Pending {
  readonly id: string;
  readonly value: ApprovalInterrupt;
}

/** What the model asks for; a missing id is left out. */
export interface Call {
  readonly name: string;
  readonly args: unknown;
  readonly id?: string | null | undefined;
}

/** The parts of a compiled graph that the helpers use. */
export interface App {
  invoke(input: unknown, config: object): Promise<unknown>;
  stream(input: unknown, config: object): Promise<AsyncIterable<unknown>>;
  getState(config: object): Promise<{
    readonly values: unknown;
    readonly next: readonly string[];
    readonly config: object;
    readonly tasks: readonly {
      readonly id: string;
      readonly interrupts: readonly unknown[];
      readonly result?: unknown;
    }[];
  }>;
}

export type Durability = "sync" | "async" | "exit";

/** Puts the tool node into a compiled graph. */
export type GraphMaker = (node: ReturnType<typeof toolNode>, saver: BaseCheckpointSaver, executor: Executor) => App;

export interface StandOptions {
  /** Called for every build: a restarted program defines its tools again. */
  readonly tools: () => readonly AnyToolSpec[];
  readonly saver?: BaseCheckpointSaver;
  readonly ledger?: Ledger;
  readonly clock?: Clock;
  readonly hooks?: readonly Partial<Hook>[];
  readonly claims?: ClaimStore;
  /** Default: `{ key: KEY }`. */
  readonly approval?: LangGraphApprovalOptions;
  readonly node?: Omit<ToolNodeOptions, "executor">;
  readonly thread?: string;
  readonly durability?: Durability;
  readonly configurable?: Readonly<Record<string, unknown>>;
  /** The graph; default: one tool node named "tools" between START and END. */
  readonly graph?: GraphMaker;
}

/** What one invocation gave. */
export interface Turn {
  readonly output: unknown;
  readonly interrupts: readonly Pending[];
  readonly messages: readonly BaseMessage[];
  readonly tools: readonly ToolMessage[];
}

let threads = 0;

/** An app on its thread. */
export class Stand {
  readonly options: StandOptions & { readonly saver: BaseCheckpointSaver; readonly ledger: Ledger };
  readonly registry: Registry;
  readonly port: LangGraphApproval;
  readonly executor: Executor;
  readonly app: App;
  readonly thread: string;

  constructor(options: StandOptions) {
    threads += 1;
    this.thread = options.thread ?? `thread-${threads}`;
    const { saver = new MemorySaver(), ledger = new MemoryLedger({ arguments: true }) } = options;
    this.options = { ...options, saver, ledger, thread: this.thread };
    this.registry = new Registry();
    for (const spec of options.tools()) this.registry.add(spec);
    this.port = new LangGraphApproval(options.approval ?? { key: KEY });
    this.executor = new Executor(this.registry, {
      approval: this.port,
      ledger,
      hooks: options.hooks ?? [],
      ...(options.claims === undefined ? {} : { claims: options.claims }),
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    });
    const node = toolNode(this.registry, { ...options.node, executor: this.executor });
    this.app = (options.graph ?? oneToolNode)(node, saver, this.executor);
  }

  /** Everything anew but checkpointer, key, ledger and thread. */
  rebuild(changes: Partial<StandOptions> = {}): Stand {
    return new Stand({ ...this.options, ...changes });
  }

  get config(): { configurable: Record<string, unknown>; durability?: Durability } {
    const { durability, configurable } = this.options;
    return {
      configurable: { thread_id: this.thread, ...configurable },
      ...(durability === undefined ? {} : { durability }),
    };
  }

  async invoke(input: unknown): Promise<Turn> {
    return turnOf(await this.app.invoke(input, this.config));
  }

  /** The model asks for these calls. */
  start(...calls: readonly Call[]): Promise<Turn> {
    return this.invoke({ messages: [ai(calls)] });
  }

  /** Answer by id. */
  resume(values: Readonly<Record<string, unknown>>): Promise<Turn> {
    return this.invoke(new Command({ resume: values }));
  }

  plain(value: unknown): Promise<Turn> {
    return this.invoke(new Command({ resume: value }));
  }

  /** `invoke(null)`. */
  again(): Promise<Turn> {
    return this.invoke(null);
  }

  sign(pending: Pending, decision: ApprovalDecision = approve({ by: "ana" })) {
    return this.port.resumeValue(pending, decision);
  }

  /** Sign a decision for this pause and resume with it. */
  decide(pending: Pending, decision?: ApprovalDecision): Promise<Turn> {
    return this.resume({ [pending.id]: this.sign(pending, decision) });
  }

  /** What waits now, read from the checkpointer. */
  async pending(): Promise<readonly Pending[]> {
    // Not by a task's `result`: LangGraph 1.7.0 gives a finished one none. What cannot be shown is still pending for a test.
    const { tasks } = await this.app.getState(this.config);
    const tuple = await this.options.saver.getTuple({ configurable: { thread_id: this.thread } });
    const internal = /^__(error|error_source_node|interrupt|resume|scheduled)__$/;
    const output = (tuple?.pendingWrites ?? []).filter(([, channel]) => !internal.test(channel));
    const finished = new Set(output.map(([taskId]) => taskId));
    return tasks.filter(({ id }) => !finished.has(id)).flatMap(({ interrupts }) => interrupts.map(asPending));
  }

  /** The one pause there is. */
  async only(): Promise<Pending> {
    return one(await this.pending());
  }

  /** The messages in the checkpointer. */
  async history(): Promise<readonly BaseMessage[]> {
    return messagesOf((await this.app.getState(this.config)).values);
  }

  async entries(): Promise<readonly LedgerEntry[]> {
    return this.options.ledger.entries();
  }
}

function oneToolNode(node: ReturnType<typeof toolNode>, checkpointer: BaseCheckpointSaver): App {
  return new StateGraph(MessagesAnnotation)
    .addNode("tools", node)
    .addEdge(START, "tools")
    .addEdge("tools", END)
    .compile({ checkpointer }) as unknown as App;
}

/** A graph that runs each call of the model's message in a task of its own, so that several requests wait at once. */
export const aTaskPerCall: GraphMaker = (node, checkpointer) =>
  new StateGraph(MessagesAnnotation)
    .addNode("tools", node)
    .addConditionalEdges(START, ({ messages }) => {
      const last = messages.at(-1);
      const calls = AIMessage.isInstance(last) ? (last.tool_calls ?? []) : [];
      return calls.map((each) => new Send("tools", { messages: [ai([each])] }));
    })
    .addEdge("tools", END)
    .compile({ checkpointer }) as unknown as App;

/** One call of a tool made by `counted` or `asking`. */
export function call(id: string, n: number, name = "send"): Call {
  return { name, args: { n }, id };
}

/** The pause about this call. */
export function about(pending: readonly Pending[], callId: string): Pending {
  return one(pending.filter(({ value }) => value.request.callId === callId));
}

/** What the model says: calls as it wrote them, valid or not. */
export function ai(calls: readonly Call[], more: object = {}): AIMessage {
  return new AIMessage({
    content: "",
    // A model may send anything; the type only knows what it should send.
    tool_calls: calls.map((each) => ({ ...each })) as never,
    ...more,
  });
}

export function turnOf(output: unknown): Turn {
  const messages = messagesOf(output);
  return {
    output,
    messages,
    tools: messages.filter((message) => ToolMessage.isInstance(message)),
    interrupts: interruptsOf(output),
  };
}

/** The pauses in what `invoke` returned. */
export function interruptsOf(output: unknown): readonly Pending[] {
  const found = fieldOf(output, INTERRUPT);
  return Array.isArray(found) ? found.map(asPending) : [];
}

function messagesOf(output: unknown): readonly BaseMessage[] {
  const found = Array.isArray(output) ? output : fieldOf(output, "messages");
  return Array.isArray(found) ? found : [];
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

export function asPending(interrupt: unknown): Pending {
  return interrupt as Pending;
}

/** The only element, or an error that says how many there are. */
export function one<T>(items: readonly T[]): T {
  const [first] = items;
  if (first === undefined || items.length !== 1) throw new Error(`expected one, found ${items.length}`);
  return first;
}

/** How a promise failed. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("expected a rejection, but it was fulfilled");
}

/** What a function throws. */
export function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("expected it to throw");
}

/** Id, status and content of tool messages, in order. */
export function table(messages: readonly ToolMessage[]): [id: string, status: string | undefined, content: unknown][] {
  return messages.map((message) => [message.tool_call_id, message.status, message.content]);
}

/** A short real wait. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

interface ToolSettings {
  readonly confirm?: boolean | ConfirmPredicate<{ n: number }>;
  readonly effects?: Effects;
  readonly timeoutMs?: number;
  readonly oncePerRun?: boolean;
  /** What the body does beside being counted; default: gives `"<name> <n>"`. */
  readonly body?: (args: { n: number }) => unknown;
}

/** A tool that writes `"<name> <n>"` into the list whenever its body runs. */
export function counted(ran: string[], name: string, settings: ToolSettings = {}): AnyToolSpec {
  const { body = ({ n }) => `${name} ${n}`, ...options } = settings;
  return defineTool({
    name,
    description: `the ${name} tool`,
    inputSchema: z.object({ n: z.number() }),
    ...options,
    execute: (args) => {
      ran.push(`${name} ${args.n}`);
      return body(args);
    },
  });
}

/** A tool that waits for a human and writes into the list whenever its body runs. */
export function asking(ran: string[], name: string, settings: ToolSettings = {}): AnyToolSpec {
  return counted(ran, name, { confirm: true, effects: "destructive", ...settings });
}

/** The text of a message. */
export function text({ content }: BaseMessage): string {
  if (typeof content !== "string") throw new Error("expected text, found content blocks");
  return content;
}

/** What somebody who can write to the checkpointer does: changes the rows of one channel in place. */
export function editRows(saver: BaseCheckpointSaver, channel: string, edit: (value: unknown) => unknown): number {
  if (!(saver instanceof MemorySaver)) throw new Error("only a MemorySaver can be edited");
  let edited = 0;
  for (const rows of Object.values(saver.writes)) {
    for (const row of Object.values(rows)) {
      if (row[1] !== channel) continue;
      const value: unknown = JSON.parse(new TextDecoder().decode(row[2]));
      row[2] = new TextEncoder().encode(JSON.stringify(edit(value)));
      edited += 1;
    }
  }
  return edited;
}

/** Changes the value of every stored interrupt. */
export function editInterrupts(
  saver: BaseCheckpointSaver,
  edit: (value: Record<string, unknown>) => Record<string, unknown>,
): void {
  const edited = editRows(saver, "__interrupt__", (stored) => {
    const list = (Array.isArray(stored) ? stored : [stored]) as { value: Record<string, unknown> }[];
    const changed = list.map((each) => ({ ...each, value: edit(each.value) }));
    return Array.isArray(stored) ? changed : changed[0];
  });
  if (edited === 0) throw new Error("there was no interrupt to edit");
}
