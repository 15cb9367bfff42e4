// Properties proved: what docs/reference/flow-differences.md says is different, is so and no more than that; what a compiled flow does
// where LangGraph itself would do something else; which flows are refused when they are compiled.
import { Command, isInterrupted, MemorySaver, START, StateGraph, Annotation } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { approve, deny, Executor, Registry } from "../../src/index.js";
import { call, Flow, Merge, type FlowContext } from "../../src/flow/index.js";
import { compileFlow, pendingApprovals, resume, runCompiled } from "../../src/integrations/langgraph/index.js";
import { failure } from "../support/langgraph.js";
import { forgetProcess } from "../support/process.js";
import { runLocally } from "./run.js";
import { empty, graph, logs, runs, SECRET, World, type ParityFlow } from "./world.js";

const config = (thread = "t") => ({ configurable: { thread_id: thread } });
const yes = approve({ by: "ana" });

/** A flow, compiled by a program that has just been started. */
function appOf(
  flow: ParityFlow,
  world = new World(),
  saver = new MemorySaver(),
  executor: Executor = world.executor(),
) {
  return compileFlow(flow, { executor }).compile({ checkpointer: saver });
}

describe("C1: what is different", () => {
  test("progress is in the checkpointer: results and errors carry no checkpoint, and null goes on from either", async () => {
    const world = new World();
    const app = appOf(
      graph([["a", "b"]], { a: () => (world.failFirst("a", 1), { log: ["a"] }), b: runs("ask", "b") }),
      world,
    );
    const error = await failure(runCompiled(app, {}, config()));
    expect(error).toMatchObject({ message: "a failed on purpose" });
    expect(error).not.toHaveProperty("checkpoint");
    const paused = await runCompiled(app, null, config());
    expect(paused).toMatchObject({ status: "paused", checkpoint: null, steps: 1 });
    expect(await runCompiled(app, yes, config())).toMatchObject({ status: "done", state: { log: ["a", "b"] } });
  });

  test("run id: the thread is the run, unless the config names one; a tool that runs once per run knows them apart, in any process", async () => {
    const seen: unknown[] = [];
    const flow = graph([["a", "b"]], {
      a: runs("once", "x"),
      b: (_state, { runId, threadId }: FlowContext) => void seen.push([runId, threadId]),
    });
    const world = new World();
    const saver = new MemorySaver();
    for (const runId of [undefined, undefined, "second", "second"]) {
      forgetProcess();
      const configurable = { thread_id: "t", ...(runId === undefined ? {} : { run_id: runId }) };
      expect(await runCompiled(appOf(flow, world, saver), {}, { configurable })).toMatchObject({
        status: "done",
        steps: 2,
      });
    }
    expect(world.ran).toEqual(["once x", "once x"]);
    expect(seen).toEqual([
      ["t", "t"],
      ["t", "t"],
      ["second", "t"],
      ["second", "t"],
    ]);
  });

  test("another input on a thread is another run: it starts from that input alone, and takes its steps and laps anew", async () => {
    const flow = empty()
      .node("a", logs("a", { low: 1 }))
      .node("b", logs("b"))
      .edge("a", "a", { maxLoops: 1, orElse: "b" })
      .end("b");
    const app = appOf(flow);
    const first = await runCompiled(app, { total: 3, list: ["left"], text: "given" }, config());
    expect(first).toMatchObject({
      status: "done",
      steps: 3,
      state: { log: ["a", "a", "b"], total: 3, low: 1, list: ["left"], text: "given" },
    });
    const second = await runCompiled(app, { total: 4 }, config());
    const alone = await runCompiled(app, { total: 4 }, config("another"));
    expect(second).toEqual(alone);
    expect(second.state).not.toHaveProperty("list");
    // Whoever calls the graph directly gets the same.
    expect(await app.invoke({ total: 4 }, config())).toEqual(alone.state);
  });

  test("a denied run goes on from nowhere: null is denied again, and nothing of the step runs", async () => {
    const world = new World();
    const app = appOf(graph([["a", "b"]], { b: runs("ask", "b") }), world);
    await runCompiled(app, {}, config());
    const denied = await runCompiled(app, deny({ by: "ana" }), config());
    expect(denied).toMatchObject({ status: "denied", node: "b", steps: 1, state: { log: ["a"] } });
    expect(await runCompiled(app, null, config())).toMatchObject({ status: "denied", node: "b", steps: 1 });
    // Called directly, the graph throws it.
    expect(await failure(app.invoke(null, config()))).toMatchObject({ kind: "ApprovalDenied" });
    expect(world.ran).toEqual([]);
  });

  test("who a run acts for is what the executor reads from the config, and there is no metadata", async () => {
    const seen: unknown[] = [];
    const flow = graph([["a", "b"]], { b: (_state, ctx) => void seen.push([ctx.principal, ctx.metadata]) });
    const principal = (source: unknown) => String(Reflect.get(source as object, "user"));
    const executor = new Executor(new Registry(), { secret: SECRET, principal });
    const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
    await runCompiled(app, {}, { configurable: { thread_id: "t", user: "ana" } });
    expect(seen).toEqual([["ana", {}]]);
  });

  test("half a step is in LangGraph's snapshot, and in no result", async () => {
    const app = appOf(
      graph(
        [
          ["s", "a"],
          ["s", "b"],
        ],
        { b: runs("ask", "b") },
      ),
    );
    const paused = await runCompiled(app, {}, config());
    expect(paused).toMatchObject({ status: "paused", state: { log: ["s"] }, steps: 1, visits: { s: 1 } });
    expect((await app.getState(config())).values).toMatchObject({ log: ["s", "a"] });
    expect(await runCompiled(app, null, config())).toEqual(paused);
  });

  test("raw calls: an input that does not fit is thrown by the graph and leaves nothing that runs", async () => {
    const world = new World();
    const app = appOf(graph([["a", "b"]], { b: runs("echo", "b") }), world);
    for (const input of [{ total: "many" }, null, null]) {
      expect(await failure(app.invoke(input as never, config()))).toMatchObject({ kind: "FlowError" });
    }
    expect(world.ran).toEqual([]);
    expect(await app.invoke({ total: 1 }, config())).toMatchObject({ log: ["a", "b"], total: 1 });
  });

  test.each([
    ["a write that LangGraph would take for an Overwrite", { one: "x", bag: { __overwrite__: 1 } }],
    ["a write that LangGraph would revive", { last: "x", bag: { lc: 1 } }],
  ])("%s is refused", async (_what, writes) => {
    const app = appOf(graph([["a", "b"]], { b: () => writes as never }));
    expect(await failure(runCompiled(app, {}, config()))).toMatchObject({
      kind: "FlowError",
      message: expect.stringContaining('field "bag"') as string,
    });
    expect(await failure(runCompiled(app, { bag: writes.bag as never }, config("input")))).toMatchObject({
      kind: "FlowError",
    });
  });

  test("a merge rule that fails on what several nodes wrote fails the step as soon as another node of it waits", async () => {
    const flow = graph(
      [
        ["s", "a"],
        ["s", "b"],
        ["s", "c"],
      ],
      { a: logs("a", { total: Number.MAX_VALUE }), b: logs("b", { total: Number.MAX_VALUE }), c: runs("ask", "c") },
    );
    const fault = expect.stringContaining('the merge rule "sum": field "total" cannot be kept') as string;
    const local = await runLocally({ name: "", flow: () => flow, ends: { status: "thrown" } }, "in one process");
    expect([local.pauses.length, local.errors]).toEqual([1, [fault]]);
    const world = new World();
    const app = appOf(flow, world);
    expect(await failure(runCompiled(app, {}, config()))).toMatchObject({ message: fault });
    // The request is there all the same. No answer mends the step, which is as it is locally.
    expect(await pendingApprovals(app, config())).toMatchObject([{ node: "c", request: { tool: "ask" } }]);
    expect(await failure(runCompiled(app, null, config()))).toMatchObject({ message: fault });
    expect(await failure(runCompiled(app, yes, config()))).toMatchObject({ message: fault });
    expect(world.ran).toEqual(["ask c"]);
  });

  test("an abort rejects with LangGraph's own error, and null goes on", async () => {
    const world = new World();
    const stop = new AbortController();
    const app = appOf(
      graph([["a", "b"]], {
        a: async (_state, ctx) => {
          const log = [String(await ctx.run("echo", { text: "a" }))];
          if (!stop.signal.aborted) {
            stop.abort(new Error("enough"));
            await new Promise((resolve) => setImmediate(resolve));
          }
          return { log };
        },
      }),
      world,
    );
    expect(await failure(runCompiled(app, {}, { ...config(), signal: stop.signal }))).toBeInstanceOf(Error);
    expect(await runCompiled(app, null, config())).toMatchObject({ status: "done", state: { log: ["a", "b"] } });
    expect(world.ran).toEqual(["echo a"]);
  });

  test("a raw interrupt() in a node is no approval, and runCompiled says so instead of going round", async () => {
    const { interrupt } = await import("@langchain/langgraph");
    const app = appOf(graph([["a", "b"]], { b: () => void interrupt("who is there?") }));
    expect(await failure(runCompiled(app, {}, config()))).toMatchObject({ kind: "ToolUsageError" });
  });
});

