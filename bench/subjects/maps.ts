// A tool over many items: a compiled `map`, and a `Send` for each item by hand.

import { Annotation, MemorySaver, Send, START, StateGraph } from "@langchain/langgraph";
import { Executor, Registry } from "agent-adapter";
import { Flow, map, Merge } from "agent-adapter/flow";
import { compileFlow } from "agent-adapter/langgraph";
import { z } from "zod";
import { newThread } from "./graphs.js";
import { KEY } from "./tools.js";

const registry = new Registry();
const double = registry.tool({
  name: "double",
  description: "doubles",
  inputSchema: z.object({ n: z.number() }),
  effects: "read",
  execute: ({ n }) => n * 2,
});
const state = z.object({ items: z.array(z.object({ n: z.number() })), doubled: z.array(z.number()).default([]) });
const Items = Annotation.Root({
  items: Annotation<{ n: number }[]>(),
  doubled: Annotation<number[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
});

export function mapped(count: number) {
  const items = Array.from({ length: count }, (_, n) => ({ n }));
  const flow = new Flow("items", { state, merge: { doubled: Merge.append } })
    .node("all", map("items", { tool: double, into: "doubled" }))
    .end("all");
  const executor = new Executor(registry, { secret: KEY });
  const ours = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
  const theirs = new StateGraph(Items)
    // A Send gives its target an item and not the state.
    .addNode("one", ((item: { n: number }) => ({ doubled: [item.n * 2] })) as never)
    .addConditionalEdges(START, (now) => now.items.map((item) => new Send("one", item)), ["one"] as never)
    .compile({ checkpointer: new MemorySaver() });
  return { ours: () => ours.invoke({ items }, newThread()), theirs: () => theirs.invoke({ items }, newThread()) };
}
