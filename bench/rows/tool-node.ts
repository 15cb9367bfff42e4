// S2: calls of one message that ask nobody, in a graph.

import { always } from "../measure/side.js";
import type { GrowthRow, PairRow } from "../row.js";
import { newThread, plainGraphs } from "../subjects/graphs.js";
import { messageWith } from "../subjects/tools.js";

function sides(calls: number) {
  const { ours, theirs } = plainGraphs();
  const run = (app: typeof ours) => () => app.invoke({ messages: [messageWith("rate", calls)] }, newThread());
  return { ours: always(run(ours)), peer: always(run(theirs)) };
}

const peer = "LangGraph's ToolNode";

function ofSize(calls: number, goal: number): PairRow {
  const what = `toolNode, ${calls} call${calls > 1 ? "s" : ""}`;
  return { kind: "pair", name: `S2-${calls}`, what, peer, goal, open: () => sides(calls) };
}

const growing: GrowthRow = {
  kind: "growth",
  name: "growth-tool-node",
  what: "toolNode, n calls of one message",
  peer,
  unit: "calls",
  sizes: [1, 10, 100, 1000],
  open: sides,
};

export const toolNodeRows = [ofSize(1, 1), ofSize(10, 0.8), ofSize(100, 0.5), growing];
