// Properties proved: what becomes of visits that fail, pause, are denied, take too long or are aborted, and of the calls in them: what
// finished is kept, siblings settle, nothing runs twice, and the ledger has one entry per call.
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { approve, BudgetHook, CallbackApproval, deny, isAgentAdapterError, ToolError } from "../../../src/index.js";
import { call, checkpointOf, Flow, Merge, resumeFlow, runFlow, type FlowContext } from "../../../src/flow/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { bench, idle, rejection } from "../../support/flows.js";
import { forgetProcess } from "../../support/process.js";

const state = { log: z.array(z.string()).default([]), text: z.string().default("") };
const merge = { log: Merge.append };
type Loose = Flow<typeof state, typeof merge, string>;
const empty = () => new Flow("flow", { state, merge }) as Loose;
const echo = (ctx: FlowContext, text: string) => ctx.run("echo", { text });
const retries = (count: number) => ({ maxAttempts: count + 1, initialDelayMs: 0 });
const checkpointOn = (error: unknown) => checkpointOf(error) ?? "";
const texts = (ran: readonly { readonly text: string }[]) => ran.map(({ text }) => text);
/** `start`, then all the others side by side. */
function beside(nodes: Readonly<Record<string, Parameters<Loose["node"]>[1]>>): Loose {
  let flow = empty().node("start", () => undefined);
  for (const [name, work] of Object.entries(nodes)) flow = flow.node(name, work).edge("start", name).end(name);
  return flow;
}

describe("F7: a visit that fails", () => {
  test("stops no sibling; what finished is kept, and only the failed one runs again [rule 21]", async () => {
    const { executor, ran, again } = bench();
    let failures = 1;
    const runs: string[] = [];
    const flow = beside({
      fine: async (_seen, ctx) => {
        await idle();
        runs.push("fine");
        await echo(ctx, "fine");
        return { log: ["fine"] };
      },
      fails: async (_seen, ctx) => {
        runs.push("fails");
        await echo(ctx, "before");
        if (failures-- > 0) throw new Error("mine");
        await echo(ctx, "after");
        return { log: ["fails"] };
      },
    });
    const error = await rejection(runFlow(flow, {}, { executor }));
    expect(error).toMatchObject({ message: "mine" });
    expect(runs).toEqual(["fails", "fine"]);
    forgetProcess();
    const done = await resumeFlow(flow, checkpointOn(error), null, { executor: again() });
    expect(done).toMatchObject({ status: "done", steps: 2, visits: { start: 1, fine: 1, fails: 1 } });
    expect(done.state.log).toEqual(["fails", "fine"]);
    expect(runs).toEqual(["fails", "fine", "fails"]);
    expect(texts(ran).toSorted()).toEqual(["after", "before", "fine"]);
  });

  test("gives the error of the first by name, as it was thrown [rule 21]", async () => {
    const { executor } = bench();
    const [a, b] = [new Error("a"), new Error("b")];
    const flow = beside({
      b: () => Promise.reject(b),
      a: async () => {
        await idle();
        throw a;
      },
    });
    expect(await rejection(runFlow(flow, {}, { executor }))).toBe(a);
  });

  test.each([["a text"], [undefined], [Object.freeze(new Error("frozen"))]])(
    "carries a checkpoint also when it threw %s [rule 21]",
    async (thrown) => {
      const { executor } = bench();
      let failures = 1;
      const flow = empty()
        .node("n", () => {
          // Whatever a program may throw.
          if (failures-- > 0) throw thrown as Error;
          return { text: "done" };
        })
        .end("n");
      const error = await rejection(runFlow(flow, {}, { executor }));
      expect(error).toMatchObject({ kind: "FlowError" });
      expect((error as Error).cause).toBe(thrown);
      expect(JSON.stringify({ ...(error as object) })).not.toContain(checkpointOn(error));
      expect(await resumeFlow(flow, checkpointOn(error), null, { executor })).toMatchObject({
        state: { text: "done" },
      });
    },
  );

  test("is denied only when no sibling failed, and by the first by name [rule 23]", async () => {
    const refusing = new CallbackApproval(() => deny({ by: "ana" }));
    const { executor } = bench({ approval: refusing });
    let failures = 1;
    const flow = beside({
      b: call("ask", { args: { text: "b" }, into: "text" }),
      a: call("ask", { args: { text: "a" }, into: "text" }),
      c: () => {
        if (failures-- > 0) throw new Error("mine");
        return { log: ["c"] };
      },
    });
    const error = await rejection(runFlow(flow, { log: ["before"] }, { executor }));
    expect(error).toMatchObject({ message: "mine" });
    const denied = await resumeFlow(flow, checkpointOn(error), null, { executor });
    expect(denied).toMatchObject({
      status: "denied",
      node: "a",
      state: { log: ["before"] },
      steps: 1,
      visits: { start: 1 },
      error: { kind: "ApprovalDenied" },
    });
  });

  test("and whose code caught the denial goes on [rule 23]", async () => {
    const { executor } = bench({ approval: new CallbackApproval(() => deny({ by: "ana" })) });
    const flow = empty()
      .node("n", async (_seen, ctx) => {
        const denied = await rejection(ctx.run("ask", { text: "x" }));
        return { text: isAgentAdapterError(denied) ? denied.kind : "" };
      })
      .end("n");
    expect(await runFlow(flow, {}, { executor })).toMatchObject({ status: "done", state: { text: "ApprovalDenied" } });
  });
});

