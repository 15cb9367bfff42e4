// Properties proved: the rules of docs/reference/flow-rules.md about steps, joins, ways, caps and merging, each by itself.
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  call,
  checkpointOf,
  Flow,
  join,
  Merge,
  resumeFlow,
  runFlow,
  type FlowFunction,
} from "../../../src/flow/index.js";
import { Executor, Registry } from "../../../src/index.js";
import { defineTool } from "../../../src/tools/define-tool.js";
import { bench, rejection } from "../../support/flows.js";
import { forgetProcess } from "../../support/process.js";

const state = {
  log: z.array(z.string()).default([]),
  total: z.number().default(0),
  one: z.string().default(""),
};
const merge = { log: Merge.append, total: Merge.sum };
type Logged = Flow<typeof state, typeof merge, string>;
type Seen = { readonly log: readonly string[]; readonly total: number; readonly one: string };
const empty = () => new Flow("flow", { state, merge }) as Logged;
/** Writes its name; joins are named in capitals. */
function graph(...ways: readonly (readonly [from: string, to: string])[]): Logged {
  const names = [...new Set(ways.flat())];
  const isJoin = (name: string) => /^[A-Z]/.test(name);
  let flow = empty();
  for (const name of names) {
    const write: FlowFunction<Seen, { log: string[] }> = () => ({ log: [name] });
    flow = flow.node(name, isJoin(name) ? join(write) : write);
  }
  for (const [from, to] of ways) flow = flow.edge(from, to);
  const leading = new Set(ways.map(([from]) => from));
  for (const name of names) if (!leading.has(name)) flow = flow.end(name);
  return flow;
}
const run = (flow: Logged, input = {}, options = {}) =>
  runFlow(flow, input, { executor: bench().executor, ...options });
const logOf = async (flow: Logged) => (await run(flow)).state.log;

