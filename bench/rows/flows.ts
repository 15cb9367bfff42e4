// S4, S5, S6: flows, compiled and local, against graphs by hand; and how they grow with nodes, laps and items.

import { MemorySaver } from "@langchain/langgraph";
import { approve, Executor, Registry } from "agent-adapter";
import { Flow, resumeFlow, runFlow } from "agent-adapter/flow";
import { compileFlow, runCompiled } from "agent-adapter/langgraph";
import { z } from "zod";
import { always } from "../measure/side.js";
import type { GrowthRow, Row } from "../row.js";
import { chain, chainByHand, loop, loopByHand } from "../subjects/chains.js";
import { newThread } from "../subjects/graphs.js";
import { mapped } from "../subjects/maps.js";
import { KEY, ourTools } from "../subjects/tools.js";

const TEN = 10;
const executor = new Executor(new Registry(), { secret: KEY });
const onHand = "the graph by hand";
const withSaver = `${onHand} (MemorySaver)`;
const saved = () => ({ checkpointer: new MemorySaver() });
const start = { count: 0 };
/** Twice what is needed, and never the default that stops it. */
const stepsFor = (nodes: number) => ({ maxSteps: nodes * 2 + 10 });
const limitFor = (nodes: number) => ({ ...newThread(), recursionLimit: nodes * 2 + 10 });

function compiled(nodes: number) {
  const ours = compileFlow(chain(nodes), { executor, ...stepsFor(nodes) }).compile(saved());
  const theirs = chainByHand(nodes).compile(saved());
  return {
    ours: always(() => ours.invoke(start, newThread())),
    viaRun: always(() => runCompiled(ours, start, newThread())),
    peer: always(() => theirs.invoke(start, limitFor(nodes))),
  };
}

/** Without anything kept. */
function local(nodes: number) {
  const [flow, graph] = [chain(nodes), chainByHand(nodes).compile()];
  return {
    ours: always(() => runFlow(flow, start, { executor, ...stepsFor(nodes) })),
    peer: always(() => graph.invoke(start, limitFor(nodes))),
  };
}

const sealing = { executor, onStep: ({ checkpoint }: { readonly checkpoint: () => string }) => void checkpoint() };

/** A sealed checkpoint after each step. */
function sealed(nodes: number) {
  const [flow, graph] = [chain(nodes), chainByHand(nodes).compile(saved())];
  return {
    ours: always(() => runFlow(flow, start, { ...sealing, ...stepsFor(nodes) })),
    peer: always(() => graph.invoke(start, limitFor(nodes))),
  };
}

function mappedSides(items: number) {
  const { ours, theirs } = mapped(items);
  return { ours: always(ours), peer: always(theirs) };
}

const pairs: readonly Row[] = [
  {
    kind: "pair",
    name: "S4",
    what: "compiled flow of 10 nodes (MemorySaver)",
    peer: withSaver,
    goal: 1.1,
    open: () => compiled(TEN),
  },
  {
    kind: "pair",
    name: "S4-run",
    what: "the same through runCompiled, which also says what waits",
    peer: withSaver,
    goal: null,
    open: () => {
      const { viaRun, peer } = compiled(TEN);
      return { ours: viaRun, peer };
    },
  },
  {
    kind: "pair",
    name: "S5",
    what: "local flow of 10 nodes",
    peer: `${onHand} (no saver)`,
    goal: 0.05,
    open: () => local(TEN),
  },
  {
    kind: "pair",
    name: "S5-sealed",
    what: "local flow of 10 nodes, sealed at each step",
    peer: withSaver,
    goal: 0.1,
    open: () => sealed(TEN),
  },
  {
    kind: "pair",
    name: "S6",
    what: "compiled map over 100 items",
    peer: "100 Sends by hand (MemorySaver)",
    goal: 0.1,
    open: () => mappedSides(100),
  },
];

type Grows = Omit<GrowthRow, "kind">;

