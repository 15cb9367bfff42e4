// Properties proved: `validate` names every structural fault, all of them at once, without showing more than a name; big flows are
// checked in no time; whatever a name is made of, it is refused or works.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { call, Flow, join, map, Merge, runFlow } from "../../../src/flow/index.js";
import { isAgentAdapterError } from "../../../src/index.js";
import { bench } from "../../support/flows.js";

const state = { text: z.string().default(""), list: z.array(z.string()).default([]) };
// What follows is wrong on purpose, which the compiler would not let through.
type Loose = Flow<typeof state, object, string>;
const loose = (options: object = {}): Loose => new Flow("flow", { state, ...options }) as Loose;
const nothing = () => undefined;
const wrong = (value: unknown) => value as never;
const fine = () => loose().node("a", nothing).node("b", nothing).edge("a", "b").end("b");

function faultsOf(flow: { validate(): void }): string[] {
  try {
    flow.validate();
  } catch (error) {
    if (!isAgentAdapterError(error, "FlowError")) throw error;
    return error.message.split("\n- ").slice(1);
  }
  return [];
}

const FAULTS: readonly (readonly [fault: string, flow: { validate(): void }])[] = [
  ["there is no node", loose().end("a")],
  ["there is no end: say .end(node)", loose().node("a", nothing).node("b", nothing).edge("a", "b")],
  ["there are several starts", fine().start("a").start("b")],
  ['start names "x", which is no node', fine().start("x")],
  ['end names "x", which is no node', fine().end("x")],
  ['node "b" leads nowhere: give it an edge, or say .end("b")', loose().node("b", nothing)],
  ['node "a" is an end, and a way leads on from it', fine().end("a")],
  ['node "c" cannot be reached', fine().node("c", nothing).end("c")],
  ['node "a" is there twice', fine().node("a", nothing)],
  ['edge "a" -> "x" names "x", which is no node', fine().edge("a", "x")],
  ['edge "x" -> "b" names "x", which is no node', fine().edge("x", "b")],
  ['edge "a" -> "a": orElse names "x", which is no node', fine().edge("a", "a", { maxLoops: 1, orElse: "x" })],
  ['edge "a" -> "a": maxLoops must be a whole number above 0', fine().edge("a", "a", { maxLoops: 0 })],
  ['edge "a" -> "a": maxLoops must be a whole number above 0', fine().edge("a", "a", { maxLoops: Number.NaN })],
  ['edge "a" -> "a": maxLoops must be a whole number above 0', fine().edge("a", "a", { maxLoops: wrong(null) })],
  ['edge "a" -> "b" has no option "maxloops"', fine().edge("a", "b", wrong({ maxloops: 1 }))],
  ['route from "a" has no targets', fine().route("a", () => [], [])],
  ['route from "x" names "x", which is no node', fine().route("x", () => "b", ["b"])],
  ['route from "a" names "x", which is no node', fine().route("a", () => "x", ["x"])],
  ['route from "a": orElse names "x", which is no node', fine().route("a", () => "b", ["b"], { orElse: "x" })],
  ['route from "a": what chooses must be a function', fine().route("a", wrong("b"), ["b"])],
  ['route from "a": maxLoops must be a whole number above 0', fine().route("a", () => "a", ["a"], { maxLoops: 1.5 })],
  [
    'route from "a": maxLoops must be a whole number above 0',
    fine().route("a", () => "a", ["a"], { maxLoops: { a: -1 } }),
  ],
  [
    'route from "a": maxLoops names "x", which is no target of it',
    fine().route("a", () => "a", ["a"], wrong({ maxLoops: { a: 1, x: 1 } })),
  ],
  ['route from "a" has no option "orelse"', fine().route("a", () => "b", ["b"], wrong({ orelse: "b" }))],
  ['the way "a" -> "b" is there 2 times, and has a cap: say it once', fine().edge("a", "b", { maxLoops: 2 })],
  [
    'the way "a" -> "b" is there 2 times, and has a cap: say it once',
    fine().route("a", () => "b", ["b"], { maxLoops: 2 }),
  ],
  ['a loop over "a", "c" has no way with maxLoops', fine().node("c", nothing).edge("a", "c").edge("c", "a")],
  ['a loop over "a" has no way with maxLoops', fine().route("a", () => "a", ["a"])],
  ['a loop over "a" has no way with maxLoops', fine().edge("a", "a", { maxLoops: 2, orElse: "a" })],
  [
    'node "c" has no option "timeout"',
    fine()
      .node("c", nothing, wrong({ timeout: 1 }))
      .edge("a", "c")
      .end("c"),
  ],
  [
    'node "c": pause must be a function that gives what the reviewer sees',
    fine()
      .node("c", nothing, { pause: wrong({}) })
      .edge("a", "c")
      .end("c"),
  ],
  [
    'node "c" is neither a function nor made by call(), map() or join()',
    fine()
      .node("c", wrong({ kind: "x" }))
      .edge("a", "c")
      .end("c"),
  ],
  [
    'node "c" is neither a function nor made by call(), map() or join()',
    fine().node("c", wrong(undefined)).edge("a", "c").end("c"),
  ],
  [
    'node "c": join() takes a function',
    fine()
      .node("c", join(wrong(1)))
      .edge("a", "c")
      .end("c"),
  ],
  [
    'node "c" writes into "x", which is no field of the state',
    fine()
      .node("c", call("echo", { args: {}, into: wrong("x") }))
      .edge("a", "c")
      .end("c"),
  ],
  [
    'node "c" writes into "x", which is no field of the state',
    fine()
      .node("c", map("list", { tool: "echo", into: wrong("x") }))
      .edge("a", "c")
      .end("c"),
  ],
  [
    'node "c" maps over "x", which is no field of the state',
    fine()
      .node("c", map(wrong("x"), { tool: "echo", into: "list" }))
      .edge("a", "c")
      .end("c"),
  ],
  [
    'merge names "x", which is no field of the state',
    loose({ merge: { x: Merge.last } })
      .node("a", nothing)
      .end("a"),
  ],
  [
    'field "text": its merge rule is none of Merge\'s',
    loose({ merge: { text: "last" } })
      .node("a", nothing)
      .end("a"),
  ],
  [
    'field "x" has no schema',
    loose({ state: { x: "string" } })
      .node("a", nothing)
      .end("a"),
  ],
  ["the state has no fields: give a z.object, or a schema per field", loose({ state: {} }).node("a", nothing).end("a")],
];