describe("F2: steps", () => {
  test("nodes of a step see the same state, and their writes come in order of names whoever is faster [rule 1] [rule 3]", async () => {
    const late = async (turns: number) => {
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    const seen: number[] = [];
    const node = (name: string, turns: number): FlowFunction<Seen, { log: string[]; total: number }> => {
      return async ({ total }) => {
        await late(turns);
        seen.push(total);
        return { log: [name], total: 1 };
      };
    };
    // By code units, as LangGraph orders them: not as a dictionary or as numbers do.
    const names = ["b", "a", "Z", "10", "9", "_x"];
    let flow = empty().node("start", () => ({ total: 5 }));
    for (const [index, name] of names.entries()) {
      flow = flow
        .node(name, node(name, 6 - index))
        .edge("start", name)
        .end(name);
    }
    const { state: end, steps } = await run(flow);
    expect(end.log).toEqual(["10", "9", "Z", "_x", "a", "b"]);
    expect([end.total, steps, seen]).toEqual([11, 2, [5, 5, 5, 5, 5, 5]]);
  });

  test("a node that two ways reach in one step runs once [rule 2]", async () => {
    const { state: end, visits } = await run(graph(["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]));
    expect([end.log, visits]).toEqual([["a", "b", "c", "d"], { a: 1, b: 1, c: 1, d: 1 }]);
  });

  test("B43: on uneven branches a node that is no join runs for each of them [rule 2]", async () => {
    expect(await logOf(graph(["a", "x"], ["a", "b"], ["b", "x"]))).toEqual(["a", "b", "x", "x"]);
  });

  test("B40: a rule sees all writes of a step in one call [rule 3]", async () => {
    const calls: unknown[] = [];
    const flow = new Flow("flow", {
      state: { all: z.string().default("") },
      merge: {
        all: Merge.by<string, string>((current, writes) => {
          calls.push([current, writes]);
          return `${current ?? ""}${writes.join("")}`;
        }),
      },
    })
      .node("start", () => undefined)
      .node("b", () => ({ all: "B" }))
      .node("a", () => ({ all: "A" }))
      .node("c", () => ({}))
      .edge("start", "b")
      .edge("start", "a")
      .edge("start", "c")
      .end("a")
      .end("b")
      .end("c");
    const { state: end } = await runFlow(flow, { all: ">" }, { executor: bench().executor });
    expect(end.all).toBe(">AB");
    // Once for what a route of each would see, and once for the step.
    expect(calls.filter((seen) => JSON.stringify(seen) === '[">",["A","B"]]')).toHaveLength(1);
  });

  test("B40: two writers of a field without a rule are both named, and nothing of the step counts [rule 4]", async () => {
    const { executor } = bench();
    let both = true;
    const flow = empty()
      .node("start", () => ({ log: ["start"] }))
      .node("x", () => ({ one: "x", log: ["x"] }))
      .node("y", () => (both ? { one: "y", log: ["y"] } : { log: ["y"] }))
      .node("z", () => ({ log: ["z"] }))
      .edge("start", "x")
      .edge("start", "y")
      .edge("start", "z")
      .end("x")
      .end("y")
      .end("z");
    const reports: unknown[] = [];
    const error = await rejection(
      runFlow(flow, {}, { executor, onStep: (report) => void reports.push(report.state.log) }),
    );
    expect(error).toMatchObject({ kind: "FlowError", message: expect.stringMatching(/"one".*"x".*"y"/) });
    expect(reports).toEqual([["start"]]);
    // What the visits wrote was kept with the checkpoint: the same conflict, without running them again.
    both = false;
    expect(await rejection(resumeFlow(flow, checkpointOf(error) ?? "", null, { executor }))).toMatchObject({
      kind: "FlowError",
    });
  });

  test("a node that writes nothing is no second writer [rule 4] [rule 16]", async () => {
    const flow = empty()
      .node("start", () => undefined)
      .node("x", () => ({ one: "x" }))
      .node("y", () => ({ one: undefined as never }))
      .edge("start", "x")
      .edge("start", "y")
      .end("x")
      .end("y");
    expect((await run(flow)).state.one).toBe("x");
  });

  test("a call whose tool gives nothing is no second writer [rule 4] [rule 16]", async () => {
    const silent = defineTool({
      name: "silent",
      description: "d",
      inputSchema: z.object({}),
      execute: () => undefined,
    });
    const flow = empty()
      .node("start", () => undefined)
      .node("x", () => ({ one: "x" }))
      .node("y", call("silent", { args: {}, into: "one" }))
      .edge("start", "x")
      .edge("start", "y")
      .end("x")
      .end("y");
    expect((await runFlow(flow, {}, { executor: new Executor(new Registry([silent])) })).state.one).toBe("x");
  });

  test("a rule that throws fails the step, and the field is named [rule 3]", async () => {
    const broken = Merge.by<string, string>(() => {
      throw new Error("broken");
    });
    const flow = new Flow("flow", { state, merge: { one: broken } }).node("a", () => ({ one: "x" })).end("a");
    expect(await rejection(runFlow(flow, {}, { executor: bench().executor }))).toMatchObject({
      kind: "FlowError",
      message: expect.stringContaining('"one"'),
      cause: { message: "broken" },
    });
  });

  test("onStep is awaited with each new state, and goes on where it was stopped [rule 5]", async () => {
    const { executor } = bench();
    const flow = graph(["a", "b"], ["b", "c"]);
    const seen: unknown[] = [];
    const stop = new Error("stop");
    const error = await rejection(
      runFlow(
        flow,
        {},
        {
          executor,
          onStep: async ({ step, state: now, visits }) => {
            await new Promise((resolve) => setImmediate(resolve));
            seen.push([step, now.log.length, Object.keys(visits).length]);
            if (step === 2) throw stop;
          },
        },
      ),
    );
    expect(error).toBe(stop);
    const done = await resumeFlow(flow, checkpointOf(error) ?? "", null, {
      executor,
      onStep: ({ step }) => void seen.push(step),
    });
    expect([done.state.log, done.steps, seen]).toEqual([["a", "b", "c"], 3, [[1, 1, 1], [2, 2, 2], 3]]);
  });

  test("the checkpoint of a step can be taken up by another process, more than once [rule 5]", async () => {
    const { executor, again } = bench();
    const flow = graph(["a", "b"], ["b", "c"]);
    const kept: string[] = [];
    await runFlow(flow, {}, { executor, onStep: (report) => void kept.push(report.checkpoint()) });
    for (const checkpoint of kept) {
      forgetProcess();
      const done = await resumeFlow(flow, checkpoint, null, { executor: again() });
      expect([done.status, done.state.log, done.steps]).toEqual(["done", ["a", "b", "c"], 3]);
    }
  });

  test("an empty branch, a run of one node, and a run whose every branch ended are done [rule 6]", async () => {
    const flow = empty()
      .node("a", () => ({ log: ["a"] }))
      .node("b", () => ({ log: ["b"] }))
      .route("a", () => [], ["b"])
      .end("b");
    expect(await run(flow)).toMatchObject({ status: "done", steps: 1, state: { log: ["a"] }, visits: { a: 1 } });
    expect(await run(empty().node("a", join()).end("a"))).toMatchObject({ status: "done", steps: 1, visits: { a: 1 } });
  });
});

describe("F2: joins run once", () => {
  test("B43: after branches of every length, and unrelated ones [rule 7]", async () => {
    const flow = graph(
      ["s", "J"],
      ["s", "b1"],
      ["b1", "b2"],
      ["b2", "J"],
      ["s", "u1"],
      ["u1", "u2"],
      ["u2", "u3"],
      ["J", "z"],
    );
    expect(await logOf(flow)).toEqual(["s", "b1", "u1", "b2", "u2", "u3", "J", "z"]);
  });

  test.each([
    [["a"], ["s", "a", "J"]],
    [["b"], ["s", "b", "b2", "J"]],
    [
      ["a", "b"],
      ["s", "a", "b", "b2", "J"],
    ],
    [[], ["s"]],
  ] as const)("B42: when a route chooses %j of its branches [rule 7]", async (chosen, log) => {
    const flow = empty()
      .node("s", () => ({ log: ["s"] }))
      .node("a", () => ({ log: ["a"] }))
      .node("b", () => ({ log: ["b"] }))
      .node("b2", () => ({ log: ["b2"] }))
      .node(
        "J",
        join(() => ({ log: ["J"] })),
      )
      .route("s", () => [...chosen], ["a", "b"])
      .edge("a", "J")
      .edge("b", "b2")
      .edge("b2", "J")
      .end("J");
    expect(await logOf(flow)).toEqual(log);
  });

  test("B43: chained ones one after the other, independent ones in one step [rule 8]", async () => {
    // `A` is first by name, and `Z` leads to it.
    expect(await logOf(graph(["s", "A"], ["s", "Z"], ["Z", "A"]))).toEqual(["s", "Z", "A"]);
    expect(await logOf(graph(["s", "A"], ["s", "Z"], ["Z", "m"], ["m", "A"], ["A", "e"]))).toEqual([
      "s",
      "Z",
      "m",
      "A",
      "e",
    ]);
    const independent = await run(graph(["s", "A"], ["s", "Z"], ["A", "x"], ["Z", "y"]));
    expect([independent.state.log, independent.steps]).toEqual([["s", "A", "Z", "x", "y"], 3]);
  });

  test("of two that reach each other the first by name [rule 8]", async () => {
    const flow = empty()
      .node("s", () => ({ log: ["s"] }))
      .node(
        "B",
        join(() => ({ log: ["B"] })),
      )
      .node(
        "A",
        join(() => ({ log: ["A"] })),
      )
      .node("end", () => ({ log: ["end"] }))
      .edge("s", "A")
      .edge("s", "B")
      .edge("A", "B", { maxLoops: 1, orElse: "end" })
      .edge("B", "A", { maxLoops: 1, orElse: "end" })
      .end("end");
    expect(await logOf(flow)).toEqual(["s", "A", "B", "A", "end"]);
  });

  test("B42: once a lap in a loop [rule 9]", async () => {
    const flow = empty()
      .node("s", () => ({ total: 1 }))
      .node("a", () => ({ log: ["a"] }))
      .node("b", () => ({ log: ["b"] }))
      .node("b2", () => undefined)
      .node(
        "J",
        join(() => ({ log: ["J"] })),
      )
      .node("end", () => undefined)
      .edge("s", "a")
      .edge("s", "b")
      .edge("b", "b2")
      .edge("a", "J")
      .edge("b2", "J")
      .route("J", ({ total }) => (total < 3 ? "s" : "end"), ["s", "end"], { maxLoops: { s: 5 } })
      .end("end");
    const { state: end, visits } = await run(flow);
    expect(end.log).toEqual(["a", "b", "J", "a", "b", "J", "a", "b", "J"]);
    expect(visits).toEqual({ s: 3, a: 3, b: 3, b2: 3, J: 3, end: 1 });
  });
});

describe("F2: ways", () => {
  test("all edges and what routes choose, each way once [rule 10]", async () => {
    const flow = empty()
      .node("s", () => undefined)
      .node("a", () => ({ log: ["a"] }))
      .node("b", () => ({ log: ["b"] }))
      .node("c", () => ({ log: ["c"] }))
      .edge("s", "a")
      .route("s", () => ["b", "b"], ["b", "c"])
      .route("s", () => ["b", "a"], ["a", "b"])
      .end("a")
      .end("b")
      .end("c");
    expect(await run(flow)).toMatchObject({ state: { log: ["a", "b"] }, visits: { s: 1, a: 1, b: 1 } });
  });

  test("a route sees its node's own writes and no sibling's [rule 11]", async () => {
    const seen: unknown[] = [];
    const flow = empty()
      .node("s", () => ({ log: ["s"] }))
      .node("a", () => ({ log: ["a"], total: 1 }))
      .node("b", () => ({ log: ["b"], total: 2 }))
      .edge("s", "a")
      .edge("s", "b")
      .route("a", ({ log, total }) => (seen.push([log, total]), []), ["a"], { maxLoops: 1 })
      .end("b");
    const { state: end } = await run(flow);
    expect(seen).toEqual([[["s", "a"], 1]]);
    expect([end.log, end.total]).toEqual([["s", "a", "b"], 3]);
  });

  test.each(["x", "__proto__", "s", "", null, undefined, 7, ["a", "x"], [["a"]]])(
    "choosing %j, which is no target, fails the visit [rule 12]",
    async (chosen) => {
      const flow = empty()
        .node("s", () => undefined)
        .node("a", () => undefined)
        .route("s", () => chosen as never, ["a"])
        .end("a");
      const error = await rejection(run(flow));
      expect(error).toMatchObject({
        kind: "FlowError",
        message: 'the route from "s" chose something that is no target of it',
      });
      expect(checkpointOf(error)).toBeDefined();
    },
  );
});

describe("F4: caps", () => {
  /** `a` and `b` in a circle, `log` says which way the run went. */
  const circle = (options: { maxLoops: number; orElse?: string }) =>
    empty()
      .node("a", () => ({ log: ["a"] }))
      .node("b", () => ({ log: ["b"] }))
      .node("out", () => ({ log: ["out"] }))
      .edge("a", "b")
      .edge("b", "a", options)
      .route("b", ({ total }) => (total > 0 ? "out" : []), ["out"])
      .end("out");

  test("an edge may be taken as often as its cap says, then it leads to orElse [rule 13]", async () => {
    const { state: end } = await run(circle({ maxLoops: 2, orElse: "out" }));
    expect(end.log).toEqual(["a", "b", "a", "b", "a", "b", "out"]);
  });

  test("without orElse the run fails, with the state before kept [rule 13]", async () => {
    const { executor } = bench();
    const states: unknown[] = [];
    const flow = circle({ maxLoops: 2 });
    const error = await rejection(
      runFlow(flow, {}, { executor, onStep: ({ state: now }) => void states.push(now.log) }),
    );
    expect(error).toMatchObject({ kind: "FlowLoopExceeded", message: expect.stringContaining('from "b" to "a"') });
    expect(states.at(-1)).toEqual(["a", "b", "a", "b", "a"]);
    expect(await rejection(resumeFlow(flow, checkpointOf(error) ?? "", null, { executor }))).toMatchObject({
      kind: "FlowLoopExceeded",
    });
  });

  test.each([1, 2, 3, 4, 5])("caps survive a resume after step %i, in another process [rule 13]", async (stopAfter) => {
    const { executor, again } = bench();
    const flow = circle({ maxLoops: 2, orElse: "out" });
    const error = await rejection(
      runFlow(
        flow,
        {},
        { executor, onStep: ({ step }) => (step === stopAfter ? Promise.reject(new Error("stop")) : undefined) },
      ),
    );
    forgetProcess();
    const done = await resumeFlow(flow, checkpointOf(error) ?? "", null, { executor: again() });
    expect(done.state.log).toEqual(["a", "b", "a", "b", "a", "b", "out"]);
  });

  test("a way that is chosen twice at once is taken once [rule 10] [rule 13]", async () => {
    const flow = empty()
      .node("s", () => ({ log: ["s"] }))
      .node("out", () => undefined)
      .route("s", () => ["s", "s"], ["s"], { maxLoops: 2, orElse: "out" })
      .end("out");
    expect((await run(flow)).visits).toEqual({ s: 3, out: 1 });
  });

  test("each target of a route has its own cap, or all have the same one [rule 13]", async () => {
    const visitsWith = async (maxLoops: number | Record<string, number>) => {
      const flow = empty()
        .node("s", () => ({ total: 1 }))
        .node("a", () => undefined)
        .node("b", () => undefined)
        .node("out", () => undefined)
        .route("s", ({ total }) => (total % 2 === 1 ? "a" : "b"), ["a", "b"], { maxLoops, orElse: "out" })
        .edge("a", "s")
        .edge("b", "s")
        .end("out");
      return (await run(flow)).visits;
    };
    expect(await visitsWith(2)).toEqual({ s: 5, a: 2, b: 2, out: 1 });
    expect(await visitsWith({ a: 3, b: 1 })).toEqual({ s: 4, a: 2, b: 1, out: 1 });
  });

  test("a run takes as many steps as maxSteps says, and none more, resumes included [rule 14]", async () => {
    const { executor } = bench();
    const flow = graph(["a", "b"], ["b", "c"]);
    expect((await run(flow, {}, { maxSteps: 3 })).status).toBe("done");
    const error = await rejection(runFlow(flow, {}, { executor, maxSteps: 2 }));
    expect(error).toMatchObject({ kind: "FlowLoopExceeded", message: expect.stringContaining("2 steps") });
    const checkpoint = checkpointOf(error) ?? "";
    expect(await rejection(resumeFlow(flow, checkpoint, null, { executor, maxSteps: 2 }))).toMatchObject({
      kind: "FlowLoopExceeded",
    });
    const done = await resumeFlow(flow, checkpoint, null, { executor, maxSteps: 3 });
    expect([done.state.log, done.steps]).toEqual([["a", "b", "c"], 3]);
  });

  test("100 steps when nothing else was said [rule 14]", async () => {
    const flow = (cap: number) =>
      empty()
        .node("a", () => ({ total: 1 }))
        .node("out", () => undefined)
        .edge("a", "a", { maxLoops: cap, orElse: "out" })
        .end("out");
    expect((await run(flow(98))).steps).toBe(100);
    expect(await rejection(run(flow(99)))).toMatchObject({ kind: "FlowLoopExceeded" });
  });
});
