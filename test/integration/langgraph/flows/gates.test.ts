// Gates of a compiled flow against everything that LangGraph lets a caller do, and what each of it leaves behind.
import { Command, MemorySaver, Send, StateGraph, Annotation, START } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { Flow } from "agent-adapter/flow";
import { approve, deny, DeferredApproval, MemoryApprovalStore } from "agent-adapter";
import { failure, sleep } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";
import { FlowStand, oneGate, paused, resumeWith, twoGates } from "./rig.js";

afterEach(forgetProcess);

const BEHIND = ["a 1", "all 1", "b 1", "c 1", "read 1"];

/** Asked about the first gate of the step, and nothing of it has run. */
async function asked(renewed: boolean, options: Partial<ConstructorParameters<typeof FlowStand>[0]> = {}) {
  const stand = new FlowStand({ flow: twoGates, ...options });
  await stand.invoke({ n: 1 });
  expect(stand.ran).toEqual(["start 1"]);
  stand.ran.length = 0;
  return renewed ? stand.elsewhere() : stand;
}

const raw: Readonly<Record<string, (stand: FlowStand) => Promise<unknown>>> = {
  "invoke(null)": (stand) => stand.invoke(null),
  "invoke(null) five times": async (stand) => {
    for (let time = 0; time < 5; time += 1) await stand.invoke(null);
  },
  "interruptBefore: []": (stand) => stand.invoke(null, { ...stand.config, interruptBefore: [], interruptAfter: [] }),
  "an update of the progress": (stand) => stand.invoke(new Command({ update: { aa_visits: "forged" } })),
  "an update of the progress with null": (stand) => stand.invoke(new Command({ update: { aa_visits: null } })),
  "an update of every reserved key": (stand) =>
    stand.invoke(new Command({ update: { aa_begin: "x", aa_grant: true, aa_visits: {}, aa_state: 1 } })),
  "reserved keys in configurable": (stand) =>
    stand.invoke(null, {
      ...stand.config,
      configurable: {
        ...stand.config.configurable,
        aa_grant: "a",
        aa_resume: "yes",
        aa_concurrency: 1,
        __pregel_resume_map: {},
      },
    }),
  "goto the gated node": (stand) => stand.invoke(new Command({ goto: "c" })),
  "goto its sibling": (stand) => stand.invoke(new Command({ goto: "b" })),
  "goto the join behind it": (stand) => stand.invoke(new Command({ goto: "all" })),
  "goto and update": (stand) => stand.invoke(new Command({ goto: ["a", "b"], update: { aa_visits: "x" } })),
  "an answer that nobody signed": (stand) => failure(stand.invoke(new Command({ resume: "yes" }))),
};

