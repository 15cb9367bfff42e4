// One answer, one run: under races, failures, retries, waits of days and restarts.
import { Command, MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, defineTool, deny, isAgentAdapterError, ToolError, type Hook } from "agent-adapter";
import { isInvalidAnswer } from "agent-adapter/langgraph";
import { ManualClock } from "agent-adapter/testing";
import {
  about,
  asking,
  aTaskPerCall,
  call,
  failure,
  one,
  sleep,
  Stand,
  table,
  turnOf,
} from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

const DAY = 24 * 60 * 60 * 1000;

/** How each of several promises ended: "ok", or the error's kind. */
async function ends(promises: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((result) => {
    if (result.status === "fulfilled") return "ok";
    return isAgentAdapterError(result.reason) ? result.reason.kind : String(result.reason);
  });
}

describe("resumes at the same time (B09)", () => {
  it("A5/process, B09: of ten concurrent resumes with one answer one runs the tool, the others are told", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send", { body: () => sleep(5).then(() => "sent") })] });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const answer = stand.sign(pending);
    const results = await ends(Array.from({ length: 10 }, () => stand.resume({ [pending.id]: answer })));
    expect(ran).toEqual(["send 1"]);
    expect(results.filter((end) => end === "ok")).toHaveLength(1);
    expect(results.filter((end) => end === "ApprovalAlreadyDecided")).toHaveLength(9);
    const history = await stand.history();
    expect(table(turnOf({ messages: history }).tools)).toEqual([["c", "success", "sent"]]);
    expect((await stand.entries()).map(({ status, attempts }) => [status, attempts])).toEqual([["ok", 1]]);
  });

  it("A5/process, B09: ten resumes, each from an app of its own on the same checkpointer", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send", { body: () => sleep(3).then(() => "sent") })] });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const stands = Array.from({ length: 10 }, () => stand.rebuild());
    const results = await ends(stands.map((each) => each.decide(pending)));
    expect(ran).toEqual(["send 1"]);
    expect(results.toSorted()).toEqual([...Array<string>(9).fill("ApprovalAlreadyDecided"), "ok"]);
  });

  it("A5/process, B09: resumes that start one after the other end in one run and the finished state or a refusal", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send", { body: () => sleep(4).then(() => "sent") })] });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const answer = stand.sign(pending);
    const late = async (ms: number) => {
      await sleep(ms);
      return stand.resume({ [pending.id]: answer });
    };
    const results = await ends(Array.from({ length: 10 }, (_, index) => late(index)));
    expect(ran).toEqual(["send 1"]);
    expect(results.every((end) => end === "ok" || end === "ApprovalAlreadyDecided")).toBe(true);
    const history = await stand.history();
    expect(table(turnOf({ messages: history }).tools)).toEqual([["c", "success", "sent"]]);
  });

  it("A5/process, B09: approve and deny racing, one wins, and after a denial the tool never runs", async () => {
    const wins = { approve: 0, deny: 0 };
    for (let round = 0; round < 16; round += 1) {
      const ran: string[] = [];
      const stand = new Stand({ tools: () => [asking(ran, "send", { body: () => sleep(0).then(() => "sent") })] });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      const values = [stand.sign(pending, approve()), stand.sign(pending, deny())];
      if (round % 2 === 1) values.reverse();
      const results = await ends(values.map((value) => stand.resume({ [pending.id]: value })));
      expect(results.toSorted()).toEqual(["ApprovalAlreadyDecided", "ok"]);
      const [[, status]] = table(turnOf({ messages: await stand.history() }).tools) as [[string, string, string]];
      expect(ran).toEqual(status === "success" ? ["send 1"] : []);
      expect((await stand.entries()).map((entry) => entry.status)).toEqual([status === "success" ? "ok" : "denied"]);
      wins[status === "success" ? "approve" : "deny"] += 1;
    }
    expect(wins.approve + wins.deny).toBe(16);
    expect(Math.min(wins.approve, wins.deny)).toBeGreaterThan(0);
  });

  it("A5/process, B09: a double-clicked `approve all` over parallel tasks runs every call once", async () => {
    const ran: string[] = [];
    const stand = new Stand({
      tools: () => [asking(ran, "send", { body: ({ n }) => sleep(n * 4).then(() => `sent ${n}`) })],
      graph: aTaskPerCall,
    });
    const { interrupts } = await stand.start(call("c1", 1), call("c2", 2), call("c3", 3));
    const all = Object.fromEntries(interrupts.map((pending) => [pending.id, stand.sign(pending)]));
    const results = await ends([stand.resume(all), stand.resume(all)]);
    expect(results).toContain("ok");
    expect(ran.toSorted()).toEqual(["send 1", "send 2", "send 3"]);
    expect(table(turnOf({ messages: await stand.history() }).tools)).toEqual([
      ["c1", "success", "sent 1"],
      ["c2", "success", "sent 2"],
      ["c3", "success", "sent 3"],
    ]);
  });
});