describe("F1: validate names", () => {
  test.each(FAULTS)("%s", (fault, flow) => {
    expect(faultsOf(flow)).toContain(fault);
  });

  test("nothing in a flow that is right, which runners and builders leave as it is", () => {
    const flow = fine();
    expect(faultsOf(flow)).toEqual([]);
    flow.node("c", nothing);
    expect(faultsOf(flow)).toEqual([]);
  });

  test.each([
    ["timeoutMs", { timeoutMs: 0 }],
    ["timeoutMs", { timeoutMs: 2 ** 31 }],
    ["retries", { retries: -1 }],
    ["retries.factor", { retries: { maxAttempts: 2, factor: Number.POSITIVE_INFINITY } }],
  ])("the node whose %s cannot be used (%j)", (option, options) => {
    const [fault, ...more] = faultsOf(fine().node("c", nothing, options).edge("a", "c").end("c"));
    expect(fault).toMatch(new RegExp(`^node "c": bad option "${option}": `));
    expect(more).toEqual([]);
  });

  test("the node whose map cannot have that concurrency", () => {
    const flow = fine()
      .node("c", map("list", { tool: "echo", into: "list", concurrency: 0 }))
      .edge("a", "c")
      .end("c");
    expect(faultsOf(flow)).toEqual(['node "c": `concurrency` must be a whole number of at least 1, or Infinity']);
  });

  test("faults of every kind at once", () => {
    const flow = loose({ merge: { gone: Merge.last } })
      .node("a b", nothing)
      .node("a", nothing, wrong({ timeoutMs: -1, typo: 1 }))
      .node("b", call("echo", { args: {}, into: wrong("prize") }))
      .node("island", nothing)
      .edge("a b", "a")
      .edge("a", "b")
      .edge("b", "a")
      .edge("b", "nowhere", { maxLoops: 0 })
      .end("island");
    expect(faultsOf(flow)).toEqual([
      'a node name must be 1 to 64 characters of A-Z a-z 0-9 _ -, not "a b"',
      'merge names "gone", which is no field of the state',
      'node "a" has no option "typo"',
      expect.stringMatching(/^node "a": bad option "timeoutMs": /),
      'node "b" writes into "prize", which is no field of the state',
      'edge "b" -> "nowhere" names "nowhere", which is no node',
      'edge "b" -> "nowhere": maxLoops must be a whole number above 0',
      'node "island" cannot be reached',
      'a loop over "a", "b" has no way with maxLoops',
    ]);
  });

  test("each loop by itself, and only what is on it", () => {
    const names = ["a", "b", "c", "d", "e"];
    let flow = loose();
    for (const name of names) flow = flow.node(name, nothing);
    flow = flow.edge("a", "b").edge("b", "a").edge("b", "c").edge("c", "d").edge("d", "e").edge("d", "d").end("e");
    expect(faultsOf(flow)).toEqual([
      'a loop over "a", "b" has no way with maxLoops',
      'a loop over "d" has no way with maxLoops',
    ]);
  });

  test("tools that are not registered, with their nodes, before anything runs [rule 30]", async () => {
    const { executor } = bench();
    let ran = 0;
    const flow = new Flow("flow", { state })
      .node("first", () => void (ran += 1))
      .node("second", call("gone", { args: {}, into: "text" }))
      .node("third", map("list", { tool: "lost", into: "list" }))
      .edge("first", "second")
      .edge("second", "third")
      .end("third");
    await expect(runFlow(flow, {}, { executor })).rejects.toMatchObject({
      kind: "ToolUsageError",
      message: expect.stringContaining('"second" (gone), "third" (lost)'),
    });
    expect(ran).toBe(0);
  });
});

