// Joins, routes and loops.
import { empty, graph, logs, runs, type ParityCase, type ParityFlow, type State } from "../world.js";
import { join } from "../../../src/flow/index.js";

/** `start` chooses among these; each leads to the join, which leads to `end`. */
const routed = (...chosen: readonly ("a" | "b")[]): ParityFlow =>
  empty()
    .node("start", logs("start"))
    .node("a", logs("a"))
    .node("b", logs("b"))
    .node("J", join(logs("J")))
    .node("end", logs("end"))
    .route("start", () => chosen, ["a", "b"])
    .edge("a", "J")
    .edge("b", "J")
    .edge("J", "end")
    .end("end");

export const joins: readonly ParityCase[] = [
  {
    name: "a join after uneven branches",
    flow: () =>
      graph([
        ["s", "a"],
        ["s", "b"],
        ["b", "c"],
        ["c", "d"],
        ["a", "J"],
        ["d", "J"],
      ]),
    ends: { status: "done", log: ["s", "a", "b", "c", "d", "J"], steps: 5 },
  },
  {
    name: "a join of which one branch is skipped",
    flow: () => routed("a"),
    ends: { status: "done", log: ["start", "a", "J", "end"] },
  },
  {
    name: "a join of which no branch is skipped",
    flow: () => routed("b", "a"),
    ends: { status: "done", log: ["start", "a", "b", "J", "end"] },
  },
  {
    name: "a join of which every branch is skipped",
    flow: () => routed(),
    ends: { status: "done", log: ["start"], steps: 1 },
  },
  {
    name: "a join that waits for a branch that never leads to it",
    flow: () =>
      graph([
        ["s", "J"],
        ["s", "a"],
        ["a", "b"],
        ["b", "c"],
      ]),
    ends: { status: "done", log: ["s", "a", "b", "c", "J"], steps: 5 },
  },
  {
    name: "joins in a chain, reached at once",
    flow: () =>
      graph([
        ["s", "a"],
        ["s", "J"],
        ["s", "K"],
        ["a", "J"],
        ["J", "K"],
        ["K", "L"],
        ["s", "L"],
      ]),
    ends: { status: "done", log: ["s", "a", "J", "K", "L"], visits: { s: 1, a: 1, J: 1, K: 1, L: 1 } },
  },
  {
    name: "two joins that do not reach each other",
    flow: () =>
      graph([
        ["s", "K"],
        ["s", "J"],
        ["K", "z"],
        ["J", "z"],
      ]),
    ends: { status: "done", log: ["s", "J", "K", "z"], steps: 3 },
  },
  {
    name: "joins that reach each other",
    flow: () =>
      empty()
        .node("s", logs("s"))
        .node("J", join(logs("J")))
        .node("K", join(logs("K")))
        .node("z", logs("z"))
        .edge("s", "J")
        .edge("s", "K")
        .edge("J", "K")
        .edge("K", "J", { maxLoops: 1, orElse: "z" })
        .end("z"),
    ends: { status: "done", log: ["s", "J", "K", "J", "K", "z"], steps: 6 },
  },
  {
    name: "a join in a loop, once a lap",
    flow: () => {
      const ways = [
        ["a", "b"],
        ["a", "c"],
        ["c", "d"],
        ["b", "J"],
        ["d", "J"],
      ] as const;
      return loop(ways, { from: "J", to: "a", laps: 2 });
    },
    ends: { status: "done", visits: { a: 3, b: 3, c: 3, d: 3, J: 3, end: 3 } },
  },
  {
    name: "a join that a run begins with",
    flow: () => graph([["J", "a"]]),
    ends: { status: "done", log: ["J", "a"], steps: 2 },
  },
  {
    name: "a join whose branch waits for a human",
    flow: () =>
      graph(
        [
          ["s", "a"],
          ["s", "b"],
          ["b", "c"],
          ["a", "J"],
          ["c", "J"],
          ["J", "e"],
        ],
        { c: runs("ask", "c"), J: runs("echo", "j") },
      ),
    ends: {
      status: "done",
      log: ["s", "a", "b", "c", "j", "e"],
      pauses: 1,
      visits: { s: 1, a: 1, b: 1, c: 1, J: 1, e: 1 },
    },
  },
  {
    name: "joins in a chain that ask, with a branch that fails",
    flow: (world) =>
      graph(
        [
          ["s", "a"],
          ["s", "J"],
          ["s", "K"],
          ["a", "J"],
          ["J", "K"],
        ],
        {
          a: () => (world.failFirst("a", 1), { log: ["a"] }),
          J: runs("ask", "j"),
          K: runs("ask", "k"),
        },
      ),
    tries: 1,
    ends: { status: "done", log: ["s", "a", "j", "k"], pauses: 2 },
  },
];

const chooses = (choose: (seen: Readonly<State>) => unknown, start = logs("s")): ParityFlow =>
  empty()
    .node("s", start)
    .node("a", logs("a"))
    .node("b", logs("b"))
    .route("s", choose as never, ["a", "b"])
    .end("a")
    .end("b");