describe.each([
  ["this process", false],
  ["another process", true],
] as const)("C3, B45: two gates in a step, raw calls in %s", (_where, renewed) => {
  it.each(Object.keys(raw))(
    "%s: nothing of the step runs, siblings included, and the flow can be finished",
    async (name) => {
      const stand = await asked(renewed);
      await raw[name]?.(stand);
      expect(stand.ran).toEqual([]);
      expect(await stand.waiting()).toBe("a");
      expect((await stand.finish(renewed)).status).toBe("done");
      expect(stand.ran.toSorted()).toEqual(BEHIND);
    },
  );

  it.each([
    ["a gated node", [new Send("c", {})]],
    ["a gated node, with a state", [new Send("c", { n: 2, aa_begin: "x" })]],
    ["its sibling", [new Send("b", {})]],
    ["both", [new Send("b", {}), new Send("c", {})]],
    ["the first node, without a sealed input", [new Send("start", { n: 9 })]],
    ["one while the other goes", ["b", new Send("c", {})]],
  ] as const)("a Send into %s is dropped: nothing runs, and the flow can be finished", async (_what, goto) => {
    const stand = await asked(renewed);
    await stand.invoke(new Command({ goto: [...goto] }));
    await stand.invoke(null);
    expect(stand.ran).toEqual([]);
    expect(await stand.waiting()).toBe("a");
    expect((await stand.finish(renewed)).status).toBe("done");
    expect(stand.ran.toSorted()).toEqual(BEHIND);
  });

  // Nobody is who ran last.
  it.each(["a", "b", "c", "start", undefined])(
    "updateState as %s may lose the flow, and runs nothing behind a gate",
    async (node) => {
      const stand = await asked(renewed);
      const { config: before } = await stand.app.getState(stand.config as never);
      await stand.app.updateState(stand.config as never, { n: 2 } as never, node);
      await stand.invoke(null);
      expect(stand.ran).toEqual([]);
      // LangGraph has dropped the nodes; the checkpoint before still has them.
      expect(await stand.waiting()).toBe("");
      await stand.invoke(null, before);
      expect((await stand.finish(renewed)).status).toBe("done");
      expect(stand.ran.toSorted()).toEqual(BEHIND);
    },
  );

  it("new input on a paused thread abandons it: the old answer is for nothing, and nothing is left of the old step", async () => {
    const stand = await asked(renewed);
    const old = await stand.only();
    expect((await stand.run({ n: 2 })).status).toBe("paused");
    expect(await failure(stand.run(stand.sign(old)))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect((await stand.finish(renewed)).status).toBe("done");
    expect(stand.ran.toSorted()).toEqual(["a 2", "all 2", "b 2", "c 2", "read 2", "start 2"]);
  });
});

describe("C3: gates of one step", () => {
  it("B45: a gate that was passed is pending no more while the next one waits", async () => {
    const stand = await asked(false);
    const second = paused(await stand.run(approve({ by: "ana" })));
    expect(second.pendings.map(({ node }) => node)).toEqual(["c"]);
    expect(await stand.waiting()).toBe("c");
    expect(stand.ran).toEqual([]);
    expect((await stand.run(approve({ by: "ana" }))).status).toBe("done");
    expect(await stand.entries()).toEqual(["a ok", "c ok", "read ok"]);
  });

  it.each([false, true])(
    "B45: a denied gate ends the run, and nothing of its step ever runs (elsewhere: %s)",
    async (renewed) => {
      const stand = await asked(renewed);
      await stand.run(approve({ by: "ana" }));
      const denied = await stand.run(deny({ by: "ben" }));
      expect(denied).toMatchObject({ status: "denied", node: "c" });
      expect(await failure(stand.invoke(null))).toMatchObject({ kind: "ApprovalDenied" });
      // LangGraph makes a new step of it: another task run, and a human is asked again.
      await stand.invoke(new Command({ goto: "c" }));
      expect(await stand.waiting()).toBe("a");
      expect(stand.ran).toEqual([]);
    },
  );

  it.each([false, true])(
    "an edit of one gate is what its siblings and later gates see (elsewhere: %s)",
    async (renewed) => {
      const stand = await asked(renewed);
      const second = paused(await stand.run(approve({ by: "ana", editedArgs: { n: 7 } })));
      expect(second.pending.request.arguments).toEqual({ n: 7 });
      if (renewed) stand.elsewhere();
      expect(await stand.run(approve({ by: "ana" }))).toMatchObject({ status: "done", state: { n: 7 } });
      expect(stand.ran.toSorted()).toEqual(["a 7", "all 7", "b 7", "c 7", "read 7"]);
    },
  );

  it("C6, A8: a store decides about gates one by one, and the flow is continued with null", async () => {
    const store = new MemoryApprovalStore();
    const stand = await asked(true, { port: () => new DeferredApproval(store) });
    for (const node of ["a", "c"]) {
      const waiting = await stand.only();
      expect(waiting.node).toBe(node);
      await stand.run(null);
      expect(stand.ran).toEqual([]);
      await store.decide(waiting.approvalId ?? "", approve({ by: "ana" }));
      await stand.elsewhere().run(null);
    }
    expect(stand.ran.toSorted()).toEqual(BEHIND);
  });
});

describe.each([1, 2, 3, 4])("C3, B45: under a cap of %i nodes at once", (maxConcurrency) => {
  it.each([false, true])(
    "nothing runs early, nothing hangs, everything finishes once (elsewhere: %s)",
    async (renewed) => {
      const stand = await asked(renewed, { maxConcurrency });
      expect(await stand.waiting()).toBe("a");
      await stand.invoke(null);
      const { binding } = await stand.only();
      await stand.run({ [binding]: approve({ by: "ana" }) });
      expect(stand.ran).toEqual([]);
      if (renewed) stand.elsewhere();
      // The raw verb needs no extra call either.
      await stand.invoke(resumeWith(await stand.signed()));
      expect(stand.ran.toSorted()).toEqual(BEHIND);
    },
  );

  it("never more than that many visits run at once, also through withConfig", async () => {
    let running = 0;
    let most = 0;
    const busy = async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(5);
      running -= 1;
    };
    const stand = new FlowStand({
      flow: () => {
        const names = ["s", "t", "u", "v", "w"] as const;
        const drawn = new Flow("busy", { state: z.object({ n: z.number() }) })
          .node("first", () => ({}))
          .node("s", busy, { pause: ({ n }) => ({ n }) })
          .node("t", busy)
          .node("u", busy)
          .node("v", busy)
          .node("w", busy);
        return names.reduce((flow, name) => flow.edge("first", name).end(name), drawn);
      },
    });
    const app = stand.app.withConfig({ maxConcurrency } as never);
    await app.invoke({ n: 1 } as never, { configurable: { thread_id: stand.thread } });
    await app.invoke(resumeWith(await stand.signed()) as never, { configurable: { thread_id: stand.thread } });
    expect(most).toBe(maxConcurrency);
    expect(await stand.waiting()).toBe("");
  });
});

