// Checkpoints of local flows as somebody who holds them may abuse them. Proved: only what was sealed here for this flow opens, nothing
// runs otherwise, nothing of it can be read, what finished replays in any process with a key, and no answer is used twice.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  approve,
  DeferredApproval,
  Executor,
  MemoryApprovalStore,
  MemoryClaimStore,
  MemoryLedger,
  Registry,
  type ExecutorOptions,
} from "agent-adapter";
import { call, checkpointOf, Flow, map, Merge, resumeFlow, runFlow, type StepReport } from "agent-adapter/flow";
import { KeyRing } from "../../../src/crypto/keys.js";
import { seal } from "../../../src/crypto/seal.js";
import { JOURNAL_LIMITS, processState, taskEntry } from "../../../src/journal/process-state.js";
import { asking, counted, failure } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";
import { Desk, failed, kindOf, paused, SECRET } from "./gates-rig.js";

afterEach(forgetProcess);

const OTHER = "another secret of 32 bytes, test";
const fields = { n: z.number(), note: z.string().default("") };

/** Asks before it pays; `changes` makes flows that differ in one thing. */
function draw(ran: string[], changes: { name?: string; field?: string; cap?: number; gate?: boolean } = {}) {
  const { name = "order", field = "extra", cap = 3, gate = true } = changes;
  return new Flow(name, { state: { ...fields, [field]: z.string().default("") } })
    .node("pay", ({ n }) => void ran.push(`pay ${n}`), gate ? { pause: ({ n }) => ({ n }) } : {})
    .node("out", () => ({}))
    .route("pay", () => "out", ["pay", "out"], { maxLoops: { pay: cap } })
    .end("out");
}

const program = (options: ExecutorOptions = {}, tools: ConstructorParameters<typeof Registry>[0] = []) => ({
  executor: new Executor(new Registry(tools), { secret: SECRET, ...options }),
});

async function checkpointFrom(ran: string[], options = program()): Promise<string> {
  return paused(await runFlow(draw(ran), { n: 4242, note: "sesame" }, options)).checkpoint;
}

