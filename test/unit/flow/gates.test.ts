// Gates of local flows. Proved: nothing of a step runs before all of its gates are passed, edits reach whoever comes later, a grant
// lets one run of one visit on one state through, and every kind of port decides.
import { generateKeyPairSync } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  approve,
  CallbackApproval,
  DeferredApproval,
  deny,
  Executor,
  MemoryApprovalStore,
  MemoryLedger,
  Registry,
  signDecision,
  type ApprovalRequest,
  type ExecutorOptions,
} from "agent-adapter";
import { Flow, Merge, resumeFlow, runFlow } from "agent-adapter/flow";
import { LangGraphApproval } from "agent-adapter/langgraph";
import { ManualClock, scriptedApproval } from "agent-adapter/testing";
import { asking, counted, failure, one, sleep } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";
import { Desk, failed, kindOf, outage, paused, SECRET } from "./gates-rig.js";

afterEach(forgetProcess);

const State = z.object({ n: z.number(), note: z.string().default(""), seen: z.array(z.string()).default([]) });
const program = (options: ExecutorOptions = {}, tools: ConstructorParameters<typeof Registry>[0] = []) => ({
  executor: new Executor(new Registry(tools), { secret: SECRET, ...options }),
});

/** Three nodes side by side, two of them gated. */
function sideBySide(ran: string[]) {
  const saw = (name: string) => (state: z.infer<typeof State>) => {
    ran.push(name);
    return { seen: [`${name} ${state.n} ${state.note}`] };
  };
  return new Flow("side", { state: State, merge: { seen: Merge.append } })
    .node("start", () => ({}))
    .node("a", saw("a"), { pause: ({ n, note }) => ({ n, note }) })
    .node("b", saw("b"), { pause: ({ n, note }) => ({ n, note }) })
    .node("c", saw("c"))
    .edge("start", "a")
    .edge("start", "b")
    .edge("start", "c")
    .end("a")
    .end("b")
    .end("c");
}

