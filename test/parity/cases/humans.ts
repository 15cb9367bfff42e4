// Gates, edits, denials, requests that run out, and approvals of tools.
import { call } from "../../../src/flow/index.js";
import { empty, gate, graph, logs, runs, type Code, type ParityCase, type ParityFlow } from "../world.js";

const FAN = [
  ["s", "a"],
  ["s", "b"],
  ["s", "c"],
  ["a", "z"],
  ["b", "z"],
  ["c", "z"],
] as const;
const total: Code = ({ total: seen }) => ({ log: [`saw ${seen}`] });

/** Three nodes side by side, the first two behind gates. */
const gated = (code: Readonly<Record<string, Code>> = {}): ParityFlow =>
  graph(FAN, { a: runs("echo", "a"), b: runs("echo", "b"), c: runs("echo", "c"), ...code }, { a: gate, b: gate });

export const gates: readonly ParityCase[] = [
  {
    name: "a gate",
    flow: () =>
      graph(
        [
          ["a", "b"],
          ["b", "c"],
        ],
        {},
        { b: gate },
      ),
    ends: { status: "done", log: ["a", "b", "c"], pauses: 1, steps: 3 },
  },
  {
    name: "a gate before the first node",
    flow: () => graph([["a", "b"]], {}, { a: gate }),
    input: { total: 2 },
    ends: { status: "done", log: ["a", "b"], pauses: 1 },
  },
  {
    name: "a gate that is closed",
    flow: () => graph([["a", "b"]], { b: runs("echo", "b") }, { b: gate }),
    says: { b: "no" },
    ends: { status: "denied", error: "ApprovalDenied", log: ["a"], steps: 1, ran: 0 },
  },
  {
    name: "two gates of one step, asked one by one",
    flow: () => gated(),
    ends: { status: "done", log: ["s", "a", "b", "c", "z"], pauses: 2, ran: 3 },
  },
  {
    name: "two gates of one step, the first closed",
    flow: () => gated(),
    says: { a: "no" },
    ends: { status: "denied", log: ["s"], pauses: 1, ran: 0 },
  },
  {
    name: "two gates of one step, the second closed",
    flow: () => gated(),
    says: { b: "no" },
    ends: { status: "denied", log: ["s"], pauses: 2, ran: 0 },
  },
  {
    name: "edits that later gates, gated nodes and siblings see",
    flow: () => gated({ a: total, b: total, c: total }),
    says: { a: { edit: { total: 5 } }, b: { edit: { total: 8, one: "edited" } } },
    ends: { status: "done", log: ["s", "saw 8", "saw 8", "saw 8", "z"], pauses: 2, state: { total: 8, one: "edited" } },
  },
  {
    name: "an edit, with writes of the step on top of it",
    flow: () => gated({ a: () => ({ total: 1 }), b: () => ({ total: 2 }), c: total }),
    says: { a: { edit: { total: 10 } } },
    ends: { status: "done", log: ["s", "saw 10", "z"], state: { total: 13 } },
  },
  {
    name: "an edit by two gates of different fields, while a sibling waits",
    flow: () => gated({ a: total, c: runs("ask", "c") }),
    says: { a: { edit: { one: "a" } }, b: { edit: { total: 3 } } },
    ends: { status: "done", log: ["s", "saw 3", "b", "c", "z"], pauses: 3, state: { one: "a", total: 3 } },
  },
  {
    name: "a gate in a loop asks for every visit",
    flow: () =>
      empty().node("a", logs("a"), gate).node("z", logs("z")).edge("a", "a", { maxLoops: 2, orElse: "z" }).end("z"),
    says: { a: ["yes", { edit: { total: 4 } }, "yes"] },
    ends: { status: "done", log: ["a", "a", "a", "z"], pauses: 3, state: { total: 4 } },
  },
  {
    name: "a gate before a join",
    flow: () =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
          ["b", "c"],
          ["a", "J"],
          ["c", "J"],
        ],
        {},
        { J: gate },
      ),
    ends: { status: "done", log: ["s", "a", "b", "c", "J"], pauses: 1 },
  },
  {
    name: "gates before joins of one step",
    flow: () =>
      graph(
        [
          ["s", "J"],
          ["s", "K"],
          ["J", "z"],
          ["K", "z"],
        ],
        {},
        { J: gate, K: gate },
      ),
    says: { K: { edit: { total: 1 } } },
    ends: { status: "done", log: ["s", "J", "K", "z"], pauses: 2, state: { total: 1 } },
  },
  {
    name: "a gate and an approval in one node",
    flow: () => graph([["a", "b"]], { b: runs("ask", "x", "y") }, { b: gate }),
    ends: { status: "done", log: ["a", "x", "y"], pauses: 3, ran: 2 },
  },
  {
    name: "a gate whose node fails and is tried again without asking",
    flow: (world) =>
      graph(
        [
          ["a", "b"],
          ["a", "c"],
        ],
        { b: () => (world.failFirst("b", 1), { log: ["b"] }) },
        { b: gate },
      ),
    tries: 1,
    ends: { status: "done", log: ["a", "b", "c"], pauses: 1 },
  },
  {
    name: "a gate with a request that runs out",
    flow: () => graph([["a", "b"]], { b: runs("echo", "b") }, { b: gate }),
    says: { b: "late" },
    ends: { status: "denied", error: "ApprovalExpired", log: ["a"], ran: 0 },
  },
  {
    name: "a gate that shows what is no object",
    flow: () => graph([["a", "b"]], {}, { b: { pause: () => "text" as never } }),
    ends: { status: "thrown", error: "FlowError", log: ["a"] },
  },
  {
    name: "a gate and a loop limit in one step",
    flow: () => graph([["a", "b"]], {}, { b: gate }),
    maxSteps: 1,
    ends: { status: "thrown", error: "FlowLoopExceeded", steps: 1, pauses: 0 },
  },
];