describe("F7: a visit that waits for a human", () => {
  test("stops no sibling; requests come together, each is answered for itself [rule 22]", async () => {
    const { executor, ran, again } = bench();
    const runs: string[] = [];
    const asking = (name: string) => async (_seen: unknown, ctx: FlowContext) => {
      runs.push(name);
      await echo(ctx, `before ${name}`);
      await ctx.run("ask", { text: name });
      return { log: [name] };
    };
    const flow = beside({
      a: asking("a"),
      b: asking("b"),
      c: async () => {
        await idle();
        return { log: ["c"] };
      },
    });
    const both = await runFlow(flow, {}, { executor });
    if (both.status !== "paused") throw new Error("it did not pause");
    expect(both.pendings.map(({ node }) => node)).toEqual(["a", "b"]);
    const [, b] = both.pendings;
    forgetProcess();
    const one = await resumeFlow(flow, both.checkpoint, { [b?.binding ?? ""]: approve() }, { executor: again() });
    if (one.status !== "paused") throw new Error("it did not pause");
    expect(one.pendings.map(({ node }) => node)).toEqual(["a"]);
    // Nothing came for `a`: its code did not run.
    expect(runs).toEqual(["a", "b", "b"]);
    const done = await resumeFlow(flow, one.checkpoint, approve(), { executor: again() });
    expect(done.state.log).toEqual(["a", "b", "c"]);
    expect(runs).toEqual(["a", "b", "b", "a"]);
    expect(texts(ran)).toEqual(["before a", "before b", "b", "a"]);
  });

  test("is one also when its code caught the pause and threw or returned something, and is not retried [rule 25]", async () => {
    for (const end of [() => ({ text: "swallowed" }), () => Promise.reject(new Error("mine"))]) {
      const { executor, ran } = bench();
      let runs = 0;
      const flow = empty()
        .node(
          "n",
          async (_seen, ctx) => {
            runs += 1;
            try {
              return { text: String(await ctx.run("ask", { text: "x" })) };
            } catch {
              return end();
            }
          },
          { retries: retries(3) },
        )
        .end("n");
      const paused = await runFlow(flow, {}, { executor });
      if (paused.status !== "paused") throw new Error("it did not pause");
      expect([runs, ran]).toEqual([1, []]);
      const done = await resumeFlow(flow, paused.checkpoint, approve(), { executor });
      expect([done.status, done.state.text, runs]).toEqual(["done", "x", 2]);
    }
  });

  test("waits for the calls it left running, so that no other process repeats them [rule 24]", async () => {
    const { executor, ran, waiting, again } = bench();
    let release: () => void = () => undefined;
    waiting.set("slow", new Promise<void>((resolve) => (release = resolve)));
    waiting.set("slow ask", waiting.get("slow") ?? Promise.resolve());
    const flow = empty()
      .node("n", async (_seen, ctx) => {
        const all = await Promise.all([echo(ctx, "slow"), ctx.run("ask", { text: "x" }), echo(ctx, "quick")]);
        return { log: all.map(String) };
      })
      .end("n");
    let paused = false;
    const running = runFlow(flow, {}, { executor }).finally(() => (paused = true));
    await idle();
    expect([paused, texts(ran)]).toEqual([false, ["slow", "quick"]]);
    release();
    const result = await running;
    if (result.status !== "paused") throw new Error("it did not pause");
    forgetProcess();
    const done = await resumeFlow(flow, result.checkpoint, approve(), { executor: again() });
    expect(done.state.log).toEqual(["slow", "x", "quick"]);
    expect(texts(ran)).toEqual(["slow", "quick", "x"]);
  });
});

