// Properties proved: what JSON carries goes through input, writes, maps, rules and checkpoints exactly; everything else is refused with
// the field named and no value shown, before anybody reads it; nobody changes what somebody else reads.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { approve, isAgentAdapterError } from "../../../src/index.js";
import { call, checkpointOf, Flow, map, Merge, resumeFlow, runFlow } from "../../../src/flow/index.js";
import { Executor, Registry } from "../../../src/index.js";
import { defineTool } from "../../../src/tools/define-tool.js";
import { bench, rejection, SECRET } from "../../support/flows.js";
import { forgetProcess } from "../../support/process.js";

class Money {
  amount = 5;
}
const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;
const nested = (depth: number): unknown => (depth === 0 ? "SECRET" : [nested(depth - 1)]);
const hidden = Object.defineProperty({ seen: 1 }, "hidden", { value: "SECRET", enumerable: false });

const NOT_JSON: readonly (readonly [what: string, value: unknown])[] = [
  ["a Date", new Date(0)],
  ["a Map", new Map([["SECRET", 1]])],
  ["a Set", new Set([1])],
  ["a BigInt", 1n],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["a class instance", new Money()],
  ["an Error", new Error("SECRET")],
  ["bytes", new Uint8Array(2)],
  ["a function", () => "SECRET"],
  ["a symbol", Symbol("SECRET")],
  ["half a surrogate pair", "\ud800SECRET"],
  ["half a surrogate pair in a name", { ["\ud800"]: 1 }],
  ["a cycle", cyclic],
  ["129 levels", nested(129)],
  ["a hundred thousand levels", Array.from({ length: 100_000 }).reduce<unknown>((inner) => [inner], 1)],
  ["a hole in an array", Array.from({ length: 1 }).concat(Array(1))],
  ["a member named by a symbol", { [Symbol("SECRET")]: 1 }],
  [
    "a getter",
    {
      get secret() {
        return "SECRET";
      },
    },
  ],
  ["a hidden member", hidden],
];

const JSON_VALUES: readonly (readonly [what: string, value: unknown])[] = [
  ["nothing", null],
  ["an empty text", ""],
  ["zero", 0],
  ["false", false],
  ["the smallest number", Number.MIN_VALUE],
  ["a large number", Number.MAX_SAFE_INTEGER],
  ["text of all planes", "aé😀\u0000\u2028"],
  ["127 levels, in a list of them", nested(127)],
  ["a member named __proto__", JSON.parse('{"__proto__":{"admin":true}}')],
  ["members named by numbers", { 2: "a", 10: "b", 1: "c" }],
  ["a million characters", "x".repeat(1_000_000)],
  ["ten thousand items", Array.from({ length: 10_000 }, (_, index) => ({ index }))],
];

const state = { value: z.unknown(), list: z.array(z.unknown()).default([]), other: z.string().default("") };
/** The kinds of places from which something enters a state. */
const PLACES: readonly (readonly [place: string, run: (value: unknown) => Promise<unknown>])[] = [
  [
    "input",
    (value) => {
      const flow = new Flow("flow", { state }).node("n", () => neverRuns()).end("n");
      return runFlow(flow, { value }, { executor: bench().executor });
    },
  ],
  [
    "a write",
    (value) => {
      const flow = new Flow("flow", { state }).node("w", () => ({ value })).node("n", () => neverRuns());
      return runFlow(flow.edge("w", "n").end("n"), {}, { executor: bench().executor });
    },
  ],
  [
    "the result of a call",
    (value) => {
      const flow = new Flow("flow", { state }).node("c", call("give", { args: {}, into: "value" }));
      return runFlow(
        flow
          .node("n", () => neverRuns())
          .edge("c", "n")
          .end("n"),
        {},
        { executor: giving(value) },
      );
    },
  ],
  [
    "the results of a map",
    (value) => {
      const flow = new Flow("flow", { state }).node(
        "m",
        map("list", { tool: "give", args: () => ({}), into: "value" }),
      );
      return runFlow(
        flow
          .node("n", () => neverRuns())
          .edge("m", "n")
          .end("n"),
        { list: [1] },
        { executor: giving(value) },
      );
    },
  ],
  [
    "the result of a rule",
    (value) => {
      const flow = new Flow("flow", { state, merge: { value: Merge.by<unknown, string>(() => value) } });
      const nodes = flow.node("w", () => ({ value: "x" })).node("n", () => neverRuns());
      return runFlow(nodes.edge("w", "n").end("n"), {}, { executor: bench().executor });
    },
  ],
];