describe("J3/checkpoints, F5: a checkpoint that is not exactly what was sealed for this flow", () => {
  test("does not open with any byte changed, dropped, doubled or moved, and nothing runs", async () => {
    const ran: string[] = [];
    const sealed = await checkpointFrom(ran);
    const [version = "", keyId = "", body = ""] = sealed.split(".");
    const start = version.length + keyId.length + 2;
    const flips = [...Array(start + 60).keys(), ...Array.from({ length: 40 }, (_, n) => sealed.length - 1 - n)].map(
      (at) => {
        const other = sealed[at] === "A" ? "B" : "A";
        return `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
      },
    );
    const middle = Array.from({ length: 40 }, (_, n) => start + 60 + Math.floor(((body.length - 110) * n) / 40));
    const bent = [
      ...flips,
      ...middle.flatMap((at) => [
        `${sealed.slice(0, at)}${sealed[at] === "-" ? "_" : "-"}${sealed.slice(at + 1)}`,
        `${sealed.slice(0, at)}${sealed.slice(at + 1)}`,
        sealed.slice(0, at),
      ]),
      "",
      ".",
      `${version}.${keyId}.`,
      `${version}.${keyId}.${body}${body}`,
      `${sealed}=`,
      `${sealed}\n`,
      ` ${sealed}`,
      sealed.toUpperCase(),
      `v2.${keyId}.${body}`,
      `v1.process.${body}`,
      `v1.${"0".repeat(8)}.${body}`,
      `${version}.${keyId}.${body.slice(0, 20)}${body.slice(24)}${body.slice(20, 24)}`,
    ];
    for (const one of bent) {
      expect(one).not.toBe(sealed);
      const error = await failure(resumeFlow(draw(ran), one, approve(), program()));
      expect(kindOf(error)).toBe("FlowError");
      expect(checkpointOf(error)).toBeUndefined();
    }
    for (const none of [undefined, null, 1, {}, [sealed], Buffer.from(sealed)])
      expect(kindOf(await failure(resumeFlow(draw(ran), none as never, approve(), program())))).toBe("FlowError");
    expect(ran).toEqual([]);
    expect((await resumeFlow(draw(ran), sealed, approve(), program())).status).toBe("done");
  });

  test("does not open as another flow's, another shape's or another run's", async () => {
    const ran: string[] = [];
    const sealed = await checkpointFrom(ran);
    const others = [
      draw(ran, { name: "orders" }),
      draw(ran, { field: "other" }),
      draw(ran, { cap: 4 }),
      draw(ran, { gate: false }),
      draw(ran)
        .node("more", () => ({}))
        .end("more")
        .route("pay", () => "more", ["more"]),
    ];
    for (const flow of others)
      expect(kindOf(await failure(resumeFlow(flow, sealed, approve(), program())))).toBe("FlowError");
    const elsewhere = { ...program(), runId: "another run" };
    expect(kindOf(await failure(resumeFlow(draw(ran), sealed, approve(), elsewhere)))).toBe("FlowError");
    expect(ran).toEqual([]);
  });

  test("does not open under another key, and says which cure there is", async () => {
    const ran: string[] = [];
    const sealed = await checkpointFrom(ran);
    const error = await failure(resumeFlow(draw(ran), sealed, approve(), program({ secret: OTHER })));
    expect(String(error)).toContain("under a key that is not here");
    const unshared = { executor: new Executor(new Registry([])) };
    const own = paused(await runFlow(draw(ran), { n: 1 }, unshared)).checkpoint;
    expect(own).toMatch(/^v1\.process\./);
    expect(String(await failure(resumeFlow(draw(ran), own, approve(), program())))).toContain("set `secret`");
    expect(ran).toEqual([]);
  });

  test("W1/checkpoints: one of a later version, or of no form we know, runs nothing", async () => {
    const ran: string[] = [];
    const sealed = await checkpointFrom(ran);
    const { plan, value } = await openedBy(draw(ran), sealed);
    const whole = value as Record<string, unknown>;
    const strange: unknown[] = [
      { ...whole, v: 2 },
      { ...whole, more: 1 },
      { ...whole, tasks: [["pay", {}]] },
      { ...whole, tasks: [["nobody", (whole["tasks"] as [string, unknown][])[0]?.[1]]] },
      { ...whole, progress: { ...(whole["progress"] as object), state: { hacked: 1 } } },
      { ...whole, progress: { ...(whole["progress"] as object), ready: ["nobody"] } },
      { ...whole, answers: [{ approved: true }] },
      { ...whole, once: null },
      null,
      [],
      "text",
    ];
    for (const one of strange) {
      const context = { purpose: "checkpoint", owner: ["flow", plan.name, plan.fingerprint] } as const;
      const forged = seal(KeyRing.of(SECRET, "secret"), context, one as never);
      const kind = kindOf(await failure(resumeFlow(draw(ran), forged, approve(), program())));
      expect(["FlowError", "ToolUsageError"]).toContain(kind);
    }
    expect(ran).toEqual([]);
  });

  test("N1: holds nothing that can be read: no state, no result, no answer, no run", async () => {
    const ran: string[] = [];
    const flow = new Flow("reads", { state: { n: z.number(), note: z.string().default("") } })
      .node("look", async (_state, ctx) => ({ note: String(await ctx.run("look", { n: 777_123 })) }))
      .node("pay", ({ n }) => void ran.push(`pay ${n}`), { pause: ({ n }) => ({ n }) })
      .edge("look", "pay")
      .end("pay");
    const options = { ...program({}, [counted(ran, "look")]), runId: "run-of-ana" };
    const sealed = paused(await runFlow(flow, { n: 4242, note: "sesame" }, options)).checkpoint;
    const bytes = Buffer.from(sealed.split(".")[2] ?? "", "base64url");
    for (const word of ["4242", "777123", "sesame", "look", "run-of-ana", "note", "reads"]) {
      expect(sealed).not.toContain(word);
      expect(bytes.includes(word)).toBe(false);
      expect(sealed).not.toContain(Buffer.from(word).toString("base64url"));
    }
    const again = paused(await runFlow(flow, { n: 4242, note: "sesame" }, options)).checkpoint;
    expect(again).not.toBe(sealed);
  });
});

/** What a checkpoint holds, for tests that seal something else. */
async function openedBy(flow: object, sealed: string) {
  const { definitionOf } = await import("../../../src/flow/definition.js");
  const { planOf } = await import("../../../src/flow/plan.js");
  const { openSeal } = await import("../../../src/crypto/seal.js");
  const plan = planOf(definitionOf(flow));
  const context = { purpose: "checkpoint", owner: ["flow", plan.name, plan.fingerprint] } as const;
  return { plan, value: openSeal(KeyRing.of(SECRET, "secret"), context, sealed) };
}

describe("F5: keys", () => {
  test("an older key opens, the current one seals", async () => {
    const ran: string[] = [];
    const sealed = await checkpointFrom(ran, program({ secret: OTHER }));
    const rotated = program({ secret: [SECRET, OTHER] });
    const again = paused(await resumeFlow(draw(ran), sealed, null, rotated)).checkpoint;
    expect(again.split(".")[1]).toBe(KeyRing.of(SECRET, "secret").currentId);
    forgetProcess();
    expect((await resumeFlow(draw(ran), again, approve(), program())).status).toBe("done");
  });

  test("an answer that waits in a checkpoint under a removed answer key is asked about again", async () => {
    const store = { claim: () => Promise.reject(new TypeError("out of reach")) };
    const desk = new Desk({ kind: "gate", claims: store, secret: OTHER });
    const asked = await desk.asks();
    const { checkpoint } = await failed(desk.resume(asked.checkpoint, approve(), { checkpointKey: [SECRET, OTHER] }));
    forgetProcess();
    const next = new Desk({ kind: "gate", after: desk });
    const again = paused(await next.resume(checkpoint, null));
    expect(again.pending.request.supersedes).toBe(asked.pending.binding);
    expect(desk.paid).toEqual([]);
  });

  test("`checkpointKey` seals instead of the executor's secret, which does not open it then", async () => {
    const ran: string[] = [];
    const options = { ...program(), checkpointKey: OTHER };
    const sealed = await checkpointFrom(ran, options);
    expect(kindOf(await failure(resumeFlow(draw(ran), sealed, approve(), program())))).toBe("FlowError");
    expect((await resumeFlow(draw(ran), sealed, approve(), options)).status).toBe("done");
  });
});

describe("F5, A5: the same checkpoint again", () => {
  test("A5/claims, B46: in another process a used answer is refused when both share `claims`", async () => {
    for (const kind of ["tool", "gate"] as const) {
      const claims = new MemoryClaimStore();
      const desk = new Desk({ kind, claims });
      const asked = await desk.asks();
      expect((await desk.resume(asked.checkpoint, approve())).status).toBe("done");
      forgetProcess();
      const next = new Desk({ kind, claims, after: desk });
      expect(kindOf(await failure(next.resume(asked.checkpoint, approve())))).toBe("ApprovalAlreadyDecided");
      expect(desk.paid).toEqual(["pay 1"]);
    }
  });

  test("without `claims` or a store each process takes an old checkpoint once, as the guide says", async () => {
    const desk = new Desk({ kind: "gate" });
    const asked = await desk.asks();
    await desk.resume(asked.checkpoint, approve());
    forgetProcess();
    await new Desk({ kind: "gate", after: desk }).resume(asked.checkpoint, approve());
    expect(desk.paid).toEqual(["pay 1", "pay 1"]);
  });

  test("F7: what finished before a pause replays elsewhere: calls, items of a map, tools that run once per run", async () => {
    const ran: string[] = [];
    const ledger = new MemoryLedger();
    const tools = () => [
      counted(ran, "rate", { effects: "read" }),
      counted(ran, "once", { body: () => ({ deep: [1, null, false, "", 0] }) }),
      asking(ran, "send"),
    ];
    const flow = new Flow("replays", {
      state: { items: z.array(z.object({ n: z.number() })), rates: z.array(z.string()).default([]), out: z.unknown() },
      merge: { rates: Merge.append },
    })
      .node("rates", map("items", { tool: "rate", into: "rates" }))
      .node("send", async (_state, ctx) => {
        const first = await ctx.run("once", { n: 1 }, { callId: "once" });
        const rate = await ctx.run("rate", { n: 9 });
        return { out: [first, rate, await ctx.run("send", { n: 1 }, { callId: "send" })] };
      })
      .edge("rates", "send")
      .end("send");
    const asked = paused(await runFlow(flow, { items: [{ n: 1 }, { n: 2 }] }, program({ ledger }, tools())));
    forgetProcess();
    const waits = paused(await resumeFlow(flow, asked.checkpoint, null, program({ ledger }, tools())));
    forgetProcess();
    const done = await resumeFlow(flow, waits.checkpoint, approve(), program({ ledger }, tools()));
    expect(done.state).toMatchObject({
      rates: ["rate 1", "rate 2"],
      out: [{ deep: [1, null, false, "", 0] }, "rate 9", "send 1"],
    });
    expect(ran).toEqual(["rate 1", "rate 2", "once 1", "rate 9", "send 1"]);
    const entries = await ledger.entries();
    expect(entries.map(({ tool, status }) => `${tool} ${status}`).toSorted()).toEqual(
      ["once ok", "rate ok", "rate ok", "rate ok", "send ok"].toSorted(),
    );
  });

  test("F7: `oncePerRun` holds in the process that goes on", async () => {
    const ran: string[] = [];
    const once = () => [counted(ran, "once", { oncePerRun: true }), asking(ran, "send")];
    const flow = new Flow("once", { state: { out: z.array(z.unknown()).default([]) }, merge: { out: Merge.append } })
      .node("a", call("once", { args: { n: 1 }, into: "out" }))
      .node("b", call("send", { args: { n: 1 }, into: "out" }))
      .node("c", call("once", { args: { n: 1 }, into: "out" }))
      .edge("a", "b")
      .edge("b", "c")
      .end("c");
    const asked = paused(await runFlow(flow, {}, program({}, once())));
    forgetProcess();
    const done = await resumeFlow(flow, asked.checkpoint, approve(), program({}, once()));
    expect(done.state).toEqual({ out: ["once 1", "send 1", "once 1"] });
    expect(ran).toEqual(["once 1", "send 1"]);
  });

  test("J2: large edits, deep states and odd texts come back as they were", async () => {
    const long = "x".repeat(3_000_000);
    const deep = JSON.parse(`${"[".repeat(120)}1${"]".repeat(120)}`);
    const claims = {
      claim: () => ((failures -= 1) >= 0 ? Promise.reject(new TypeError("out of reach")) : Promise.resolve()),
    };
    let failures = 1;
    const flow = new Flow("large", { state: { n: z.number(), note: z.string().default(""), deep: z.unknown() } })
      .node("pay", () => ({}), { pause: ({ n }) => ({ n, odd: "\u0000\u2028😀" }) })
      .end("pay");
    const options = () => program({ claims, limits: { maxBytes: 10_000_000 } });
    const asked = paused(await runFlow(flow, { n: 1, deep }, options()));
    const { checkpoint } = await failed(
      resumeFlow(flow, asked.checkpoint, approve({ editedArgs: { note: long } }), options()),
    );
    forgetProcess();
    const done = await resumeFlow(flow, checkpoint, null, options());
    expect(done.state).toEqual({ n: 1, deep, note: long });
    const deeper = JSON.parse(`${"[".repeat(250)}1${"]".repeat(250)}`);
    expect(kindOf(await failure(runFlow(flow, { n: 1, deep: deeper }, options())))).toBe("FlowError");
  });

  test("J1, F7: what a run knows is not forgotten before it has used it, whatever else the process remembers", async () => {
    const ran: string[] = [];
    const flow = new Flow("held", { state: { out: z.array(z.string()).default([]) } })
      .node("once", call("once", { args: { n: 1 }, into: "out" }))
      .node("pay", async (_state, ctx) => {
        const rate = await ctx.run("rate", { n: 1 }, { callId: "rate" });
        const receipt = await ctx.run("send", { n: 1 }, { callId: "send" });
        return { out: [rate, receipt, await ctx.run("once", { n: 1 })].map(String) };
      })
      .edge("once", "pay")
      .end("pay");
    const store = new MemoryApprovalStore();
    const decide = store.decide.bind(store);
    // While the decision is on its way to the database other runs come and go.
    store.decide = (...decision) => {
      for (let n = 0; n <= JOURNAL_LIMITS.tasks; n += 1) taskEntry(`crowd-${n}`, Date.now());
      expect([...processState().tasks.keys()].filter((key) => key.includes('"held","pay"'))).toHaveLength(1);
      return decide(...decision);
    };
    const once = () => counted(ran, "once", { oncePerRun: true, body: () => ["once"] });
    const options = () =>
      program({ approval: new DeferredApproval(store) }, [counted(ran, "rate"), asking(ran, "send"), once()]);
    const asked = paused(await runFlow(flow, {}, options()));
    forgetProcess();
    const done = await resumeFlow(flow, asked.checkpoint, approve(), options());
    expect(done.state).toEqual({ out: ["rate 1", "send 1", "once"] });
    expect(ran).toEqual(["once 1", "rate 1", "send 1"]);
    expect([...processState().tasks.values()].every(({ attempts }) => attempts === 0)).toBe(true);
  });
});

describe("F3: errors carry a checkpoint", () => {
  test("one abort that ends two runs gives each its own", async () => {
    const stop = new AbortController();
    const flow = (ran: string[]) =>
      new Flow("stops", { state: { n: z.number() } })
        .node("first", ({ n }) => void ran.push(`first ${n}`))
        .node("second", ({ n }) => {
          stop.abort(new Error("shutting down"));
          stop.signal.throwIfAborted();
          ran.push(`second ${n}`);
        })
        .edge("first", "second")
        .end("second");
    const ran: string[] = [];
    const errors = [
      await failure(runFlow(flow(ran), { n: 1 }, { ...program(), signal: stop.signal })),
      await failure(runFlow(flow(ran), { n: 2 }, { ...program(), signal: stop.signal })),
    ];
    expect(errors[0]).toBe(stop.signal.reason);
    expect(errors[1]).toMatchObject({ kind: "FlowError", cause: stop.signal.reason });
    const [one, two] = errors.map(checkpointOf);
    expect(one).toBeDefined();
    expect(two).toBeDefined();
    const onward = new Flow("stops", { state: { n: z.number() } })
      .node("first", ({ n }) => void ran.push(`first ${n}`))
      .node("second", ({ n }) => void ran.push(`second ${n}`))
      .edge("first", "second")
      .end("second");
    expect((await resumeFlow(onward, one ?? "", null, program())).state).toEqual({ n: 1 });
    expect((await resumeFlow(onward, two ?? "", null, program())).state).toEqual({ n: 2 });
  });

  test("the same error again from the same run carries the newest", async () => {
    const broken = new TypeError("always this one");
    const flow = new Flow("same", { state: { n: z.number() } }).node("a", () => Promise.reject(broken)).end("a");
    const first = await failed(runFlow(flow, { n: 1 }, program()));
    const second = await failed(resumeFlow(flow, first.checkpoint, null, program()));
    expect([first.error, second.error]).toEqual([broken, broken]);
    expect(second.checkpoint).not.toBe(first.checkpoint);
    expect(JSON.stringify(broken)).not.toContain("v1.");
    expect(Object.keys(broken)).toEqual([]);
  });

  test("E2/flows, N1: errors of flows are typed, and hold nothing of state, arguments or results", async () => {
    const word = "sesame-9182";
    const flow = new Flow("typed", { state: { note: z.string(), n: z.number().default(0) } })
      .node("a", ({ note }) => ({ n: 1, note, [word]: 1 }) as never)
      .end("a");
    const looped = new Flow("looped", { state: { note: z.string() } })
      .node("a", () => ({}))
      .edge("a", "a", { maxLoops: 2 })
      .node("b", () => ({}))
      .edge("a", "b")
      .end("b");
    const errors = [
      await failure(runFlow(flow, { note: 1 } as never, program())),
      await failure(runFlow(flow, { note: word }, program())),
      await failure(runFlow(looped, { note: word }, program())),
      await failure(runFlow(looped, { note: word }, { ...program(), maxSteps: 1 })),
      await failure(resumeFlow(flow, word, null, program())),
    ];
    expect(errors.map(kindOf)).toEqual(["FlowError", "FlowError", "FlowLoopExceeded", "FlowLoopExceeded", "FlowError"]);
    for (const [index, error] of errors.entries()) {
      // The one that names a field: it is what a node wrote that is not in the state.
      expect(index !== 1 && String(error).includes(word)).toBe(false);
      expect(error).toMatchObject({ modelVisible: false });
    }
  });

  test("a checkpoint of a step report goes on from there", async () => {
    const ran: string[] = [];
    const kept: string[] = [];
    const onStep = (report: StepReport<unknown>) => void kept.push(report.checkpoint());
    const store = new MemoryApprovalStore();
    const options = { ...program({ approval: new DeferredApproval(store) }), onStep };
    const flow = new Flow("reports", { state: { n: z.number() } })
      .node("first", ({ n }) => void ran.push(`first ${n}`))
      .node("pay", ({ n }) => void ran.push(`pay ${n}`), { pause: ({ n }) => ({ n }) })
      .edge("first", "pay")
      .end("pay");
    const asked = paused(await runFlow(flow, { n: 1 }, options));
    forgetProcess();
    const again = paused(await resumeFlow(flow, kept[0] ?? "", null, options));
    expect(again.pending.binding).toBe(asked.pending.binding);
    expect((await resumeFlow(flow, again.checkpoint, approve(), options)).status).toBe("done");
    expect(kindOf(await failure(resumeFlow(flow, kept[0] ?? "", null, options)))).toBe("ApprovalAlreadyDecided");
    expect(ran).toEqual(["first 1", "pay 1"]);
  });
});