describe("F7: retries of a visit", () => {
  test("start from the top; finished calls replay, each is one entry in the ledger [rule 25] [rule 27]", async () => {
    const { executor, ran, failing, entries } = bench();
    failing.set("second", 2);
    const attempts: number[] = [];
    const flow = empty()
      .node(
        "n",
        async (_seen, ctx) => {
          attempts.push(ctx.attempt);
          await echo(ctx, "first");
          await echo(ctx, "second");
          return { log: ["n"] };
        },
        { retries: retries(2) },
      )
      .end("n");
    expect(await runFlow(flow, {}, { executor })).toMatchObject({
      status: "done",
      visits: { n: 1 },
      state: { log: ["n"] },
    });
    expect(attempts).toEqual([1, 2, 3]);
    expect(texts(ran)).toEqual(["first", "second", "second", "second"]);
    expect(await entries()).toEqual([
      ["echo", "ok", 1, 5],
      ["echo", "ok", 3, 15],
    ]);
  });

  test("B56: end with the last failure, and after a resume the entries still are what really ran [rule 25] [rule 27]", async () => {
    const { executor, failing, entries, again } = bench();
    failing.set("x", 3);
    const flow = empty()
      .node("n", (_seen, ctx) => echo(ctx, "x").then(() => undefined), { retries: retries(1) })
      .end("n");
    const error = await rejection(runFlow(flow, {}, { executor }));
    expect(error).toMatchObject({ kind: "ToolFailed" });
    expect(await entries()).toEqual([["echo", "failed", 2, 10]]);
    forgetProcess();
    expect((await resumeFlow(flow, checkpointOn(error), null, { executor: again() })).status).toBe("done");
    expect(await entries()).toEqual([["echo", "ok", 4, 20]]);
    // The checkpoint of the failure, once more: what it does not know runs again, in the same entry.
    expect((await resumeFlow(flow, checkpointOn(error), null, { executor: again() })).status).toBe("done");
    expect(await entries()).toEqual([["echo", "ok", 4, 20]]);
  });

  test.each([
    ["an answer for the model", () => Promise.reject(new ToolError("no"))],
    ["a wrong write", () => ({ prize: 1 }) as never],
    ["an unknown tool", (_seen: unknown, ctx: FlowContext) => ctx.run("gone", {}).then(() => undefined)],
    ["a loop over its cap", () => ({ log: ["loop"] })],
  ])("do not repeat %s [rule 25]", async (what, work) => {
    const { executor } = bench();
    let runs = 0;
    const counted = (seen: unknown, ctx: FlowContext) => {
      runs += 1;
      return work(seen, ctx);
    };
    const flow = empty()
      .node("n", counted, { retries: retries(3) })
      .node("end", () => undefined)
      .edge("n", "end")
      .end("end");
    const looping = what === "a loop over its cap" ? flow.edge("n", "n", { maxLoops: 1 }) : flow;
    await rejection(runFlow(looping, {}, { executor }));
    expect(runs).toBe(what === "a loop over its cap" ? 2 : 1);
  });

  test("ask retryOn, and wait as the policy says [rule 25]", async () => {
    const clock = new ManualClock();
    const { executor } = bench({ clock });
    let runs = 0;
    const work = () => {
      runs += 1;
      throw new Error(runs < 3 ? "again" : "enough");
    };
    const policy = {
      maxAttempts: 9,
      initialDelayMs: 100,
      factor: 3,
      jitter: false,
      retryOn: (error: unknown) => error instanceof Error && error.message === "again",
    };
    const running = rejection(runFlow(empty().node("n", work, { retries: policy }).end("n"), {}, { executor }));
    await idle();
    expect([runs, clock.sleeping]).toEqual([1, 1]);
    clock.advance(100);
    await idle();
    clock.advance(299);
    await idle();
    expect(runs).toBe(2);
    clock.advance(1);
    expect(await running).toMatchObject({ message: "enough" });
    expect(runs).toBe(3);
  });
});