describe("F6, B45: a step with gates", () => {
  test("asks gate by gate in name order, and runs all of the step after the last one", async () => {
    const ran: string[] = [];
    const flow = sideBySide(ran);
    const options = program();
    const first = paused(await runFlow(flow, { n: 1 }, options));
    expect(first.pendings).toMatchObject([{ node: "a", request: { kind: "gate", tool: "a", callId: "gate" } }]);
    const second = paused(await resumeFlow(flow, first.checkpoint, approve(), options));
    expect(second.pendings).toMatchObject([{ node: "b" }]);
    expect(ran).toEqual([]);
    const done = await resumeFlow(flow, second.checkpoint, approve(), options);
    expect(done).toMatchObject({ status: "done", steps: 2, visits: { start: 1, a: 1, b: 1, c: 1 } });
    expect(ran.toSorted()).toEqual(["a", "b", "c"]);
  });

  test.each(["first", "second"])(
    "a denial of the %s gate ends the run, and nothing of the step has run",
    async (which) => {
      const ran: string[] = [];
      const flow = sideBySide(ran);
      const options = program();
      let asked = paused(await runFlow(flow, { n: 1 }, options));
      if (which === "second") asked = paused(await resumeFlow(flow, asked.checkpoint, approve(), options));
      const denied = await resumeFlow(flow, asked.checkpoint, deny(), options);
      expect(denied).toMatchObject({
        status: "denied",
        state: { n: 1, note: "", seen: [] },
        steps: 1,
        visits: { start: 1 },
      });
      expect(denied).toMatchObject({ node: which === "first" ? "a" : "b", error: { kind: "ApprovalDenied" } });
      expect(ran).toEqual([]);
    },
  );

  test("A7: an edit is seen by the next gate, by the gated nodes and by their siblings, in other processes too", async () => {
    const ran: string[] = [];
    const flow = sideBySide(ran);
    const options = program();
    const first = paused(await runFlow(flow, { n: 1 }, options));
    const second = paused(await resumeFlow(flow, first.checkpoint, approve({ editedArgs: { n: 2 } }), options));
    expect(second.pending.request.arguments).toEqual({ n: 2, note: "" });
    expect(second.state).toEqual({ n: 1, note: "", seen: [] });
    forgetProcess();
    const done = await resumeFlow(flow, second.checkpoint, approve({ editedArgs: { note: "ok" } }), program());
    expect(done.state).toEqual({ n: 2, note: "ok", seen: ["a 2 ok", "b 2 ok", "c 2 ok"] });
  });

  test("A7: an edit is on top of the state when the step is done, also when a sibling paused in between", async () => {
    const ran: string[] = [];
    const flow = new Flow("edited", { state: State })
      .node("start", () => ({}))
      .node("a", () => ({}), { pause: ({ n }) => ({ n }) })
      .node("b", async ({ n }, ctx) => ({ note: String(await ctx.run("send", { n }, { callId: "send" })) }))
      .edge("start", "a")
      .edge("start", "b")
      .end("a")
      .end("b");
    const tools = [asking(ran, "send")];
    const gate = paused(await runFlow(flow, { n: 1 }, program({}, tools)));
    const send = paused(await resumeFlow(flow, gate.checkpoint, approve({ editedArgs: { n: 7 } }), program({}, tools)));
    expect(send.pending.request).toMatchObject({ tool: "send", arguments: { n: 7 } });
    forgetProcess();
    const done = await resumeFlow(flow, send.checkpoint, approve(), program({}, tools));
    expect(done).toMatchObject({ status: "done", state: { n: 7, note: "send 7" } });
    expect(ran).toEqual(["send 7"]);
  });

  test("what a gate shows must be an object of JSON values, or nothing is asked and nothing runs", async () => {
    const ran: string[] = [];
    const secret = "very secret";
    for (const shown of [
      undefined,
      null,
      [],
      "text",
      { at: new Date(0) },
      { n: Number.NaN },
      { secret: () => secret },
    ]) {
      const flow = new Flow("bad", { state: State })
        // What a program without types might give.
        .node("a", () => void ran.push("a"), { pause: () => shown as never })
        .end("a");
      const { error } = await failed(runFlow(flow, { n: 1 }, program()));
      expect(kindOf(error)).toBe("FlowError");
      expect(String(error)).toContain('node "a"');
      expect(String(error)).not.toContain(secret);
    }
    expect(ran).toEqual([]);
  });

  test("each visit asks anew", async () => {
    const ran: number[] = [];
    const flow = new Flow("loop", { state: State })
      .node(
        "a",
        ({ n }) => {
          ran.push(n);
          return { n: n + 1 };
        },
        { pause: ({ n }) => ({ n }) },
      )
      .node("out", () => ({}))
      .route("a", ({ n }) => (n < 3 ? "a" : "out"), ["a", "out"], { maxLoops: { a: 5 } })
      .end("out");
    const options = program();
    let result = await runFlow(flow, { n: 1 }, options);
    const bindings = new Set<string>();
    while (result.status === "paused") {
      bindings.add(result.pending.binding);
      expect(result.pending.request.arguments).toEqual({ n: bindings.size });
      expect(ran).toHaveLength(bindings.size - 1);
      result = await resumeFlow(flow, result.checkpoint, approve(), options);
    }
    expect(result).toMatchObject({ status: "done", visits: { a: 2, out: 1 } });
    expect([ran, bindings.size]).toEqual([[1, 2], 2]);
  });
});

