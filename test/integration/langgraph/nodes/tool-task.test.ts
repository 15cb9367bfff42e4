// `toolTask`, `fanOut` and `reducer`: one task per item, its requests, its errors, and one value of all results.
import { Annotation, END, MemorySaver, Send, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { approve, defineTool, deny, ToolError, type AnyToolSpec } from "agent-adapter";
import { Merge } from "agent-adapter/flow";
import { fanOut, reducer, resume, toolTask, type FanOutOptions } from "agent-adapter/langgraph";
import { asking, counted, failure, one, sleep } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";
import { Nodes } from "./rig.js";

afterEach(forgetProcess);

const State = Annotation.Root({
  items: Annotation<unknown[]>(),
  paid: reducer(Merge.append<unknown>()),
  after: Annotation<string>(),
});

interface Shape {
  readonly saver?: MemorySaver;
  readonly orElse?: FanOutOptions["orElse"];
  readonly over?: "items" | ((state: typeof State.State) => readonly unknown[]);
}

/** START fans out to tasks of one tool; then `after` runs once. */
function fanOf(spec: (ran: string[]) => AnyToolSpec, { orElse, over = "items", saver }: Shape = {}) {
  const ran: string[] = [];
  const pay = spec(ran);
  const nodes = new Nodes({
    tools: [pay],
    ...(saver === undefined ? {} : { saver }),
    graph: ({ executor }) =>
      new StateGraph(State)
        .addNode("pay", toolTask(pay as never, { executor, into: "paid" }))
        .addNode("next", () => ({ after: "ran" }))
        .addConditionalEdges(START, fanOut<typeof State.State>("pay", over, orElse === undefined ? {} : { orElse }), [
          "pay",
          "next",
        ])
        .addEdge("pay", "next")
        .addEdge("next", END) as never,
  });
  return { ran, nodes };
}

const items = (...numbers: readonly number[]) => ({ items: numbers.map((n) => ({ n })) });

/** Chance that is the same every time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe("R1: toolTask", () => {
  it("R1: runs the tool with what was sent and gives its result under the key", async () => {
    const { ran, nodes } = fanOf((list) => counted(list, "pay"));
    const { values } = await nodes.invoke(items(1, 2));
    expect(values["paid"]).toEqual(["pay 1", "pay 2"]);
    expect(values["after"]).toBe("ran");
    expect(ran.toSorted()).toEqual(["pay 1", "pay 2"]);
    const entries = await nodes.ledger.entries();
    expect(new Set(entries.map(({ callId }) => callId)).size).toBe(2);
    for (const { callId } of entries) expect(callId).toMatch(/^pay:[^:]+:0$/);
  });

  it.each<[string, unknown, string]>([
    ["arguments that do not fit", { n: "one" }, "ToolArgsInvalid"],
    ["no object", 5, "ToolArgsInvalid"],
    ["an error for the model", { n: 13 }, "ToolError"],
    ["any other error", { n: 14 }, "ToolFailed"],
  ])("R1: throws every error, also those that a model could read: %s", async (_what, item, kind) => {
    const { nodes } = fanOf((list) =>
      counted(list, "pay", {
        body: ({ n }) => {
          throw n === 13 ? new ToolError("no") : new Error("down");
        },
      }),
    );
    expect(await failure(nodes.invoke({ items: [item] }))).toMatchObject({ kind });
  });

  it("R1, L1: requests of all tasks surface together and are answered one by one or at once, in any order", async () => {
    const { ran, nodes } = fanOf((list) => asking(list, "pay"));
    const { pending } = await nodes.invoke(items(1, 2, 3));
    expect(pending.map(({ value }) => value.request.arguments)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(new Set(pending.map(({ id }) => id)).size).toBe(3);
    const [first, second, third] = pending;
    if (first === undefined || second === undefined || third === undefined) throw new Error("three wait");
    expect((await nodes.answer(second)).pending).toHaveLength(2);
    const { values } = await nodes.elsewhere().answerAll([third, first]);
    expect(values["paid"]).toEqual(["pay 1", "pay 2", "pay 3"]);
    expect(ran.toSorted()).toEqual(["pay 1", "pay 2", "pay 3"]);
  });

  it("R1, L4: a denial is thrown after the siblings finished; null gives it again, and nothing runs twice", async () => {
    const { ran, nodes } = fanOf((list) => asking(list, "pay"));
    const { pending } = await nodes.invoke(items(1, 2));
    const decisions = Object.fromEntries(
      pending.map(({ id, value }) => [id, value.request.arguments["n"] === 1 ? deny() : approve()]),
    );
    expect(await failure(resume(nodes.app, decisions, nodes.config))).toMatchObject({ kind: "ApprovalDenied" });
    expect(ran).toEqual(["pay 2"]);
    expect(await failure(nodes.again())).toMatchObject({ kind: "ApprovalDenied" });
    expect(await failure(nodes.elsewhere().again())).toMatchObject({ kind: "ApprovalDenied" });
    expect(ran).toEqual(["pay 2"]);
  });

  it("R1, B50: eight parallel tasks on a checkpointer whose reads and writes take turns by chance: every result is there once", async () => {
    const random = seeded(7);
    class Slow extends MemorySaver {
      override async putWrites(...args: Parameters<MemorySaver["putWrites"]>) {
        await sleep(random() * 4);
        return super.putWrites(...args);
      }
      override async getTuple(...args: Parameters<MemorySaver["getTuple"]>) {
        await sleep(random() * 4);
        return super.getTuple(...args);
      }
    }
    for (let round = 0; round < 5; round += 1) {
      const { ran, nodes } = fanOf((list) => asking(list, "pay", { confirm: ({ n }) => n % 2 === 0 }), {
        saver: new Slow(),
      });
      let turn = await nodes.invoke(items(1, 2, 3, 4, 5, 6, 7, 8));
      expect(turn.pending).toHaveLength(4);
      turn = await nodes.answerAll(turn.pending.filter(() => random() < 0.5));
      if (turn.pending.length > 0) turn = await nodes.elsewhere().answerAll(turn.pending);
      expect(turn.values["paid"]).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `pay ${n}`));
      expect(ran.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `pay ${n}`));
    }
  });

  it("R1: without an executor the tool has one of its own, which the app can be resumed through", async () => {
    const ran: string[] = [];
    const pay = asking(ran, "pay");
    const app = new StateGraph(State)
      .addNode("pay", toolTask(pay as never, { into: "paid" }))
      .addConditionalEdges(START, fanOut<typeof State.State>("pay", "items"), ["pay"])
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    await app.invoke(items(1) as never, config);
    const out = await resume(app as never, approve(), config);
    expect(out).toMatchObject({ paid: ["pay 1"] });
    expect(ran).toEqual(["pay 1"]);
  });
});

describe("R2: fanOut", () => {
  it("R2: takes a list from the state or of a function, in order", async () => {
    const { nodes } = fanOf((list) => counted(list, "pay"), { over: ({ items: all }) => all.toReversed() });
    expect((await nodes.invoke(items(1, 2, 3))).values["paid"]).toEqual(["pay 3", "pay 2", "pay 1"]);
  });

  it("R2: an empty list ends the branch: what follows the target does not run", async () => {
    const { ran, nodes } = fanOf((list) => counted(list, "pay"));
    const { values } = await nodes.invoke({ items: [] });
    expect(values["after"]).toBeUndefined();
    expect(ran).toEqual([]);
  });

  it("R2: an empty list goes to `orElse`, another one does not", async () => {
    const { ran, nodes } = fanOf((list) => counted(list, "pay"), { orElse: "next" });
    expect((await nodes.invoke({ items: [] })).values["after"]).toBe("ran");
    expect(ran).toEqual([]);
    expect(fanOut<{ items: unknown[] }>("pay", "items", { orElse: "next" })({ items: [{ n: 1 }] })).toEqual([
      new Send("pay", { n: 1 }),
    ]);
  });

  it.each([[undefined], [null], ["text"], [{ 0: "a", length: 1 }]])("R2: %j is no list", async (over) => {
    expect(() => fanOut<{ items: unknown[] }>("pay", "items")({ items: over as never })).toThrow(/no list/);
    expect(() => fanOut("pay", () => over as never)({})).toThrow(/no list/);
  });

  it("R2: names on Object.prototype are no lists of a state", () => {
    for (const name of ["constructor", "toString", "__proto__"]) {
      expect(() => fanOut<Record<string, unknown[]>>("pay", name)({})).toThrow(/no list/);
    }
  });

  it.each<[string, unknown]>([
    ["an item that is a Send to look at", { node: "pay", args: { n: 5 } }],
    ["one with a Send deep inside", { deep: [{ node: "after", args: { x: 1 } }] }],
    ["a LangChain-serialised one", { lc: 1, type: "constructor", id: ["x"], kwargs: {} }],
    ["a text", "text"],
    ["null", null],
  ])("R2: %s arrives as it was sent", async (_what, item) => {
    const seen: unknown[] = [];
    const look = defineTool({
      name: "look",
      description: "looks",
      inputSchema: z.object({ item: z.unknown() }),
      execute: (args) => {
        seen.push(args.item);
        return "seen";
      },
    });
    const { nodes } = fanOf(() => look);
    await nodes.invoke({ items: [{ item }] });
    expect(seen).toEqual([item]);
  });
});

describe("R3: reducer", () => {
  it("R3: the rule sees every write of a superstep in one call", async () => {
    const calls: unknown[][] = [];
    const rule = Merge.by<number, number>((current = 0, writes) => {
      calls.push([current, writes]);
      return current + writes.reduce((sum, each) => sum + each, 0);
    });
    const Sums = Annotation.Root({ n: Annotation<number>(), sum: reducer(rule, { initial: () => 100 }) });
    const app = new StateGraph(Sums)
      .addNode("add", ({ n }) => ({ sum: n }))
      .addConditionalEdges(START, () => [1, 2, 3].map((n) => new Send("add", { n })), ["add"])
      .addEdge("add", END)
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    expect(await app.invoke({ n: 0 }, config)).toMatchObject({ sum: 106 });
    expect(calls).toEqual([[100, [1, 2, 3]]]);
    expect((await app.getState(config)).values).toMatchObject({ sum: 106 });
    // Read back from the checkpoint.
    expect(await app.invoke({ n: 0 }, config)).toMatchObject({ sum: 112 });
  });

  it("R3: without an initial value the channel is empty until it is written", async () => {
    const Maybe = Annotation.Root({ all: reducer(Merge.append<string>()) });
    const app = new StateGraph(Maybe)
      .addNode("look", (state) => ({ all: [`had ${String(state.all)}`] }))
      .addEdge(START, "look")
      .compile();
    expect(await app.invoke({})).toEqual({ all: ["had undefined"] });
  });

  it("R3: what was merged before a pause is there after it, in another process, and is merged once", async () => {
    const { ran, nodes } = fanOf((list) => asking(list, "pay", { confirm: ({ n }) => n > 1 }));
    const pending = one((await nodes.invoke(items(1, 2))).pending);
    const { values } = await nodes.elsewhere().answer(pending);
    expect(values["paid"]).toEqual(["pay 1", "pay 2"]);
    expect(ran).toEqual(["pay 1", "pay 2"]);
  });
});

/** How many listeners one signal had at most that were added by a file of ours. LangGraph adds one a task, and Node warns of it. */
function listenersOfOurs() {
  const original: unknown = Reflect.get(EventTarget.prototype, "addEventListener");
  if (typeof original !== "function") throw new Error("no addEventListener");
  const counts = new Map<EventTarget, number>();
  let most = 0;
  let added = 0;
  const add = vi.spyOn(EventTarget.prototype, "addEventListener").mockImplementation(function watched(
    this: EventTarget,
    ...args
  ) {
    const caller = new Error().stack?.split("\n").find((line) => /\/src\/|node_modules\/(?!@vitest)/.test(line)) ?? "";
    if (!caller.includes("node_modules")) {
      added += 1;
      counts.set(this, (counts.get(this) ?? 0) + 1);
      most = Math.max(most, counts.get(this) ?? 0);
    }
    Reflect.apply(original, this, args);
  });
  return { most: () => most, added: () => added, stop: () => add.mockRestore() };
}

describe("S10: many tasks under one signal", () => {
  it("S10, R1: a hundred Sends, plain and asking, resumed a few times, pile up no listeners of ours", async () => {
    const listeners = listenersOfOurs();
    const { signal } = new AbortController();
    const ran: string[] = [];
    const pay = asking(ran, "pay", { confirm: ({ n }) => n % 25 === 0, timeoutMs: 10_000 });
    const nodes = new Nodes({
      tools: [pay],
      graph: ({ executor }) =>
        new StateGraph(State)
          .addNode("pay", toolTask(pay as never, { executor, into: "paid" }))
          .addConditionalEdges(START, fanOut<typeof State.State>("pay", "items"), ["pay"])
          .addEdge("pay", END) as never,
    });
    const config = { ...nodes.config, signal };
    const input = items(...Array.from({ length: 100 }, (_, n) => n));
    const { pending } = await nodes.invoke(input, config);
    expect(pending).toHaveLength(4);
    for (const each of pending.slice(0, 3)) await nodes.answerAll([each], undefined, config);
    const end = await nodes.answerAll(pending.slice(3), undefined, config);
    listeners.stop();
    expect(end.values["paid"]).toHaveLength(100);
    expect(new Set(ran).size).toBe(100);
    expect(listeners.added()).toBeGreaterThan(100);
    expect(listeners.most()).toBe(1);
  });
});