describe("two processes on one checkpointer (B09)", () => {
  /** Holds the first write of a mark until it is let go. */
  class SlowSaver extends MemorySaver {
    #reach = () => {};
    letGo = () => {};
    readonly reached = new Promise<void>((resolve) => {
      this.#reach = resolve;
    });
    readonly #held = new Promise<void>((resolve) => {
      this.letGo = resolve;
    });
    #first = true;

    override async putWrites(...args: Parameters<MemorySaver["putWrites"]>): Promise<void> {
      const isMark = args[1].some(([channel]) => channel === "aa:spent");
      if (isMark && this.#first) {
        this.#first = false;
        this.#reach();
        await this.#held;
      }
      return super.putWrites(...args);
    }
  }

  it("A5/process, B09: the one whose mark comes second is refused before its tool runs", async () => {
    const ran: string[] = [];
    const saver = new SlowSaver();
    const stand = new Stand({ tools: () => [asking(ran, "send")], saver });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const slow = ends([stand.decide(pending)]);
    await saver.reached;
    forgetProcess();
    const other = await ends([stand.rebuild().decide(pending)]);
    saver.letGo();
    expect([await slow, other]).toEqual([["ApprovalAlreadyDecided"], ["ok"]]);
    expect(ran).toEqual(["send 1"]);
  });

  it("A5/process, B09: a denial whose mark comes second denies nothing, an approval that comes second runs nothing", async () => {
    for (const [early, late] of [[approve(), deny()] as const, [deny(), approve()] as const]) {
      const ran: string[] = [];
      const saver = new SlowSaver();
      const stand = new Stand({ tools: () => [asking(ran, "send")], saver });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      const slow = ends([stand.decide(pending, late)]);
      await saver.reached;
      forgetProcess();
      const other = await ends([stand.rebuild().decide(pending, early)]);
      saver.letGo();
      expect([await slow, other]).toEqual([["ApprovalAlreadyDecided"], ["ok"]]);
      expect(ran).toEqual(early.approved ? ["send 1"] : []);
    }
  });
});

describe("answers to different tasks at the same time (B09)", () => {
  it("A5/process, B09: a refused second use lets the approved calls beside it finish", async () => {
    const ended: string[] = [];
    const pay = defineTool({
      name: "pay",
      description: "d",
      inputSchema: z.object({ n: z.number() }),
      confirm: true,
      execute: async ({ n }, ctx) => {
        await sleep(15);
        ended.push(`${n} ${ctx.signal.aborted ? "aborted" : "paid"}`);
        return "paid";
      },
    });
    const stand = new Stand({ tools: () => [pay], graph: aTaskPerCall });
    const { interrupts } = await stand.start(call("c1", 1, "pay"), call("c2", 2, "pay"));
    const [first, second] = [about(interrupts, "c1"), about(interrupts, "c2")];
    const one1 = stand.decide(first);
    await sleep(5);
    // The second click answers both: the first one's answer is in use, the other one's is new.
    const all = await ends([stand.resume({ [first.id]: stand.sign(first), [second.id]: stand.sign(second) })]);
    await one1;
    expect(all).toEqual(["ApprovalAlreadyDecided"]);
    expect(ended.toSorted()).toEqual(["1 paid", "2 paid"]);
    expect((await stand.entries()).map(({ status, attempts }) => [status, attempts])).toEqual([
      ["ok", 1],
      ["ok", 1],
    ]);
    await stand.again();
    expect(ended).toHaveLength(2);
  });

  it("A5/process, B09: two parallel tasks approved by two concurrent resumes run once each, and the run can be finished", async () => {
    for (let round = 0; round < 10; round += 1) {
      const ran: string[] = [];
      const stand = new Stand({
        tools: () => [asking(ran, "send", { body: ({ n }) => sleep(round % 3).then(() => `sent ${n}`) })],
        graph: aTaskPerCall,
      });
      const { interrupts } = await stand.start(call("c1", 1), call("c2", 2));
      await Promise.allSettled(interrupts.map((pending) => stand.decide(pending)));
      for (let tries = 0; tries < 3; tries += 1) {
        const waiting = await stand.pending();
        if (waiting.length === 0) break;
        await stand.again().catch((error: unknown) => error);
      }
      expect(ran.toSorted()).toEqual(["send 1", "send 2"]);
      expect(table(turnOf({ messages: await stand.history() }).tools)).toEqual([
        ["c1", "success", "sent 1"],
        ["c2", "success", "sent 2"],
      ]);
    }
  });

  it("A5/process, B09: an approval after a denial never runs the tool, also after a restart", async () => {
    for (const restart of [false, true]) {
      const ran: string[] = [];
      const stand = new Stand({ tools: () => [asking(ran, "send")] });
      const first = one((await stand.start(call("c1", 1), call("c2", 2))).interrupts);
      const late = stand.sign(first);
      const second = one((await stand.decide(first, deny({ reason: "no" }))).interrupts);
      for (const id of [first.id, second.id]) {
        if (restart) forgetProcess();
        const error = await failure(stand.rebuild().resume({ [id]: late }));
        expect(isAgentAdapterError(error, "ApprovalAlreadyDecided")).toBe(true);
      }
      const end = await stand.rebuild().decide(second);
      expect(ran).toEqual(["send 2"]);
      expect(end.tools.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
        ["c1", "error"],
        ["c2", "success"],
      ]);
    }
  });
});