describe("A7, F6: edits at a gate", () => {
  const editable = new Flow("edits", {
    state: {
      n: z.number().int(),
      size: z.string().transform((text) => `${text}!`),
      name: z.string().trim().default("x"),
    },
  })
    .node("a", ({ n, name }) => ({ name: `${name} ${n}` }), { pause: ({ n }) => ({ n }) })
    .end("a");

  test.each([
    ["an unknown field", { m: 1 }],
    ["a wrong type", { n: "2" }],
    ["a number that does not fit", { n: 1.5 }],
    ["a field whose schema would change it again", { size: "four" }],
    ["a name on the prototype", JSON.parse('{"__proto__": 1}')],
    ["a name of the prototype", JSON.parse('{"constructor": 1}')],
  ])("%s is refused before anything is used, decided or signed", async (_what, editedArgs) => {
    const approval = new LangGraphApproval();
    const store = new MemoryApprovalStore();
    for (const port of [approval, new DeferredApproval(store)]) {
      const options = program({ approval: port });
      const { checkpoint, pending } = paused(await runFlow(editable, { n: 1, size: "one" }, options));
      const { binding, request } = pending;
      const value = { type: "agent_adapter.approval", binding, request };
      const bad = approve({ editedArgs });
      const given = port === approval ? [bad, approval.resumeValue({ value }, bad)] : [bad];
      for (const answer of given)
        expect(kindOf(await failure(resumeFlow(editable, checkpoint, answer, options)))).toBe("ToolArgsInvalid");
      expect((await store.list({})).map(({ status }) => status)).toEqual(port === approval ? [] : ["pending"]);
      const done = await resumeFlow(editable, checkpoint, approve({ editedArgs: { n: 5, name: " y " } }), options);
      expect(done.state).toEqual({ n: 5, size: "one!", name: "y 5" });
    }
  });

  test("an edit in a store that does not fit is asked about once more", async () => {
    const store = new MemoryApprovalStore();
    const options = program({ approval: new DeferredApproval(store) });
    const { checkpoint, pending } = paused(await runFlow(editable, { n: 1, size: "one" }, options));
    await store.decide(pending.binding, approve({ editedArgs: { m: 1 } }));
    const again = paused(await resumeFlow(editable, checkpoint, null, options));
    expect(again.pending.request.supersedes).toBe(pending.binding);
    await store.decide(again.pending.binding, approve({ editedArgs: { n: 2 } }));
    expect(await resumeFlow(editable, again.checkpoint, null, options)).toMatchObject({
      status: "done",
      state: { n: 2 },
    });
  });
});

