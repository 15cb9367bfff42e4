// The flows that are compared: ten nodes in a row, and a tool over a hundred items; as a flow, and by hand on LangGraph.

import { Annotation, MemorySaver, Send, START, StateGraph } from "@langchain/langgraph";
import { Executor, Registry } from "agent-adapter";
import { Flow, map, Merge, runFlow } from "agent-adapter/flow";
import { compileFlow, reducer } from "agent-adapter/langgraph";
import { z } from "zod";
import { newThread } from "./graphs.js";

const NODES = 10;
const ITEMS = 100;
const names = Array.from({ length: NODES }, (_, index) => `n${index}`);

const registry = new Registry();
const double = registry.tool({
  name: "double",
  description: "doubles",
  inputSchema: z.object({ n: z.number() }),
  effects: "read",
  execute: ({ n }) => n * 2,
});
const executor = new Executor(registry, { secret: "a benchmark's secret of 32 bytes." });

function chain() {
  const empty = new Flow("chain", { state: z.object({ count: z.number() }) });
  const step = ({ count }: { readonly count: number }) => ({ count: count + 1 });
  let flow = empty.node("n0", step);
  // The builder's type grows with each node; a loop needs the names of all of them at once.
  for (const name of names.slice(1)) flow = flow.node(name, step) as never;
  names.slice(1).forEach((name, index) => {
    flow = flow.edge(`n${index}` as never, name as never);
  });
  return flow.end(`n${NODES - 1}` as never);
}

function chainByHand() {
  const State = Annotation.Root({ count: Annotation<number>() });
  const graph = new StateGraph(State);
  for (const name of names) graph.addNode(name, ({ count }: typeof State.State) => ({ count: count + 1 }));
  graph.addEdge(START, "n0" as never);
  for (const [index, name] of names.slice(1).entries()) graph.addEdge(`n${index}` as never, name as never);
  return graph;
}

/** S4: both with a checkpointer. */
export function compiledChain() {
  const ours = compileFlow(chain(), { executor }).compile({ checkpointer: new MemorySaver() });
  const theirs = chainByHand().compile({ checkpointer: new MemorySaver() });
  return {
    ours: () => ours.invoke({ count: 0 }, newThread()),
    theirs: () => theirs.invoke({ count: 0 }, newThread()),
  };
}

/** S5: the local runner, and LangGraph without and with a checkpointer. */
export function localChain() {
  const flow = chain();
  const plain = chainByHand().compile();
  const kept = chainByHand().compile({ checkpointer: new MemorySaver() });
  const sealing = { executor, onStep: ({ checkpoint }: { readonly checkpoint: () => string }) => void checkpoint() };
  return {
    ours: () => runFlow(flow, { count: 0 }, { executor }),
    theirs: () => plain.invoke({ count: 0 }),
    oursSealed: () => runFlow(flow, { count: 0 }, sealing),
    theirsKept: () => kept.invoke({ count: 0 }, newThread()),
  };
}

const items = Array.from({ length: ITEMS }, (_, n) => ({ n }));

/** S6: a compiled map, and a Send per item. */
export function mapped() {
  const flow = new Flow("items", {
    state: z.object({ items: z.array(z.object({ n: z.number() })), doubled: z.array(z.number()).default([]) }),
    merge: { doubled: Merge.append },
  })
    .node("all", map("items", { tool: double, into: "doubled" }))
    .end("all");
  const ours = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
  const State = Annotation.Root({ items: Annotation<{ n: number }[]>(), doubled: reducer(Merge.append<number>()) });
  const theirs = new StateGraph(State)
    .addNode("one", ({ n }: { n: number }) => ({ doubled: n * 2 }) as never)
    .addConditionalEdges(START, (state) => state.items.map((item) => new Send("one", item)), ["one"])
    .compile({ checkpointer: new MemorySaver() });
  return { ours: () => ours.invoke({ items }, newThread()), theirs: () => theirs.invoke({ items }, newThread()) };
}
