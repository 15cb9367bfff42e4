// running and unknown (states in docs/guide/life-of-an-approval.md): aborts, crashes, other processes, and the concurrency inside
// one process. A crash is a body that never ends in a process that is forgotten. The tool runs once per answer, whatever happens.

import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { deny, ToolError } from "agent-adapter";
import {
  deferred,
  ended,
  idle,
  MINUTE_MS,
  never,
  only,
  requestOf,
  Rig,
  toolMessages,
  until,
  type Ask,
  type Built,
} from "./rig.js";

const UNKNOWN_AFTER_MS = 5 * MINUTE_MS;

/** The answer is used, the body has started, the process is gone. */
async function crashed(rig: Rig, ask: Ask, how: "by id" | "plain" = "by id"): Promise<void> {
  const runs = rig.ran.length;
  rig.is.body = never;
  const answer = rig.answer(ask);
  void (how === "plain" ? rig.plain(answer) : rig.byId(ask, answer));
  await until(() => rig.ran.length > runs);
  rig.newProcess({ body: (callId) => `did ${callId}` });
}

describe("unknown: the process died while the tool ran", () => {
  it("A6: the young mark of another process may still be running: ApprovalAlreadyDecided, nothing runs", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    await crashed(rig, ask);
    rig.clock.advance(UNKNOWN_AFTER_MS - 1);
    for (let round = 0; round < 3; round += 1) {
      expect(ended(await rig.nothing())).toBe("ApprovalAlreadyDecided");
      expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("ApprovalAlreadyDecided");
    }
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: an old mark asks again: generation 1, with the previous attempt on it, and the old answer is worth nothing", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const old = rig.answer(ask);
    rig.clock.advance(7);
    const claimedAt = rig.clock.now();
    await crashed(rig, ask);
    rig.clock.advance(UNKNOWN_AFTER_MS);
    const again = only(await rig.nothing());
    expect(requestOf(again)).toEqual({
      ...requestOf(ask),
      generation: 1,
      previousAttempt: { outcome: "unknown", claimedAt },
    });
    expect(again.value.binding).not.toBe(ask.value.binding);
    expect(await rig.pending()).toHaveLength(1);
    for (const run of [() => rig.byId(again, old), () => rig.plain(old), () => rig.newProcess().byId(again, old)]) {
      expect(ended(await run())).toBe("ApprovalAlreadyDecided");
    }
    expect(only(await rig.newProcess().nothing()).value.binding).toBe(again.value.binding);
    expect(rig.ran).toEqual(["a1"]);
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a1"]);
  });

  it("A6: it may happen again: each generation asks for itself, and a denial ends it", async () => {
    const rig = new Rig();
    let ask = await rig.asked();
    for (let generation = 1; generation <= 3; generation += 1) {
      await crashed(rig, ask);
      rig.clock.advance(UNKNOWN_AFTER_MS);
      ask = only(await rig.nothing());
      expect(requestOf(ask)).toMatchObject({ generation, previousAttempt: { outcome: "unknown" } });
    }
    const end = await rig.byId(ask, rig.answer(ask, deny()));
    expect(JSON.parse(String(toolMessages(end)["a1"]?.content))).toMatchObject({ error: { kind: "ApprovalDenied" } });
    expect(rig.ran).toEqual(["a1", "a1", "a1"]);
  });

  it("A6: until somebody continues with null, the used request is shown and a fresh answer to it is refused", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    await crashed(rig, ask);
    rig.clock.advance(UNKNOWN_AFTER_MS);
    expect((await rig.pending()).map(({ value }) => value.binding)).toEqual([ask.value.binding]);
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("ApprovalAlreadyDecided");
    expect(ended(await rig.nothing())).toBe("asks a1.1");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: it asks again under a changed definition, too", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    await crashed(rig, ask);
    rig.clock.advance(UNKNOWN_AFTER_MS);
    const again = only(await rig.newProcess({ version: "2" }).nothing());
    expect(requestOf(again)).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    expect(requestOf(again).definitionDigest).not.toBe(requestOf(ask).definitionDigest);
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a1"]);
  });

  it("A6: a denial needs no outcome: its mark alone is replayed by another process", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    // The process dies when the node has the denial and before LangGraph has the message.
    const { saver } = rig;
    const putWrites = saver.putWrites.bind(saver);
    let dead = false;
    saver.putWrites = async (config, writes, taskId) => {
      if (dead) return never();
      await putWrites(config, writes, taskId);
      dead = writes.some(([channel]) => channel === "aa:spent");
    };
    void rig.byId(ask, rig.answer(ask, deny({ reason: "no" })));
    await until(() => dead);
    await idle();
    saver.putWrites = putWrites;
    const end = await rig.newProcess().nothing();
    expect(ended(end)).toBe("done");
    expect(String(toolMessages(end)["a1"]?.content)).toContain("ApprovalDenied");
    expect(rig.ran).toEqual([]);
  });

  it("A6: between claim and mark it dies: the answer was not used and a retry in another process may use it", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    const { saver } = rig;
    const putWrites = saver.putWrites.bind(saver);
    let dead = false;
    saver.putWrites = async (config, writes, taskId) => {
      dead ||= writes.some(([channel]) => channel === "aa:spent");
      return dead ? never() : putWrites(config, writes, taskId);
    };
    void rig.byId(ask, answer);
    await until(() => dead);
    saver.putWrites = putWrites;
    expect(ended(await rig.newProcess().byId(ask, answer))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });
});