describe("an answer that was used", () => {
  for (const restart of [false, true]) {
    it(`A5/process, L3: sent again for the next request it is refused${restart ? ", also by a new process" : ""}, and null goes on`, async () => {
      const ran: string[] = [];
      const stand = new Stand({ tools: () => [asking(ran, "send")] });
      const first = one((await stand.start(call("c1", 1), call("c2", 2))).interrupts);
      const answer = stand.sign(first);
      const second = one((await stand.resume({ [first.id]: answer })).interrupts);
      for (const id of [first.id, second.id]) {
        if (restart) forgetProcess();
        const error = await failure(stand.rebuild().resume({ [id]: answer }));
        expect(isAgentAdapterError(error, "ApprovalAlreadyDecided")).toBe(true);
      }
      if (restart) forgetProcess();
      const again = one((await stand.again()).interrupts);
      expect(again.value.binding).toBe(second.value.binding);
      await stand.decide(again);
      expect(ran).toEqual(["send 1", "send 2"]);
    });
  }

  it("A5/process, B46: on the paused checkpoint after the run went on it is refused and nothing runs", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const paused = (await stand.app.getState(stand.config)).config;
    const answer = stand.sign(pending);
    await stand.resume({ [pending.id]: answer });
    for (const restart of [false, true]) {
      if (restart) forgetProcess();
      const error = await failure(
        stand.rebuild().app.invoke(new Command({ resume: { [pending.id]: answer } }), paused),
      );
      expect(isAgentAdapterError(error, "ApprovalAlreadyDecided")).toBe(true);
    }
    expect(ran).toEqual(["send 1"]);
  });

  it("A5/process: a tool that failed after its answer was used is not run again, by null or by the same answer", async () => {
    for (const restart of [false, true]) {
      const ran: string[] = [];
      const broken = () => {
        throw new Error("no connection");
      };
      const stand = new Stand({ tools: () => [asking(ran, "send", { body: broken })] });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      const answer = stand.sign(pending);
      expect(isAgentAdapterError(await failure(stand.resume({ [pending.id]: answer })), "ToolFailed")).toBe(true);
      for (const go of [() => stand.rebuild().again(), () => stand.rebuild().resume({ [pending.id]: answer })]) {
        if (restart) forgetProcess();
        expect(isAgentAdapterError(await failure(go()), "ApprovalAlreadyDecided")).toBe(true);
      }
      expect(ran).toEqual(["send 1"]);
      expect((await stand.entries()).map(({ status, errorKind, attempts }) => [status, errorKind, attempts])).toEqual([
        ["failed", expect.any(String), 1],
      ]);
    }
  });

  it("A5/process, T3: an error the model may read is replayed, not run again, when a later call pauses", async () => {
    for (const restart of [false, true]) {
      const ran: string[] = [];
      const refuses = asking.bind(undefined, ran, "pay", {
        body: () => {
          throw new ToolError("the account is closed");
        },
      });
      const stand = new Stand({ tools: () => [refuses(), asking(ran, "send")] });
      const first = one((await stand.start(call("c1", 1, "pay"), call("c2", 2))).interrupts);
      const second = one((await stand.decide(first)).interrupts);
      if (restart) forgetProcess();
      const end = await stand.rebuild().decide(second);
      expect(ran).toEqual(["pay 1", "send 2"]);
      expect(table(end.tools)).toEqual([
        ["c1", "error", JSON.stringify({ error: { kind: "ToolError", message: "the account is closed" } })],
        ["c2", "success", "send 2"],
      ]);
    }
  });
});

