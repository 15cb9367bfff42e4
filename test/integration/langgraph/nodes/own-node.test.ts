// `oneUse`: a node of one's own in which each answer is used once and finished calls are replayed.
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { approve, deny, type Executor } from "agent-adapter";
import { oneUse, toolNode, type OneUseOptions } from "agent-adapter/langgraph";
import { ai, asking, counted, failure, one, sleep } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";
import { Nodes, oneNodeGraph } from "./rig.js";

afterEach(forgetProcess);
const State = Annotation.Root({ got: Annotation<unknown>(), n: Annotation<number>() });
type Body = (executor: Executor, state: typeof State.State, config: unknown) => unknown;

function nodeOf(body: Body, options: Omit<OneUseOptions, "executor"> = {}) {
  const ran: string[] = [];
  const nodes = new Nodes({
    tools: [asking(ran, "send"), asking(ran, "pay"), counted(ran, "look")],
    graph: ({ executor }) =>
      oneNodeGraph(
        State,
        oneUse<typeof State.State, object>(async (state, config) => ({ got: await body(executor, state, config) }), {
          executor,
          ...options,
        }),
      ),
  });
  return { ran, nodes };
}

const run = (executor: Executor, tool: string, n: number) => executor.run(tool, { n }, { callId: `${tool}-${n}` });

