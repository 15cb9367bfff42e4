// The same promises in every shape of graph: durabilities, subgraphs, parallel nodes, fan-out.
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { isInvalidAnswer } from "agent-adapter/langgraph";
import { approve, deny, Registry } from "agent-adapter";
import { toolNode } from "agent-adapter/langgraph";
import {
  about,
  asking,
  aTaskPerCall,
  call,
  counted,
  failure,
  one,
  Stand,
  table,
  type App,
  type GraphMaker,
} from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

/** The tool node in a subgraph of a subgraph, with plain nodes around it. */
const nested: (ran: string[]) => GraphMaker = (ran) => (node, checkpointer) => {
  const note = (name: string) => () => {
    ran.push(name);
    return {};
  };
  const inner = new StateGraph(MessagesAnnotation)
    .addNode("tools", node)
    .addEdge(START, "tools")
    .addEdge("tools", END)
    .compile();
  const middle = new StateGraph(MessagesAnnotation)
    .addNode("before", note("before"))
    .addNode("inner", inner)
    .addEdge(START, "before")
    .addEdge("before", "inner")
    .addEdge("inner", END)
    .compile();
  return new StateGraph(MessagesAnnotation)
    .addNode("middle", middle)
    .addNode("after", note("after"))
    .addEdge(START, "middle")
    .addEdge("middle", "after")
    .addEdge("after", END)
    .compile({ checkpointer }) as unknown as App;
};

/** A graph that calls its subgraph from inside a node function. */
const invokedInside: GraphMaker = (node, checkpointer) => {
  const inner = new StateGraph(MessagesAnnotation)
    .addNode("tools", node)
    .addEdge(START, "tools")
    .addEdge("tools", END)
    .compile();
  return new StateGraph(MessagesAnnotation)
    .addNode("outer", async (state, config) => {
      const { messages } = await inner.invoke(state, config);
      return { messages };
    })
    .addEdge(START, "outer")
    .addEdge("outer", END)
    .compile({ checkpointer }) as unknown as App;
};

const shapes: Readonly<Record<string, (ran: string[]) => GraphMaker | undefined>> = {
  "one node": () => undefined,
  "a task per call": () => aTaskPerCall,
  "a subgraph of a subgraph": nested,
  "a subgraph called in a node": () => invokedInside,
};

describe("every durability and shape", () => {
  for (const durability of ["sync", "async", "exit"] as const) {
    for (const [shape, graphOf] of Object.entries(shapes)) {
      for (const restart of [false, true]) {
        it(`L1, L2, L3: ${durability}, ${shape}${restart ? ", restarted at every step" : ""}: refused, approved, denied, each once`, async () => {
          const ran: string[] = [];
          const graph = graphOf(ran);
          const stand = new Stand({
            tools: () => [asking(ran, "send"), counted(ran, "rate")],
            durability,
            ...(graph === undefined ? {} : { graph }),
          });
          const next = () => {
            if (restart) forgetProcess();
            return stand.rebuild();
          };
          let turn = await stand.start(call("c1", 1), call("c2", 2, "rate"), call("c3", 3));
          const first = about(turn.interrupts, "c1");
          expect(isInvalidAnswer(await failure(next().resume({ [first.id]: "yes" })))).toBe(true);
          expect(ran.filter((line) => line.startsWith("send"))).toEqual([]);
          turn = await next().decide(first, approve({ by: "ana" }));
          const second = about(turn.interrupts, "c3");
          const again = await next().again();
          expect(about(again.interrupts, "c3").value.binding).toBe(second.value.binding);
          const end = await next().decide(second, deny({ reason: "no" }));
          expect(ran.filter((line) => line.startsWith("send"))).toEqual(["send 1"]);
          // The result of a plain call is known to its own process only.
          expect(ran.filter((line) => line === "rate 2").length).toBeLessThanOrEqual(restart ? 4 : 1);
          expect(end.interrupts).toEqual([]);
          expect(end.tools.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
            ["c1", "success"],
            ["c2", "success"],
            ["c3", "error"],
          ]);
          expect((await stand.entries()).map(({ callId, status }) => [callId, status])).toEqual([
            ["c1", "ok"],
            ["c2", "ok"],
            ["c3", "denied"],
          ]);
          const around = ran.filter((line) => line === "before" || line === "after");
          expect(around).toEqual(shape === "a subgraph of a subgraph" ? ["before", "after"] : []);
        });
      }
    }
  }
});