describe("failures before the answer is used", () => {
  /** Throws as often as `left` says. */
  function failing(): Partial<Hook> & { left: number } {
    return {
      left: 0,
      beforeTool() {
        if (this.left <= 0) return;
        this.left -= 1;
        throw new Error("the budget service is down");
      },
    };
  }

  for (const restart of [false, true]) {
    it(`A5/process, B11, E9/before-after: a failing beforeTool hook keeps the answer: null goes on without asking${restart ? ", also in a new process" : ""}`, async () => {
      const ran: string[] = [];
      const hook = failing();
      const stand = new Stand({ tools: () => [asking(ran, "send")], hooks: [hook] });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      hook.left = 1;
      const error = await failure(stand.decide(pending));
      expect(String(error)).toContain("the budget service is down");
      expect(isInvalidAnswer(error)).toBe(false);
      expect(ran).toEqual([]);
      if (restart) forgetProcess();
      const end = await stand.rebuild().again();
      expect(end.interrupts).toEqual([]);
      expect(ran).toEqual(["send 1"]);
      expect(table(end.tools)).toEqual([["c", "success", "send 1"]]);
    });

    it(`B11: the same answer again works too${restart ? ", also in a new process" : ""}`, async () => {
      const ran: string[] = [];
      const hook = failing();
      const stand = new Stand({ tools: () => [asking(ran, "send")], hooks: [hook] });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      const answer = stand.sign(pending);
      hook.left = 2;
      await failure(stand.resume({ [pending.id]: answer }));
      await failure(stand.rebuild().resume({ [pending.id]: answer }));
      if (restart) forgetProcess();
      await stand.rebuild().resume({ [pending.id]: answer });
      expect(ran).toEqual(["send 1"]);
    });

    it(`B11: a plain answer is kept the same way${restart ? ", also in a new process" : ""}`, async () => {
      const ran: string[] = [];
      const hook = failing();
      const stand = new Stand({ tools: () => [asking(ran, "send")], hooks: [hook] });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      hook.left = 1;
      await failure(stand.plain(stand.sign(pending)));
      if (restart) forgetProcess();
      const end = await stand.rebuild().again();
      expect(end.interrupts).toEqual([]);
      expect(ran).toEqual(["send 1"]);
    });
  }

  it("L3, B11: a bad value sent while a good answer is kept is dropped, and the kept one is used", async () => {
    for (const restart of [false, true]) {
      const ran: string[] = [];
      const hook = failing();
      const stand = new Stand({ tools: () => [asking(ran, "send")], hooks: [hook] });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      hook.left = 1;
      await failure(stand.decide(pending));
      if (restart) forgetProcess();
      const end = await stand.rebuild().resume({ [pending.id]: "yes" });
      expect(end.interrupts).toEqual([]);
      expect(ran).toEqual(["send 1"]);
    }
  });

  it("A5/process, B11: a checkpointer that does not take the mark keeps the answer: null goes on without asking", async () => {
    class FailingSaver extends MemorySaver {
      left = 1;

      override putWrites(...args: Parameters<MemorySaver["putWrites"]>): Promise<void> {
        const isMark = args[1].some(([channel]) => channel === "aa:spent");
        if (!isMark || this.left === 0) return super.putWrites(...args);
        this.left -= 1;
        return Promise.reject(new Error("connection reset"));
      }
    }
    for (const restart of [false, true]) {
      const ran: string[] = [];
      const stand = new Stand({ tools: () => [asking(ran, "send")], saver: new FailingSaver() });
      const pending = one((await stand.start(call("c", 1))).interrupts);
      expect(isAgentAdapterError(await failure(stand.decide(pending)), "StoreUnavailable")).toBe(true);
      expect(ran).toEqual([]);
      if (restart) forgetProcess();
      const end = await stand.rebuild().again();
      expect(end.interrupts).toEqual([]);
      expect(ran).toEqual(["send 1"]);
    }
  });

  it("B11: an afterTool hook that throws once is after the use: the call is not run again", async () => {
    const ran: string[] = [];
    let broken = true;
    const stand = new Stand({
      tools: () => [asking(ran, "send")],
      hooks: [
        {
          afterTool() {
            if (broken) throw new Error("no metrics");
          },
        },
      ],
    });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    await failure(stand.decide(pending));
    broken = false;
    const end = await stand.again();
    expect(ran).toEqual(["send 1"]);
    expect(table(end.tools)).toEqual([["c", "success", "send 1"]]);
  });
});