describe("running: the run is aborted by its signal", () => {
  async function aborted(rig: Rig, ask: Ask): Promise<string> {
    const controller = new AbortController();
    const run = rig.byId(ask, rig.answer(ask), { signal: controller.signal });
    await until(() => rig.ran.length > 0);
    controller.abort(new Error("the user left"));
    return ended(await run);
  }

  it("A6, E11/process: the body goes on: a re-run in this process adopts it, and it ran once", async () => {
    const body = deferred();
    const rig = new Rig({ body: () => body.promise });
    const ask = await rig.asked();
    expect(await aborted(rig, ask)).not.toBe("done");
    const rerun = rig.nothing();
    await idle();
    body.resolve("paid late");
    const end = await rerun;
    expect(ended(end)).toBe("done");
    expect(toolMessages(end)["a1"]?.content).toBe("paid late");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: the body goes on: its outcome is written by the aborted owner, and another process replays it", async () => {
    const body = deferred();
    const rig = new Rig({ body: () => body.promise });
    const ask = await rig.asked();
    expect(await aborted(rig, ask)).not.toBe("done");
    body.resolve("paid late");
    await idle(10);
    const end = await rig.newProcess().nothing();
    expect(toolMessages(end)["a1"]?.content).toBe("paid late");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: the body honours the signal: nobody knows what it did, so it is asked again", async () => {
    const rig = new Rig({
      body: (_callId, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")));
        }),
    });
    const ask = await rig.asked();
    expect(await aborted(rig, ask)).not.toBe("done");
    const again = only(await rig.nothing());
    expect(requestOf(again)).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    expect(only(await rig.nothing()).value.binding).toBe(again.value.binding);
    rig.is.body = (callId) => callId;
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a1"]);
  });

  it("A6: the adopted body rejects with the abort: the re-run that waited for it asks again", async () => {
    const body = deferred();
    const rig = new Rig({ body: () => body.promise });
    const ask = await rig.asked();
    await aborted(rig, ask);
    const rerun = rig.nothing();
    await idle();
    body.reject(new Error("stopped late"));
    const again = only(await rerun);
    expect(requestOf(again)).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: the same answer again after the abort is refused, not run", async () => {
    const body = deferred();
    const rig = new Rig({ body: () => body.promise });
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    await aborted(rig, ask);
    const again = rig.byId(ask, answer);
    await idle();
    body.resolve("paid late");
    expect(ended(await again)).toBe("ApprovalAlreadyDecided");
    expect(ended(await rig.nothing())).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: aborted before the claim nothing was used: the answer given by id is asked for again or used, never lost to another call", async () => {
    const gate = deferred();
    let waiting = false;
    const rig = new Rig({
      hooks: [
        {
          beforeTool: async () => {
            if (!waiting) return;
            await gate.promise;
          },
        },
      ],
    });
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    waiting = true;
    const controller = new AbortController();
    const run = rig.byId(ask, answer, { signal: controller.signal });
    await idle(10);
    controller.abort(new Error("the user left"));
    expect(ended(await run)).not.toBe("done");
    waiting = false;
    gate.resolve("");
    await idle(10);
    expect(rig.ran).toEqual([]);
    expect(only(await rig.nothing()).value.binding).toBe(ask.value.binding);
    expect(ended(await rig.byId(ask, answer))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });
});