describe("C1: LangGraph's own modes", () => {
  const flow = graph(
    [
      ["a", "b"],
      ["a", "c"],
    ],
    { b: runs("ask", "b") },
  );

  test.each(["values", "updates", "tasks", "debug", "checkpoints"] as const)(
    "stream mode %s works, and shows no reserved key",
    async (streamMode) => {
      const app = appOf(flow);
      const chunks: unknown[] = [];
      const read = async (input: never) => {
        for await (const chunk of await app.stream(input, { ...config(), streamMode })) chunks.push(chunk);
      };
      await read({ total: 1 } as never);
      const [pending] = await pendingApprovals(app, config());
      const { executor } = { executor: undefined };
      expect([pending?.node, executor]).toEqual(["b", undefined]);
      await resume(app, yes, config());
      await read({ total: 2 } as never);
      expect(chunks.length).toBeGreaterThan(2);
      const text = JSON.stringify(chunks);
      // What is sealed of a request is in the interrupt's value, beside what is shown.
      expect(text.replaceAll("aa_state", "")).not.toContain("aa_");
      expect(text).toContain('"log":["a"]');
    },
  );

  test("what a node writes to the stream arrives, and a snapshot shows the fields only", async () => {
    const { getWriter } = await import("@langchain/langgraph");
    const app = appOf(graph([["a", "b"]], { b: () => getWriter()?.({ half: "way" }) }));
    const chunks: unknown[] = [];
    for await (const chunk of await app.stream({} as never, { ...config(), streamMode: "custom" })) chunks.push(chunk);
    expect(chunks).toEqual([{ half: "way" }]);
    const { values } = await app.getState(config());
    expect(Object.keys(values as object).toSorted()).toEqual(["bag", "items", "log", "one", "seen", "text", "total"]);
  });

  test("the graph is drawn with the flow's own ways", async () => {
    const { edges } = await appOf(flow).getGraphAsync();
    expect(edges.map(({ source, target }) => `${source}>${target}`).toSorted()).toEqual([
      "__start__>a",
      "a>b",
      "a>c",
      "b>__end__",
      "c>__end__",
    ]);
  });
});