describe("time", () => {
  it("A4/answers, L2: two approvals two days apart in one node with the default lifetime", async () => {
    for (const restart of [false, true]) {
      const ran: string[] = [];
      const clock = new ManualClock(Date.UTC(2026, 0, 1));
      const stand = new Stand({ tools: () => [asking(ran, "send")], clock });
      const first = one((await stand.start(call("c1", 1), call("c2", 2))).interrupts);
      clock.advance(2 * DAY);
      const second = one((await stand.decide(first)).interrupts);
      expect(ran).toEqual(["send 1"]);
      clock.advance(2 * DAY);
      if (restart) forgetProcess();
      const later = stand.rebuild();
      const end = await later.decide(second);
      expect(ran).toEqual(["send 1", "send 2"]);
      expect(end.interrupts).toEqual([]);
      expect(table(end.tools)).toEqual([
        ["c1", "success", "send 1"],
        ["c2", "success", "send 2"],
      ]);
    }
  });

  it("A4/answers: an answer that came too late leads to a new request that supersedes the old one", async () => {
    const ran: string[] = [];
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const stand = new Stand({ tools: () => [asking(ran, "send")], clock });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const answer = stand.sign(pending);
    clock.advance(DAY + 1);
    const renewed = one((await stand.resume({ [pending.id]: answer })).interrupts);
    expect(renewed.value.request).toMatchObject({
      supersedes: pending.value.binding,
      arguments: { n: 1 },
      callId: "c",
    });
    expect(renewed.value.binding).not.toBe(pending.value.binding);
    expect(ran).toEqual([]);
    forgetProcess();
    const refused = await failure(stand.rebuild().resume({ [renewed.id]: answer }));
    expect(isInvalidAnswer(refused)).toBe(true);
    await stand.rebuild().decide(await stand.only());
    expect(ran).toEqual(["send 1"]);
  });

  it("A4/answers: the last millisecond of its life is good", async () => {
    const ran: string[] = [];
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const stand = new Stand({ tools: () => [asking(ran, "send")], clock });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const answer = stand.sign(pending);
    clock.advance(DAY);
    await stand.resume({ [pending.id]: answer });
    expect(ran).toEqual(["send 1"]);
  });
});

describe("a tool that changed while its request waited", () => {
  it("A2, G5: without an answer the new request is shown, and an answer to the old one runs nothing", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const changed = () => [asking(ran, "send", { effects: "write" })];
    forgetProcess();
    const old = await stand.rebuild({ tools: changed }).resume({ [pending.id]: stand.sign(pending) });
    const renewed = one(old.interrupts);
    expect(renewed.value.request).toMatchObject({ effects: "write", supersedes: pending.value.binding });
    expect(ran).toEqual([]);
    await stand.rebuild({ tools: changed }).decide(renewed);
    expect(ran).toEqual(["send 1"]);
  });

  it("A2: going on with null shows the new request under the same id", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const pending = one((await stand.start(call("c", 1))).interrupts);
    const changed = stand.rebuild({ tools: () => [asking(ran, "send", { effects: "write" })] });
    const renewed = one((await changed.again()).interrupts);
    expect(renewed.id).toBe(pending.id);
    expect(renewed.value.request).toMatchObject({ effects: "write", supersedes: pending.value.binding });
    await changed.decide(renewed);
    expect(ran).toEqual(["send 1"]);
  });

  it("L3, B11: an answer to the new request survives a failure before its use", async () => {
    const ran: string[] = [];
    let broken = false;
    const hooks = [
      {
        beforeTool: () => {
          if (broken) throw new Error("the budget service is down");
        },
      },
    ];
    const stand = new Stand({ tools: () => [asking(ran, "send")], hooks });
    await stand.start(call("c", 1));
    const changed = stand.rebuild({ tools: () => [asking(ran, "send", { effects: "write" })] });
    const renewed = one((await changed.again()).interrupts);
    broken = true;
    await failure(changed.decide(renewed));
    broken = false;
    const end = await changed.again();
    expect(end.interrupts).toEqual([]);
    expect(ran).toEqual(["send 1"]);
  });
});
