// What `null`, a resume by id and a plain resume do to one request and to several, cell by cell, and what happens to plain
// values that LangGraph keeps offering. A stale "yes" never answers anything, and a good plain answer is used for the request it was signed for.

import { describe, expect, it } from "vitest";
import { approve, ToolUsageError } from "agent-adapter";
import { twoNodes } from "./graphs.js";
import { ended, MINUTE_MS, never, only, requestOf, Rig, until, type Ask, type Step } from "./rig.js";

const PROCESSES = [
  ["in the same process", (rig: Rig) => rig.redeploy()],
  ["in a new process", (rig: Rig) => rig.newProcess()],
] as const;

const DELIVER = [
  ["by id", (rig: Rig, ask: Ask, answer: unknown) => rig.byId(ask, answer)],
  ["plain", (rig: Rig, _ask: Ask, answer: unknown) => rig.plain(answer)],
] as const;

describe.each(PROCESSES)("plain resume %s", (_where, next) => {
  it("A6, L2: a bad plain value is refused once; afterwards `null` shows the same request, and a good answer is used", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["a1", "a2"]);
    expect(ended(await next(rig).plain("yes"))).toBe("invalid");
    expect(ended(await next(rig).plain({ approved: true }))).toBe("invalid");
    for (let round = 0; round < 3; round += 1) {
      const shown = only(await next(rig).nothing());
      expect([shown.id, shown.value.binding]).toEqual([ask.id, ask.value.binding]);
    }
    const second = only(await next(rig).byId(ask, rig.answer(ask)));
    expect(requestOf(second).callId).toBe("a2");
    // The old "yes" is still among LangGraph's rows: it answers nothing, and hides nothing.
    expect(only(await next(rig).nothing()).value.binding).toBe(second.value.binding);
    expect(ended(await next(rig).byId(second, rig.answer(second)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a2"]);
  });

  it("A6, L2: good plain answers throughout, `null` in between", async () => {
    const rig = new Rig();
    let step: Step = await rig.start(["a1", "a2", "a3"]);
    for (const callId of ["a1", "a2", "a3"]) {
      const ask = only(step);
      expect(requestOf(ask).callId).toBe(callId);
      expect(only(await next(rig).nothing()).value.binding).toBe(ask.value.binding);
      step = await next(rig).plain(rig.answer(ask));
    }
    expect(ended(step)).toBe("done");
    expect(rig.ran).toEqual(["a1", "a2", "a3"]);
  });

  it("A6: a plain answer to an earlier request that was never used is an invalid resume", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    const again = only(await next(rig.redeploy({ version: "2" })).nothing());
    expect(ended(await next(rig).plain(answer))).toBe("invalid");
    expect(only(await next(rig).nothing()).value.binding).toBe(again.value.binding);
    expect(ended(await next(rig).plain(rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, L3: a plain value that came before an ask was shown does not answer it", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["a1", "a2"]);
    const answer = rig.answer(ask);
    // The value that answered the first request stays among LangGraph's rows when the second is asked.
    const second = only(await next(rig).plain(answer));
    for (const value of [answer, rig.answer(ask)]) {
      expect(only(await next(rig).plain(value)).value.binding).toBe(second.value.binding);
    }
    expect(rig.ran).toEqual(["a1"]);
  });

  it('A6, L2: `configurable.aa_resume: "none"` makes a leftover plain value count for nothing', async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const none = { configurable: { aa_resume: "none" } };
    expect(ended(await next(rig).plain("yes"))).toBe("invalid");
    expect(only(await next(rig).nothing(none)).value.binding).toBe(ask.value.binding);
    // Also one that nobody has refused yet.
    expect(only(await next(rig).plain("an unrefused value", none)).value.binding).toBe(ask.value.binding);
    expect(only(await next(rig).nothing(none)).value.binding).toBe(ask.value.binding);
    expect(ended(await next(rig).byId(ask, rig.answer(ask), none))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, L2: a plain answer to one of two parallel calls never lands on the other", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["a1", "a2"]);
    const answer = rig.answer(ask);
    const second = only(await next(rig).plain(answer));
    expect(requestOf(second).callId).toBe("a2");
    expect(rig.ran).toEqual(["a1"]);
    for (let round = 0; round < 2; round += 1) {
      expect(only(await next(rig).nothing()).value.binding).toBe(second.value.binding);
    }
    expect(rig.ran).toEqual(["a1"]);
  });
});

describe.each(PROCESSES)("node code failed after a done call %s", (_where, next) => {
  // Code after the approved call: a hook that throws once the call's result is kept.
  function rigWithAfterHook(): { rig: Rig; broken: { on: boolean } } {
    const broken = { on: false };
    const afterTool = ({ callId }: { callId: string }) => {
      if (broken.on && callId === "a1") throw new ToolUsageError("code after the call failed");
    };
    return { rig: new Rig({ hooks: [{ afterTool }] }), broken };
  }

  it.each(DELIVER)("A6: `null` goes on after an answer delivered %s", async (_how, deliver) => {
    const { rig, broken } = rigWithAfterHook();
    const ask = await rig.asked();
    broken.on = true;
    expect(ended(await deliver(rig, ask, rig.answer(ask)))).toBe("ToolUsageError");
    broken.on = false;
    expect(ended(await next(rig).nothing())).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it.each(DELIVER)(
    "A6: the same answer, delivered %s, never runs it again, and then `null` goes on",
    async (how, deliver) => {
      const { rig, broken } = rigWithAfterHook();
      const ask = await rig.asked();
      const answer = rig.answer(ask);
      broken.on = true;
      expect(ended(await rig.byId(ask, answer))).toBe("ToolUsageError");
      broken.on = false;
      const again = await deliver(next(rig), ask, answer);
      // A plain value that equals a stored answer is the one LangGraph keeps offering: it is dropped, so the run goes on.
      expect(ended(again)).toBe(how === "plain" ? "done" : "ApprovalAlreadyDecided");
      expect(ended(await next(rig).nothing())).toBe("done");
      expect(rig.ran).toEqual(["a1"]);
    },
  );
});

describe("after a crash in the body", () => {
  async function crash(rig: Rig, deliver: (answer: unknown) => Promise<Step>, ask: Ask): Promise<void> {
    rig.is.body = never;
    void deliver(rig.answer(ask));
    await until(() => rig.ran.length === 1);
    rig.newProcess({ body: (callId) => callId });
    rig.clock.advance(5 * MINUTE_MS);
  }

  it("A6: delivered by id: `null` asks again", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    await crash(rig, (answer) => rig.byId(ask, answer), ask);
    expect(ended(await rig.nothing())).toBe("asks a1.1");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: delivered by id: the shown request by id: ApprovalAlreadyDecided once, then `null` asks", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    await crash(rig, (answer) => rig.byId(ask, answer), ask);
    expect(ended(await rig.byId(ask, rig.answer(ask, approve({ by: "bob" }))))).toBe("ApprovalAlreadyDecided");
    const again = only(await rig.nothing());
    expect(requestOf(again).generation).toBe(1);
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a1"]);
  });

  it("A6: delivered plain: a raw `null` needs it twice", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    await crash(rig, (answer) => rig.plain(answer), ask);
    expect(ended(await rig.nothing())).toBe("ApprovalAlreadyDecided");
    const again = only(await rig.nothing());
    expect(requestOf(again).generation).toBe(1);
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a1"]);
  });

  it('A6: delivered plain: `null` with `aa_resume: "none"` asks at once', async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    await crash(rig, (answer) => rig.plain(answer), ask);
    const none = { configurable: { aa_resume: "none" } };
    const again = only(await rig.nothing(none));
    expect(requestOf(again).generation).toBe(1);
    expect(only(await rig.nothing(none)).value.binding).toBe(again.value.binding);
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a1"]);
  });
});

describe("superseded checkpoint id", () => {
  it("A6: `null` on it forks and asks anew; a resume by id on it replays the same task run and is refused", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const checkpointId = await rig.checkpointId();
    const answer = rig.answer(ask);
    expect(ended(await rig.byId(ask, answer))).toBe("done");
    expect(ended(await rig.byId(ask, answer, { checkpointId }))).toBe("ApprovalAlreadyDecided");
    const fork = only(await rig.nothing({ checkpointId }));
    expect(requestOf(fork)).toMatchObject({ generation: 0, callId: "a1" });
    expect(requestOf(fork).taskRun).not.toEqual(requestOf(ask).taskRun);
    expect(ended(await rig.byId(fork, answer))).toBe("invalid");
    expect(rig.ran).toEqual(["a1"]);
    expect(ended(await rig.byId(fork, rig.answer(fork)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a1"]);
  });
});

describe("several answers at once", () => {
  it("A6, L2: two requests of two tasks, one good and one bad answer in one map: the good one is used, the bad one asked", async () => {
    const rig = new Rig({ graph: twoNodes });
    const start = await rig.start(["a1"]);
    expect(start.asks).toHaveLength(2);
    const [x, y] = start.asks;
    if (x === undefined || y === undefined) throw new Error("two asks");
    expect(ended(await rig.byMap({ [x.id]: rig.answer(x), [y.id]: "yes" }))).toBe("invalid");
    expect(rig.ran).toHaveLength(1);
    expect((await rig.pending()).map(({ id }) => id)).toContain(y.id);
    expect(ended(await rig.finish(await rig.byId(y, rig.answer(y))))).toBe("done");
    expect(rig.ran).toHaveLength(2);
  });

  it("A6, L2: two bad answers in one map are two invalid answers in one error", async () => {
    const rig = new Rig({ graph: twoNodes });
    const { asks } = await rig.start(["a1"]);
    const step = await rig.byMap(Object.fromEntries(asks.map(({ id }) => [id, "yes"])));
    expect(step.error).toBeInstanceOf(AggregateError);
    expect(ended(step)).toBe("invalid");
    expect(rig.ran).toEqual([]);
    expect(ended(await rig.finish({ asks, messages: [], error: undefined }))).toBe("done");
    expect(rig.ran).toHaveLength(2);
  });

  it("A6, L2: an answer by id to one task makes a leftover plain value count for nothing in the other", async () => {
    const rig = new Rig({ graph: twoNodes });
    const { asks } = await rig.start(["a1"]);
    const [x, y] = asks;
    if (x === undefined || y === undefined) throw new Error("two asks");
    // The refusal of the plain value could not be written down, so nobody remembers it.
    const { saver } = rig;
    const putWrites = saver.putWrites.bind(saver);
    saver.putWrites = (config, writes, taskId) =>
      writes.some(([channel]) => channel === "aa:null")
        ? Promise.reject(new Error("the database is down"))
        : putWrites(config, writes, taskId);
    expect((await rig.plain("yes")).error).toBeDefined();
    saver.putWrites = putWrites;
    const left = only(await rig.newProcess().byId(x, rig.answer(x)));
    expect(left.value.binding).toBe(y.value.binding);
    expect(rig.ran).toHaveLength(1);
    expect(ended(await rig.byId(y, rig.answer(y)))).toBe("done");
    expect(rig.ran).toHaveLength(2);
  });

  it("A6: one plain value for two requests: the one it was signed for uses it, the other refuses it and stays answerable", async () => {
    const rig = new Rig({ graph: twoNodes });
    const { asks } = await rig.start(["a1"]);
    const [x] = asks;
    if (x === undefined) throw new Error("no ask");
    await rig.plain(rig.answer(x));
    expect(rig.ran.length).toBeLessThanOrEqual(1);
    for (let round = 0; round < 4 && (await rig.pending()).length > 0; round += 1) {
      for (const ask of await rig.pending()) await rig.byId(ask, rig.answer(ask));
      await rig.nothing();
    }
    expect(ended(await rig.nothing())).toBe("done");
    expect(rig.ran).toHaveLength(2);
  });
});