describe("F7: hooks in visits", () => {
  test("hear of each call that runs, with node and visit in its task run, and not of replays [rule 27]", async () => {
    const heard: string[] = [];
    const hook = { beforeTool: ({ tool }: { readonly tool: string }) => void heard.push(tool) };
    const { executor, again } = bench({ hooks: [hook] });
    const flow = empty()
      .node("n", async (_seen, ctx) => {
        await echo(ctx, `lap ${ctx.visit}`);
        await ctx.run("ask", { text: `lap ${ctx.visit}` });
      })
      .node("end", () => undefined)
      .edge("n", "n", { maxLoops: 1, orElse: "end" })
      .end("end");
    let result = await runFlow(flow, {}, { executor });
    while (result.status === "paused") {
      forgetProcess();
      result = await resumeFlow(flow, result.checkpoint, approve(), { executor: again() });
    }
    expect(result.visits).toEqual({ n: 2, end: 1 });
    // An asked call is looked at again when its visit is: budgets and kill switches may have changed.
    expect(heard).toEqual(["echo", "ask", "ask", "echo", "ask", "ask"]);
  });

  test("B57: nodes that run side by side share one budget, which resumes do not fill up again [rule 27]", async () => {
    const { executor, ran, ledger, again } = bench({ hooks: [new BudgetHook({ maxCost: 10 })] });
    const spend = (name: string) => async (_seen: unknown, ctx: FlowContext) => {
      const refused = await ctx.run("safe", { text: name }).then(
        () => undefined,
        (error: unknown) => error,
      );
      return { log: [isAgentAdapterError(refused) ? refused.kind : "ok"] };
    };
    const flow = beside({ a: spend("a"), b: spend("b"), c: spend("c"), d: spend("d"), gate: () => ({ log: ["gate"] }) })
      .node("last", spend("last"), { pause: () => ({}) })
      .node("wait", () => undefined)
      .route("start", () => "wait", ["wait"])
      .edge("wait", "last")
      .end("last");
    const paused = await runFlow(flow, {}, { executor });
    if (paused.status !== "paused") throw new Error("it did not pause");
    expect(paused.state.log.filter((one) => one === "ok")).toHaveLength(2);
    expect(paused.state.log.filter((one) => one === "BudgetExceeded")).toHaveLength(2);
    forgetProcess();
    const done = await resumeFlow(flow, paused.checkpoint, approve(), { executor: again() });
    expect(done.state.log.at(-1)).toBe("BudgetExceeded");
    expect([ran.length, (await ledger.totals()).cost]).toEqual([2, 10]);
  });
});

