// Tool calls, maps, merge rules, failures, retries, timeouts and tools that run once per run.
import { call, map } from "../../../src/flow/index.js";
import { empty, graph, logs, runs, type Code, type ParityCase, type ParityFlow, type World } from "../world.js";

const mapping = (tool: string, into: "log" | "list" | "text" = "log", concurrency?: number): ParityFlow =>
  empty()
    .node(
      "m",
      map("items", { tool, args: (text) => ({ text }), into, ...(concurrency === undefined ? {} : { concurrency }) }),
    )
    .node("z", logs("z"))
    .edge("m", "z")
    .end("z");

const many = (count: number) => Array.from({ length: count }, (_, index) => `i${index}`);

export const maps: readonly ParityCase[] = [
  { name: "a map over nothing", flow: () => mapping("echo"), ends: { status: "done", log: ["z"], steps: 2, ran: 0 } },
  {
    name: "a map over nothing, into a field without a rule",
    flow: () => mapping("echo", "list"),
    ends: { status: "done", state: { list: [] } },
  },
  {
    name: "a map over one item",
    flow: () => mapping("echo"),
    input: { items: ["a"] },
    ends: { status: "done", log: ["a", "z"] },
  },
  {
    name: "a map over fifty items is one step",
    flow: () => mapping("safe", "log", 7),
    input: { items: many(50) },
    maxSteps: 2,
    ends: { status: "done", log: [...many(50), "z"], steps: 2, ran: 50 },
  },
  {
    name: "a map whose rule sees all items at once",
    flow: () => mapping("echo", "text"),
    input: { items: ["a", "b"] },
    ends: { status: "done", state: { text: "[a,b]" } },
  },
  {
    name: "a map of which two items ask, one after the other",
    flow: () => mapping("some", "list"),
    input: { items: ["ask 1", "b", "ask 2", "d"] },
    ends: { status: "done", state: { list: ["ask 1", "b", "ask 2", "d"] }, pauses: 2, ran: 4 },
  },
  {
    name: "a map of which one item is refused by a human",
    flow: () => mapping("some"),
    input: { items: ["a", "ask", "c"] },
    says: { m: "no" },
    ends: { status: "denied", error: "ApprovalDenied", log: [], ran: 2 },
  },
  {
    name: "a map of which one item fails and is tried again",
    flow: () => mapping("some"),
    input: { items: ["a", "fails", "ask"] },
    tries: 1,
    ends: { status: "done", log: ["a", "fails", "ask", "z"], ran: 4, pauses: 1 },
  },
  {
    name: "a map over what is no list",
    flow: () =>
      empty()
        .node("m", map("list", { tool: "echo", args: (text) => ({ text }), into: "log" }))
        .end("m"),
    ends: { status: "thrown", error: "ToolUsageError" },
  },
];

const all = (n: number): ReturnType<Code> => ({
  log: [`n${n}`, "also"],
  total: n,
  low: 10 - n,
  high: n,
  seen: [`n${n}`, "same"],
  bag: { [`n${n}`]: n, last: n },
  last: `n${n}`,
  text: `n${n}`,
});

export const merges: readonly ParityCase[] = [
  {
    name: "every rule over the writes of five nodes at once",
    flow: () =>
      graph(
        [1, 2, 3, 4, 5].map((n) => ["s", `n${n}`] as const),
        Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`n${n}`, () => all(n)])),
      ),
    input: { total: 1, text: "", seen: ["same"] },
    ends: {
      status: "done",
      state: {
        total: 16,
        low: 5,
        high: 5,
        seen: ["same", "n1", "n2", "n3", "n4", "n5"],
        bag: { n1: 1, n2: 2, n3: 3, n4: 4, n5: 5, last: 5 },
        last: "n5",
        text: "[n1,n2,n3,n4,n5]",
      },
    },
  },
  {
    name: "two writers of a field without a rule",
    flow: () =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
        ],
        { a: logs("a", { one: "a" }), b: logs("b", { one: "b" }) },
      ),
    tries: 1,
    ends: { status: "thrown", error: "FlowError", steps: 1, log: ["s"] },
  },
  {
    name: "two writers of a field without a rule, in steps of their own",
    flow: () =>
      graph(
        [
          ["s", "a"],
          ["a", "b"],
        ],
        { a: logs("a", { one: "a" }), b: logs("b", { one: "b" }) },
      ),
    ends: { status: "done", state: { one: "b" } },
  },
  {
    name: "two writers of a field without a rule, while a third node waits for a human",
    flow: () =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
          ["s", "c"],
        ],
        { a: logs("a", { one: "a" }), b: logs("b", { one: "b" }), c: runs("ask", "c") },
      ),
    ends: { status: "thrown", error: "FlowError", steps: 1, pauses: 1, ran: 1 },
  },
  {
    name: "a rule that throws",
    flow: () =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
        ],
        { a: logs("a", { text: "throw" }) },
      ),
    tries: 1,
    ends: { status: "thrown", error: "FlowError", log: ["s"], steps: 1 },
  },
  {
    name: "a rule whose result is not JSON",
    flow: () =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
        ],
        { a: logs("a", { total: Number.MAX_VALUE }), b: logs("b", { total: Number.MAX_VALUE }) },
      ),
    ends: { status: "thrown", error: "FlowError", log: ["s"], steps: 1 },
  },
];

const failing = (world: World, what: string, times: number, then: Code): Code => {
  return async (seen, ctx) => {
    const writes = await then(seen, ctx);
    world.ran.push(what);
    world.failFirst(what, times);
    return writes;
  };
};

