// Nodes in a row: as a flow, and by hand on LangGraph.

import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { Flow } from "agent-adapter/flow";
import { z } from "zod";

const State = Annotation.Root({ count: Annotation<number>() });
const step = ({ count }: { readonly count: number }) => ({ count: count + 1 });
const namesOf = (nodes: number) => Array.from({ length: nodes }, (_, index) => `n${index}`);

export function chain(nodes: number) {
  const names = namesOf(nodes);
  let flow = new Flow("chain", { state: z.object({ count: z.number() }) }).node("n0", step);
  // The builder's type grows with each node; a loop needs the names of all of them at once.
  for (const name of names.slice(1)) flow = flow.node(name, step) as never;
  for (const [index, name] of names.slice(1).entries()) flow = flow.edge(`n${index}` as never, name as never);
  return flow.end(`n${nodes - 1}` as never);
}

export function chainByHand(nodes: number) {
  const graph = new StateGraph(State);
  const names = namesOf(nodes);
  for (const name of names) graph.addNode(name, step);
  graph.addEdge(START, "n0" as never);
  for (const [index, name] of names.slice(1).entries()) graph.addEdge(`n${index}` as never, name as never);
  return graph;
}

/** One node that comes back to itself so many times. */
export function loop(laps: number) {
  return new Flow("loop", { state: z.object({ count: z.number() }) })
    .node("lap", step)
    .node("over", () => ({}))
    .route("lap", ({ count }) => (count < laps ? "lap" : "over"), ["lap", "over"], { maxLoops: { lap: laps } })
    .end("over");
}

export function loopByHand(laps: number) {
  return new StateGraph(State)
    .addNode("lap", step)
    .addNode("over", () => ({}))
    .addEdge(START, "lap")
    .addConditionalEdges("lap", ({ count }) => (count < laps ? "lap" : "over"), ["lap", "over"]);
}
