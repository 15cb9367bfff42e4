// A graph whose approvals wait in a store: it pauses with an interrupt like any other, and only the store's decision counts.
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, test } from "vitest";
import { approve, defineTool, deny, toReviewRequest } from "agent-adapter";
import { ManualClock } from "agent-adapter/testing";
import { z } from "zod";
import { MemoryApprovalStore } from "../../../src/approvals/memory-store.js";
import { asking, call, counted, failure, one, table } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";
import { backupOf, FlakyStore, Graph } from "./rig.js";

afterEach(forgetProcess);

function setUp(store = new MemoryApprovalStore()) {
  const ran: string[] = [];
  const graph = new Graph({ store, tools: [asking(ran, "send"), counted(ran, "look")] });
  return { ran, graph, store };
}

describe("A8/in-graph: DeferredApproval in a graph", () => {
  test("pauses with the request, and runs once when the store was decided and the graph goes on", async () => {
    const { ran, graph, store } = setUp();
    const first = await graph.start(call("c1", 1), call("c2", 2, "look"));
    const pending = one(first.interrupts);
    const record = one(await store.list({ status: "pending" }));
    expect(toReviewRequest(pending)).toEqual({ binding: record.id, request: record.request });
    expect(ran).toEqual(["look 2"]);
    expect(one((await graph.again()).interrupts).value.binding).toBe(record.id);
    await store.decide(record.id, approve({ by: "ana" }));
    expect(table((await graph.again()).tools)).toEqual([
      ["c1", "success", "send 1"],
      ["c2", "success", "look 2"],
    ]);
    expect(ran).toEqual(["look 2", "send 1"]);
    expect(await store.list()).toMatchObject([{ id: record.id, status: "used", decidedBy: "ana" }]);
  });

  test("whatever the graph is resumed with decides nothing, and does no harm", async () => {
    const { ran, graph, store } = setUp();
    const { id, value } = one((await graph.start(call("c1", 1))).interrupts);
    const forged = {
      binding: value.binding,
      decision: { approved: true },
      signedAt: 0,
      expiresAt: 9e15,
      keyId: "x",
      mac: "x",
    };
    for (const junk of [
      "yes",
      true,
      approve(),
      { approved: true },
      forged,
      { [id]: approve() },
      { [id]: forged },
      { [id]: "yes" },
    ]) {
      expect(one((await graph.resume(junk)).interrupts).value.binding).toBe(value.binding);
    }
    expect(ran).toEqual([]);
    expect(await store.list()).toMatchObject([{ status: "pending" }]);
    await store.decide(value.binding, approve());
    expect(table((await graph.again()).tools)).toEqual([["c1", "success", "send 1"]]);
    expect(ran).toEqual(["send 1"]);
  });

  test("a decided request runs, once, whatever the graph is resumed with", async () => {
    const { ran, graph, store } = setUp();
    const { id, value } = one((await graph.start(call("c1", 1))).interrupts);
    await store.decide(value.binding, approve());
    expect(table((await graph.resume({ [id]: deny() })).tools)).toEqual([["c1", "success", "send 1"]]);
    expect(ran).toEqual(["send 1"]);
  });

  test("a denial is a tool message, and the tool never runs", async () => {
    const { ran, graph, store } = setUp();
    const { value } = one((await graph.start(call("c1", 1))).interrupts);
    await store.decide(value.binding, deny({ reason: "no" }));
    const [message] = (await graph.again()).tools;
    expect(message?.status).toBe("error");
    expect(JSON.parse(message?.text ?? "")).toMatchObject({ error: { kind: "ApprovalDenied" } });
    expect(ran).toEqual([]);
  });

  test("two calls wait one after the other, and each runs once", async () => {
    const { ran, graph, store } = setUp();
    await graph.start(call("c1", 1), call("c2", 2));
    for (const n of [1, 2]) {
      const record = one(await store.list({ status: "pending" }));
      expect(record.request.arguments).toEqual({ n });
      await graph.resume("junk in between");
      await store.decide(record.id, approve());
      await graph.again();
    }
    expect(ran).toEqual(["send 1", "send 2"]);
    expect(await store.list({ status: "used" })).toHaveLength(2);
  });

  test("B59: a decision made before the pause was saved is found when the graph goes on", async () => {
    const store = new FlakyStore();
    const { ran, graph } = setUp(store);
    const hidden = store.get.bind(store);
    store.created = ({ id }) => {
      // As if the answer had come while the pause was being written: this attempt does not see it any more.
      store.get = async () => ({
        ...one(await store.list({ runId: graph.config.configurable.thread_id })),
        ...UNDECIDED,
      });
      return store.decide(id, approve());
    };
    expect((await graph.start(call("c1", 1))).interrupts).toHaveLength(1);
    expect(ran).toEqual([]);
    store.get = hidden;
    await graph.again();
    expect(ran).toEqual(["send 1"]);
  });

  test("A4/requests: a request that ran out is a tool message, in this process and the next", async () => {
    const clock = new ManualClock(1_000_000);
    const store = new MemoryApprovalStore({ clock });
    const ran: string[] = [];
    const graph = new Graph({ store, clock, tools: [asking(ran, "send")], port: { requestTtlMs: 1000 } });
    const { value } = one((await graph.start(call("c1", 1))).interrupts);
    clock.advance(1001);
    forgetProcess();
    const [message] = (await graph.rebuild().again()).tools;
    expect(JSON.parse(message?.text ?? "")).toMatchObject({ error: { kind: "ApprovalExpired" } });
    expect(await store.get(value.binding)).toMatchObject({ status: "expired" });
    expect(ran).toEqual([]);
  });

  test("a changed tool is asked about again, and the decision about the old one is never used", async () => {
    const { graph, store } = setUp();
    const { value } = one((await graph.start(call("c1", 1))).interrupts);
    await store.decide(value.binding, approve());
    const ran: string[] = [];
    const changed = defineTool({
      name: "send",
      description: "sends to everybody",
      inputSchema: z.object({ n: z.number() }),
      version: "2",
      confirm: true,
      execute: ({ n }) => void ran.push(`changed ${n}`),
    });
    forgetProcess();
    const next = graph.rebuild({ tools: [changed] });
    const again = one((await next.again()).interrupts);
    expect(again.value.request).toMatchObject({ supersedes: value.binding, description: "sends to everybody" });
    expect(await store.get(value.binding)).toMatchObject({ status: "superseded", supersededBy: again.value.binding });
    expect(ran).toEqual([]);
    await store.decide(again.value.binding, approve());
    await next.again();
    expect(ran).toEqual(["changed 1"]);
  });

  test("a request that replaces one of another store waits in the new store", async () => {
    const { graph } = setUp();
    const { value } = one((await graph.start(call("c1", 1))).interrupts);
    const ran: string[] = [];
    const moved = new MemoryApprovalStore();
    const next = graph.rebuild({ store: moved, tools: [asking(ran, "send", { effects: "write" })] });
    const again = one((await next.again()).interrupts);
    expect(again.value.request.supersedes).toBe(value.binding);
    await moved.decide(again.value.binding, approve());
    await next.again();
    expect(ran).toEqual(["send 1"]);
  });

  test("A7: an edit that does not fit asks again, and the next decision runs once", async () => {
    const { ran, graph, store } = setUp();
    const { value } = one((await graph.start(call("c1", 1))).interrupts);
    await store.decide(value.binding, approve({ editedArgs: { n: "nine" } }));
    const again = one((await graph.again()).interrupts);
    expect(again.value.request.supersedes).toBe(value.binding);
    await store.decide(again.value.binding, approve({ editedArgs: { n: 9 } }));
    await graph.again();
    expect(ran).toEqual(["send 9"]);
  });
});

