// Compiled flows on every saver, open and encrypted, with every durability, as subgraphs, nested, in a Send; each step in an app of its
// own that remembers nothing.
import { Annotation, Send, START, StateGraph, type BaseCheckpointSaver } from "@langchain/langgraph";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { approve } from "agent-adapter";
import { encryptedSaver, pendingApprovals, resume } from "agent-adapter/langgraph";
import { failure, type Durability } from "../../../support/langgraph.js";
import { reportSkipped } from "../../../support/postgres.js";
import { forgetProcess } from "../../../support/process.js";
import { engines, type Storage } from "../../../support/savers.js";
import { FlowStand, oneAsk, oneGate, resumeWith, twoGates, type FlowStandOptions } from "./rig.js";

const key = "a key for checkpointers, 32 bytes";
const all = engines();
const durabilities: readonly Durability[] = ["sync", "async", "exit"];

afterEach(forgetProcess);
afterAll(async () => {
  reportSkipped(6, "compiled flows on PostgreSQL");
  for (const engine of all) await engine.stop();
});

const State = Annotation.Root({
  n: Annotation<number>(),
  list: Annotation<number[]>(),
  seen: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

type Around = NonNullable<FlowStandOptions["around"]>;

/** The flow as a node of a graph. */
const nested: Around = (graph, checkpointer) => parentOf(graph.compile()).compile({ checkpointer });

/** As a node of a graph that is a node. */
const nestedTwice: Around = (graph, checkpointer) =>
  parentOf(parentOf(graph.compile()).compile()).compile({ checkpointer });

/** Twice in one parent, one after the other. */
const twice: Around = (graph, checkpointer) =>
  new StateGraph(State)
    .addNode("one", graph.compile() as never)
    .addNode("two", graph.compile() as never)
    .addEdge(START, "one")
    .addEdge("one", "two")
    .compile({ checkpointer });

/** Twice at once. */
const beside: Around = (graph, checkpointer) =>
  new StateGraph(State)
    .addNode("one", async ({ n }, config) => (await graph.compile().invoke({ n } as never, config as never), {}))
    .addNode("two", async ({ n }, config) => (await graph.compile().invoke({ n: n + 1 } as never, config as never), {}))
    .addEdge(START, "one")
    .addEdge(START, "two")
    .compile({ checkpointer });

/** Once per item. */
const sent: Around = (graph, checkpointer) =>
  new StateGraph(State)
    .addNode("each", async ({ n }, config) => (await graph.compile().invoke({ n } as never, config as never), {}))
    .addConditionalEdges(START, ({ n }) => [new Send("each", { n }), new Send("each", { n: n + 1 })])
    .compile({ checkpointer });

function parentOf(inner: unknown) {
  return new StateGraph(State).addNode("inner", inner as never).addEdge(START, "inner");
}

/** Answers what waits, each time in an app of its own, by the verb for any app. */
async function finish(stand: FlowStand, most = 30): Promise<number> {
  for (let answers = 0; answers < most; answers += 1) {
    stand.elsewhere();
    const pendings = await pendingApprovals(stand.app as never, stand.config);
    const next = pendings.find(({ status }) => status === "waiting");
    if (next === undefined) return answers;
    await resume(
      stand.app as never,
      { [next.binding]: approve({ by: "ana" }) },
      { ...stand.config, executor: undefined } as never,
      { executor: stand.executor },
    );
  }
  throw new Error(`it asked more than ${most} times`);
}

const flows = [
  ["an ask", oneAsk, 1, ["last 1", "note 1", "pay 1", "read 1"]],
  ["a gate", oneGate, 1, ["after 1", "note 1", "read 1", "send 1"]],
  ["two gates", twoGates, 2, ["a 1", "all 1", "b 1", "c 1", "read 1", "start 1"]],
] as const;

const plusOne = (effects: readonly string[]) => effects.map((effect) => effect.replace("1", "2"));

describe.each(
  all.flatMap((engine) =>
    [false, true].map((encrypted) => ({
      ...engine,
      encrypted,
      title: `${engine.name}${encrypted ? ", encrypted" : ""}`,
    })),
  ),
)("C5: $title", ({ open, encrypted }) => {
  let storage: Storage;
  beforeEach(async () => {
    storage = await open();
  }, 60_000);
  afterEach(() => storage.close());

  const wrap = (saver: BaseCheckpointSaver): BaseCheckpointSaver =>
    encrypted ? encryptedSaver(saver, { key }) : saver;
  const standOn = (options: FlowStandOptions) =>
    new FlowStand({ ...options, saver: wrap(storage.saver), another: () => wrap(storage.another()) });

  it.each(durabilities)(
    "J4/compiled: asks and gates, durability %s: every call once, in as many processes as answers",
    async (durability) => {
      for (const [_what, flow, asks, effects] of flows) {
        const stand = standOn({ flow, durability });
        await stand.invoke({ n: 1 });
        expect(await finish(stand)).toBe(asks);
        expect(stand.ran.toSorted()).toEqual(effects);
      }
    },
  );

  it("B13: as a subgraph, nested, twice, and in a Send: answered through the parent's app, every call once", async () => {
    for (const [_what, flow, asks, effects] of flows) {
      for (const [around, times] of [
        [nested, [effects]],
        [nestedTwice, [effects]],
        [twice, [effects, effects]],
        [beside, [effects, plusOne(effects)]],
        [sent, [effects, plusOne(effects)]],
      ] as const) {
        const stand = standOn({ flow, around });
        await stand.invoke({ n: 1 });
        expect(await finish(stand)).toBe(asks * times.length);
        expect(stand.ran.toSorted()).toEqual(times.flat().toSorted());
      }
    }
  });
});

describe("C5, C3: gates behind a parent", () => {
  it.each([
    ["a subgraph", nested],
    ["a subgraph of a subgraph", nestedTwice],
    ["twice at once", beside],
    ["in a Send", sent],
  ] as const)("%s: raw null runs nothing behind a gate, with and without a cap", async (_where, around) => {
    for (const maxConcurrency of [undefined, 1, 2]) {
      const stand = new FlowStand({
        flow: twoGates,
        around,
        ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
      });
      await stand.invoke({ n: 1 });
      await stand.invoke(null);
      await stand.invoke(null, { ...stand.config, interruptBefore: [] });
      expect(stand.ran.filter((effect) => !effect.startsWith("start"))).toEqual([]);
      const answers = await finish(stand);
      expect([2, 4]).toContain(answers);
      expect(stand.ran.filter((effect) => effect.startsWith("all"))).toHaveLength(answers / 2);
    }
  });

  it("an answer to the flow in one place is none to the same flow in the other", async () => {
    const stand = new FlowStand({ flow: oneGate, around: beside });
    await stand.invoke({ n: 1 });
    const [one, two] = await stand.pendings();
    if (one === undefined || two === undefined) throw new Error("two should wait");
    await failure(stand.invoke(resumeWith({ [two.id]: stand.sign(one) })));
    await failure(
      resume(stand.app as never, { [two.binding]: stand.sign(one) } as never, stand.config, {
        executor: stand.executor,
      }),
    );
    expect(stand.ran.filter((effect) => effect.startsWith("send"))).toEqual([]);
  });
});