describe("C2: step limits", () => {
  const endless = () =>
    empty()
      .node("a", runs("some", "ask"))
      .node("z", logs("z"))
      .edge("a", "a", { maxLoops: 1000, orElse: "z" })
      .end("z");

  test("F4: raw calls end in FlowLoopExceeded at the very step at which a local run does, across resumes, never in GraphRecursionError", async () => {
    const local = await runLocally(
      { name: "", flow: endless, maxSteps: 7, ends: { status: "thrown" } },
      "in one process",
    );
    expect(local).toMatchObject({ status: "thrown", steps: 7, errors: [expect.stringContaining("FlowLoopExceeded")] });
    const world = new World();
    const executor = world.executor();
    const app = compileFlow(endless(), { executor, maxSteps: 7 }).compile({ checkpointer: new MemorySaver() });
    let output: unknown = await app.invoke({} as never, config());
    for (let lap = 1; lap < 7; lap += 1) {
      expect(isInterrupted(output)).toBe(true);
      output = await resume(app, yes, config());
    }
    expect(await failure(resume(app, yes, config()))).toMatchObject({ kind: "FlowLoopExceeded" });
    expect(await failure(app.invoke(null, config()))).toMatchObject({ kind: "FlowLoopExceeded" });
    expect([world.ran.length, local.ran.length]).toEqual([7, 7]);
  });

  test("F4: a chain longer than LangGraph's default limit runs, and a loop without pauses ends in FlowLoopExceeded at its cap", async () => {
    const names = Array.from({ length: 60 }, (_, index) => `n${index}`);
    const chain = graph(names.slice(1).map((name, index) => [names[index] ?? "", name] as const));
    expect(await appOf(chain).invoke({} as never, config())).toMatchObject({ log: names });
    const round = empty()
      .node("a", logs("a"))
      .node("z", logs("z"))
      .edge("a", "a", { maxLoops: 1000, orElse: "z" })
      .end("z");
    const app = appOf(round);
    expect(await failure(app.invoke({} as never, config()))).toMatchObject({ kind: "FlowLoopExceeded" });
    expect((await app.getState(config())).values).toMatchObject({ log: Array.from({ length: 100 }, () => "a") });
  });

  test("F4: joins that put themselves off are no steps", async () => {
    const joins = graph([
      ["s", "J"],
      ["s", "K"],
      ["s", "L"],
      ["J", "K"],
      ["K", "L"],
    ]);
    const executor = new World().executor();
    const app = compileFlow(joins, { executor, maxSteps: 4 }).compile({ checkpointer: new MemorySaver() });
    expect(await runCompiled(app, {}, config())).toMatchObject({
      status: "done",
      steps: 4,
      visits: { s: 1, J: 1, K: 1, L: 1 },
    });
  });
});