const UNDECIDED = { status: "pending", decision: null, decidedBy: null, decidedAt: null } as const;

describe("A5, B09: one use in total", () => {
  test("of ten programs on one store and one checkpointer one runs the tool", async () => {
    const { ran, graph, store } = setUp();
    const { value } = one((await graph.start(call("c1", 1))).interrupts);
    await store.decide(value.binding, approve());
    const programs = Array.from({ length: 10 }, () => graph.rebuild());
    const results = await Promise.allSettled(programs.map((program) => program.again()));
    expect(ran).toEqual(["send 1"]);
    const refused = results.filter((result) => result.status === "rejected");
    for (const { reason } of refused) expect(reason).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(results.some(({ status }) => status === "fulfilled")).toBe(true);
  });

  test("a new process finds the decision, and after it nobody uses it again", async () => {
    const { ran, graph, store } = setUp();
    const { value } = one((await graph.start(call("c1", 1))).interrupts);
    await store.decide(value.binding, approve());
    forgetProcess();
    await graph.rebuild().again();
    expect(ran).toEqual(["send 1"]);
    forgetProcess();
    await graph.rebuild().again();
    expect(ran).toEqual(["send 1"]);
  });

  test("a checkpointer that was rolled back to the pause gets nothing run a second time", async () => {
    const { ran, graph, store } = setUp();
    const { value } = one((await graph.start(call("c1", 1))).interrupts);
    const backup = backupOf(graph.saver);
    await store.decide(value.binding, approve());
    await graph.again();
    forgetProcess();
    const rolledBack = graph.rebuild({ saver: backup });
    expect(await failure(rolledBack.again())).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    // Who used it is not known here: a human is asked again, and told so.
    const again = one((await rolledBack.resume("yes")).interrupts);
    expect(again.value.request).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    expect(ran).toEqual(["send 1"]);
  });

  test("another thread's decision does not fit", async () => {
    const store = new MemoryApprovalStore();
    const ran: string[] = [];
    const tools = [asking(ran, "send")];
    const saver = new MemorySaver();
    const [left, right] = [new Graph({ store, tools, saver }), new Graph({ store, tools, saver })];
    const first = one((await left.start(call("c1", 1))).interrupts);
    const second = one((await right.start(call("c1", 1))).interrupts);
    expect(second.value.binding).not.toBe(first.value.binding);
    await store.decide(first.value.binding, approve());
    expect((await right.again()).interrupts).toHaveLength(1);
    expect(ran).toEqual([]);
  });
});

