// The tools that are compared: the same two functions as ours and as LangChain's.

import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import { Registry } from "agent-adapter";
import { z } from "zod";

export const KEY = "a benchmark's secret of 32 bytes.";

const input = z.object({ item: z.string(), n: z.number() });
const answer = ({ item, n }: z.infer<typeof input>) => `${item} ${n}`;
const rateFields = { name: "rate", description: "a rate" };
const payFields = { name: "pay", description: "a payment" };

export function ourTools() {
  const registry = new Registry();
  const rate = registry.tool({ ...rateFields, inputSchema: input, effects: "read", execute: answer });
  const pay = registry.tool({ ...payFields, inputSchema: input, confirm: true, execute: answer });
  return { registry, rate, pay };
}

export const theirRate = tool(answer, { ...rateFields, schema: input });

/** As LangGraph's documentation asks a human: `interrupt()` in the body. */
export const theirPay = tool(
  (args) => {
    interrupt({ tool: "pay", arguments: args });
    return answer(args);
  },
  { ...payFields, schema: input },
);

/** A model's message with so many calls of one tool. */
export function messageWith(name: string, calls: number): AIMessage {
  return new AIMessage({ content: "", tool_calls: callsOf(name, calls) });
}

/** Plain calls, and one at the end that asks. */
export function messageThatAsks(plain: number): AIMessage {
  return new AIMessage({ content: "", tool_calls: [...callsOf("rate", plain), ...callsOf("pay", 1)] });
}

function callsOf(name: string, calls: number) {
  return Array.from({ length: calls }, (_, n) => ({ name, args: { item: "laptop", n }, id: `${name}-${n}` }));
}

/** Arguments of about so many bytes of JSON, as models send them: a list of small objects. */
export function argumentsOf(bytes: number) {
  const row = (n: number) => ({ id: 1_000_000 + n, name: "a laptop of 14 inches", tags: ["new", "eu"], price: 999.5 });
  const each = JSON.stringify(row(0)).length + 1;
  return { rows: Array.from({ length: Math.max(1, Math.round(bytes / each)) }, (_, n) => row(n)) };
}

export const rowsSchema = z.object({
  rows: z.array(z.object({ id: z.number(), name: z.string(), tags: z.array(z.string()), price: z.number() })),
});