describe("C2: a node that LangGraph aborts because a sibling failed", () => {
  test("keeps its writes and its ways, or neither", async () => {
    const world = new World();
    const failing = () => {
      world.failFirst("x", 1);
      return { log: ["x"] };
    };
    const app = appOf(
      graph(
        [
          ["a", "m"],
          ["a", "x"],
          ["m", "e"],
        ],
        { x: failing },
      ),
      world,
    );
    expect(await failure(runCompiled(app, {}, config()))).toMatchObject({ message: "x failed on purpose" });
    expect(await runCompiled(app, null, config())).toMatchObject({
      visits: { a: 1, m: 1, x: 1, e: 1 },
      state: { log: ["a", "m", "x", "e"] },
    });
  });
});

describe("B13: a compiled flow as a subgraph", () => {
  test("B13, B08: what finished before its pause is not run again, and its request is answered through the parent", async () => {
    const world = new World();
    const saver = new MemorySaver();
    const State = Annotation.Root({ log: Annotation<readonly string[]>(), total: Annotation<number>() });
    const parentOf = () => {
      const inner = compileFlow(graph([["a", "b"]], { a: runs("echo", "a"), b: runs("ask", "b") }), {
        executor: world.executor(),
      });
      return new StateGraph(State)
        .addNode("before", () => ({ log: [] }))
        .addNode("flow", inner.compile() as never)
        .addEdge(START, "before")
        .addEdge("before", "flow")
        .compile({ checkpointer: saver });
    };
    await parentOf().invoke({ total: 1 }, config());
    forgetProcess();
    const parent = parentOf();
    const [pending] = await pendingApprovals(parent, config());
    expect(pending).toMatchObject({ node: "b", request: { tool: "ask", arguments: { text: "b" } } });
    expect(await resume(parent, yes, config())).toMatchObject({ log: ["a", "b"] });
    expect(world.ran).toEqual(["echo a", "ask b"]);
    expect(await world.ledger.entries()).toHaveLength(2);
  });
});