const growth: readonly Grows[] = [
  {
    name: "growth-flow-build",
    what: "draw and validate a flow of n nodes",
    peer: `${onHand}, compiled`,
    unit: "nodes",
    sizes: [10, 30, 100, 300, 1000],
    open: (nodes) => ({
      ours: always(() => chain(nodes).validate()),
      peer: always(() => chainByHand(nodes).compile()),
    }),
  },
  {
    name: "growth-flow-compile",
    what: "compileFlow and compile, n nodes, drawn before",
    peer: `${onHand}, compiled`,
    unit: "nodes",
    sizes: [10, 30, 100, 300, 1000],
    open: (nodes) => {
      const flow = chain(nodes);
      return {
        ours: always(() => compileFlow(flow, { executor }).compile(saved())),
        peer: always(() => chainByHand(nodes).compile(saved())),
      };
    },
  },
  {
    name: "growth-flow-local",
    what: "local flow of n nodes",
    peer: `${onHand} (no saver)`,
    unit: "nodes",
    sizes: [10, 30, 100, 300, 1000],
    open: local,
  },
  {
    name: "growth-flow-sealed",
    what: "local flow of n nodes, sealed at each step",
    peer: withSaver,
    unit: "nodes",
    sizes: [10, 30, 100, 300, 1000],
    open: sealed,
  },
  {
    name: "growth-flow-compiled",
    what: "compiled flow of n nodes",
    peer: withSaver,
    unit: "nodes",
    sizes: [10, 30, 100, 300, 1000],
    open: compiled,
  },
  {
    name: "growth-laps-local",
    what: "local loop of n laps, sealed at each step",
    peer: withSaver,
    unit: "laps",
    sizes: [10, 30, 100, 300, 1000],
    open: (laps) => {
      const [flow, graph] = [loop(laps), loopByHand(laps).compile(saved())];
      return {
        ours: always(() => runFlow(flow, start, { ...sealing, ...stepsFor(laps) })),
        peer: always(() => graph.invoke(start, limitFor(laps))),
      };
    },
  },
  {
    name: "growth-laps-compiled",
    what: "compiled loop of n laps",
    peer: withSaver,
    unit: "laps",
    sizes: [10, 30, 100, 300, 1000],
    open: (laps) => {
      const ours = compileFlow(loop(laps), { executor, ...stepsFor(laps) }).compile(saved());
      const theirs = loopByHand(laps).compile(saved());
      return {
        ours: always(() => ours.invoke(start, newThread())),
        peer: always(() => theirs.invoke(start, limitFor(laps))),
      };
    },
  },
  {
    name: "growth-map",
    what: "compiled map over n items",
    peer: "n Sends by hand (MemorySaver)",
    unit: "items",
    sizes: [10, 30, 100, 300, 1000],
    open: mappedSides,
  },
  {
    name: "growth-flow-journal",
    what: "resumeFlow of a node with n finished calls, from the sealed checkpoint",
    peer: null,
    unit: "calls",
    sizes: [1, 10, 100, 1000],
    open: resumedFlow,
  },
];

function resumedFlow(calls: number) {
  const { registry, rate, pay } = ourTools();
  const program = { executor: new Executor(registry, { secret: KEY }) };
  const flow = new Flow("paid", { state: z.object({ paid: z.string().default("") }) })
    .node("pay", async (_state, ctx) => {
      for (let n = 0; n < calls; n += 1) await ctx.run(rate, { item: "laptop", n });
      return { paid: await ctx.run(pay, { item: "laptop", n: 0 }) };
    })
    .end("pay");
  const prepare = async () => {
    const paused = await runFlow(flow, {}, program);
    if (paused.status !== "paused") throw new Error("it did not pause");
    return () => resumeFlow(flow, paused.checkpoint, approve(), program);
  };
  return { ours: { prepare } };
}

export const flowRows: readonly Row[] = [...pairs, ...growth.map((row): Row => ({ kind: "growth", ...row }))];