function neverRuns(): never {
  throw new Error("a node read what should have been refused");
}

function giving(value: unknown): Executor {
  const give = defineTool({ name: "give", description: "d", inputSchema: z.object({}), execute: () => value });
  return new Executor(new Registry([give]), { secret: SECRET });
}

describe.each(PLACES)("B48, F2: in %s [rule 15]", (_place, run) => {
  test.each(NOT_JSON)("%s is refused, the field named and the value not shown", async (_what, value) => {
    const error = await rejection(run(value));
    expect(error).toMatchObject({ kind: "FlowError", message: expect.stringContaining('"value"') });
    expect(String(error)).not.toContain("SECRET");
  });
});

describe("B48, F2: a state carries exactly [rule 15]", () => {
  test.each(JSON_VALUES)("%s, through input, a write, a pause and another process", async (_what, value) => {
    const { executor, again } = bench();
    const seen: unknown[] = [];
    const flow = new Flow("flow", { state, merge: { list: Merge.append } })
      .node("read", ({ value: given }) => {
        seen.push(given);
        return { list: [given] };
      })
      .node("gate", ({ value: given, list }) => void seen.push(given, list[0]), { pause: () => ({}) })
      .edge("read", "gate")
      .end("gate");
    const paused = await runFlow(flow, { value }, { executor });
    if (paused.status !== "paused") throw new Error("it did not pause");
    forgetProcess();
    const done = await resumeFlow(flow, paused.checkpoint, approve(), { executor: again() });
    expect(done.state).toEqual({ value, list: [value], other: "" });
    expect(seen).toEqual([value, value, value]);
    // `toEqual` knows nothing of prototypes and own keys; the text does.
    expect(JSON.stringify(done.state.value)).toBe(JSON.stringify(value));
    expect(Object.getPrototypeOf(done.state)).toBe(Object.prototype);
  });

  test("128 levels as the write of a finished node, where a checkpoint nests it deepest", async () => {
    const { executor, again } = bench();
    const flow = new Flow("flow", { state })
      .node("start", () => undefined)
      .node("deep", () => ({ value: nested(128) }))
      .node("asks", call("ask", { args: { text: "x" }, into: "other" }))
      .edge("start", "deep")
      .edge("start", "asks")
      .end("deep")
      .end("asks");
    const paused = await runFlow(flow, {}, { executor });
    if (paused.status !== "paused") throw new Error("it did not pause");
    forgetProcess();
    const done = await resumeFlow(flow, paused.checkpoint, approve(), { executor: again() });
    expect(done.state).toEqual({ value: nested(128), list: [], other: "x" });
  });

  test("anything that is JSON, and leaves nothing behind on prototypes", async () => {
    const { executor } = bench();
    const flow = new Flow("flow", { state }).node("n", ({ value }) => ({ list: [value] })).end("n");
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ noUnicodeString: false, maxDepth: 5 }), async (value) => {
        const { state: end } = await runFlow(flow, { value }, { executor });
        // JSON has no negative zero.
        expect(JSON.stringify(end.list[0])).toBe(JSON.stringify(value));
      }),
      { seed: 20_261_130, numRuns: 200 },
    );
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  test("undefined as nothing: in members, in fields, as a return", async () => {
    const { executor } = bench();
    const flow = new Flow("flow", { state })
      .node("a", () => ({ value: { kept: 1, gone: undefined } }))
      .node("b", () => ({ other: undefined as never }))
      .node("c", () => undefined)
      .edge("a", "b")
      .edge("b", "c")
      .end("c");
    const { state: end } = await runFlow(flow, { value: undefined, other: "before" }, { executor });
    expect(end).toStrictEqual({ value: { kept: 1 }, list: [], other: "before" });
  });
});