const asking = { a: runs("ask", "a"), b: runs("ask", "b"), c: runs("ask", "c") };
const twice: Code = async (_state, ctx) => {
  const log = await Promise.all(["x", "y"].map(async (text) => String(await ctx.run("ask", { text }))));
  return { log };
};

export const approvals: readonly ParityCase[] = [
  {
    name: "an approval in a function",
    flow: () => graph([["a", "b"]], { b: runs("ask", "b") }),
    ends: { status: "done", log: ["a", "b"], pauses: 1, ran: 1 },
  },
  {
    name: "an approval in a call node, edited",
    flow: () =>
      empty()
        .node("a", call("ask", { args: { text: "a" }, into: "one" }))
        .end("a"),
    says: { a: { edit: { text: "edited" } } },
    ends: { status: "done", state: { one: "edited" } },
  },
  {
    name: "an approval that is refused",
    flow: () => graph([["a", "b"]], { b: runs("ask", "b") }),
    says: { b: "no" },
    ends: { status: "denied", error: "ApprovalDenied", log: ["a"], ran: 0, steps: 1 },
  },
  {
    name: "an approval that is refused, which a function catches",
    flow: () =>
      graph(
        [
          ["a", "b"],
          ["b", "c"],
        ],
        { b: async (_state, ctx) => ({ log: [String(await ctx.run("ask", { text: "b" }).catch(() => "refused"))] }) },
      ),
    says: { b: "no" },
    ends: { status: "done", log: ["a", "refused", "c"] },
  },
  {
    name: "an approval that is refused beside nodes that finish",
    flow: () => graph(FAN, { a: runs("echo", "a"), b: runs("ask", "b"), c: runs("echo", "c") }),
    says: { b: "no" },
    ends: { status: "denied", log: ["s"], ran: 2 },
  },
  {
    name: "an approval that is refused beside a node that fails",
    flow: (world) => graph(FAN, { b: runs("ask", "b"), c: () => (world.failFirst("c", 1), { log: ["c"] }) }),
    says: { b: "no" },
    tries: 2,
    ends: { status: "denied", log: ["s"] },
  },
  {
    name: "an approval whose request runs out",
    flow: () => graph([["a", "b"]], { b: runs("ask", "b") }),
    says: { b: "late" },
    ends: { status: "denied", error: "ApprovalExpired", log: ["a"], ran: 0 },
  },
  {
    name: "three requests of one step, answered at once",
    flow: () => graph(FAN, asking),
    ends: { status: "done", log: ["s", "a", "b", "c", "z"], pauses: 1, ran: 3 },
  },
  {
    name: "three requests of one step, answered one by one",
    flow: () => graph(FAN, asking),
    order: "first",
    ends: { status: "done", log: ["s", "a", "b", "c", "z"], pauses: 3, ran: 3 },
  },
  {
    name: "three requests of one step, answered from the last",
    flow: () => graph(FAN, asking),
    order: "last",
    says: { a: { edit: { text: "edited" } } },
    ends: { status: "done", log: ["s", "edited", "b", "c", "z"], pauses: 3 },
  },
  {
    name: "three requests of one step, one of them refused",
    flow: () => graph(FAN, asking),
    order: "first",
    says: { b: "no" },
    ends: { status: "denied", log: ["s"] },
  },
  {
    name: "several requests of one node, one after the other",
    flow: () => graph([["a", "b"]], { b: runs("ask", "x", "y", "x") }),
    ends: { status: "done", log: ["a", "x", "y", "x"], pauses: 3, ran: 3 },
  },
  {
    name: "several requests of one node, made at once",
    flow: () => graph([["a", "b"]], { b: twice }),
    ends: { status: "done", log: ["a", "x", "y"], pauses: 2, ran: 2 },
  },
  {
    name: "calls before, between and after requests run once",
    flow: () =>
      graph([["a", "b"]], {
        b: async (_state, ctx) => {
          const log: string[] = [];
          for (const [tool, text] of [
            ["echo", "1"],
            ["ask", "2"],
            ["echo", "3"],
            ["ask", "4"],
            ["echo", "5"],
          ] as const)
            log.push(String(await ctx.run(tool, { text })));
          return { log };
        },
      }),
    ends: { status: "done", log: ["a", "1", "2", "3", "4", "5"], pauses: 2, ran: 5 },
  },
  {
    name: "a node that does not ask, beside two that do, runs once",
    flow: () => graph(FAN, { a: runs("echo", "a"), b: runs("ask", "b"), c: runs("ask", "c") }),
    order: "first",
    ends: { status: "done", log: ["s", "a", "b", "c", "z"], ran: 3 },
  },
  {
    name: "an approved call that fails is not run again",
    flow: () => graph([["a", "b"]], { b: runs("ask", "fails") }),
    tries: 1,
    ends: { status: "thrown", error: "ApprovalAlreadyDecided", ran: 1, log: ["a"] },
  },
  {
    name: "a node that asks and then fails is tried again without asking",
    flow: (world) =>
      graph([["a", "b"]], {
        b: async (_state, ctx) => {
          const log = [String(await ctx.run("ask", { text: "b" }))];
          world.failFirst("b", 1);
          return { log };
        },
      }),
    tries: 1,
    ends: { status: "done", log: ["a", "b"], pauses: 1, ran: 1 },
  },
  {
    name: "a node that asks and is retried within its visit does not ask again",
    flow: (world) =>
      graph(
        [["a", "b"]],
        {
          b: async (_state, ctx) => {
            const log = [String(await ctx.run("ask", { text: "b" }))];
            world.failFirst("b", 2);
            return { log };
          },
        },
        { b: { retries: { maxAttempts: 3, initialDelayMs: 0 } } },
      ),
    ends: { status: "done", log: ["a", "b"], pauses: 1, ran: 1 },
  },
  {
    name: "requests in three steps of their own",
    flow: () =>
      graph(
        [
          ["a", "b"],
          ["b", "c"],
        ],
        asking,
      ),
    ends: { status: "done", log: ["a", "b", "c"], pauses: 3, ran: 3 },
  },
  {
    name: "a request beside a node that fails and asks when it is tried again",
    flow: (world) =>
      graph(FAN, { a: (seen, ctx) => (world.failFirst("a", 1), runs("ask", "a")(seen, ctx)), b: runs("ask", "b") }),
    tries: 1,
    ends: { status: "done", log: ["s", "a", "b", "c", "z"], ran: 2 },
  },
];