describe("F7: the timeout of a visit", () => {
  test("is for each attempt, aborts its signal, and drops what comes late [rule 25] [rule 26]", async () => {
    const clock = new ManualClock();
    const { executor, ran } = bench({ clock });
    const late: unknown[] = [];
    let runs = 0;
    const flow = empty()
      .node(
        "n",
        async (_seen, ctx) => {
          runs += 1;
          if (runs === 2) return { text: "second" };
          await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
          late.push(ctx.signal.reason, await rejection(echo(ctx, "late")));
          return { text: "late" };
        },
        { timeoutMs: 1000, retries: retries(1) },
      )
      .end("n");
    const running = runFlow(flow, {}, { executor });
    await idle();
    clock.advance(999);
    await idle();
    expect(late).toEqual([]);
    clock.advance(1);
    await idle();
    clock.advance(0);
    const done = await running;
    expect([done.state.text, runs, ran]).toEqual(["second", 2, []]);
    expect(late).toMatchObject([{ kind: "ToolTimeout" }, { kind: "ToolTimeout" }]);
    expect(clock.sleeping).toBe(0);
  });

  test("without retries is a ToolTimeout that names the node, from which the run can go on [rule 21] [rule 25]", async () => {
    const clock = new ManualClock();
    const { executor } = bench({ clock });
    let hangs = true;
    const flow = empty()
      .node("slow", () => (hangs ? new Promise<never>(() => undefined) : { text: "done" }), { timeoutMs: 50 })
      .end("slow");
    const running = rejection(runFlow(flow, {}, { executor }));
    await idle();
    clock.advance(50);
    const error = await running;
    expect(error).toMatchObject({ kind: "ToolTimeout", message: expect.stringContaining('"slow"') });
    hangs = false;
    expect(await resumeFlow(flow, checkpointOn(error), null, { executor })).toMatchObject({ state: { text: "done" } });
  });

  test("a call that is left behind by one attempt is not repeated by the next, which takes its result [rule 25]", async () => {
    const clock = new ManualClock();
    const { executor, ran, waiting } = bench({ clock });
    let release: () => void = () => undefined;
    waiting.set("slow", new Promise<void>((resolve) => (release = resolve)));
    const flow = empty()
      .node("n", async (_seen, ctx) => ({ text: String(await echo(ctx, "slow")) }), {
        timeoutMs: 50,
        retries: retries(1),
      })
      .end("n");
    const running = runFlow(flow, {}, { executor });
    await idle();
    clock.advance(50);
    await idle();
    clock.advance(0);
    await idle();
    release();
    // A body that ignores its signal has done its work all the same.
    expect((await running).state.text).toBe("slow");
    expect(texts(ran)).toEqual(["slow"]);
  });
});

describe("F7: a tool that runs once per run", () => {
  test("does so over nodes, laps and resumes in other processes [rule 28]", async () => {
    const { executor, ran, entries, again } = bench();
    const flow = empty()
      .node("a", async (_seen, ctx) => ({ log: [String(await ctx.run("once", { text: "x" }))] }))
      .node("b", call("once", { args: { text: "x" }, into: "text" }))
      .node("gate", (_seen, ctx) => ctx.run("ask", { text: "y" }).then(() => undefined))
      .node("end", () => undefined)
      .edge("a", "b")
      .edge("b", "gate")
      .edge("gate", "a", { maxLoops: 1, orElse: "end" })
      .end("end");
    let result = await runFlow(flow, {}, { executor });
    for (let pause = 0; result.status === "paused"; pause += 1) {
      forgetProcess();
      expect(pause).toBeLessThan(3);
      result = await resumeFlow(flow, result.checkpoint, approve(), { executor: again() });
    }
    expect(result).toMatchObject({
      status: "done",
      state: { log: ["x", "x"], text: "x" },
      visits: { a: 2, b: 2, gate: 2 },
    });
    expect(texts(ran)).toEqual(["x", "y", "y"]);
    const once = (await entries()).filter(([tool]) => tool === "once");
    expect(once).toEqual([
      ["once", "ok", 1, 5],
      ["once", "cached", 0, 0],
      ["once", "cached", 0, 0],
      ["once", "cached", 0, 0],
    ]);
  });

  test("replays as what it was when its visit is run again by another process [rule 27] [rule 28]", async () => {
    const { executor, entries, again } = bench();
    const flow = empty()
      .node("a", call("once", { args: { text: "x" }, into: "text" }))
      .node("b", async (_seen, ctx) => {
        await ctx.run("once", { text: "x" });
        await ctx.run("ask", { text: "y" });
      })
      .edge("a", "b")
      .end("b");
    const paused = await runFlow(flow, {}, { executor });
    if (paused.status !== "paused") throw new Error("it did not pause");
    forgetProcess();
    await resumeFlow(flow, paused.checkpoint, approve(), { executor: again() });
    expect((await entries()).filter(([tool]) => tool === "once")).toEqual([
      ["once", "ok", 1, 5],
      ["once", "cached", 0, 0],
    ]);
  });
});

