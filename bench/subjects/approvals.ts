// Graphs that pause for a human: ours with signed answers, and the same shape by hand with `interrupt()`.

import { AIMessage } from "@langchain/core/messages";
import { Command, INTERRUPT, interrupt, MemorySaver, type MessagesAnnotation } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { approve, Executor, Registry, type ExecutorOptions } from "agent-adapter";
import { LangGraphApproval, toolNode, type Durable } from "agent-adapter/langgraph";
import { startTiming, type Timing } from "../measure/side.js";
import { around, newThread, type ThreadConfig } from "./graphs.js";
import { KEY, ourTools, rowsSchema, theirPay, theirRate } from "./tools.js";

interface Pending {
  readonly id?: string;
  readonly value?: unknown;
}

/** An app that pauses, and what a human's yes to a pause looks like on the wire. */
export interface AskingApp {
  invoke(message: AIMessage, config: ThreadConfig): Promise<object>;
  resume(pending: Pending, config: ThreadConfig): Promise<object>;
}

type App = ReturnType<ReturnType<typeof around>["compile"]>;

function asking(app: App, answer: (pending: Pending) => unknown): AskingApp {
  return {
    invoke: (message, config) => app.invoke({ messages: [message] }, config),
    resume: (pending, config) => app.invoke(new Command({ resume: { [pending.id ?? ""]: answer(pending) } }), config),
  };
}

interface OurOptions extends Pick<ExecutorOptions, "hooks" | "ledger"> {
  readonly registry?: Registry;
  readonly durable?: Durable;
}

export function ourAskingApp({ registry = ourTools().registry, durable = "pause", ...rest }: OurOptions = {}) {
  const port = new LangGraphApproval({ key: KEY });
  const executor = new Executor(registry, { ...rest, approval: port });
  const app = around(toolNode(registry, { executor, durable })).compile({ checkpointer: new MemorySaver() });
  return asking(app, (pending) => port.resumeValue(pending, approve()));
}

/** A registry whose one tool asks about a list of rows. */
export function registryOfRows(): Registry {
  const registry = new Registry();
  const execute = ({ rows }: { readonly rows: readonly unknown[] }) => `${rows.length} rows`;
  registry.tool({ name: "pay", description: "a payment", inputSchema: rowsSchema, confirm: true, execute });
  return registry;
}

/** By hand: a node that calls `interrupt()` before the work of each call. */
export function rawAskingApp(work: (args: Record<string, unknown>) => string): AskingApp {
  const node = (state: typeof MessagesAnnotation.State) => {
    const message = state.messages.at(-1);
    if (!AIMessage.isInstance(message)) throw new Error("no message");
    const results = (message.tool_calls ?? []).map((call) => {
      interrupt({ tool: call.name, arguments: call.args });
      return { role: "tool" as const, content: work(call.args), tool_call_id: call.id ?? "" };
    });
    // Messages may be given as plain objects; the reducer makes messages of them.
    return { messages: results as never };
  };
  return asking(around(node).compile({ checkpointer: new MemorySaver() }), () => ({ approved: true }));
}

/** LangGraph's own tool node, with `interrupt()` in the tool. */
export function prebuiltAskingApp(): AskingApp {
  const node = new ToolNode([theirRate, theirPay]);
  return asking(around(node).compile({ checkpointer: new MemorySaver() }), () => ({ approved: true }));
}

export async function pausedOn(app: AskingApp, message: AIMessage) {
  const config = newThread();
  const pending = pendingIn(await app.invoke(message, config));
  if (pending === undefined) throw new Error("it did not pause");
  return { pending, config };
}

/** Start, then say yes to whatever is asked until nothing is; what each step took, the start included. */
export async function driveAll(app: AskingApp, message: AIMessage): Promise<Timing[]> {
  const config = newThread();
  const steps: Timing[] = [];
  let stop = startTiming();
  let out = await app.invoke(message, config);
  for (let pending = pendingIn(out); pending !== undefined; pending = pendingIn(out)) {
    steps.push(stop());
    stop = startTiming();
    out = await app.resume(pending, config);
  }
  steps.push(stop());
  return steps;
}

function pendingIn(out: object): Pending | undefined {
  const interrupts: unknown = INTERRUPT in out ? out[INTERRUPT] : undefined;
  return Array.isArray(interrupts) ? interrupts[0] : undefined;
}