describe("R4: oneUse", () => {
  it("R4: what finished before a pause gives its result again, here and in another process; each answer is used once", async () => {
    const seen: unknown[] = [];
    const { ran, nodes } = nodeOf(async (executor) => {
      const first = await run(executor, "look", 1);
      const second = await run(executor, "send", 2);
      const third = await run(executor, "pay", 3);
      seen.push([first, second, third]);
      return [first, second, third];
    });
    const send = await nodes.asked();
    const pay = one((await nodes.elsewhere().answer(send)).pending);
    const end = await nodes.elsewhere().answer(pay);
    expect(end.values["got"]).toEqual(["look 1", "send 2", "pay 3"]);
    expect(ran).toEqual(["look 1", "send 2", "pay 3"]);
    expect(seen).toHaveLength(1);
    expect((await nodes.ledger.entries()).map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  });

  it("R4: a node that is not asynchronous, or looks at nothing it is given, works the same", async () => {
    const ran: string[] = [];
    const nodes = new Nodes({
      tools: [asking(ran, "send")],
      graph: ({ executor }) =>
        new StateGraph(State)
          .addNode(
            "sync",
            oneUse<object, object>(() => ({ n: 1 }), { executor }),
          )
          .addNode(
            "chained",
            oneUse<object, object>(() => run(executor, "send", 1).then((got) => ({ got })), { executor }),
          )
          .addEdge(START, "sync")
          .addEdge("sync", "chained")
          .addEdge("chained", END) as never,
    });
    const end = await nodes.answer(await nodes.asked());
    expect(end.values).toMatchObject({ n: 1, got: "send 1" });
    expect(ran).toEqual(["send 1"]);
  });

  it("R4: state and config reach the node as LangGraph gives them", async () => {
    const { nodes } = nodeOf((_executor, { n }, config) => [
      n,
      (config as { configurable: { thread_id: string } }).configurable.thread_id,
    ]);
    expect((await nodes.invoke({ n: 7 })).values["got"]).toEqual([7, "t"]);
  });

  it("R4: outside of one, a call that needs a human is a ToolUsageError before it asks", async () => {
    const ran: string[] = [];
    const nodes = new Nodes({
      tools: [asking(ran, "send"), counted(ran, "look")],
      graph: ({ executor }) =>
        oneNodeGraph(State, async () => ({ got: [await run(executor, "look", 1), await run(executor, "send", 2)] })),
    });
    const error = await failure(nodes.invoke({}));
    expect(error).toMatchObject({ kind: "ToolUsageError", message: expect.stringContaining("oneUse") });
    expect(ran).toEqual(["look 1"]);
  });

  it("R4: with no executor of its own, or another one, calls that need a human are refused; plain ones run", async () => {
    const ran: string[] = [];
    for (const options of ["none", "another"] as const) {
      const other = new Nodes({ tools: [], graph: () => oneNodeGraph(State, () => ({})) });
      const nodes = new Nodes({
        tools: [asking(ran, "send"), counted(ran, "look")],
        graph: ({ executor }) =>
          oneNodeGraph(
            State,
            oneUse(
              async () => {
                await run(executor, "look", 1);
                return { got: await run(executor, "send", 2) };
              },
              options === "none" ? {} : { executor: other.executor },
            ),
          ),
      });
      expect(await failure(nodes.invoke({}))).toMatchObject({ kind: "ToolUsageError" });
    }
    expect(ran).toEqual(["look 1", "look 1"]);
  });

  it("R4: calls beside each other ask one after the other, and each answer reaches its own call", async () => {
    const { ran, nodes } = nodeOf((executor) =>
      Promise.all([run(executor, "send", 1), run(executor, "pay", 2), run(executor, "look", 3)]),
    );
    let turn = await nodes.invoke({});
    const asked: string[] = [];
    for (let rounds = 0; turn.pending.length > 0 && rounds < 5; rounds += 1) {
      const pending = one(turn.pending);
      asked.push(pending.value.request.callId);
      turn = await nodes.answer(pending);
    }
    expect(asked.toSorted()).toEqual(["pay-2", "send-1"]);
    expect(turn.values["got"]).toEqual(["send 1", "pay 2", "look 3"]);
    expect(ran.toSorted()).toEqual(["look 3", "pay 2", "send 1"]);
  });

  it("R4, L4: a denial that nobody catches fails the node; caught, the node goes on, and it stays denied", async () => {
    const uncaught = nodeOf((executor) => run(executor, "send", 1));
    const pending = await uncaught.nodes.asked();
    expect(await failure(uncaught.nodes.answer(pending, deny({ reason: "no" })))).toMatchObject({
      kind: "ApprovalDenied",
    });
    expect(await failure(uncaught.nodes.elsewhere().again())).toMatchObject({ kind: "ApprovalDenied" });
    const caught = nodeOf(async (executor) => {
      const said = await run(executor, "send", 1).catch((error: unknown) => String(error));
      return [said, await run(executor, "pay", 2)];
    });
    const pay = one((await caught.nodes.answer(await caught.nodes.asked(), deny({ reason: "not now" }))).pending);
    const end = await caught.nodes.elsewhere().answer(pay);
    expect(end.values["got"]).toEqual([expect.stringContaining("not now"), "pay 2"]);
    expect([...uncaught.ran, ...caught.ran]).toEqual(["pay 2"]);
  });

  it("R4, A7: an edit runs instead, and is what a re-run gives again", async () => {
    const { ran, nodes } = nodeOf(async (executor) => [await run(executor, "send", 1), await run(executor, "pay", 2)]);
    const pay = one((await nodes.answer(await nodes.asked(), approve({ editedArgs: { n: 9 } }))).pending);
    expect((await nodes.elsewhere().answer(pay)).values["got"]).toEqual(["send 9", "pay 2"]);
    expect(ran).toEqual(["send 9", "pay 2"]);
  });

  it.each([
    ["pause", "look 1"],
    ["call", "look 1"],
    [false, "look 1,look 1"],
  ] as const)("R4, J4/tasks: durable %s: what another process runs again", async (durable, expected) => {
    const { ran, nodes } = nodeOf(
      async (executor) => [await run(executor, "look", 1), await run(executor, "send", 2)],
      {
        durable,
      },
    );
    const pending = await nodes.asked();
    await nodes.elsewhere().answer(pending);
    expect(ran.filter((line) => line.startsWith("look")).join(",")).toBe(expected);
    expect(ran.filter((line) => line.startsWith("send"))).toEqual(["send 2"]);
  });

  it("R4, J4/tasks: a result above maxEntryBytes stays here: elsewhere a plain call runs again, an approved one is not given again", async () => {
    const text = "x".repeat(200);
    const ran: string[] = [];
    const nodes = new Nodes({
      tools: [
        counted(ran, "look", { body: () => text }),
        asking(ran, "send", { body: () => text }),
        asking(ran, "pay"),
      ],
      graph: ({ executor }) =>
        oneNodeGraph(
          State,
          oneUse<object, object>(
            async () => ({
              got: [await run(executor, "look", 1), await run(executor, "send", 2), await run(executor, "pay", 3)],
            }),
            { executor, maxEntryBytes: 100 },
          ),
        ),
    });
    const pay = one((await nodes.answer(await nodes.asked())).pending);
    expect(await failure(nodes.elsewhere().answer(pay))).toMatchObject({ kind: "ToolUsageError" });
    expect(ran).toEqual(["look 1", "send 2", "look 1"]);
  });

  it.each(["oneUse", "toolNode"] as const)(
    "R4, B13: %s in a subgraph in a subgraph: what finished before the pause is not run again, here and elsewhere",
    async (kind) => {
      const ran: string[] = [];
      const Both = Annotation.Root({ ...State.spec, ...MessagesAnnotation.spec });
      const nodes = new Nodes({
        tools: [asking(ran, "send"), counted(ran, "look")],
        graph: ({ executor, registry }) => {
          const own = oneUse<object, object>(
            async () => ({ got: [await run(executor, "look", 1), await run(executor, "send", 2)] }),
            { executor },
          );
          const node = kind === "oneUse" ? own : toolNode(registry, { executor });
          const inner = new StateGraph(Both).addNode("node", node as never).addEdge(START, "node");
          const middle = new StateGraph(Both).addNode("inner", inner.compile()).addEdge(START, "inner");
          return new StateGraph(Both).addNode("middle", middle.compile()).addEdge(START, "middle") as never;
        },
      });
      const calls = [
        { name: "look", args: { n: 1 }, id: "look" },
        { name: "send", args: { n: 2 }, id: "send" },
      ];
      const pending = await nodes.asked({ messages: [ai(calls)] });
      expect((await nodes.elsewhere().again()).pending).toHaveLength(1);
      expect((await nodes.elsewhere().answer(pending)).pending).toEqual([]);
      expect(ran).toEqual(["look 1", "send 2"]);
      expect((await nodes.ledger.entries()).map(({ status }) => status)).toEqual(["ok", "ok"]);
    },
  );

  it("R4, S10: two hundred calls of one node, and as many nodes, warn of no listeners", async () => {
    const warned: string[] = [];
    const note = (warning: Error) => warned.push(warning.name);
    process.on("warning", note);
    const { ran, nodes } = nodeOf(async (executor) => {
      const all = Array.from({ length: 200 }, (_, n) => run(executor, "look", n));
      return [(await Promise.all(all)).length, await run(executor, "send", 1)];
    });
    const pending = await nodes.asked();
    expect((await nodes.answer(pending)).values["got"]).toEqual([200, "send 1"]);
    await sleep(5);
    process.off("warning", note);
    expect(warned).toEqual([]);
    expect(ran).toHaveLength(201);
  });
});