describe("F6, A5: the grant of a gate", () => {
  test("under null an old checkpoint does not let the visit run again", async () => {
    const desk = new Desk({ kind: "gate" });
    const asked = await desk.asks();
    await desk.resume(asked.checkpoint, approve());
    expect(kindOf(await failure(desk.resume(asked.checkpoint, null)))).toBe("ApprovalAlreadyDecided");
    expect(kindOf(await failure(desk.run(1)))).toBe("ApprovalAlreadyDecided");
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("is for the state it was asked about: for another one the visit is asked about again, and the older answer lets nothing through", async () => {
    const desk = new Desk({ kind: "gate" });
    const asked = await desk.asks(5);
    const other = paused(await desk.run(5000));
    expect(other.pending.request).toMatchObject({ arguments: { n: 5000 }, supersedes: asked.pending.binding });
    // Whoever answers the older one is asked about it again: never is anything let through that is not shown now.
    const again = paused(await desk.resume(asked.checkpoint, approve()));
    expect(again.pending.request).toMatchObject({ arguments: { n: 5 }, supersedes: other.pending.binding });
    expect(desk.paid).toEqual([]);
    expect((await desk.resume(again.checkpoint, approve())).status).toBe("done");
    expect(kindOf(await failure(desk.run(5000)))).toBe("ApprovalAlreadyDecided");
    expect(desk.paid).toEqual(["pay 5"]);
  });

  test("once it is used, another state is refused: what was approved is that one", async () => {
    let failures = 1;
    const body = () => ((failures -= 1) >= 0 ? Promise.reject(new TypeError("no route")) : undefined);
    const desk = new Desk({ kind: "gate", body });
    const asked = await desk.asks(5);
    await failed(desk.resume(asked.checkpoint, approve()));
    expect(kindOf(await failure(desk.run(5000)))).toBe("ToolUsageError");
    expect(desk.paid).toEqual(["pay 5"]);
  });

  test("B12: covers a visit that failed: it runs again without asking, and never once it has finished", async () => {
    let failures = 1;
    const body = () => ((failures -= 1) >= 0 ? Promise.reject(new TypeError("no route")) : undefined);
    const desk = new Desk({ kind: "gate", body });
    const asked = await desk.asks();
    const { error, checkpoint } = await failed(desk.resume(asked.checkpoint, approve()));
    expect(error).toBeInstanceOf(TypeError);
    expect((await desk.resume(checkpoint, null)).status).toBe("done");
    expect(desk.paid).toEqual(["pay 1", "pay 1"]);
    expect(kindOf(await failure(desk.resume(checkpoint, null)))).toBe("ApprovalAlreadyDecided");
    expect(desk.paid).toHaveLength(2);
  });

  test("B09: of two runs that try a failed visit again at once one is let through", async () => {
    let failures = 1;
    const body = () => ((failures -= 1) >= 0 ? Promise.reject(new TypeError("no route")) : sleep(20));
    const desk = new Desk({ kind: "gate", body });
    const asked = await desk.asks();
    const { checkpoint } = await failed(desk.resume(asked.checkpoint, approve()));
    const ends = await Promise.allSettled([1, 2, 3].map(() => desk.resume(checkpoint, null)));
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const kinds = ends.flatMap((end) => (end.status === "rejected" ? [kindOf(end.reason)] : []));
    expect(kinds).toEqual(["ApprovalAlreadyDecided", "ApprovalAlreadyDecided"]);
    expect(desk.paid).toHaveLength(2);
  });

  test("B09: whoever lost the race gets a checkpoint that lets nobody through, here or elsewhere", async () => {
    const desk = new Desk({ kind: "gate", body: () => sleep(20) });
    const asked = await desk.asks();
    const winner = desk.resume(asked.checkpoint, approve());
    const { error, checkpoint } = await failed(desk.resume(asked.checkpoint, approve()));
    expect(kindOf(error)).toBe("ApprovalAlreadyDecided");
    expect(kindOf(await failure(desk.resume(checkpoint, null)))).toBe("ApprovalAlreadyDecided");
    expect((await winner).status).toBe("done");
    expect(kindOf(await failure(desk.resume(checkpoint, null)))).toBe("ApprovalAlreadyDecided");
    forgetProcess();
    const next = new Desk({ kind: "gate", after: desk });
    expect(kindOf(await failure(next.resume(checkpoint, null)))).toBe("ApprovalAlreadyDecided");
    desk.clock.advance(5 * 60_000);
    forgetProcess();
    const again = paused(await next.resume(checkpoint, null));
    expect(again.pending.request).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("a visit that failed goes on from the checkpoint on its error only: not from the older one, not from a loser's", async () => {
    let failures = 1;
    const body = () =>
      (failures -= 1) >= 0 ? sleep(10).then(() => Promise.reject(new TypeError("no route"))) : undefined;
    const desk = new Desk({ kind: "gate", body });
    const asked = await desk.asks();
    const winner = failed(desk.resume(asked.checkpoint, approve()));
    const loser = await failed(desk.resume(asked.checkpoint, approve()));
    const { error, checkpoint } = await winner;
    expect([error instanceof TypeError, kindOf(loser.error)]).toEqual([true, "ApprovalAlreadyDecided"]);
    for (const old of [asked.checkpoint, loser.checkpoint])
      expect(kindOf(await failure(desk.resume(old, null)))).toBe("ApprovalAlreadyDecided");
    expect(desk.paid).toEqual(["pay 1"]);
    expect((await desk.resume(checkpoint, null)).status).toBe("done");
    expect(desk.paid).toEqual(["pay 1", "pay 1"]);
  });

  test.each(["tool", "gate"] as const)(
    "a pause is a pause, also when the %s is answered while it is on its way",
    async (kind) => {
      let [reach, release] = [() => undefined as void, () => undefined as void];
      const reached = new Promise<void>((resolve) => (reach = resolve));
      const released = new Promise<void>((resolve) => (release = resolve));
      let isHeld = false;
      const ledger = new MemoryLedger();
      const close = ledger.close.bind(ledger);
      ledger.close = async (id, closing) => {
        if (isHeld && closing.status === "pending") {
          reach();
          await released;
        }
        return close(id, closing);
      };
      const desk = new Desk({ kind, ledger, approval: new DeferredApproval(new MemoryApprovalStore()) });
      const asked = await desk.asks();
      isHeld = true;
      const waiting = desk.resume(asked.checkpoint, null);
      await reached;
      expect((await desk.resume(asked.checkpoint, approve())).status).toBe("done");
      release();
      expect(paused(await waiting).pending.binding).toBe(asked.pending.binding);
      expect(desk.paid).toEqual(["pay 1"]);
    },
  );

  test("a run that waits goes on waiting when another one answers meanwhile, and never on without its node", async () => {
    let failures = 1;
    const ran: string[] = [];
    const flow = new Flow("two", { state: State, merge: { seen: Merge.append } })
      .node("start", () => ({}))
      .node("a", async (_state, ctx) => ({ seen: [String(await ctx.run("send", { n: 1 }, { callId: "a" }))] }))
      .node("b", async () => {
        await sleep(30);
        if ((failures -= 1) >= 0) throw new TypeError("no route");
        return { seen: ["b"] };
      })
      .edge("start", "a")
      .edge("start", "b")
      .end("a")
      .end("b");
    const options = program({}, [asking(ran, "send")]);
    const { checkpoint } = await failed(runFlow(flow, { n: 1 }, options));
    const waiting = resumeFlow(flow, checkpoint, null, options);
    await sleep(5);
    const done = await resumeFlow(flow, checkpoint, approve(), options);
    expect(done).toMatchObject({ status: "done", state: { seen: ["send 1", "b"] } });
    expect(paused(await waiting).pendings).toMatchObject([{ node: "a" }]);
    expect(ran).toEqual(["send 1"]);
  });

  test("covers what the gated node asks for later: the gate is not asked again", async () => {
    const ran: string[] = [];
    const flow = new Flow("both", { state: State })
      .node("a", async ({ n }, ctx) => ({ note: String(await ctx.run("send", { n }, { callId: "send" })) }), {
        pause: ({ n }) => ({ n }),
      })
      .end("a");
    const tools = [asking(ran, "send")];
    const gate = paused(await runFlow(flow, { n: 1 }, program({}, tools)));
    const send = paused(await resumeFlow(flow, gate.checkpoint, approve(), program({}, tools)));
    expect([gate.pending.request.kind, send.pending.request.kind]).toEqual(["gate", "tool"]);
    forgetProcess();
    const done = await resumeFlow(flow, send.checkpoint, approve(), program({}, tools));
    expect(done).toMatchObject({ status: "done", state: { note: "send 1" } });
  });
});

describe("F6, A8: ports that decide about gates", () => {
  test("B45: a callback decides at once, gate by gate, and the run does not stop", async () => {
    const requests: ApprovalRequest[] = [];
    const approval = new CallbackApproval(({ request }) => {
      requests.push(request);
      return request.tool === "a" ? approve({ by: "ana", editedArgs: { note: "seen" } }) : approve({ by: "ben" });
    });
    const ran: string[] = [];
    const options = program({ approval });
    const done = await runFlow(sideBySide(ran), { n: 1 }, options);
    expect(done).toMatchObject({ status: "done", state: { note: "seen", seen: ["a 1 seen", "b 1 seen", "c 1 seen"] } });
    expect(requests.map(({ tool, arguments: args }) => [tool, args])).toEqual([
      ["a", { n: 1, note: "" }],
      ["b", { n: 1, note: "seen" }],
    ]);
    const entries = await options.executor.ledger.entries();
    expect(entries.map(({ tool, status, decidedBy }) => [tool, status, decidedBy])).toEqual([
      ["a", "ok", "ana"],
      ["b", "ok", "ben"],
    ]);
  });

  test("a callback that throws uses nothing up: the error carries a checkpoint, and another try asks again", async () => {
    let calls = 0;
    const approval = new CallbackApproval(() => {
      calls += 1;
      if (calls === 1) throw new TypeError("nobody at the terminal");
      return approve();
    });
    const desk = new Desk({ kind: "gate", approval });
    const { error, checkpoint } = await failed(desk.run());
    expect([error instanceof TypeError, desk.paid]).toEqual([true, []]);
    expect((await desk.resume(checkpoint, null)).status).toBe("done");
    expect(calls).toBe(2);
  });

  test("a visit that failed behind a gate that a callback opened does not ask again", async () => {
    let failures = 1;
    const approval = scriptedApproval([approve()]);
    const body = () => ((failures -= 1) >= 0 ? Promise.reject(new TypeError("no route")) : undefined);
    const desk = new Desk({ kind: "gate", approval, body });
    const { checkpoint } = await failed(desk.run());
    forgetProcess();
    const next = new Desk({ kind: "gate", approval, after: desk });
    expect((await next.resume(checkpoint, null)).status).toBe("done");
    expect(approval.requests).toHaveLength(1);
  });

  test("a store decides: its record is used once, and what is resumed with null decides nothing", async () => {
    const store = new MemoryApprovalStore();
    const desk = new Desk({ kind: "gate", approval: new DeferredApproval(store) });
    const asked = await desk.asks();
    expect(asked.pending.approvalId).toBe(asked.pending.binding);
    expect((await desk.resume(asked.checkpoint, null)).status).toBe("paused");
    await store.decide(asked.pending.binding, approve({ by: "ana" }));
    expect((await desk.resume(asked.checkpoint, null)).status).toBe("done");
    expect(await store.get(asked.pending.binding)).toMatchObject({ status: "used", decidedBy: "ana" });
    forgetProcess();
    const next = new Desk({ kind: "gate", approval: new DeferredApproval(store), after: desk });
    expect(kindOf(await failure(next.resume(asked.checkpoint, null)))).toBe("ApprovalAlreadyDecided");
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("a decision passed to resumeFlow is written to the store", async () => {
    const store = new MemoryApprovalStore();
    const desk = new Desk({ kind: "gate", approval: new DeferredApproval(store) });
    const asked = await desk.asks();
    expect((await desk.resume(asked.checkpoint, deny({ by: "ben" }))).status).toBe("denied");
    expect(await store.get(asked.pending.binding)).toMatchObject({ status: "used", decidedBy: "ben" });
  });

  test("A4: a request in a store that ran out ends the run, and is no denial", async () => {
    const clock = new ManualClock(1_000_000);
    const store = new MemoryApprovalStore({ clock });
    const approval = new DeferredApproval(store, { requestTtlMs: 1000 });
    const desk = new Desk({ kind: "gate", approval, clock });
    const asked = await desk.asks();
    clock.advance(1001);
    const ended = await desk.resume(asked.checkpoint, null);
    expect(ended).toMatchObject({ status: "denied", error: { kind: "ApprovalExpired" } });
    expect(one(await store.list({ status: "expired" })).id).toBe(asked.pending.binding);
  });

  test("A3/ed25519, A9/flows: with approvers only their signature opens a gate, and edits are theirs to make or not", async () => {
    const [ana, ben] = [generateKeyPairSync("ed25519"), generateKeyPairSync("ed25519")];
    const approval = new LangGraphApproval({
      approvers: [
        { id: "ana", publicKey: ana.publicKey, mayDecide: ({ arguments: args }) => Number(args["n"]) <= 10 },
        { id: "ben", publicKey: ben.publicKey, mayDecide: ({ tool }) => tool !== "pay" },
      ],
    });
    const desk = new Desk({
      kind: "gate",
      approval,
      claims: outage({ claim: () => Promise.resolve() }),
    });
    const asked = await desk.asks();
    const sign = (keys: typeof ana, id: string, decision = approve()) =>
      signDecision(asked.pending, decision, { privateKey: keys.privateKey, id, signedAt: desk.clock.now() });
    const refused = [
      approve(),
      sign(ben, "ben"),
      sign(ben, "ana"),
      sign(ana, "ana", approve({ editedArgs: { n: 9999 } })),
      new LangGraphApproval({ key: SECRET }).resumeValue(
        { value: { type: "agent_adapter.approval", binding: asked.pending.binding, request: asked.pending.request } },
        approve(),
      ),
    ];
    for (const answer of refused)
      expect(kindOf(await failure(desk.resume(asked.checkpoint, answer)))).toBe("ToolUsageError");
    const edited = sign(ana, "ana", approve({ editedArgs: { n: 2 } }));
    // Verified again when it is used: the store is out of reach at first.
    const { checkpoint } = await failed(desk.resume(asked.checkpoint, edited));
    expect((await desk.resume(checkpoint, null)).state).toEqual({ n: 2, receipt: "paid 2" });
    expect(await desk.ledger.entries()).toMatchObject([{ status: "ok", decidedBy: "ana" }]);
  });

  test("hooks hear of a gate's question once and of its answer once", async () => {
    const heard: string[] = [];
    const hooks = [{ onApproval: (_call: unknown, { state }: { state: string }) => void heard.push(state) }];
    const desk = new Desk({ kind: "gate", hooks });
    const asked = await desk.asks();
    const waits = paused(await desk.resume(asked.checkpoint, null));
    await desk.resume(waits.checkpoint, approve());
    expect(heard).toEqual(["asked", "approved"]);
  });
});

describe("F3: several requests of one step", () => {
  const ran: string[] = [];
  const pays = new Flow("pays", { state: State, merge: { seen: Merge.append } })
    .node("start", () => ({}))
    .node("a", async (_state, ctx) => ({ seen: [String(await ctx.run("send", { n: 1 }, { callId: "send" }))] }))
    .node("b", async (_state, ctx) => ({ seen: [String(await ctx.run("send", { n: 2 }, { callId: "send" }))] }))
    .node("c", () => {
      ran.push("c");
      return { seen: ["c"] };
    })
    .edge("start", "a")
    .edge("start", "b")
    .edge("start", "c")
    .end("a")
    .end("b")
    .end("c");
  const asked = async () => {
    ran.length = 0;
    const options = program({}, [asking(ran, "send")]);
    return { options, pause: paused(await runFlow(pays, { n: 1 }, options)) };
  };

  test("surface together, and one decision for two of them is refused", async () => {
    const { options, pause } = await asked();
    expect(pause.pendings.map(({ node }) => node)).toEqual(["a", "b"]);
    const refused = await failure(resumeFlow(pays, pause.checkpoint, approve(), options));
    expect(String(refused)).toContain("2 requests wait");
    expect(ran).toEqual(["c"]);
  });

  test("are answered at once, as a map by binding", async () => {
    const { options, pause } = await asked();
    const answers = Object.fromEntries(pause.pendings.map(({ binding }) => [binding, approve()]));
    const done = await resumeFlow(pays, pause.checkpoint, answers, options);
    expect(done).toMatchObject({ status: "done", state: { seen: ["send 1", "send 2", "c"] } });
    expect(ran).toEqual(["c", "send 1", "send 2"]);
  });

  test("are answered one by one, in any order and any process; what finished does not run again", async () => {
    const { options, pause } = await asked();
    const [, second] = pause.pendings;
    const left = paused(await resumeFlow(pays, pause.checkpoint, { [second?.binding ?? ""]: approve() }, options));
    expect(left.pendings.map(({ node }) => node)).toEqual(["a"]);
    expect(left.state.seen).toEqual([]);
    forgetProcess();
    const done = await resumeFlow(pays, left.checkpoint, approve(), program({}, [asking(ran, "send")]));
    expect(done).toMatchObject({ status: "done", state: { seen: ["send 1", "send 2", "c"] }, steps: 2 });
    expect(ran).toEqual(["c", "send 2", "send 1"]);
  });

  test("a node that came to its end without the answer it once asked for waits for none", async () => {
    const store = new MemoryApprovalStore();
    let asks = true;
    const flow = new Flow("changes", { state: State, merge: { seen: Merge.append } })
      .node("start", () => ({}))
      .node("a", async (_state, ctx) => ({
        seen: [asks ? String(await ctx.run("send", { n: 1 }, { callId: "a" })) : "a"],
      }))
      .node("b", async (_state, ctx) => ({ seen: [String(await ctx.run("send", { n: 2 }, { callId: "b" }))] }))
      .edge("start", "a")
      .edge("start", "b")
      .end("a")
      .end("b");
    const options = program({ approval: new DeferredApproval(store) }, [asking([], "send")]);
    const both = paused(await runFlow(flow, { n: 1 }, options));
    expect(both.pendings).toHaveLength(2);
    asks = false;
    const left = paused(await resumeFlow(flow, both.checkpoint, null, options));
    expect(left.pendings.map(({ node }) => node)).toEqual(["b"]);
    const done = await resumeFlow(flow, left.checkpoint, approve(), options);
    expect(done).toMatchObject({ status: "done", state: { seen: ["a", "send 2"] } });
  });

  test("a name that is no binding, or a decision that is none, sends none of the map", async () => {
    const { options, pause } = await asked();
    const [first, second] = pause.pendings.map(({ binding }) => binding);
    for (const bad of [
      { [first ?? ""]: approve(), other: approve() },
      { [first ?? ""]: approve(), [second ?? ""]: JSON.parse("{}") },
    ])
      expect(kindOf(await failure(resumeFlow(pays, pause.checkpoint, bad, options)))).toBe("ToolUsageError");
    expect(ran).toEqual(["c"]);
  });

  test("code that catches the pause has not answered it: the run waits, and nothing it returned counts", async () => {
    const bodies: string[] = [];
    const catches = new Flow("catches", { state: State })
      .node("a", async (_state, ctx) => {
        try {
          return { note: String(await ctx.run("send", { n: 1 }, { callId: "send" })) };
        } catch {
          return { note: "went on" };
        }
      })
      .end("a");
    const options = program({}, [asking(bodies, "send")]);
    const pause = paused(await runFlow(catches, { n: 1 }, options));
    expect(pause.state.note).toBe("");
    const done = await resumeFlow(catches, pause.checkpoint, approve(), options);
    expect([done.state.note, bodies]).toEqual(["send 1", ["send 1"]]);
  });

  test("a pause waits for the calls beside it: their results are in the checkpoint", async () => {
    const bodies: string[] = [];
    const slow = counted(bodies, "slow", { body: () => sleep(30) });
    const quick = asking(bodies, "quick");
    const together = new Flow("together", { state: State })
      .node("a", async (_state, ctx) => {
        await Promise.all([ctx.run("slow", { n: 1 }, { callId: "s" }), ctx.run("quick", { n: 1 }, { callId: "q" })]);
        return {};
      })
      .end("a");
    const options = () => program({}, [slow, quick]);
    const pause = paused(await runFlow(together, { n: 1 }, options()));
    forgetProcess();
    expect((await resumeFlow(together, pause.checkpoint, approve(), options())).status).toBe("done");
    expect(bodies).toEqual(["slow 1", "quick 1"]);
  });
});
