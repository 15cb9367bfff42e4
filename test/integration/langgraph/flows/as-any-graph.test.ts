// A compiled flow looks to LangGraph's own verbs as the graph that one would write by hand.
import { Annotation, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { z } from "zod";
import { Executor, Registry } from "agent-adapter";
import { Flow } from "agent-adapter/flow";
import { compileFlow } from "agent-adapter/langgraph";
import { KEY } from "../../../support/langgraph.js";

const add = ({ n }: { readonly n: number }) => ({ n: n + 1 });

function compiled() {
  const flow = new Flow("sums", { state: z.object({ n: z.number() }) })
    .node("one", add)
    .node("two", add)
    .edge("one", "two")
    .end("two");
  const executor = new Executor(new Registry(), { secret: KEY });
  return compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
}

function byHand() {
  return new StateGraph(Annotation.Root({ n: Annotation<number>() }))
    .addNode("one", add)
    .addNode("two", add)
    .addEdge(START, "one")
    .addEdge("one", "two")
    .compile({ checkpointer: new MemorySaver() });
}

type App = ReturnType<typeof byHand>;

/** Both have these members; only the types of their states differ. */
const apps = (): [string, App][] => [
  ["compiled", compiled() as unknown as App],
  ["by hand", byHand()],
];

const config = { configurable: { thread_id: "t" } };

it.each(apps())("L4: %s: updateState writes state in the name of a node", async (_name, app) => {
  await app.invoke({ n: 0 }, config);
  await app.updateState(config, { n: 40 }, "two");
  expect((await app.getState(config)).values).toEqual({ n: 40 });
});

it.each(apps())(
  "L4: %s: every node is one run, with its writes, in the events and in the stream",
  async (_name, app) => {
    const runs: string[] = [];
    for await (const { event, name } of app.streamEvents({ n: 0 }, { ...config, version: "v2" }))
      if (event === "on_chain_start" || event === "on_chain_end") runs.push(`${event} ${name}`);
    expect(runs.filter((run) => run.endsWith(" one") || run.endsWith(" two"))).toEqual([
      "on_chain_start one",
      "on_chain_end one",
      "on_chain_start two",
      "on_chain_end two",
    ]);
    const updates: unknown[] = [];
    for await (const update of await app.stream({ n: 0 }, { ...config, streamMode: "updates" })) updates.push(update);
    expect(updates).toEqual([{ one: { n: 1 } }, { two: { n: 2 } }]);
  },
);
