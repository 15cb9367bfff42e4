// The graphs that are compared: the same shape, once with our node, once with LangGraph's own.

import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Command,
  END,
  INTERRUPT,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { approve, Executor, Registry } from "agent-adapter";
import { LangGraphApproval, toolNode } from "agent-adapter/langgraph";
import { z } from "zod";

const input = z.object({ item: z.string(), n: z.number() });
const KEY = "a benchmark's secret of 32 bytes.";

export const theirTool = tool(({ item, n }) => `${item} ${n}`, { name: "rate", description: "a rate", schema: input });

export function ourRegistry() {
  const registry = new Registry();
  const rate = registry.tool({
    name: "rate",
    description: "a rate",
    inputSchema: input,
    effects: "read",
    execute: ({ item, n }) => `${item} ${n}`,
  });
  const pay = registry.tool({
    name: "pay",
    description: "a payment",
    inputSchema: input,
    confirm: true,
    execute: ({ item, n }) => `${item} ${n}`,
  });
  return { registry, rate, pay };
}

export function messageWith(name: string, calls: number): AIMessage {
  const tool_calls = Array.from({ length: calls }, (_, n) => ({ name, args: { item: "laptop", n }, id: `c${n}` }));
  return new AIMessage({ content: "", tool_calls });
}

let threads = 0;
export const newThread = () => ({ configurable: { thread_id: `bench-${(threads += 1)}` } });

function around(node: ToolNode) {
  return new StateGraph(MessagesAnnotation).addNode("tools", node).addEdge(START, "tools").addEdge("tools", END);
}

export function plainGraphs() {
  const { registry } = ourRegistry();
  return { ours: around(toolNode(registry)).compile(), theirs: around(new ToolNode([theirTool])).compile() };
}

/** Pause once, resume by id with a signed answer. */
export function ourApproval(): (calls: number) => Promise<number[]> {
  const { registry } = ourRegistry();
  const port = new LangGraphApproval({ key: KEY });
  const executor = new Executor(registry, { approval: port });
  const app = around(toolNode(registry, { executor })).compile({ checkpointer: new MemorySaver() });
  return (calls) =>
    drive(
      (config) => app.invoke({ messages: [messageWith("pay", calls)] }, config),
      (resume, config) => app.invoke(new Command({ resume }), config),
      (pending) => port.resumeValue(pending, approve()),
    );
}

/** The same graph by hand: a node that calls `interrupt()` before each call's work. */
export function rawApproval(): (calls: number) => Promise<number[]> {
  const node = (state: typeof MessagesAnnotation.State) => {
    const message = state.messages.at(-1);
    if (!AIMessage.isInstance(message)) throw new Error("no message");
    const results = (message.tool_calls ?? []).map((call) => {
      interrupt({ tool: call.name, arguments: call.args });
      return { role: "tool" as const, content: `${call.args["item"]} ${call.args["n"]}`, tool_call_id: call.id ?? "" };
    });
    return { messages: results };
  };
  const graph = new StateGraph(MessagesAnnotation).addNode("tools", node).addEdge(START, "tools").addEdge("tools", END);
  const app = graph.compile({ checkpointer: new MemorySaver() });
  return (calls) =>
    drive(
      (config) => app.invoke({ messages: [messageWith("pay", calls)] }, config),
      (resume, config) => app.invoke(new Command({ resume }), config),
      () => ({ approved: true }),
    );
}

type Config = ReturnType<typeof newThread>;
interface Pending {
  readonly id?: string;
  readonly value?: unknown;
}

/** Start, then answer whatever is asked until nothing is; milliseconds of each step. */
async function drive(
  start: (config: Config) => Promise<object>,
  resume: (answers: Record<string, unknown>, config: Config) => Promise<object>,
  answer: (pending: Pending) => unknown,
): Promise<number[]> {
  const config = newThread();
  const steps: number[] = [];
  let at = performance.now();
  let out = await start(config);
  for (let pending = pendingIn(out); pending?.id !== undefined; pending = pendingIn(out)) {
    steps.push(performance.now() - at);
    at = performance.now();
    out = await resume({ [pending.id]: answer(pending) }, config);
  }
  steps.push(performance.now() - at);
  return steps;
}

function pendingIn(out: object): Pending | undefined {
  const interrupts: unknown = INTERRUPT in out ? out[INTERRUPT] : undefined;
  return Array.isArray(interrupts) ? interrupts[0] : undefined;
}