test("F1: a flow of two thousand nodes is checked in linear time, with and without a loop", () => {
  let flow = loose();
  for (let index = 0; index < 2000; index += 1) flow = flow.node(`n${index}`, nothing);
  for (let index = 1; index < 2000; index += 1) flow = flow.edge(`n${index - 1}`, `n${index}`);
  // Walking every way from every node would take longer than any test may.
  expect(faultsOf(flow.end("n1999"))).toEqual([]);
  expect(faultsOf(flow.edge("n1999", "n1990").end("n0"))).toContainEqual(
    expect.stringContaining('a loop over "n1990"'),
  );
});

describe("F1: names from hostile alphabets", () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.constantFrom(
      "__proto__",
      "constructor",
      "toString",
      "__start__",
      "aa_state",
      "",
      "a\nb",
      "a:b",
      "a|b",
      "é",
      "\ud800",
      "x".repeat(65),
    ),
    fc.string({ unit: fc.constantFrom("a", "Z", "0", "_", "-", " ", ".", "\u0000"), maxLength: 6 }),
  );
  const isName = (text: string) =>
    /^[A-Za-z0-9_-]{1,64}$/.test(text) && !(text in Object.prototype) && !/^(__|aa_)/.test(text);

  test("work, or are refused in one line each", async () => {
    const { executor } = bench();
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (name, field) => {
        const fields: Record<string, unknown> = Object.fromEntries([[field, z.string().default("")]]);
        const flow = loose({ state: fields })
          .node(name, () => Object.fromEntries([[field, "written"]]))
          .end(name);
        const faults = faultsOf(flow);
        expect(faults.length).toBe([isName(name), isName(field)].filter((fits) => !fits).length);
        for (const fault of faults) expect(fault).not.toMatch(/[\n\r]/);
        if (faults.length > 0) return;
        const { state: end, visits } = await runFlow(flow, {}, { executor });
        expect([end, visits]).toEqual([{ [field]: "written" }, { [name]: 1 }]);
      }),
      { seed: 20_261_130, numRuns: 300 },
    );
  });

  test("are shown cut, in every message", () => {
    const name = `${"y".repeat(5000)}\n`;
    const flow = loose().node(name, nothing).edge(name, name, { orElse: name }).start(name);
    for (const fault of faultsOf(flow)) expect(fault.length).toBeLessThan(400);
  });
});