export const routes: readonly ParityCase[] = [
  { name: "a route to one target", flow: () => chooses(() => "b"), ends: { status: "done", log: ["s", "b"] } },
  {
    name: "a route to a list of targets, one of them twice",
    flow: () => chooses(() => ["b", "a", "b"]),
    ends: { status: "done", log: ["s", "a", "b"], steps: 2 },
  },
  { name: "a route to nowhere", flow: () => chooses(() => []), ends: { status: "done", log: ["s"], steps: 1 } },
  {
    name: "a route that sees what its own node wrote, merged",
    flow: () => chooses(({ total }) => (total === 5 ? "a" : "b"), logs("s", { total: 2 })),
    input: { total: 3 },
    ends: { status: "done", log: ["s", "a"] },
  },
  {
    name: "a route to what is no target",
    flow: () => chooses(() => "c"),
    ends: { status: "thrown", error: "FlowError", steps: 0 },
  },
  {
    name: "routes and an edge beside each other",
    flow: () =>
      chooses(() => "a")
        .node("c", logs("c"))
        .edge("s", "c")
        .route("s", () => ["c", "b"], ["c", "b"])
        .end("c"),
    ends: { status: "done", log: ["s", "a", "b", "c"], visits: { s: 1, a: 1, b: 1, c: 1 } },
  },
];

interface Lap {
  readonly from: string;
  readonly to: string;
  readonly laps: number;
}

/** The ways, and one back that is taken so often and then leads to `end`. */
function loop(
  ways: readonly (readonly [string, string])[],
  { from, to, laps }: Lap,
  code = {},
  options = {},
): ParityFlow {
  const flow = graph([...ways, [from, "end"]], code, options);
  return flow.route(from, ({ log }) => (log.filter((name) => name === from).length <= laps ? to : []), [to], {
    maxLoops: 50,
  });
}

const around = (laps: number, more: { readonly maxLoops: number; readonly orElse?: string }): ParityFlow =>
  empty()
    .node("a", logs("a"))
    .node("b", logs("b"))
    .node("end", logs("end"))
    .node("else", logs("else"))
    .edge("a", "b")
    .route("b", ({ log }) => (log.filter((name) => name === "b").length <= laps ? "a" : "end"), ["a", "end"], {
      orElse: "else",
      ...more,
      maxLoops: { a: more.maxLoops },
    } as never)
    .end("end")
    .end("else");

const capped = (maxLoops: number, orElse?: string): ParityFlow =>
  empty()
    .node("a", logs("a"))
    .node("b", runs("some", "ask"))
    .node("else", logs("else"))
    .edge("a", "b")
    .edge("b", "a", { maxLoops, ...(orElse === undefined ? {} : { orElse }) })
    .edge("a", "else", { maxLoops: 1, orElse: "b" })
    .end("else");

export const loops: readonly ParityCase[] = [
  {
    name: "a loop that ends by itself, at its cap",
    flow: () => around(2, { maxLoops: 2 }),
    ends: { status: "done", visits: { a: 3, b: 3, end: 1 } },
  },
  {
    name: "a loop over its cap, with another way",
    flow: () => around(9, { maxLoops: 2 }),
    ends: { status: "done", visits: { a: 3, b: 3, else: 1 } },
  },
  {
    name: "a loop over its cap, without another way",
    flow: () => capped(2),
    ends: { status: "thrown", error: "FlowLoopExceeded", pauses: 3, visits: { a: 3, b: 2, else: 1 } },
  },
  {
    name: "a loop over its cap that was counted over pauses, with another way",
    flow: () => capped(2, "else"),
    ends: { status: "done", pauses: 3, visits: { a: 3, b: 3, else: 2 } },
  },
  {
    name: "a loop of one node, with a call that is the same in every lap",
    flow: () =>
      empty()
        .node("a", runs("echo", "again"))
        .node("z", logs("z"))
        .edge("a", "a", { maxLoops: 3, orElse: "z" })
        .end("z"),
    ends: { status: "done", log: ["again", "again", "again", "again", "z"], ran: 4 },
  },
  {
    name: "a loop in a loop",
    flow: () =>
      empty()
        .node("a", logs("a"))
        .node("b", logs("b"))
        .node("c", logs("c"))
        .node("z", logs("z"))
        .edge("a", "b")
        .edge("b", "b", { maxLoops: 3, orElse: "c" })
        .edge("c", "a", { maxLoops: 2, orElse: "z" })
        .end("z"),
    ends: { status: "done", visits: { a: 3, b: 6, c: 3, z: 1 } },
  },
  {
    name: "a failure over a cap that is tried again",
    flow: () =>
      empty().node("a", logs("a")).node("z", logs("z")).edge("a", "a", { maxLoops: 1 }).edge("a", "z").end("z"),
    tries: 2,
    ends: { status: "thrown", error: "FlowLoopExceeded", steps: 1, log: ["a"] },
  },
];
