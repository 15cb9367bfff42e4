// `assertSafe`: LangGraph's node options that would skip or swallow an approval are found before the graph is compiled. What
// they would do is shown first, on the real LangGraph.
import { Annotation, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { InMemoryCache } from "@langchain/langgraph-checkpoint";
import { afterEach, describe, expect, it } from "vitest";
import { approve, Executor, Registry } from "agent-adapter";
import { assertSafe, LangGraphApproval, oneUse, resume, toolNode, toolTask } from "agent-adapter/langgraph";
import { ai, asking, call, KEY, thrownBy, turnOf } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

function partsFor(ran: string[]) {
  const pay = asking(ran, "pay");
  const registry = new Registry([pay]);
  const executor = new Executor(registry, { approval: new LangGraphApproval({ key: KEY }) });
  return { pay, registry, executor };
}

const State = Annotation.Root({ got: Annotation<unknown>() });

/** The three kinds of node that may ask. */
const KINDS: Readonly<Record<string, (parts: ReturnType<typeof partsFor>) => unknown>> = {
  toolNode: ({ registry, executor }) => toolNode(registry, { executor }),
  toolTask: ({ pay, executor }) => toolTask(pay as never, { executor, into: "got" }),
  oneUse: ({ executor }) => oneUse(async () => ({}), { executor }),
};

const UNSAFE = { cachePolicy: { ttl: 60 }, errorHandler: () => ({}) };

describe("R6: assertSafe", () => {
  for (const [kind, make] of Object.entries(KINDS)) {
    for (const [option, value] of Object.entries(UNSAFE)) {
      it(`R6: refuses a ${kind} with ${option}, by names, of a builder, a compiled app and a subgraph`, () => {
        const graph = new StateGraph(State)
          .addNode("asks", make(partsFor([])) as never, { [option]: value })
          .addEdge(START, "asks");
        const parent = new StateGraph(State).addNode("inner", graph.compile()).addEdge(START, "inner");
        for (const unsafe of [graph, graph.compile(), parent, parent.compile()]) {
          expect(thrownBy(() => assertSafe(unsafe))).toMatchObject({
            kind: "ToolUsageError",
            message: expect.stringMatching(new RegExp(`"asks".*${option}`)),
          });
        }
      });
    }

    it(`R6: lets a ${kind} pass that has other options, or stands beside nodes that may have anything`, () => {
      const graph = new StateGraph(State)
        .addNode("asks", make(partsFor([])) as never, { retryPolicy: { maxAttempts: 2 } })
        .addNode("plain", () => ({}), UNSAFE)
        .addEdge(START, "asks")
        .addEdge(START, "plain");
      expect(() => assertSafe(graph)).not.toThrow();
      expect(() => assertSafe(graph.compile())).not.toThrow();
    });
  }

  it("R6: finds it in what all nodes are given", () => {
    const graph = new StateGraph(State).setNodeDefaults({ cachePolicy: { ttl: 60 } });
    graph.addNode("asks", KINDS["oneUse"]?.(partsFor([])) as never);
    expect(() => assertSafe(graph)).toThrow(/"asks".*cachePolicy/);
  });
});

describe("R6: why", () => {
  const input = { messages: [ai([call("c", 1, "pay")])] };

  it("R6: with a cachePolicy the answer of one thread is the result of another: nobody is asked there", async () => {
    const ran: string[] = [];
    const { registry, executor } = partsFor(ran);
    const app = new StateGraph(MessagesAnnotation)
      .addNode("tools", toolNode(registry, { executor }), { cachePolicy: { keyFunc: () => "same" } })
      .addEdge(START, "tools")
      .compile({ checkpointer: new MemorySaver(), cache: new InMemoryCache() });
    const first = { configurable: { thread_id: "one" } };
    await app.invoke(input, first);

    await resume(app, approve(), first);
    const { interrupts } = turnOf(await app.invoke(input, { configurable: { thread_id: "two" } }));
    // LangGraph's doing, which is why the option is refused.
    expect([interrupts, ran]).toEqual([[], ["pay 1"]]);
  });
});