describe("running: the owner is alive in this process", () => {
  it("A6, E11/process: `null` and the same answer wait for the approved call, then ApprovalAlreadyDecided", async () => {
    const body = deferred();
    const rig = new Rig({ body: () => body.promise });
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    const winner = rig.byId(ask, answer);
    await until(() => rig.ran.length === 1);
    const log: string[] = [];
    const others = [rig.nothing(), rig.byId(ask, answer), rig.plain(answer)].map(async (step) => {
      log.push(ended(await step));
    });
    await idle(10);
    expect(log).toEqual([]);
    body.resolve("paid");
    await Promise.all(others);
    expect(log).toEqual(["ApprovalAlreadyDecided", "ApprovalAlreadyDecided", "ApprovalAlreadyDecided"]);
    expect(ended(await winner)).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("E11/process: a plain call that is running is shared by a second run of the same task", async () => {
    const body = deferred();
    const rig = new Rig({ body: (callId) => (callId === "p1" ? body.promise : callId) });
    const start = rig.start(["p1", "a1"]);
    await until(() => rig.ran.length === 1);
    const second = rig.nothing();
    await idle(10);
    body.resolve("5 %");
    expect([ended(await start), ended(await second)]).toEqual(["asks a1.0", "asks a1.0"]);
    expect(rig.ran).toEqual(["p1"]);
  });
});

/** Nodes side by side: `x` and `y` are tool nodes of their own messages; `sibling` fails when it is told to. */
function sideBySide(sibling: () => Promise<unknown>) {
  return ({ tools }: Built) =>
    new StateGraph(MessagesAnnotation)
      .addNode("tools", tools)
      .addNode("sibling", async () => {
        await sibling();
        return {};
      })
      .addEdge(START, "tools")
      .addEdge(START, "sibling")
      .addEdge("tools", END)
      .addEdge("sibling", END);
}

describe("running: a failing sibling makes LangGraph abort the node", () => {
  async function siblingFails(rig: Rig, fail: (error: Error) => void, ask: Ask): Promise<void> {
    const run = rig.byId(ask, rig.answer(ask));
    await until(() => rig.times("a1") === 1);
    fail(new Error("sibling"));
    expect(ended(await run)).not.toBe("done");
  }

  function withSibling(body: () => unknown) {
    const fuse = deferred();
    let visits = 0;
    const sibling = async () => {
      visits += 1;
      // First visit: it fails once the other node has paused, so that it is run again beside the approved call.
      await idle(visits === 1 ? 30 : 0);
      if (visits === 1) throw new Error("sibling, first visit");
      if (visits === 2) await fuse.promise;
    };
    const rig = new Rig({ body, graph: sideBySide(sibling) });
    return { rig, fail: (error: Error) => fuse.reject(error) };
  }

  it("A6, E11/process: the approved tool goes on, `null` adopts it, and it ran once", async () => {
    const body = deferred();
    const { rig, fail } = withSibling(() => body.promise);
    await rig.start();
    const ask = await pendingAsk(rig);
    await siblingFails(rig, fail, ask);
    const rerun = rig.nothing();
    await idle();
    body.resolve("paid");
    const end = await rerun;
    expect(ended(end)).toBe("done");
    expect(toolMessages(end)["a1"]?.content).toBe("paid");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: the approved tool ends after the abort and before the re-run: replayed, also in a new process", async () => {
    for (const next of [(rig: Rig) => rig, (rig: Rig) => rig.newProcess()]) {
      const body = deferred();
      const { rig, fail } = withSibling(() => body.promise);
      await rig.start();
      const ask = await pendingAsk(rig);
      await siblingFails(rig, fail, ask);
      body.resolve("paid");
      await idle(10);
      const end = await next(rig).nothing();
      expect(ended(end)).toBe("done");
      expect(toolMessages(end)["a1"]?.content).toBe("paid");
      expect(rig.ran).toEqual(["a1"]);
    }
  });

  it("A6: the approved tool fails for a reason of its own after the abort: unknown, asked again", async () => {
    const body = deferred();
    const { rig, fail } = withSibling(() => body.promise);
    await rig.start();
    const ask = await pendingAsk(rig);
    await siblingFails(rig, fail, ask);
    body.reject(new ToolError("half way"));
    await idle(10);
    const again = only(await rig.nothing());
    expect(requestOf(again)).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    expect(rig.ran).toEqual(["a1"]);
  });

  async function pendingAsk(rig: Rig): Promise<Ask> {
    const [ask] = await rig.pending();
    if (ask === undefined) throw new Error("nothing is pending");
    return ask;
  }
});