describe("two tool nodes side by side", () => {
  const twoNodes =
    (ran: string[]): GraphMaker =>
    (_node, checkpointer, executor) => {
      // Two nodes over parts of one registry: each runs only its part and asks for it.
      const part = (...names: string[]) =>
        toolNode(new Registry(executor.registry.list().filter(({ name }) => names.includes(name))), { executor });
      return new StateGraph(MessagesAnnotation)
        .addNode("mail", (_state, config) => part("send").invoke({ messages: [mail()] }, config) as never)
        .addNode("bank", (_state, config) => part("pay").invoke({ messages: [bank()] }, config) as never)
        .addNode("join", () => {
          ran.push("join");
          return {};
        })
        .addEdge(START, "mail")
        .addEdge(START, "bank")
        .addEdge(["mail", "bank"], "join")
        .addEdge("join", END)
        .compile({ checkpointer }) as unknown as App;
    };
  const mail = () => ({ role: "assistant", content: "", tool_calls: [call("m", 1, "send")] }) as never;
  const bank = () => ({ role: "assistant", content: "", tool_calls: [call("b", 2, "pay")] }) as never;
  const twoOf = (ran: string[]) =>
    new Stand({ tools: () => [asking(ran, "send"), asking(ran, "pay")], graph: twoNodes(ran) });

  for (const restart of [false, true]) {
    it(`L1: both requests surface together and are answered by one id map${restart ? ", after a restart" : ""}`, async () => {
      const ran: string[] = [];
      const stand = twoOf(ran);
      const { interrupts } = await stand.start();
      expect(interrupts.map(({ value }) => value.request.callId).toSorted()).toEqual(["b", "m"]);
      expect(new Set(interrupts.map(({ id }) => id)).size).toBe(2);
      if (restart) forgetProcess();
      const later = stand.rebuild();
      const end = await later.resume(Object.fromEntries(interrupts.map((each) => [each.id, later.sign(each)])));
      expect(ran.slice(0, 2).toSorted()).toEqual(["pay 2", "send 1"]);
      expect(ran.slice(2)).toEqual(["join"]);
      expect(table(end.tools).toSorted(([a], [b]) => a.localeCompare(b))).toEqual([
        ["b", "success", "pay 2"],
        ["m", "success", "send 1"],
      ]);
    });

    it(`L1, L3: one answered alone, the other later${restart ? ", after a restart" : ""}: each runs once`, async () => {
      const ran: string[] = [];
      const stand = twoOf(ran);
      const { interrupts } = await stand.start();
      const turn = await stand.decide(about(interrupts, "b"));
      expect(ran).toEqual(["pay 2"]);
      if (restart) forgetProcess();
      const rest = one(turn.interrupts);
      expect(rest.value.request.callId).toBe("m");
      await stand.rebuild().decide(rest);
      expect(ran).toEqual(["pay 2", "send 1", "join"]);
    });
  }

  it("L1, L2: swapped answers are refused by both nodes, and the right map still works", async () => {
    const ran: string[] = [];
    const stand = twoOf(ran);
    const { interrupts } = await stand.start();
    const [m, b] = [about(interrupts, "m"), about(interrupts, "b")];
    const error = await failure(stand.resume({ [m.id]: stand.sign(b), [b.id]: stand.sign(m) }));
    expect(isInvalidAnswer(error)).toBe(true);
    await stand.resume({ [m.id]: stand.sign(m), [b.id]: stand.sign(b) });
    expect(ran.slice(0, 2).toSorted()).toEqual(["pay 2", "send 1"]);
  });
});

describe("loops", () => {
  it("L3, T1: every lap of a loop asks anew, and an answer of one lap is none of the next", async () => {
    const ran: string[] = [];
    const stand = new Stand({
      tools: () => [asking(ran, "send")],
      graph: (node, checkpointer) =>
        new StateGraph(MessagesAnnotation)
          .addNode("agent", ({ messages }) => ({
            messages: [{ role: "assistant", content: "", tool_calls: [call("same", messages.length)] } as never],
          }))
          .addNode("tools", node)
          .addEdge(START, "agent")
          .addEdge("agent", "tools")
          .addConditionalEdges("tools", ({ messages }) => (messages.length < 6 ? "agent" : END))
          .compile({ checkpointer }) as unknown as App,
    });
    let turn = await stand.invoke({ messages: [] });
    const bindings = new Set<string>();
    let old: unknown = "no answer yet";
    for (let lap = 0; turn.interrupts.length > 0; lap += 1) {
      const pending = one(turn.interrupts);
      bindings.add(pending.value.binding);
      const tried = await failure(stand.resume({ [pending.id]: old }));
      expect(isInvalidAnswer(tried)).toBe(true);
      old = stand.sign(pending);
      turn = await stand.resume({ [pending.id]: old });
      expect(ran).toHaveLength(lap + 1);
    }
    expect(ran).toEqual(["send 0", "send 2", "send 4"]);
    expect(bindings.size).toBe(3);
  });
});
