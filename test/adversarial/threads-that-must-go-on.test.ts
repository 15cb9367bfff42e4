// Uses that are legal and rare, and input that is hostile, must not leave a thread that nobody can finish.
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { RunnableConfig } from "@langchain/core/runnables";
import { afterEach, describe, expect, it } from "vitest";
import {
  approve,
  CallbackApproval,
  DeferredApproval,
  deny,
  Executor,
  MemoryApprovalStore,
  Registry,
  type ApprovalPort,
} from "agent-adapter";
import {
  isInvalidAnswer,
  LangGraphApproval,
  oneUse,
  pendingApprovals,
  resume,
  toolNode,
} from "agent-adapter/langgraph";
import { unwrapItem, wrapItem } from "../../src/integrations/langgraph/send-item.js";
import {
  ai,
  asking,
  call,
  counted,
  failure,
  interruptsOf,
  KEY,
  one,
  sleep,
  Stand,
  table,
  turnOf,
} from "../support/langgraph.js";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

describe("one node that calls the tool node twice", () => {
  const twice = (beside: boolean, ran: string[]) =>
    new Stand({
      tools: () => [asking(ran, "send")],
      saver: new MemorySaver(),
      graph: (node, checkpointer) =>
        new StateGraph(MessagesAnnotation)
          .addNode("custom", async (_state, config: RunnableConfig) => {
            const first = () => node.invoke({ messages: [ai([call("c1", 1)])] }, config);
            const second = () => node.invoke({ messages: [ai([call("c2", 2)])] }, config);
            const outputs = beside ? await Promise.all([first(), second()]) : [await first(), await second()];
            return { messages: outputs.flatMap((output) => turnOf(output).messages) };
          })
          .addEdge(START, "custom")
          .compile({ checkpointer }) as never,
    });

  it.each([false, true])(
    "L3, A6: each of them gets its own answer, in this and in a new process (beside: %s)",
    async (beside) => {
      const ran: string[] = [];
      const stand = twice(beside, ran);
      let turn = await stand.start();
      for (const renewed of [false, true]) {
        if (renewed) forgetProcess();
        const pending = one(turn.interrupts);
        turn = await (renewed ? stand.rebuild() : stand).decide(pending);
      }
      expect(table(turn.tools)).toEqual([
        ["c1", "success", "send 1"],
        ["c2", "success", "send 2"],
      ]);
      expect(ran.toSorted()).toEqual(["send 1", "send 2"]);
    },
  );
});

it("J1, R4: equal calls without ids in two wrapped functions of one node are two calls", async () => {
  const ran: string[] = [];
  const stand = new Stand({
    tools: () => [asking(ran, "send")],
    graph: (_node, checkpointer, executor) => {
      const once = oneUse(async () => executor.run("send", { n: 1 }), { executor });
      return new StateGraph(MessagesAnnotation)
        .addNode("custom", async (state, config) => {
          await once(state, config);
          await once(state, config);
          return {};
        })
        .addEdge(START, "custom")
        .compile({ checkpointer }) as never;
    },
  });
  const first = one((await stand.start()).interrupts);
  const second = one((await stand.decide(first)).interrupts);
  expect(second.value.binding).not.toBe(first.value.binding);
  await stand.decide(second);
  expect(ran).toEqual(["send 1", "send 1"]);
});

describe("another kind of port takes over while a request waits", () => {
  function appWith(approval: ApprovalPort, saver: MemorySaver, ran: string[]) {
    const registry = new Registry([asking(ran, "send")]);
    const executor = new Executor(registry, { approval, secret: KEY });
    return new StateGraph(MessagesAnnotation)
      .addNode("tools", toolNode(registry, { executor }))
      .addEdge(START, "tools")
      .compile({ checkpointer: saver });
  }
  const config = { configurable: { thread_id: "t" } };
  const input = { messages: [ai([call("c", 1)])] };

  it.each([
    ["resume values", "a store"],
    ["a store", "resume values"],
  ])("A6, A8: from %s to %s, the new port asks anew and the old answer is worth nothing", async (from) => {
    const ran: string[] = [];
    const saver = new MemorySaver();
    const store = new MemoryApprovalStore();
    const signed = () => new LangGraphApproval();
    const stored = () => new DeferredApproval(store);
    const [before, after] = from === "a store" ? [stored, signed] : [signed, stored];
    const old = appWith(before(), saver, ran);
    const [first] = interruptsOf(await old.invoke(input, config));
    if (from === "a store") await store.decide(first?.value.binding ?? "", approve());
    forgetProcess();

    const app = appWith(after(), saver, ran);
    await app.invoke(null, config);
    const waiting = one(await pendingApprovals(app, config));
    expect(waiting.request.supersedes).toBe(first?.value.binding);
    expect(ran).toEqual([]);

    await resume(app, approve(), config);
    expect(ran).toEqual(["send 1"]);
  });
});

