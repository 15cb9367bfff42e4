// Steps, names, input and step limits.
import { empty, graph, logs, runs, type ParityCase } from "../world.js";

const NAMES = ["b", "a", "Z", "10", "9", "_x", "-", "then", "invoke", "START", "x".repeat(64)];

export const steps: readonly ParityCase[] = [
  {
    name: "three nodes in a row",
    flow: () =>
      graph([
        ["a", "b"],
        ["b", "c"],
      ]),
    ends: { status: "done", log: ["a", "b", "c"], steps: 3, visits: { a: 1, b: 1, c: 1 } },
  },
  {
    name: "one node",
    flow: () => empty().node("a", logs("a")).end("a"),
    ends: { status: "done", log: ["a"], steps: 1 },
  },
  {
    name: "a fan-out over hostile names, merged in the order of their code units",
    flow: () =>
      graph(
        NAMES.map((name) => ["start", name] as const),
        { start: logs("start") },
      ),
    ends: {
      status: "done",
      log: ["start", "-", "10", "9", "START", "Z", "_x", "a", "b", "invoke", "then", "x".repeat(64)],
      steps: 2,
    },
  },
  {
    name: "nodes that are named like state fields",
    flow: () =>
      graph(
        [
          ["log", "total"],
          ["log", "one"],
          ["total", "list"],
          ["one", "list"],
        ],
        {
          total: logs("total", { total: 4 }),
          one: logs("one", { one: "one" }),
        },
      ),
    ends: { status: "done", log: ["log", "one", "total", "list"], steps: 3, state: { total: 4, one: "one" } },
  },
  {
    name: "a diamond, whose last node two ways reach in one step",
    flow: () =>
      graph([
        ["a", "b"],
        ["a", "c"],
        ["b", "d"],
        ["c", "d"],
      ]),
    ends: { status: "done", log: ["a", "b", "c", "d"], visits: { a: 1, b: 1, c: 1, d: 1 } },
  },
  {
    name: "uneven branches into a node that is no join",
    flow: () =>
      graph([
        ["a", "x"],
        ["a", "b"],
        ["b", "x"],
      ]),
    ends: { status: "done", log: ["a", "b", "x", "x"], steps: 3, visits: { a: 1, b: 1, x: 2 } },
  },
  {
    name: "a run that does not begin at the first node",
    flow: () => graph([["b", "a"]]).start("b"),
    ends: { status: "done", log: ["b", "a"] },
  },
  {
    name: "nodes that write nothing",
    flow: () =>
      graph(
        [
          ["a", "b"],
          ["b", "c"],
        ],
        { a: () => undefined, b: () => ({}), c: () => ({ one: undefined as never }) },
      ),
    ends: { status: "done", log: [], steps: 3 },
  },
  {
    name: "input that no merge rule touches",
    flow: () => graph([["a", "b"]]),
    input: { text: "given", seen: ["same", "same"], total: 7, log: ["given"], low: 5, bag: { a: 1 } },
    ends: {
      status: "done",
      log: ["given", "a", "b"],
      state: { text: "given", seen: ["same", "same"], total: 7, low: 5, bag: { a: 1 } },
    },
  },
  {
    name: "input that does not fit",
    flow: () => graph([["a", "b"]]),
    input: { total: "many" as never },
    ends: { status: "thrown", error: "FlowError" },
  },
  {
    name: "input with a field that there is not",
    flow: () => graph([["a", "b"]]),
    input: { nothing: 1 } as never,
    ends: { status: "thrown", error: "FlowError" },
  },
  {
    name: "input that JSON cannot carry",
    flow: () => graph([["a", "b"]]),
    input: { list: new Set(["a"]) as never },
    ends: { status: "thrown", error: "FlowError" },
  },
  {
    name: "more steps than the run may take",
    flow: () =>
      graph([
        ["a", "b"],
        ["b", "c"],
        ["c", "d"],
      ]),
    maxSteps: 2,
    ends: { status: "thrown", error: "FlowLoopExceeded", steps: 2, log: ["a", "b"], visits: { a: 1, b: 1 } },
  },
  {
    name: "as many steps as the run may take",
    flow: () =>
      graph([
        ["a", "b"],
        ["b", "c"],
      ]),
    maxSteps: 3,
    ends: { status: "done", steps: 3 },
  },
  {
    name: "more steps than the run may take, counted over its pauses",
    flow: () =>
      graph(
        [
          ["a", "b"],
          ["b", "c"],
          ["c", "d"],
        ],
        { a: runs("ask", "a"), c: runs("ask", "c") },
      ),
    maxSteps: 3,
    tries: 2,
    ends: { status: "thrown", error: "FlowLoopExceeded", steps: 3, pauses: 2 },
  },
  {
    name: "a function that writes a field that there is not",
    flow: () => graph([["a", "b"]], { b: () => ({ nothing: 1 }) as never }),
    ends: { status: "thrown", error: "FlowError", steps: 1, log: ["a"] },
  },
  {
    name: "a function that writes what JSON cannot carry",
    flow: () => graph([["a", "b"]], { b: () => ({ one: new Date(0) as never }) }),
    tries: 1,
    ends: { status: "thrown", error: "FlowError", steps: 1 },
  },
];