describe("F2: an abort", () => {
  test("rejects with its own reason and a checkpoint, and nothing more is called [rule 24] [rule 26] [rule 29]", async () => {
    const { executor, ran, again } = bench();
    const stop = new AbortController();
    const reason = new Error("enough");
    let aborted = true;
    const later: unknown[] = [];
    const flow = beside({
      fine: async (_seen, ctx) => {
        await echo(ctx, "fine");
        return { log: ["fine"] };
      },
      waits: async (_seen, ctx) => {
        if (!aborted) return { log: ["waits"] };
        await idle();
        stop.abort(reason);
        expect(ctx.signal.aborted).toBe(true);
        later.push(await rejection(echo(ctx, "too late")));
        throw new Error("because it was told to stop");
      },
    });
    const error = await rejection(runFlow(flow, {}, { executor, signal: stop.signal }));
    expect(later).toEqual([reason]);
    expect(texts(ran)).toEqual(["fine"]);
    // What a node says after the abort is not why the run ended.
    expect(error).toBe(reason);
    aborted = false;
    const done = await resumeFlow(flow, checkpointOn(error), null, { executor: again() });
    expect(done.state.log).toEqual(["fine", "waits"]);
    expect(texts(ran)).toEqual(["fine"]);
  });

  test("before or between steps stops there; a reason that is no object is the cause [rule 29]", async () => {
    const { executor } = bench();
    let runs = 0;
    const flow = empty()
      .node("a", () => void (runs += 1))
      .node("b", () => void (runs += 1))
      .edge("a", "b")
      .end("b");
    const before = await rejection(runFlow(flow, {}, { executor, signal: AbortSignal.abort("stop") }));
    expect(before).toMatchObject({ kind: "FlowError", cause: "stop" });
    expect(runs).toBe(0);
    const stop = new AbortController();
    const reason = new Error("enough");
    const between = await rejection(
      runFlow(flow, {}, { executor, signal: stop.signal, onStep: () => stop.abort(reason) }),
    );
    expect([between, runs]).toEqual([reason, 1]);
    expect(await resumeFlow(flow, checkpointOn(between), null, { executor })).toMatchObject({
      steps: 2,
      visits: { a: 1, b: 1 },
    });
  });

  test("ends the wait between attempts, and leaves no listener on the signal [rule 25]", async () => {
    const clock = new ManualClock();
    const { executor } = bench({ clock });
    const stop = new AbortController();
    const added = vi.spyOn(stop.signal, "addEventListener");
    const removed = vi.spyOn(stop.signal, "removeEventListener");
    const failing = empty()
      .node("n", () => Promise.reject(new Error("mine")), { retries: 5 })
      .end("n");
    const running = rejection(runFlow(failing, {}, { executor, signal: stop.signal }));
    await idle();
    expect(clock.sleeping).toBe(1);
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await running).toBe(reason);
    expect(clock.sleeping).toBe(0);
    expect(added.mock.calls.length).toBe(removed.mock.calls.length);
  });
});