it.each([false, true])(
  "A6, J4: a denial after an unknown outcome stands, whatever order the checkpointer gives its rows in (reversed: %s)",
  async (reversed) => {
    class Saver extends MemorySaver {
      override async getTuple(...args: Parameters<MemorySaver["getTuple"]>) {
        const tuple = await super.getTuple(...args);
        const rows = tuple?.pendingWrites;
        return tuple === undefined || rows === undefined || !reversed
          ? tuple
          : { ...tuple, pendingWrites: rows.toReversed() };
      }
    }
    const saver = new Saver();
    const ran: string[] = [];
    let asked = 0;
    let hours = 0;
    const start = Date.now();
    const appSaying = (decision: ReturnType<typeof approve>) => {
      const registry = new Registry([asking(ran, "send", { body: () => new Promise(() => undefined) })]);
      const executor = new Executor(registry, {
        secret: KEY,
        clock: { now: () => start + hours * 3_600_000, sleep },
        approval: new CallbackApproval(() => {
          asked += 1;
          return decision;
        }),
        hooks: [
          {
            onApproval(_call, { state }) {
              if (state === "denied") throw new Error("the process dies with the denial written");
            },
          },
        ],
      });
      return new StateGraph(MessagesAnnotation)
        .addNode("tools", toolNode(registry, { executor }))
        .addEdge(START, "tools")
        .compile({ checkpointer: saver });
    };
    const config = { configurable: { thread_id: "t" } };
    void appSaying(approve()).invoke({ messages: [ai([call("c", 1)])] }, config);
    while (ran.length === 0) await sleep(1);
    forgetProcess();
    hours = 1;
    await failure(appSaying(deny()).invoke(null, config));
    forgetProcess();
    hours = 2;

    const { tools } = turnOf(await appSaying(approve()).invoke(null, config));

    expect(tools.map(({ status }) => status)).toEqual(["error"]);
    expect([asked, ran.length]).toEqual([2, 1]);
  },
);

describe("hostile input", () => {
  it("T2, T3, B51: a call id that is half a character is one error message, its siblings run", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [counted(ran, "ok")] });
    const { tools } = await stand.start(call("\ud83d", 1, "ok"), call("b", 2, "ok"));
    expect(tools.map(({ status }) => status)).toEqual(["error", "success"]);
    expect(ran).toEqual(["ok 2"]);
  });

  it("L2: refused plain values add a bounded number of rows, and the request stays answerable", async () => {
    const ran: string[] = [];
    const saver = new MemorySaver();
    const stand = new Stand({ tools: () => [asking(ran, "send")], saver });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    for (let i = 0; i < 110; i += 1) expect(isInvalidAnswer(await failure(stand.plain(`no ${i}`)))).toBe(true);
    const rows = Object.values(saver.writes).flatMap((kept) => Object.values(kept));
    expect(rows.filter(([, channel]) => channel === "aa:null")).toHaveLength(100);
    await stand.decide(pending);
    expect(ran).toEqual(["send 1"]);
  });

  it("A3: a live value that says another thing each time it is read is taken at one reading", async () => {
    const ran: string[] = [];
    for (let turn = 1; turn <= 12; turn += 1) {
      const stand = new Stand({ tools: () => [asking(ran, "send")] });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      const denial = stand.sign(pending, deny());
      const forged = { ...denial, decision: { approved: true } };
      let readings = 0;
      let now: object = denial;
      const changing = new Proxy(denial, {
        ownKeys(target) {
          readings += 1;
          now = readings === turn ? forged : denial;
          return Reflect.ownKeys(target);
        },
        getOwnPropertyDescriptor: (_target, key) => Reflect.getOwnPropertyDescriptor(now, key),
        get: (_target, key) => Reflect.get(now, key),
      });
      await stand.resume({ [pending.id]: changing }).catch(() => undefined);
    }
    expect(ran).toEqual([]);
  });

  it("R2: an item that looks like a wrapped one arrives as it was, and one that is no JSON is not quoted", () => {
    for (const item of [{ aa_item: '{"n":1}' }, { aa_item: "a secret" }])
      expect(unwrapItem(wrapItem(item))).toEqual(item);
    expect(unwrapItem({ aa_item: "a secret" })).toEqual({ aa_item: "a secret" });
  });
});
