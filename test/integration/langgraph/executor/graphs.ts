// A tool node in a graph whose executor is a test's own: caches, budgets, loggers, signals, node options.
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import {
  Command,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
  type RetryPolicy,
} from "@langchain/langgraph";
import { approve, Executor, MemoryLedger, Registry, type AnyToolSpec, type ExecutorOptions } from "agent-adapter";
import { LangGraphApproval, toolNode, type ToolNodeOptions } from "agent-adapter/langgraph";
import { KEY, one, turnOf, type App, type Call, type Turn } from "../../../support/langgraph.js";

export interface GraphOptions {
  readonly executor?: ExecutorOptions;
  readonly node?: Omit<ToolNodeOptions, "executor">;
  readonly saver?: BaseCheckpointSaver;
  readonly thread?: string;
  /** LangGraph's options of the node. */
  readonly addNode?: { readonly retryPolicy?: RetryPolicy };
  /** Node names, run one after the other; default one, "tools". */
  readonly nodes?: readonly string[];
}

let threads = 0;

/** An app over these tools, on a thread of its own. */
export function graph(tools: readonly AnyToolSpec[], options: GraphOptions = {}) {
  threads += 1;
  const { saver = new MemorySaver(), thread = `executor-${threads}`, nodes = ["tools"], addNode = {} } = options;
  const registry = new Registry(tools);
  const port = new LangGraphApproval({ key: KEY });
  const ledger = new MemoryLedger();
  const executor = new Executor(registry, { approval: port, ledger, ...options.executor });
  const node = toolNode(registry, { ...options.node, executor });
  // Node names are the test's: the builder's type follows literals only.
  const builder = new StateGraph(MessagesAnnotation) as StateGraph<unknown, unknown, unknown, string>;
  for (const [index, name] of nodes.entries()) {
    builder.addNode(name, node, addNode).addEdge(nodes[index - 1] ?? START, name);
  }
  const app = builder.compile({ checkpointer: saver }) as unknown as App;
  const config = { configurable: { thread_id: thread } };
  const invoke = async (input: unknown, more: object = {}): Promise<Turn> =>
    turnOf(await app.invoke(input, { ...config, ...more }));
  return {
    app,
    config,
    executor,
    ledger,
    node,
    port,
    saver,
    thread,
    invoke,
    /** The model asks for these calls. */
    start: (calls: readonly Call[], more: object = {}) => invoke({ messages: [asks(calls)] }, more),
    messages: (messages: readonly BaseMessage[]) => invoke({ messages }),
    /** Approve the one pause of this turn, by id. */
    approve: ({ interrupts }: Turn, more: object = {}) => {
      const pending = one(interrupts);
      return invoke(new Command({ resume: { [pending.id]: port.resumeValue(pending, approve({ by: "ana" })) } }), more);
    },
  };
}

/** What the model says. */
export function asks(calls: readonly Call[]): AIMessage {
  // A model may send anything; the type only knows what it should send.
  return new AIMessage({ content: "", tool_calls: calls.map((each) => ({ ...each })) as never });
}

export const calls = (length: number, name = "act"): Call[] =>
  Array.from({ length }, (_, index) => ({ name, args: { to: `${index}` }, id: `c${index}` }));