describe("B48, J2: values", () => {
  const strange = {
    date: new Date(0),
    map: new Map(),
    set: new Set(),
    big: 1n,
    bytes: new Uint8Array(1),
    error: new Error("e"),
    code: () => 1,
    nan: Number.NaN,
  };

  test.each(Object.entries(strange))(
    "B48: a write or an input with a %s in it is refused before anything reads it",
    async (_what, value) => {
      const app = appOf(
        graph(
          [
            ["a", "b"],
            ["b", "c"],
          ],
          { b: () => ({ bag: { value } }) as never, c: runs("echo", "c") },
        ),
      );
      expect(await failure(runCompiled(app, {}, config()))).toMatchObject({ kind: "FlowError" });
      expect(await failure(runCompiled(app, { bag: { value } as never }, config("input")))).toMatchObject({
        kind: "FlowError",
      });
    },
  );

  test("B48: falsy values, odd texts and names are the same in the next step, in the next process", async () => {
    const given = {
      log: ["", "__proto__", "\u2028", "\ud83d\ude00"],
      total: -0,
      one: "",
      bag: { __proto__x: 0, constructor: 1 },
      items: [],
    };
    const seen: unknown[] = [];
    const saver = new MemorySaver();
    const flow = () =>
      graph(
        [
          ["a", "b"],
          ["b", "c"],
        ],
        { a: () => undefined, b: runs("ask", "b"), c: (now) => void seen.push(now) },
      );
    const world = new World();
    await runCompiled(appOf(flow(), world, saver), given, config());
    forgetProcess();
    const end = await runCompiled(appOf(flow(), world, saver), yes, config());
    expect(seen[0]).toEqual({ ...given, total: 0, log: [...given.log, "b"], seen: [], text: "" });
    expect(end.state).toEqual(seen[0]);
  });
});

describe("E2/compile: flows that cannot be compiled", () => {
  const shape = { state: { log: z.array(z.string()).default([]) }, merge: { log: Merge.append } };
  const logged = () => ({ log: [] });

  test("E2/compile: FlowCompileError names every fault at once", () => {
    const flow = new Flow<typeof shape.state, typeof shape.merge, string>("bad", shape)
      .node("__start__", logged)
      .node("a|b", logged)
      .node("aa_visits", logged)
      .node("lost", logged)
      .edge("__start__", "nowhere");
    const error = thrown(() => compileFlow(flow));
    expect(error).toMatchObject({ kind: "FlowCompileError" });
    for (const fault of [
      "__start__",
      "a|b",
      "aa_visits",
      '"lost" cannot be reached',
      '"nowhere", which is no node',
      "there is no end",
    ])
      expect(String(error)).toContain(fault);
  });

  test("E2/compile: nodes that only name their tools need an executor that has them: all of them are named", () => {
    const flow = new Flow("named", shape)
      .node("a", call("first", { args: {}, into: "log" }))
      .node("b", call("second", { args: {}, into: "log" }))
      .edge("a", "b")
      .end("b");
    for (const options of [{}, { executor: new World().executor() }]) {
      const error = thrown(() => compileFlow(flow, options));
      expect(error).toMatchObject({ kind: "FlowCompileError" });
      for (const named of ['"a" (first)', '"b" (second)']) expect(String(error)).toContain(named);
    }
  });

  test("E2/compile: what is no flow, and options that there are not, are usage errors", () => {
    expect(thrown(() => compileFlow({} as never))).toMatchObject({ kind: "ToolUsageError" });
    const flow = graph([["a", "b"]]);
    for (const options of [{ maxSteps: 0 }, { durable: "never" }, { steps: 3 }])
      expect(thrown(() => compileFlow(flow, options as never))).toMatchObject({ kind: "ToolUsageError" });
  });

  function thrown(run: () => unknown): unknown {
    try {
      run();
    } catch (error) {
      return error;
    }
    throw new Error("expected it to throw");
  }
});

test("C2: a Command that leads to a node of a thread without a run is refused: nothing ran", async () => {
  const world = new World();
  const app = appOf(graph([["a", "b"]], { b: runs("echo", "b") }), world);
  expect(await failure(app.invoke(new Command({ goto: "b" }) as never, config()))).toMatchObject({ kind: "FlowError" });
  expect(world.ran).toEqual([]);
});
