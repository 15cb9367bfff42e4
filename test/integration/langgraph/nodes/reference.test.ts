// The tables and sentences of the documentation about re-runs, failures, cancellation, forks and `updateState`, each as a test
// of that name. Where this library does more than the system it was modelled on, the title says so.
import { Annotation, Command } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import {
  approve,
  DeferredApproval,
  deny,
  MemoryApprovalStore,
  ToolError,
  type Executor,
  type Hook,
} from "agent-adapter";
import { isInvalidAnswer, LangGraphApproval, oneUse, resume } from "agent-adapter/langgraph";
import { asking, call, counted, failure, KEY, one, sleep, Stand, table, text } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";
import { Nodes, oneNodeGraph, type Options } from "./rig.js";

afterEach(forgetProcess);
const State = Annotation.Root({ got: Annotation<unknown>() });

type Body = (executor: Executor) => unknown;
const run = (executor: Executor, tool: string, n: number) => executor.run(tool, { n }, { callId: `${tool}-${n}` });

function ownNode(body: Body, more: Partial<Options> = {}) {
  const ran: string[] = [];
  const nodes = new Nodes({
    tools: [asking(ran, "send"), asking(ran, "pay"), counted(ran, "look")],
    graph: ({ executor }) =>
      oneNodeGraph(
        State,
        oneUse(async () => ({ got: await body(executor) }), { executor }),
      ),
    ...more,
  });
  return { ran, nodes };
}

/** Always fails after the tool. */
const failsAfter: Partial<Hook> = {
  afterTool: () => {
    throw new Error("the hook is down");
  },
};

describe("L4: the tool node, What and How", () => {
  it("L4, T1: call id: the tool call's id; a call without one gets <task namespace>:<index>", async () => {
    const stand = new Stand({ tools: () => [counted([], "look")] });
    const { tools } = await stand.start(call("c1", 1, "look"), { name: "look", args: { n: 2 } });
    expect(tools.map(({ tool_call_id: id }) => id)).toEqual(["c1", expect.stringMatching(/^tools:[\w-]+:1$/)]);
  });

  it("L4, T1: run id: inside an adapter run that run, else `run_id`, else the thread", async () => {
    for (const [configurable, expected] of [
      [{}, "a thread"],
      [{ run_id: "a run" }, "a run"],
    ] as const) {
      const stand = new Stand({ tools: () => [counted([], "look")], thread: "a thread", configurable });
      await stand.start(call("c1", 1, "look"));
      expect((await stand.entries())[0]).toMatchObject({ runId: expected, threadId: "a thread" });
    }
  });

  it("L4, E8: order: calls whose rule says yes run one at a time after the others, so each resume answers one interrupt", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send"), counted(ran, "look")] });
    const first = one((await stand.start(call("a", 1), call("b", 2, "look"), call("c", 3))).interrupts);
    expect([first.value.request.callId, ran]).toEqual(["a", ["look 2"]]);
    const second = one((await stand.decide(first)).interrupts);
    expect([second.value.request.callId, ran]).toEqual(["c", ["look 2", "send 1"]]);
    expect(table((await stand.decide(second)).tools).map(([id]) => id)).toEqual(["a", "b", "c"]);
  });

  it("L4, T3: errors for the model, unknown tools and duplicate ids are error messages; other errors are raised from the node", async () => {
    const ran: string[] = [];
    const no = counted(ran, "no", {
      body: () => {
        throw new ToolError("not today");
      },
    });
    const down = counted(ran, "down", {
      body: () => {
        throw new Error("down");
      },
    });
    const stand = new Stand({ tools: () => [no, down, asking(ran, "send")] });
    const { tools } = await stand.start(
      call("a", 1, "no"),
      call("b", 1, "nobody"),
      call("c", 1, "no"),
      call("c", 2, "no"),
    );
    expect(
      tools.map((message) => [message.status, (JSON.parse(text(message)) as { error: { kind: string } }).error.kind]),
    ).toEqual([
      ["error", "ToolError"],
      ["error", "ToolNotFound"],
      ["error", "ToolError"],
      ["error", "ToolError"],
    ]);
    expect(await failure(new Stand({ tools: () => [down] }).start(call("a", 1, "down")))).toMatchObject({
      kind: "ToolFailed",
    });
  });
});

