// The rows of "States and events" that apply to a local flow, each for a tool call in a node and for a gate. Proved: what is asked,
// what uses an answer up, what keeps it, and that nothing else lets the call or the visit go on.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { approve, defineTool, deny, MemoryClaimStore, type ReviewRequest } from "agent-adapter";
import { Flow, runFlow } from "agent-adapter/flow";
import { LangGraphApproval } from "agent-adapter/langgraph";
import { failure } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";
import { Desk, failed, kindOf, KINDS, outage, paused, SECRET, type Answers } from "./gates-rig.js";

afterEach(forgetProcess);

const HOUR_MS = 3_600_000;
/** A pending request as the port takes it. */
const shown = ({ binding, request }: ReviewRequest) => ({
  value: { type: "agent_adapter.approval", binding, request },
});

describe.each(KINDS)("A6, F3: a %s of a local flow", (kind) => {
  test("F6: asks, runs nothing of what is asked about, and runs once when it is approved", async () => {
    const desk = new Desk({ kind });
    const asked = await desk.asks();
    expect(asked).toMatchObject({ status: "paused", state: { n: 1, receipt: "" }, steps: 0, visits: {} });
    expect(asked.pending).toMatchObject({ node: "pay", request: { kind, arguments: { n: 1 }, generation: 0 } });
    expect(asked.pendings).toEqual([asked.pending]);
    expect(desk.paid).toEqual([]);
    const done = await desk.resume(asked.checkpoint, approve({ by: "ana" }));
    expect(done).toEqual({ status: "done", state: { n: 1, receipt: "paid 1" }, steps: 1, visits: { pay: 1 } });
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("asked again: the same request under null, here and elsewhere, without running code", async () => {
    const desk = new Desk({ kind });
    const asked = await desk.asks();
    const { code } = desk;
    const before = [...code];
    const here = paused(await desk.resume(asked.checkpoint, null));
    forgetProcess();
    const there = paused(await new Desk({ kind, after: desk }).resume(here.checkpoint, null));
    for (const again of [here, there]) expect(again.pending).toEqual(asked.pending);
    expect(code).toEqual(before);
    expect((await desk.resume(there.checkpoint, approve())).status).toBe("done");
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("A9/flows: bare, parsed and missing answers are refused, and the request can still be answered", async () => {
    const desk = new Desk({ kind });
    const { checkpoint } = await desk.asks();
    const bare: unknown[] = ["yes", true, 1, undefined, {}, [], JSON.parse(JSON.stringify(approve())), { pay: true }];
    for (const answer of [...bare, { approved: true, binding: "x" }, { binding: "x", mac: "y" }]) {
      // What a program that reads the network might pass.
      expect(kindOf(await failure(desk.resume(checkpoint, answer as Answers)))).toBe("ToolUsageError");
    }
    expect(desk.paid).toEqual([]);
    expect((await desk.resume(checkpoint, approve())).status).toBe("done");
  });

  test("A9/flows: forged, foreign and expired answers use nothing up", async () => {
    const approval = new LangGraphApproval({ answerTtlMs: HOUR_MS });
    const desk = new Desk({ kind, approval });
    const asked = await desk.asks();
    const genuine = approval.resumeValue(shown(asked.pending), approve());
    const other = new LangGraphApproval({ key: "another secret of 32 bytes, test" });
    const forged = [
      { ...genuine, mac: `${genuine.mac.slice(0, -1)}${genuine.mac.endsWith("A") ? "B" : "A"}` },
      { ...genuine, decision: { ...genuine.decision, editedArgs: { n: 9999 } } },
      { ...genuine, expiresAt: genuine.expiresAt + 1 },
      other.resumeValue(shown(asked.pending), approve()),
    ];
    for (const answer of forged) {
      expect(String(await failure(desk.resume(asked.checkpoint, answer as Answers)))).toContain("(signature)");
    }
    const sameKey = new LangGraphApproval({ key: SECRET });
    const foreign = new Desk({ kind, approval: sameKey });
    const theirs = sameKey.resumeValue(shown((await foreign.asks(9999)).pending), approve());
    expect(kindOf(await failure(desk.resume(asked.checkpoint, theirs)))).toBe("ApprovalAlreadyDecided");
    desk.clock.advance(HOUR_MS + 1);
    expect(String(await failure(desk.resume(asked.checkpoint, genuine)))).toContain("(expired)");
    expect(desk.paid).toEqual([]);
    const late = approval.resumeValue(shown(asked.pending), approve());
    expect((await desk.resume(asked.checkpoint, late)).status).toBe("done");
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("A4, B11: an answer that was given and ran out before it was used is asked about again", async () => {
    const approval = new LangGraphApproval({ answerTtlMs: HOUR_MS });
    const claims = outage(new MemoryClaimStore());
    const desk = new Desk({ kind, approval, claims });
    const asked = await desk.asks();
    const { checkpoint } = await failed(desk.resume(asked.checkpoint, approve()));
    desk.clock.advance(HOUR_MS + 1);
    const again = paused(await desk.resume(checkpoint, null));
    expect(again.pending.request).toMatchObject({ generation: 0, supersedes: asked.pending.binding });
    expect((await desk.resume(again.checkpoint, approve())).status).toBe("done");
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test.each(["here", "elsewhere"])(
    "B11: a store that fails before the use keeps the answer: used under null, %s",
    async (where) => {
      const claims = new MemoryClaimStore();
      const desk = new Desk({ kind, claims: outage(claims) });
      const asked = await desk.asks();
      const { error, checkpoint } = await failed(desk.resume(asked.checkpoint, approve()));
      expect(kindOf(error)).toBe("StoreUnavailable");
      expect(desk.paid).toEqual([]);
      if (where === "elsewhere") forgetProcess();
      const next = where === "elsewhere" ? new Desk({ kind, after: desk, claims }) : desk;
      expect((await next.resume(checkpoint, null)).status).toBe("done");
      expect(desk.paid).toEqual(["pay 1"]);
    },
  );

  test("B11: after such a failure the same answer again is as good as null", async () => {
    const approval = new LangGraphApproval();
    const desk = new Desk({ kind, approval, claims: outage(new MemoryClaimStore()) });
    const asked = await desk.asks();
    const answer = approval.resumeValue(shown(asked.pending), approve());
    const { checkpoint } = await failed(desk.resume(asked.checkpoint, answer));
    expect((await desk.resume(checkpoint, answer)).status).toBe("done");
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("A5, B09: of ten concurrent resumes one goes on; approve and deny race the same way", async () => {
    for (let round = 0; round < 2; round += 1) {
      const desk = new Desk({ kind, body: () => Promise.resolve() });
      const asked = await desk.asks();
      const ends = await Promise.allSettled(
        Array.from({ length: 10 }, (_, n) => desk.resume(asked.checkpoint, n % 2 === round ? approve() : deny())),
      );
      // A denial is given again to whoever comes later; an approval is good for one.
      const statuses = ends.map((end) => (end.status === "fulfilled" ? end.value.status : kindOf(end.reason)));
      const went = statuses.filter((status) => status === "done");
      expect(went.length).toBeLessThanOrEqual(1);
      expect(desk.paid).toHaveLength(went.length);
      expect(
        statuses.every((status) => status === "done" || status === "denied" || status === "ApprovalAlreadyDecided"),
      ).toBe(true);
      expect(went.length === 1 && statuses.includes("denied")).toBe(false);
    }
  });

  test("F5, B46: an answered checkpoint takes no second answer once its run went on", async () => {
    const approval = new LangGraphApproval();
    const desk = new Desk({ kind, approval });
    const asked = await desk.asks();
    const answer = approval.resumeValue(shown(asked.pending), approve());
    expect((await desk.resume(asked.checkpoint, answer)).status).toBe("done");
    for (const again of [answer, approve(), deny(), approve({ editedArgs: { n: 2 } })]) {
      expect(kindOf(await failure(desk.resume(asked.checkpoint, again)))).toBe("ApprovalAlreadyDecided");
    }
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("F3: a denial ends the run with the state before; it is replayed and cannot be turned around", async () => {
    const desk = new Desk({ kind });
    const asked = await desk.asks();
    const denied = await desk.resume(asked.checkpoint, deny({ reason: "not today" }));
    expect(denied).toMatchObject({ status: "denied", node: "pay", state: { n: 1, receipt: "" }, steps: 0, visits: {} });
    expect(denied).toMatchObject({ error: { kind: "ApprovalDenied" } });
    expect((await desk.resume(asked.checkpoint, null)).status).toBe("denied");
    expect(kindOf(await failure(desk.resume(asked.checkpoint, approve())))).toBe("ApprovalAlreadyDecided");
    expect(desk.paid).toEqual([]);
  });

  test("A4, F3: a request that ran out is no denial, and a yes after that pushes nothing on", async () => {
    const approval = new LangGraphApproval({ requestTtlMs: HOUR_MS });
    const desk = new Desk({ kind, approval });
    const asked = await desk.asks();
    expect(asked.pending.request.expiresAt).toBe(desk.clock.now() + HOUR_MS);
    desk.clock.advance(HOUR_MS + 1);
    const ended = await desk.resume(asked.checkpoint, approve());
    expect(ended).toMatchObject({ status: "denied", error: { kind: "ApprovalExpired" }, state: { receipt: "" } });
    expect(await desk.resume(asked.checkpoint, null)).toMatchObject({ error: { kind: "ApprovalExpired" } });
    expect(desk.paid).toEqual([]);
  });

  test("A4: an answer signed in time and delivered late is good", async () => {
    const approval = new LangGraphApproval({ requestTtlMs: HOUR_MS });
    const desk = new Desk({ kind, approval });
    const asked = await desk.asks();
    const answer = approval.resumeValue(shown(asked.pending), approve());
    desk.clock.advance(HOUR_MS + 1);
    expect((await desk.resume(asked.checkpoint, answer)).status).toBe("done");
  });

  test("an abort after the use: nobody knows, so it is asked again, one generation later, saying so", async () => {
    const desk = new Desk({ kind, ...stopping(kind, () => stop.abort(new Error("enough"))) });
    const stop = new AbortController();
    const asked = await desk.asks();
    const { error, checkpoint } = await failed(desk.resume(asked.checkpoint, approve(), { signal: stop.signal }));
    expect(error).toBe(stop.signal.reason);
    const again = paused(await desk.resume(checkpoint, null));
    expect(again.pending.request).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    const before = desk.paid.length;
    const next = new Desk({ kind, after: desk });
    forgetProcess();
    expect((await next.resume(again.checkpoint, approve())).status).toBe("done");
    expect(desk.paid).toHaveLength(before + 1);
  });

  test("an abort after the use, elsewhere: it may still be running there until its time is over", async () => {
    const desk = new Desk({ kind, ...stopping(kind, () => stop.abort(new Error("enough"))) });
    const stop = new AbortController();
    const asked = await desk.asks();
    const { checkpoint } = await failed(desk.resume(asked.checkpoint, approve(), { signal: stop.signal }));
    forgetProcess();
    const next = new Desk({ kind, after: desk });
    expect(kindOf(await failure(next.resume(checkpoint, null)))).toBe("ApprovalAlreadyDecided");
    forgetProcess();
    desk.clock.advance(5 * 60_000);
    expect(paused(await next.resume(checkpoint, null)).pending.request.generation).toBe(1);
  });

  test("E1: one ledger entry for the question, the answer, retries and replays, wherever they happen", async () => {
    const desk = new Desk({ kind });
    const asked = await desk.asks();
    forgetProcess();
    const next = new Desk({ kind, after: desk });
    const waits = paused(await next.resume(asked.checkpoint, null));
    await next.resume(waits.checkpoint, approve({ by: "ana" }));
    await failure(next.resume(waits.checkpoint, approve()));
    const entries = (await desk.ledger.entries()).filter(({ tool }) => tool === "pay");
    expect(entries).toMatchObject([{ status: "ok", decidedBy: "ana", binding: asked.pending.binding }]);
  });
});

/** Stops the run once the answer is used: in the tool, or for a gate while its hooks hear of the answer. */
function stopping(kind: "tool" | "gate", stop: () => void): Partial<ConstructorParameters<typeof Desk>[0]> {
  let first = true;
  const once = () => {
    if (!first) return;
    first = false;
    stop();
    throw new Error("stopped in the middle");
  };
  if (kind === "tool") return { body: once };
  return { hooks: [{ onApproval: (_call, { state }) => (state === "approved" ? once() : undefined) }] };
}

describe("A6: what only a tool call can meet", () => {
  test("a changed definition asks again; the old answer lets nothing through", async () => {
    const approval = new LangGraphApproval();
    const desk = new Desk({ kind: "tool", approval });
    const asked = await desk.asks();
    const changed = new Desk({ kind: "tool", after: desk, version: "2", approval });
    const old = approval.resumeValue(shown(asked.pending), approve());
    for (const answers of [null, old]) {
      forgetProcess();
      const again = paused(await changed.resume(asked.checkpoint, answers));
      expect(again.pending.request).toMatchObject({ supersedes: asked.pending.binding, generation: 0 });
      expect(again.pending.binding).not.toBe(asked.pending.binding);
      expect(kindOf(await failure(changed.resume(again.checkpoint, old)))).toBe("ApprovalAlreadyDecided");
      expect(desk.paid).toEqual([]);
    }
    const last = paused(await changed.resume(asked.checkpoint, null));
    expect((await changed.resume(last.checkpoint, approve())).status).toBe("done");
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("B11: a hook that fails before the use keeps the answer", async () => {
    let refusals = 0;
    const hooks = [
      {
        beforeTool: ({ tool }: { tool: string }) => {
          if (tool === "pay" && (refusals += 1) === 2) throw new Error("not now");
        },
      },
    ];
    const desk = new Desk({ kind: "tool", hooks });
    const asked = await desk.asks();
    const { checkpoint } = await failed(desk.resume(asked.checkpoint, approve()));
    expect(desk.paid).toEqual([]);
    expect((await desk.resume(checkpoint, null)).status).toBe("done");
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("B12: a body that failed after the use is not run again, by null or by an answer", async () => {
    const desk = new Desk({ kind: "tool", body: () => Promise.reject(new TypeError("no route")) });
    const asked = await desk.asks();
    const { error, checkpoint } = await failed(desk.resume(asked.checkpoint, approve()));
    expect(kindOf(error)).toBe("ToolFailed");
    const again = await failure(desk.resume(checkpoint, null));
    expect(again).toMatchObject({ kind: "ApprovalAlreadyDecided", cause: { name: "ToolFailed" } });
    forgetProcess();
    expect(kindOf(await failure(new Desk({ kind: "tool", after: desk }).resume(checkpoint, null)))).toBe(
      "ApprovalAlreadyDecided",
    );
    expect(kindOf(await failure(desk.resume(checkpoint, approve())))).not.toBeUndefined();
    expect(desk.paid).toEqual(["pay 1"]);
  });

  test("B46: under null an old checkpoint replays the call, which does not run again", async () => {
    const desk = new Desk({ kind: "tool" });
    const asked = await desk.asks();
    await desk.resume(asked.checkpoint, approve());
    expect((await desk.resume(asked.checkpoint, null)).status).toBe("done");
    expect(desk.ran).toEqual(["read", "pay 1"]);
  });

  test("a call that needs a human inside a tool's body is refused before it asks", async () => {
    const outer = defineTool({
      name: "outer",
      description: "calls another",
      inputSchema: z.object({}),
      execute: (_args, ctx) => ctx.run("pay", { n: 1 }),
    });
    const desk = new Desk({ kind: "tool", tools: [outer] });
    const flow = new Flow("nested", { state: { out: z.unknown() } })
      .node("outer", async (_state, ctx) => ({ out: await ctx.run(outer, {}) }))
      .end("outer");
    expect(kindOf(await failure(runFlow(flow, {}, { executor: desk.executor })))).toBe("ToolUsageError");
    expect(desk.ran).toEqual([]);
  });
});