describe("C3: the state under a gate", () => {
  it.each([false, true])(
    "an update with the answer is not let through by it: the gate asks about the new state (elsewhere: %s)",
    async (renewed) => {
      const stand = new FlowStand({ flow: oneGate });
      await stand.invoke({ n: 1 });
      if (renewed) stand.elsewhere();
      const old = await stand.only();
      await stand.invoke(resumeWith(await stand.signed(), { update: { n: 9000 } }));
      expect(stand.ran).toEqual(["read 1"]);
      const asks = await stand.only();
      expect(asks.request).toMatchObject({ arguments: { n: 9000 }, supersedes: old.binding });
      // The old answer once more: for a request that is none any more.
      expect(await failure(stand.run(stand.sign(old)))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
      await failure(stand.invoke(resumeWith({ [old.id]: stand.sign(old) })));
      expect(stand.ran).toEqual(["read 1"]);
      if (renewed) stand.elsewhere();
      expect(await stand.run(approve({ by: "ana" }))).toMatchObject({ status: "done", state: { n: 9000 } });
      expect(stand.ran).toEqual(["read 1", "send 9000", "note 9000", "after 9000"]);
    },
  );

  it("an update before any answer asks about the new state, and nothing of the step runs", async () => {
    const stand = await asked(false);
    const old = await stand.only();
    await stand.invoke(new Command({ update: { n: 3 } }));
    const asks = await stand.only();
    expect(asks.request.arguments).toEqual({ n: 3 });
    expect(await failure(stand.run(stand.sign(old)))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(stand.ran).toEqual([]);
  });

  it.each([undefined, 1])(
    "a gate that was passed for another state lets nobody through, its siblings neither (cap: %s)",
    async (maxConcurrency) => {
      const stand = await asked(true, maxConcurrency === undefined ? {} : { maxConcurrency });
      await stand.run(approve({ by: "ana" }));
      stand.elsewhere();
      await failure(stand.invoke(resumeWith(await stand.signed(), { update: { n: 9000 } })));
      for (let time = 0; time < 3; time += 1)
        expect(await failure(stand.invoke(null))).toMatchObject({ kind: "ToolUsageError" });
      expect(stand.ran).toEqual([]);
      // The documented way out: an update is a new step, in which every gate asks anew.
      await stand.invoke(new Command({ update: { n: 1 } }));
      expect((await stand.finish(true)).status).toBe("done");
      expect(stand.ran.toSorted()).toEqual(BEHIND);
    },
  );
});

it("C5, C3: a checkpointer is demanded at the first gate, not by compile()", async () => {
  const stand = new FlowStand({ flow: oneGate, around: (graph) => graph.compile() });
  expect(await failure(stand.invoke({ n: 1 }))).toMatchObject({ kind: "ToolUsageError" });
  expect(stand.ran).toEqual(["read 1"]);
});

describe("why gates are interrupts of ours: what LangGraph's interruptBefore does", () => {
  const State = Annotation.Root({ n: Annotation<number>() });
  function gated(ran: string[]) {
    return new StateGraph(State)
      .addNode("gated", () => {
        ran.push("gated");
        return {};
      })
      .addNode("beside", () => {
        ran.push("beside");
        return {};
      })
      .addEdge(START, "gated")
      .addEdge(START, "beside");
  }

  it("surfaces nothing to answer, and invoke(null), an empty update or a setting of the caller pass it", async () => {
    const ran: string[] = [];
    const app = gated(ran).compile({ checkpointer: new MemorySaver(), interruptBefore: ["gated"] });
    let thread = 0;
    const config = () => ({ configurable: { thread_id: `t${(thread += 1)}` } });
    const pass: Readonly<Record<string, (at: { configurable: { thread_id: string } }) => Promise<unknown>>> = {
      null: (at) => app.invoke(null, at),
      "an update": (at) =>
        app.invoke(new Command({ update: {} as never, goto: [] }), at).catch(() => app.invoke(null, at)),
    };
    for (const how of Object.values(pass)) {
      ran.length = 0;
      const at = config();
      expect(await app.invoke({ n: 1 }, at)).toMatchObject({ __interrupt__: [] });
      const { tasks } = await app.getState(at);
      expect(tasks.flatMap(({ interrupts }) => interrupts)).toEqual([]);
      await how(at);
      expect(ran.toSorted()).toEqual(["beside", "gated"]);
    }
    ran.length = 0;
    await app.invoke({ n: 1 }, { ...config(), interruptBefore: [] });
    expect(ran.toSorted()).toEqual(["beside", "gated"]);
  });

  it("a parent of it has nothing to answer either, and passes it with null", async () => {
    const ran: string[] = [];
    const app = new StateGraph(State)
      .addNode("inner", gated(ran).compile({ interruptBefore: ["gated"] }))
      .addEdge(START, "inner")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    expect(await app.invoke({ n: 1 }, config)).toMatchObject({ __interrupt__: [] });
    expect(ran).toEqual([]);
    await app.invoke(null, config);
    expect(ran.toSorted()).toEqual(["beside", "gated"]);
  });

  it("C3: ours costs no invocation more: one to the question, one with the answer", async () => {
    const stand = new FlowStand({ flow: oneGate });
    await stand.invoke({ n: 1 });
    expect((await stand.invoke(resumeWith(await stand.signed()))).__interrupt__).toBeUndefined();
    expect(stand.ran).toEqual(["read 1", "send 1", "note 1", "after 1"]);
  });
});
