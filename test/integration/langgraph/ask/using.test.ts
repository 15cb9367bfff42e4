// Rows of "What can happen" in docs/guide/life-of-an-approval.md around the claim: what keeps an answer, what uses it, and
// what a used one is worth. Every test counts how often the tool ran: at most once per answer.

import { describe, expect, it } from "vitest";
import { approve, deny, StoreUnavailable, ToolError } from "agent-adapter";
import {
  DAY_MS,
  deferred,
  ended,
  idle,
  kindOf,
  MINUTE_MS,
  only,
  Rig,
  toolMessages,
  until,
  type Ask,
  type Step,
} from "./rig.js";

const PROCESSES = [
  ["in the same process", (rig: Rig) => rig.redeploy()],
  ["in a new process", (rig: Rig) => rig.newProcess()],
] as const;

/** The first failure that an `ApprovalAlreadyDecided` reports. */
function causeOf(step: Step): string {
  return step.error instanceof Error && step.error.cause instanceof Error ? step.error.cause.name : "none";
}

/** The next writes to this channel fail, after or instead of being written. */
function failWrites(rig: Rig, channel: string, options: { times: number; afterwards?: boolean }): { failed: number } {
  const { saver } = rig;
  const putWrites = saver.putWrites.bind(saver);
  const count = { failed: 0 };
  saver.putWrites = async (config, writes, taskId) => {
    const hit = writes.some(([name]) => name === channel) && count.failed < options.times;
    if (!hit || options.afterwards === true) await putWrites(config, writes, taskId);
    if (!hit) return;
    count.failed += 1;
    throw new Error("the database is down");
  };
  return count;
}

describe.each(PROCESSES)("answered: a failure before the claim keeps the answer %s", (_where, next) => {
  const goOn = [
    ["null", (rig: Rig) => rig.nothing()],
    ["the same answer by id", (rig: Rig, ask: Ask, answer: unknown) => rig.byId(ask, answer)],
    ["the same answer as a plain resume", (rig: Rig, _ask: Ask, answer: unknown) => rig.plain(answer)],
  ] as const;
  const enter = [
    ["by id", (rig: Rig, ask: Ask, answer: unknown) => rig.byId(ask, answer)],
    ["as a plain resume", (rig: Rig, _ask: Ask, answer: unknown) => rig.plain(answer)],
  ] as const;

  describe.each(enter)("A6, L3: delivered %s", (_how, deliver) => {
    it.each(goOn)("a hook throws; %s uses it without asking", async (_what, retry) => {
      let broken = false;
      const beforeTool = () => {
        if (broken) throw new Error("over budget");
      };
      const rig = new Rig({ hooks: [{ beforeTool }] });
      const ask = await rig.asked(["p1", "a1"]);
      const answer = rig.answer(ask);
      broken = true;
      for (let round = 0; round < 3; round += 1) {
        const step = round === 0 ? await deliver(rig, ask, answer) : await next(rig).nothing();
        expect(ended(step)).toBe("Error: over budget");
      }
      expect(rig.times("a1")).toBe(0);
      broken = false;
      expect(ended(await retry(next(rig), ask, answer))).toBe("done");
      expect(rig.times("a1")).toBe(1);
    });

    it.each(goOn)("the checkpointer does not take the mark; %s uses it without asking", async (_what, retry) => {
      const rig = new Rig();
      const ask = await rig.asked();
      const answer = rig.answer(ask);
      const down = failWrites(rig, "aa:spent", { times: 1 });
      const step = await deliver(rig, ask, answer);
      expect(kindOf(step.error)).toBe("StoreUnavailable");
      expect(step.error).toBeInstanceOf(StoreUnavailable);
      expect(down.failed).toBe(1);
      expect(rig.ran).toEqual([]);
      expect(ended(await retry(next(rig), ask, answer))).toBe("done");
      expect(rig.ran).toEqual(["a1"]);
    });
  });
});