export const failures: readonly ParityCase[] = [
  {
    name: "call nodes",
    flow: () =>
      empty()
        .node("a", call("echo", { args: { text: "a" }, into: "one" }))
        .node("b", call("echo", { args: ({ one }) => ({ text: `${one}b` }), into: "one" }))
        .edge("a", "b")
        .end("b"),
    ends: { status: "done", state: { one: "ab" }, ran: 2 },
  },
  {
    name: "a node that fails once, beside others, is tried again alone, and its calls replay",
    flow: (world) =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
          ["s", "c"],
          ["b", "d"],
        ],
        { a: failing(world, "a", 1, runs("echo", "1")), b: runs("echo", "2"), c: runs("echo", "3") },
      ),
    tries: 1,
    ends: { status: "done", log: ["s", "1", "2", "3", "d"], ran: 5, steps: 3 },
  },
  {
    name: "a node that fails while others still run stops none of them",
    flow: (world) =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
          ["s", "c"],
        ],
        { a: failing(world, "a", 1, logs("a")), b: runs("echo", "slow", "2"), c: runs("ask", "slow 3") },
      ),
    tries: 1,
    ends: { status: "done", log: ["s", "a", "slow", "2", "slow 3"], ran: 5, pauses: 1 },
  },
  {
    name: "two nodes that fail: the first by name is heard of",
    flow: (world) =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
        ],
        { a: failing(world, "a", 2, logs("a")), b: failing(world, "b", 1, logs("b")) },
      ),
    tries: 2,
    ends: { status: "done", log: ["s", "a", "b"] },
  },
  {
    name: "a node that always fails",
    flow: (world) => graph([["a", "b"]], { b: failing(world, "b", 9, logs("b")) }),
    tries: 2,
    ends: { status: "thrown", log: ["a"], steps: 1 },
  },
  {
    name: "a node that is retried within its visit",
    flow: (world) =>
      graph(
        [["a", "b"]],
        { b: failing(world, "b", 2, runs("echo", "1", "1")) },
        { b: { retries: { maxAttempts: 3, initialDelayMs: 0 } } },
      ),
    ends: { status: "done", log: ["a", "1", "1"], ran: 5 },
  },
  {
    name: "a tool that is retried, within the call and by trying again",
    flow: () => graph([["a", "b"]], { b: runs("flaky", "x") }),
    tries: 1,
    ends: { status: "done", log: ["a", "x"], ran: 3 },
  },
  {
    name: "a node that takes too long, and is retried",
    flow: () =>
      graph(
        [["a", "b"]],
        { b: runs("stuck", "x") },
        { b: { timeoutMs: 1000, retries: { maxAttempts: 2, initialDelayMs: 0 } } },
      ),
    ends: { status: "done", log: ["a", "x"], ran: 2 },
  },
  {
    name: "a node that takes too long, and is tried again",
    flow: () => graph([["a", "b"]], { b: runs("stuck", "x") }, { b: { timeoutMs: 1000 } }),
    tries: 1,
    ends: { status: "done", log: ["a", "x"], ran: 2 },
  },
  {
    name: "a node that throws a text",
    flow: () =>
      graph([["a", "b"]], {
        b: () => {
          throw "text" as never;
        },
      }),
    tries: 1,
    ends: { status: "thrown", error: "FlowError", log: ["a"] },
  },
  {
    name: "a node that throws a frozen error",
    flow: () =>
      graph([["a", "b"]], {
        b: () => {
          throw Object.freeze(new Error("frozen"));
        },
      }),
    tries: 1,
    ends: { status: "thrown", error: "FlowError", log: ["a"] },
  },
  {
    name: "a tool whose error the model may read",
    flow: () => graph([["a", "b"]], { b: runs("refuse", "x") }),
    tries: 1,
    ends: { status: "thrown", error: "ToolError", ran: 1 },
  },
  {
    name: "a tool whose error a function catches",
    flow: () =>
      graph([["a", "b"]], {
        b: async (_state, ctx) => ({ log: [(await ctx.run("refuse", { text: "x" }).catch(() => "caught")) as string] }),
      }),
    ends: { status: "done", log: ["a", "caught"] },
  },
  {
    name: "a tool that there is not, in a function",
    flow: () => graph([["a", "b"]], { b: runs("nothing", "x") }),
    ends: { status: "thrown", error: "ToolNotFound", log: ["a"] },
  },
  {
    name: "a tool that runs once per run, in four nodes and two laps",
    flow: () =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
          ["a", "c"],
          ["b", "c"],
        ],
        { s: runs("once", "x"), a: runs("once", "x"), b: runs("once", "x") },
      ),
    ends: { status: "done", log: ["x", "x", "x", "c"], ran: 1 },
  },
  {
    name: "a tool that runs once per run, first in a node that then fails",
    flow: (world) =>
      graph(
        [
          ["s", "a"],
          ["a", "b"],
        ],
        { s: failing(world, "s", 1, runs("once", "x")), b: runs("once", "x") },
      ),
    tries: 1,
    ends: { status: "done", log: ["x", "a", "x"], ran: 3 },
  },
  {
    name: "a tool that runs once per run, first beside a node that waits and calls it afterwards",
    flow: () =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
        ],
        {
          a: runs("once", "x"),
          b: async (_state, ctx) => ({
            log: [String(await ctx.run("ask", { text: "b" })), String(await ctx.run("once", { text: "x" }))],
          }),
        },
      ),
    ends: { status: "done", log: ["s", "x", "b", "x"], ran: 2, pauses: 1 },
  },
  {
    name: "a tool that runs once per run, again with other arguments",
    flow: () => graph([["s", "a"]], { s: runs("once", "x"), a: runs("once", "y") }),
    ends: { status: "thrown", error: "ToolError", log: ["x"], ran: 1 },
  },
];