describe("L4: resume values", () => {
  it("L4, A7: bound and signed: the decision applies (the edit runs), once per task run", async () => {
    const { ran, nodes } = ownNode((executor) => run(executor, "send", 1));
    const pending = await nodes.asked();
    expect((await nodes.answer(pending, approve({ editedArgs: { n: 5 } }))).values["got"]).toBe("send 5");
    expect(ran).toEqual(["send 5"]);
  });

  it("L4, L2: a bare decision, another binding, no or a wrong signature: LangGraph's invalid resume, nothing saved, answer again", async () => {
    const { ran, nodes } = ownNode((executor) => run(executor, "send", 1));
    const pending = await nodes.asked();
    const good = nodes.desk.resumeValue(pending, approve());
    const { mac: _mac, ...unsigned } = good;
    for (const value of [
      approve(),
      { approved: true },
      { ...good, binding: "0".repeat(64) },
      unsigned,
      { ...good, mac: "x" },
    ]) {
      const error = await failure(nodes.invoke(new Command({ resume: { [pending.id]: value } })));
      expect(isInvalidAnswer(error)).toBe(true);
    }
    await nodes.answer(pending);
    expect(ran).toEqual(["send 1"]);
  });

  it("L4, A5/process: the same answer again, at once or on the paused checkpoint: ApprovalAlreadyDecided, the tool runs once", async () => {
    const { ran, nodes } = ownNode((executor) => run(executor, "send", 1));
    const pending = await nodes.asked();
    const { config: paused } = (await nodes.app.getState(nodes.config as never)) as { config: object };
    const command = new Command({ resume: { [pending.id]: nodes.desk.resumeValue(pending, approve()) } });
    const both = await Promise.allSettled([nodes.invoke(command), nodes.invoke(command)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await failure(nodes.invoke(command, paused))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(ran).toEqual(["send 1"]);
  });
});

describe("L4: who decides", () => {
  it("L4, A3: LangGraphApproval without a key: a key of this process, so the run resumes only here; with one, anywhere", async () => {
    const port = new LangGraphApproval();
    const { nodes } = ownNode((executor) => run(executor, "send", 1), { port: () => port });
    const pending = await nodes.asked();
    expect(new LangGraphApproval().check(pending, nodes.desk.resumeValue(pending, approve()))).toBe("signature");
    const shared = ownNode((executor) => run(executor, "send", 1));
    await shared.nodes.elsewhere().answer(await shared.nodes.asked());
    expect(shared.ran).toEqual(["send 1"]);
  });

  it("L4, A8/in-graph: a port with a store: the store only, whatever the graph is resumed with; a record used once is never used again", async () => {
    const store = new MemoryApprovalStore();
    const { ran, nodes } = ownNode((executor) => run(executor, "send", 1), { port: () => new DeferredApproval(store) });
    const pending = await nodes.asked();
    const signed = nodes.desk.resumeValue(pending, approve());
    expect((await nodes.invoke(new Command({ resume: { [pending.id]: signed } }))).pending).toHaveLength(1);
    await store.decide(pending.value.binding, approve());
    await nodes.again();
    expect(await failure(store.consume(pending.value.binding, "another"))).toMatchObject({
      kind: "ApprovalAlreadyDecided",
    });
    expect(ran).toEqual(["send 1"]);
  });

  it("L4, R5: `resume` picks the right path for either port", async () => {
    for (const port of [
      () => new LangGraphApproval({ key: KEY }),
      () => new DeferredApproval(new MemoryApprovalStore()),
    ]) {
      const { ran, nodes } = ownNode((executor) => run(executor, "send", 1), { port });
      await nodes.invoke({});
      await resume(nodes.app, approve(), nodes.config);
      expect(ran).toEqual(["send 1"]);
    }
  });
});

describe("L4: in a oneUse node", () => {
  it("L4: a re-run: calls finished before the pause give their results again; one answer is used once", async () => {
    const { ran, nodes } = ownNode(async (executor) => [
      await run(executor, "look", 1),
      await run(executor, "send", 2),
    ]);
    await nodes.answer(await nodes.asked());
    expect(ran).toEqual(["look 1", "send 2"]);
  });

  it("L4: the re-run fails after a call finished: the retry replays it and goes on (beyond: there it was refused)", async () => {
    let broken = true;
    const { ran, nodes } = ownNode(async (executor) => {
      const sent = await run(executor, "send", 1);
      if (broken) throw new Error("own code");
      return sent;
    });
    expect(String(await failure(nodes.answer(await nodes.asked())))).toContain("own code");
    broken = false;
    expect((await nodes.again()).values["got"]).toBe("send 1");
    expect(ran).toEqual(["send 1"]);
  });

  it("L4, J2: a finished result that is not JSON: the re-run is a ToolUsageError, nothing runs twice, and the answer is not spent", async () => {
    const list: string[] = [];
    const odd = new Nodes({
      tools: [counted(list, "look", { body: () => new Map() }), asking(list, "send")],
      graph: ({ executor }) =>
        oneNodeGraph(
          State,
          oneUse(async () => ({ got: [await run(executor, "look", 1), await run(executor, "send", 2)] }), { executor }),
        ),
    });
    const pending = await odd.asked();
    for (const go of [() => odd.answer(pending), () => odd.again(), () => odd.elsewhere().again()]) {
      expect(await failure(go())).toMatchObject({ kind: "ToolUsageError" });
    }
    expect(list).toEqual(["look 1"]);
  });

  it("L4, G3: arguments that no journal could hold are refused before the call runs, so the pause is not lost (beyond)", async () => {
    const { ran, nodes } = ownNode(async (executor) => {
      const odd = await executor.run("look", { n: new Map() }, { callId: "odd" }).catch((error: unknown) => error);
      return [String(odd), await run(executor, "send", 2)];
    });
    const end = await nodes.answer(await nodes.asked());
    expect(end.values["got"]).toEqual([expect.stringContaining("ToolArgsInvalid"), "send 2"]);
    expect(ran).toEqual(["send 2"]);
  });

  it("L4, J4/tasks: a new process: finished calls are replayed there, too (beyond: there they ran again)", async () => {
    const { ran, nodes } = ownNode(async (executor) => [
      await run(executor, "look", 1),
      await run(executor, "send", 2),
    ]);
    await nodes.elsewhere().answer(await nodes.asked());
    expect(ran).toEqual(["look 1", "send 2"]);
  });
});

describe("L4: failures, cancellation, forks, updateState", () => {
  it.each([false, true])(
    "L4, B11: a failure before the answer is used keeps it: null goes on without asking (new process: %s)",
    async (renewed) => {
      const { ran, nodes } = ownNode((executor) => run(executor, "send", 1), { hooks: [once()] });
      const pending = await nodes.asked();
      armed = true;
      expect(String(await failure(nodes.answer(pending)))).toContain("the hook is down");
      const end = await (renewed ? nodes.elsewhere() : nodes).again();
      expect([end.pending, end.values["got"], ran]).toEqual([[], "send 1", ["send 1"]]);
    },
  );

  it("L4: a store outage while the answer is settled keeps it, too", async () => {
    class Flaky extends MemoryApprovalStore {
      down = false;
      override get(id: string) {
        return this.down ? Promise.reject(new Error("down")) : super.get(id);
      }
    }
    const store = new Flaky();
    const { ran, nodes } = ownNode((executor) => run(executor, "send", 1), { port: () => new DeferredApproval(store) });
    const pending = await nodes.asked();
    await store.decide(pending.value.binding, approve());
    store.down = true;
    expect(await failure(nodes.again())).toMatchObject({ kind: "StoreUnavailable" });
    store.down = false;
    expect((await nodes.again()).values["got"]).toBe("send 1");
    expect(ran).toEqual(["send 1"]);
  });

  it.each<[string, Partial<Options>]>([
    ["the tool", { tools: [] }],
    ["a hook after it", { hooks: [failsAfter] }],
  ])(
    "L4: a failure after the answer was used (%s) spends it: the retry is ApprovalAlreadyDecided or replays, never a second run",
    async (what, more) => {
      const list: string[] = [];
      const broken = asking(list, "send", {
        body: () => {
          throw new Error("after its effect");
        },
      });
      const { ran, nodes } = ownNode(
        (executor) => run(executor, "send", 1),
        what === "the tool" ? { tools: [broken] } : more,
      );
      const bodies = () => [...ran, ...list];
      await failure(nodes.answer(await nodes.asked()));
      expect(bodies()).toEqual(["send 1"]);
      const here = await nodes.again().catch((error: unknown) => error);
      const there = await nodes
        .elsewhere()
        .again()
        .catch((error: unknown) => error);
      const spent = { kind: "ApprovalAlreadyDecided", cause: { name: "ToolFailed" } };
      const replayed = { values: { got: "send 1" } };
      expect([here, there]).toMatchObject(what === "the tool" ? [spent, spent] : [replayed, replayed]);
      expect(bodies()).toEqual(["send 1"]);
    },
  );

  it("L4: to go on anyway, fork the thread from an earlier checkpoint: a new approval is asked for, the old answer does not fit", async () => {
    let broken = true;
    const list: string[] = [];
    const send = asking(list, "send", {
      body: ({ n }) => {
        if (broken) throw new Error("down");
        return `send ${n}`;
      },
    });
    const { nodes } = ownNode((executor) => run(executor, "send", 1), { tools: [send] });
    const pending = await nodes.asked();
    const old = nodes.desk.resumeValue(pending, approve());
    await failure(nodes.invoke(new Command({ resume: { [pending.id]: old } })));
    broken = false;
    const app = nodes.app as unknown as { getStateHistory(config: object): AsyncIterable<{ config: object }> };
    const history: object[] = [];
    for await (const { config } of app.getStateHistory(nodes.config)) history.push(config);
    const forked = one((await nodes.invoke(null, history.at(-1))).pending);
    expect(forked.value.binding).not.toBe(pending.value.binding);
    expect(isInvalidAnswer(await failure(nodes.invoke(new Command({ resume: { [forked.id]: old } }))))).toBe(true);
    expect((await nodes.answer(forked)).values["got"]).toBe("send 1");
    expect(list).toEqual(["send 1", "send 1"]);
  });

  it("L4: or write the result yourself as the paused node, and go on", async () => {
    const list: string[] = [];
    const send = asking(list, "send", {
      body: () => {
        throw new Error("after its effect");
      },
    });
    const { nodes } = ownNode((executor) => run(executor, "send", 1), { tools: [send] });
    await failure(nodes.answer(await nodes.asked()));
    const app = nodes.app as unknown as {
      updateState(config: object, values: object, asNode: string): Promise<object>;
    };
    await app.updateState(nodes.config, { got: "sent, as we saw at the bank" }, "node");
    const { values, pending } = await nodes.again();
    expect([values["got"], pending, list]).toEqual(["sent, as we saw at the bank", [], ["send 1"]]);
  });

  it("L4: a run cancelled while the tool runs: it is asked again and the request says that the outcome is unknown (both ports; beyond: there a store's was refused)", async () => {
    const store = new MemoryApprovalStore();
    for (const port of [
      () => new LangGraphApproval({ key: KEY, unknownAfterMs: 1 }),
      () => new DeferredApproval(store, { unknownAfterMs: 1 }),
    ]) {
      const list: string[] = [];
      const slow = asking(list, "send", { body: () => new Promise(() => undefined) });
      const { nodes } = ownNode((executor) => run(executor, "send", 1), { tools: [slow], port });
      const controller = new AbortController();
      await nodes.invoke({});
      const answered = resume(nodes.app, approve(), { ...nodes.config, signal: controller.signal });
      while (list.length === 0) await sleep(1);
      controller.abort(new Error("cancelled"));
      await failure(answered);
      await sleep(2);
      const again = one((await nodes.elsewhere().again()).pending);
      expect(again.value.request.previousAttempt).toMatchObject({ outcome: "unknown" });
      expect(list).toEqual(["send 1"]);
    }
  });

  it("L4: a denial is given again on every re-run, and what follows it in a node that catches it goes on", async () => {
    const { ran, nodes } = ownNode(async (executor) => {
      const said = await run(executor, "send", 1).catch((error: unknown) => String(error));
      return [said, await run(executor, "pay", 2)];
    });
    const pay = one((await nodes.answer(await nodes.asked(), deny({ reason: "no" }))).pending);
    expect((await nodes.elsewhere().again()).pending[0]?.value.binding).toBe(pay.value.binding);
    await nodes.answer(pay);
    expect(ran).toEqual(["pay 2"]);
  });
});

let armed = false;

/** Fails the first time after it was armed. */
function once(): Partial<Hook> {
  return {
    beforeTool: () => {
      if (!armed) return;
      armed = false;
      throw new Error("the hook is down");
    },
  };
}