describe("answered: a mark whose acknowledgement was lost", () => {
  it("A6: the same process goes on under its token without asking, once", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    failWrites(rig, "aa:spent", { times: 1, afterwards: true });
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("StoreUnavailable");
    expect(rig.ran).toEqual([]);
    expect(ended(await rig.nothing())).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: the same when reading it back fails", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const { saver } = rig;
    const getTuple = saver.getTuple.bind(saver);
    let marked = false;
    const putWrites = saver.putWrites.bind(saver);
    saver.putWrites = (config, writes, taskId) => {
      marked ||= writes.some(([channel]) => channel === "aa:spent");
      return putWrites(config, writes, taskId);
    };
    let failed = 0;
    saver.getTuple = (config) => {
      if (!marked || failed > 0) return getTuple(config);
      failed += 1;
      return Promise.reject(new Error("the database is down"));
    };
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("StoreUnavailable");
    expect(failed).toBe(1);
    expect(ended(await rig.nothing())).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: another process cannot know: refused while the mark is young, then it asks again", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    failWrites(rig, "aa:spent", { times: 1, afterwards: true });
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("StoreUnavailable");
    expect(ended(await rig.newProcess().nothing())).toBe("ApprovalAlreadyDecided");
    rig.clock.advance(5 * MINUTE_MS);
    const again = only(await rig.newProcess().nothing());
    expect(ended(await rig.byId(again, rig.answer(again)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });
});

describe("answered: the claim", () => {
  it("A5/process, A6: of ten resumes with one answer one runs the tool, the others are refused after it settled", async () => {
    const body = deferred();
    const rig = new Rig({ body: () => body.promise });
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    const settled: string[] = [];
    const runs = Array.from({ length: 10 }, async () => settled.push(ended(await rig.byId(ask, answer))));
    await until(() => rig.ran.length > 0);
    await idle(10);
    expect(settled).toEqual([]);
    body.resolve("paid");
    await Promise.all(runs);
    expect(settled.toSorted()).toEqual([...Array.from({ length: 9 }, () => "ApprovalAlreadyDecided"), "done"]);
    expect(rig.ran).toEqual(["a1"]);
    expect(ended(await rig.nothing())).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: of an approval and a denial at the same time one wins, whichever came first", async () => {
    for (const first of ["approve", "deny"] as const) {
      const rig = new Rig();
      const ask = await rig.asked();
      const [yes, no] = [rig.answer(ask), rig.answer(ask, deny())];
      const order = first === "approve" ? [yes, no] : [no, yes];
      const steps = await Promise.all(order.map((answer) => rig.byId(ask, answer)));
      expect(steps.map(ended).toSorted()).toEqual(["ApprovalAlreadyDecided", "done"]);
      expect(rig.ran.length).toBeLessThanOrEqual(1);
      const end = await rig.nothing();
      expect(ended(end)).toBe("done");
      const state = await rig.app.getState(rig.config());
      expect(state.next).toEqual([]);
      const ran = rig.ran.length;
      await rig.newProcess().nothing();
      expect(rig.ran).toHaveLength(ran);
    }
  });

  it.each(["approved", "denied"] as const)(
    "A6: a run that was slow before the claim is refused when another one meanwhile %s it; nobody is asked again",
    async (decision) => {
      const gate = deferred();
      let visits = Number.NaN;
      const beforeTool = async () => {
        visits += 1;
        if (visits === 1) await gate.promise;
      };
      const rig = new Rig({ hooks: [{ beforeTool }] });
      const ask = await rig.asked();
      visits = 0;
      const slow = rig.byId(ask, rig.answer(ask, approve({ by: "slow" })));
      await until(() => visits === 1);
      const fast = await rig.byId(ask, rig.answer(ask, decision === "approved" ? approve() : deny()));
      expect(ended(fast)).toBe("done");
      gate.resolve("");
      expect(ended(await slow)).toBe("ApprovalAlreadyDecided");
      expect(rig.times("a1")).toBe(decision === "approved" ? 1 : 0);
    },
  );

  it("A6: ... also when its own answer has expired meanwhile: a used request is not superseded", async () => {
    const gate = deferred();
    let visits = Number.NaN;
    const beforeTool = async () => {
      visits += 1;
      if (visits === 1) await gate.promise;
    };
    const rig = new Rig({ hooks: [{ beforeTool }], answerTtlMs: 1000 });
    const ask = await rig.asked();
    visits = 0;
    const slow = rig.byId(ask, rig.answer(ask, approve({ by: "slow" })));
    await until(() => visits === 1);
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("done");
    rig.clock.advance(1001);
    gate.resolve("");
    expect(ended(await slow)).toBe("ApprovalAlreadyDecided");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, A5: the same answer twice in another shape of the app (redeployed in between) is one use", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["a1", "a2"]);
    const answer = rig.answer(ask);
    const second = only(await rig.byId(ask, answer));
    for (const next of PROCESSES) {
      expect(ended(await next[1](rig).byId(ask, answer))).toBe("ApprovalAlreadyDecided");
    }
    expect(rig.ran).toEqual(["a1"]);
    // What waits still waits, and is answered.
    expect(only(await rig.nothing()).value.binding).toBe(second.value.binding);
    expect(ended(await rig.byId(second, rig.answer(second)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a2"]);
  });
});

describe.each(PROCESSES)("running: the body ends %s", (_where, next) => {
  /** One approved call, then code of the node's own graph that fails: the task is re-run after the call has finished. */
  async function doneThenFailed(rig: Rig, answer?: unknown): Promise<Ask> {
    const ask = await rig.asked(["a1", "a2"]);
    const second = only(await rig.byId(ask, answer ?? rig.answer(ask)));
    return second;
  }

  it("A6, J2: done: a re-run replays the result, runs nothing and asks nobody", async () => {
    const rig = new Rig();
    const second = await doneThenFailed(rig);
    expect(only(await next(rig).nothing()).value.binding).toBe(second.value.binding);
    const end = await next(rig).byId(second, rig.answer(second));
    expect(ended(end)).toBe("done");
    expect(toolMessages(end)["a1"]).toEqual({ status: "success", content: "did a1" });
    expect(rig.ran).toEqual(["a1", "a2"]);
  });

  it("A6: done with an error the model reads: a re-run gives the same error", async () => {
    const rig = new Rig({
      body: (callId) => {
        if (callId === "a1") throw new ToolError("no such account");
        return callId;
      },
    });
    const second = await doneThenFailed(rig);
    const end = await next(rig).byId(second, rig.answer(second));
    expect(toolMessages(end)["a1"]).toEqual({
      status: "error",
      content: '{"error":{"kind":"ToolError","message":"no such account"}}',
    });
    expect(rig.ran).toEqual(["a1", "a2"]);
  });

  it("A6, J2: done with a result that cannot be kept: a re-run is a ToolUsageError and runs nothing again", async () => {
    const rig = new Rig({ body: () => ({ toJSON: () => "a number", big: Number.NaN }) });
    const second = await doneThenFailed(rig);
    expect(ended(await next(rig).byId(second, rig.answer(second)))).toBe("ToolUsageError");
    expect(ended(await next(rig).nothing())).toBe("ToolUsageError");
    expect(rig.times("a1")).toBe(1);
  });

  it.each([[null], [false], [0], [""], [undefined], [[]], [{}]])("A6, J2: done with %j is done", async (value) => {
    const rig = new Rig({ body: () => value });
    const second = await doneThenFailed(rig);
    const end = await next(rig).byId(second, rig.answer(second));
    expect(ended(end)).toBe("done");
    const content = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
    expect(toolMessages(end)["a1"]).toEqual({ status: "success", content });
    expect(rig.ran).toEqual(["a1", "a2"]);
  });

  it("A6: failed: every re-run is ApprovalAlreadyDecided with the kind of the first failure, and runs nothing", async () => {
    const rig = new Rig({
      body: () => {
        throw new Error("gateway 500");
      },
    });
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    expect(ended(await rig.byId(ask, answer))).toBe("ToolFailed");
    const again = [
      await next(rig).nothing(),
      await next(rig).byId(ask, answer),
      await next(rig).byId(ask, rig.answer(ask, approve({ by: "bob" }))),
      await next(rig).plain(answer),
      await next(rig).nothing(),
    ];
    expect(again.map(ended)).toEqual(again.map(() => "ApprovalAlreadyDecided"));
    expect(again.map(causeOf)).toContain("ToolFailed");
    expect(causeOf(await next(rig).nothing())).toBe("ToolFailed");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, L4: failed: the thread goes on when the result is written as the paused node", async () => {
    const rig = new Rig({
      body: () => {
        throw new Error("gateway 500");
      },
    });
    const ask = await rig.asked();
    await rig.byId(ask, rig.answer(ask));
    await next(rig).app.updateState(rig.config(), { messages: [] }, "tools");
    expect(ended(await rig.nothing())).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, L4: failed: a fork asks anew, and the old answer does not fit there", async () => {
    const rig = new Rig({
      body: () => {
        if (rig.ran.length === 1) throw new Error("gateway 500");
        return "paid";
      },
    });
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    await rig.byId(ask, answer);
    const oldest = await history(rig);
    const fork = only(await next(rig).nothing({ checkpointId: oldest }));
    expect(fork.value.request.generation).toBe(0);
    expect(fork.value.binding).not.toBe(ask.value.binding);
    expect(ended(await next(rig).byId(fork, answer))).toBe("invalid");
    expect(rig.ran).toEqual(["a1"]);
    expect(ended(await rig.byId(fork, rig.answer(fork)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a1"]);
  });
});

/** The id of the oldest checkpoint of the thread: before the node. */
async function history(rig: Rig): Promise<string> {
  let oldest = "";
  for await (const snapshot of rig.app.getStateHistory(rig.config())) {
    oldest = String(snapshot.config.configurable["checkpoint_id"]);
  }
  return oldest;
}

describe.each(PROCESSES)("a fresh answer to a request that was used is ApprovalAlreadyDecided %s", (_where, next) => {
  it("A6: done, while a later call is asked", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["a1", "a2"]);
    const answer = rig.answer(ask);
    const second = only(await rig.byId(ask, answer));
    expect(ended(await next(rig).byId(ask, answer))).toBe("ApprovalAlreadyDecided");
    expect(ended(await next(rig).byId(ask, rig.answer(ask, deny())))).toBe("ApprovalAlreadyDecided");
    expect(ended(await next(rig).byId(second, answer))).toBe("ApprovalAlreadyDecided");
    // A plain value that equals a stored answer cannot be told from the one LangGraph keeps offering: it is dropped.
    expect(only(await next(rig).plain(answer)).value.binding).toBe(second.value.binding);
    const another = rig.answer(ask, approve({ by: "bob" }));
    expect(ended(await next(rig).plain(another))).toBe("ApprovalAlreadyDecided");
    expect(rig.ran).toEqual(["a1"]);
    // Go on with null.
    expect(only(await next(rig).nothing()).value.binding).toBe(second.value.binding);
    expect(ended(await rig.byId(second, rig.answer(second)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a2"]);
  });

  it("A6: denied", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["a1", "a2"]);
    const second = only(await rig.byId(ask, rig.answer(ask, deny())));
    expect(ended(await next(rig).byId(ask, rig.answer(ask)))).toBe("ApprovalAlreadyDecided");
    expect(ended(await next(rig).byId(second, rig.answer(ask)))).toBe("ApprovalAlreadyDecided");
    expect(rig.ran).toEqual([]);
    expect(ended(await next(rig).byId(second, rig.answer(second)))).toBe("done");
    expect(rig.ran).toEqual(["a2"]);
  });

  it("A6: the task has finished (the paused checkpoint is replayed after the run went on)", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["p1", "a1"]);
    const checkpointId = await rig.checkpointId();
    const answer = rig.answer(ask);
    expect(ended(await rig.byId(ask, answer))).toBe("done");
    const ran = [...rig.ran];
    expect(ended(await next(rig).byId(ask, answer, { checkpointId }))).toBe("ApprovalAlreadyDecided");
    expect(ended(await next(rig).byId(ask, rig.answer(ask, deny()), { checkpointId }))).toBe("ApprovalAlreadyDecided");
    expect(rig.ran).toEqual(ran);
  });

  it("A6: the task has finished, and the replay brings no answer of its own: no call of it runs, plain ones neither", async () => {
    const rig = new Rig();
    const elsewhere = await rig.asked(["a1"], { thread: "u" });
    const ask = await rig.asked(["p1", "a1"]);
    const checkpointId = await rig.checkpointId();
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("done");
    const ran = [...rig.ran];
    const replayed = await next(rig).byId(elsewhere, rig.answer(elsewhere), { checkpointId });
    expect(ended(replayed)).toBe("ApprovalAlreadyDecided");
    expect(rig.ran).toEqual(ran);
  });

  it("A6: the task has finished with a denial", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const checkpointId = await rig.checkpointId();
    expect(ended(await rig.byId(ask, rig.answer(ask, deny())))).toBe("done");
    expect(ended(await next(rig).byId(ask, rig.answer(ask), { checkpointId }))).toBe("ApprovalAlreadyDecided");
    expect(rig.ran).toEqual([]);
  });
});

describe.each(PROCESSES)("denied %s", (_where, next) => {
  it("A6: a re-run replays the denial, whatever predicate, version and key say now", async () => {
    const rig = new Rig({ key: "answer key one, 32 bytes or more" });
    const ask = await rig.asked(["a1", "a2"]);
    const second = only(await rig.byId(ask, rig.answer(ask, deny({ reason: "never" }))));
    Object.assign(rig.is, { confirm: () => requestIsForOther(rig), version: "2" });
    // The second call's definition changed as well: its request is shown anew.
    const again = only(await next(rig).nothing());
    expect(again.value.request).toMatchObject({ callId: "a2", supersedes: second.value.binding });
    rig.clock.advance(30 * DAY_MS);
    const end = await next(rig).byId(again, rig.answer(again));
    expect(ended(end)).toBe("done");
    expect(JSON.parse(String(toolMessages(end)["a1"]?.content))).toMatchObject({ error: { kind: "ApprovalDenied" } });
    expect(toolMessages(end)["a2"]).toMatchObject({ status: "success" });
    expect(rig.ran).toEqual(["a2"]);
  });
});

/** After the redeploy the rule says that nothing needs a human. */
function requestIsForOther(rig: Rig): boolean {
  return rig.is.version === "1";
}