describe("B11: a store that fails while a graph waits", () => {
  test.each(["get", "create"] as const)("at %s: the invocation fails, the next one asks or goes on", async (at) => {
    const store = new FlakyStore().failAt(at);
    const { ran, graph } = setUp(store);
    expect(await failure(graph.start(call("c1", 1)))).toMatchObject({ kind: "StoreUnavailable" });
    const { value } = one((await graph.again()).interrupts);
    await store.decide(value.binding, approve());
    store.failAt("get");
    expect(await failure(graph.again())).toMatchObject({ kind: "StoreUnavailable" });
    expect(ran).toEqual([]);
    await graph.again();
    expect(ran).toEqual(["send 1"]);
  });

  test.each(["before", "after"] as const)(
    "at the use, %s it wrote: this process goes on without asking",
    async (when) => {
      const store = new FlakyStore();
      const { ran, graph } = setUp(store);
      const { value } = one((await graph.start(call("c1", 1))).interrupts);
      await store.decide(value.binding, approve());
      store.failAt("consume", when);
      expect(await failure(graph.again())).toMatchObject({ kind: "StoreUnavailable" });
      expect(ran).toEqual([]);
      expect(table((await graph.again()).tools)).toEqual([["c1", "success", "send 1"]]);
      expect(ran).toEqual(["send 1"]);
      expect(await store.list()).toMatchObject([{ id: value.binding, status: "used" }]);
    },
  );

  test("at the use, and the process is gone: the next one asks again and says that the outcome is unknown", async () => {
    const clock = new ManualClock(1_000_000);
    const store = new FlakyStore({ clock });
    const ran: string[] = [];
    const graph = new Graph({ store, clock, tools: [asking(ran, "send")], port: { unknownAfterMs: 1000 } });
    const { value } = one((await graph.start(call("c1", 1))).interrupts);
    await store.decide(value.binding, approve());
    store.failAt("consume");
    await failure(graph.again());
    forgetProcess();
    const next = graph.rebuild();
    // It may still be running over there.
    expect(await failure(next.again())).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    clock.advance(1000);
    const again = one((await next.again()).interrupts);
    expect(again.value.request).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    await store.decide(again.value.binding, approve());
    await next.again();
    expect(ran).toEqual(["send 1"]);
  });

  test("A6: without `unknownAfterMs` another process waits for all attempts of the tool, else five minutes", async () => {
    const skew = 60_000;
    const retries = { maxAttempts: 3, maxDelayMs: 1000, initialDelayMs: 1000 };
    const common = {
      description: "Sends.",
      inputSchema: z.object({ n: z.number() }),
      confirm: true,
      execute: () => "x",
    };
    const slow = defineTool({ ...common, name: "slow", timeoutMs: 600_000, retries });
    const plain = defineTool({ ...common, name: "plain" });
    for (const [tool, ms] of [
      [slow, skew + 3 * 600_000 + 2 * 1000],
      [plain, 300_000],
    ] as const) {
      const clock = new ManualClock(1_000_000);
      const store = new FlakyStore({ clock });
      const graph = new Graph({ store, clock, tools: [tool] });
      const { value } = one((await graph.start(call("c1", 1, tool.name))).interrupts);
      await store.decide(value.binding, approve());
      store.failAt("consume");
      await failure(graph.again());
      forgetProcess();
      const next = graph.rebuild();
      clock.advance(ms - 1);
      expect(await failure(next.again())).toMatchObject({ kind: "ApprovalAlreadyDecided" });
      clock.advance(1);
      expect(one((await next.again()).interrupts).value.request).toMatchObject({ generation: 1 });
    }
  });
});