describe("F2: fields of a state", () => {
  test.each([
    ["a field that it does not have", { value: 1, prize: "SECRET" }, '"prize"'],
    ["__proto__", JSON.parse('{"__proto__":"SECRET"}'), '"__proto__"'],
    ["a name of Object.prototype", { constructor: "SECRET" }, '"constructor"'],
    ["a name with a line break in it", { "a\nb": "SECRET" }, String.raw`"a\nb"`],
    ["a symbol", { value: 1, [Symbol("SECRET")]: 1 }, "not a plain member"],
    ["a hidden member", Object.defineProperty({}, "value", { value: "SECRET" }), '"value" is not a plain member'],
    [
      "a getter",
      {
        get value() {
          return "SECRET";
        },
      },
      '"value" is not a plain member',
    ],
    ["a list", ["SECRET"], "must be an object"],
    ["a text", "SECRET", "must be an object"],
    ["null", null, "must be an object"],
    ["a class instance", new Money(), "must be a plain object"],
    ["a Map", new Map(), "must be a plain object"],
  ])("%s is refused by name: in input, and in what a node returns [rule 16]", async (_what, given, said) => {
    const { executor } = bench();
    const flow = new Flow("flow", { state }).node("writer", () => given as never).end("writer");
    for (const [run, who] of [
      [runFlow(flow, {}, { executor }), 'node "writer"'],
      [runFlow(flow, given as never, { executor }), "the input"],
    ] as const) {
      const error = await rejection(run);
      expect(error).toMatchObject({ kind: "FlowError", message: expect.stringContaining(said) });
      expect(String(error)).toContain(who);
      expect(String(error)).not.toContain("SECRET");
    }
  });

  test("are parsed on the way in, with defaults and every fault at once, and not when they are written [rule 18]", async () => {
    const { executor } = bench();
    const strict = { count: z.number().min(2), name: z.string().trim(), tags: z.array(z.string()).default(["new"]) };
    let ran = 0;
    const flow = new Flow("flow", { state: z.object(strict) }).node("n", () => {
      ran += 1;
      return { count: 1 };
    });
    const error = await rejection(runFlow(flow.end("n"), { count: 1, name: 5 as never }, { executor }));
    expect(error).toMatchObject({ kind: "FlowError" });
    expect(String(error)).toMatch(/"count" .*; "name" /);
    expect(ran).toBe(0);
    const done = await runFlow(flow.end("n"), { count: 2, name: " x " }, { executor });
    expect(done.state).toEqual({ count: 1, name: "x", tags: ["new"] });
  });

  test("a wrong write fails the visit: nothing of the step counts, and the run can go on from before it", async () => {
    const { executor } = bench();
    let wrong = true;
    const flow = new Flow("flow", { state }).node("n", () => ({ value: wrong ? new Date() : "right" })).end("n");
    const error = await rejection(runFlow(flow, { value: "before" }, { executor }));
    expect(isAgentAdapterError(error, "FlowError")).toBe(true);
    wrong = false;
    const done = await resumeFlow(flow, checkpointOf(error) ?? "", null, { executor });
    expect(done).toMatchObject({ status: "done", state: { value: "right" }, steps: 1, visits: { n: 1 } });
  });
});

describe("F2: nobody changes what somebody else reads [rule 17]", () => {
  test("neither a node, nor who gave the input, nor who wrote, nor who reads the result", async () => {
    const { executor } = bench();
    const input = { value: { deep: [1] } };
    const written = { deep: [2] };
    const flow = new Flow("flow", { state })
      .node("a", ({ value }) => {
        expect(() => (value as { deep: number[] }).deep.push(9)).toThrow(TypeError);
        input.value.deep.push(9);
        return { list: [written] };
      })
      .node("b", ({ value, list }) => {
        expect([value, list]).toEqual([{ deep: [1] }, [{ deep: [2] }]]);
        written.deep.push(9);
      })
      .node("c", ({ list }) => {
        expect(list).toEqual([{ deep: [2] }]);
      })
      .edge("a", "b")
      .edge("b", "c")
      .end("c");
    const done = await runFlow(flow, input, { executor });
    expect(Object.isFrozen(done.state) && Object.isFrozen(done.state.list[0])).toBe(true);
  });
});
