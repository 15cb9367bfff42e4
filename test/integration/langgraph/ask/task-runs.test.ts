// Which task run an ask belongs to ("Words" in docs/guide/life-of-an-approval.md): forks, laps, updates, subgraphs,
// durability, nodes side by side, and thirty asks in one node. Bodies are counted: every approved call ran exactly once.

import { describe, expect, it } from "vitest";
import { KeyRing, openAsk, sealMark } from "../../../../src/spi.js";
import { inSubgraph, loop, noted, twoNodes } from "./graphs.js";
import { aiMessage, deferred, ended, idle, only, requestOf, Rig, SECRET, until, type Ask } from "./rig.js";

const PROCESSES = [
  ["in the same process", (rig: Rig) => rig.redeploy()],
  ["in a new process", (rig: Rig) => rig.newProcess()],
] as const;

describe.each(PROCESSES)("another task run is asked anew, and old answers do not fit %s", (_where, next) => {
  it("A6, L4: a fork from the checkpoint before the node", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    expect(ended(await rig.byId(ask, answer))).toBe("done");
    const ids: string[] = [];
    for await (const { config } of rig.app.getStateHistory(rig.config())) {
      ids.push(String(config.configurable["checkpoint_id"]));
    }
    const fork = only(await next(rig).nothing({ checkpointId: ids.at(-1) ?? "" }));
    expect(requestOf(fork)).toMatchObject({ callId: "a1", generation: 0, supersedes: null, previousAttempt: null });
    expect(requestOf(fork).taskRun).not.toEqual(requestOf(ask).taskRun);
    expect(ended(await next(rig).byId(fork, answer))).toBe("invalid");
    expect(rig.ran).toEqual(["a1"]);
    expect(ended(await rig.byId(fork, rig.answer(fork)))).toBe("done");
    expect(rig.ran).toEqual(["a1", "a1"]);
  });

  it("A6, L4: a loop lap, with the same call id and the same arguments", async () => {
    const rig = new Rig({ graph: loop(3) });
    let ask = await rig.asked();
    const seen = [ask];
    for (let lap = 2; lap <= 3; lap += 1) {
      const answer = rig.answer(ask);
      const again = only(await next(rig).byId(ask, answer));
      expect(requestOf(again)).toMatchObject({ callId: "a1", arguments: { n: "a1" }, generation: 0 });
      expect(again.id).not.toBe(ask.id);
      expect(ended(await next(rig).byId(again, answer))).toBe("invalid");
      expect(rig.times("a1")).toBe(lap - 1);
      ask = again;
      seen.push(ask);
    }
    expect(new Set(seen.map(({ value }) => value.binding)).size).toBe(3);
    expect(ended(await next(rig).byId(ask, rig.answer(ask)))).toBe("done");
    expect(rig.times("a1")).toBe(3);
  });

  it("A6, L4: edited state: new input on a paused thread abandons its request", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const answer = rig.answer(ask);
    const fresh = only(await next(rig).step({ messages: [aiMessage(["a1"])] }));
    expect(requestOf(fresh).taskRun).not.toEqual(requestOf(ask).taskRun);
    expect(ended(await next(rig).byId(fresh, answer))).toBe("invalid");
    expect(ended(await next(rig).byId(fresh, rig.answer(fresh)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, L2: another thread with the same calls", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const other = await next(rig).asked(["a1"], { thread: "u" });
    expect(ended(await rig.byId(other, rig.answer(ask), { thread: "u" }))).toBe("invalid");
    expect(rig.ran).toEqual([]);
    expect(ended(await rig.byId(other, rig.answer(other), { thread: "u" }))).toBe("done");
    expect(only(await rig.nothing()).value.binding).toBe(ask.value.binding);
    expect(rig.ran).toEqual(["a1"]);
  });
});

describe.each(PROCESSES)("the same task run %s", (_where, next) => {
  it("A6, L4: `Command({resume, update})` uses the answer where it was asked", async () => {
    const rig = new Rig({ graph: noted });
    const ask = await rig.asked(["a1", "a2"]);
    const second = only(await next(rig).byMap({ [ask.id]: rig.answer(ask) }, { update: { note: "changed" } }));
    expect(requestOf(second).taskRun).toEqual(requestOf(ask).taskRun);
    const end = await next(rig).byMap({ [second.id]: rig.answer(second) }, { update: { note: "again" } });
    expect(ended(end)).toBe("done");
    expect((await rig.app.getState(rig.config())).values["note"]).toBe("again");
    expect(rig.ran).toEqual(["a1", "a2"]);
  });

  it("A6, L3: thirty asks in one node, one after the other", async () => {
    const calls = Array.from({ length: 30 }, (_, index) => `a${index}`);
    const rig = new Rig();
    let ask = await rig.asked(calls);
    const ids = [ask.id];
    for (const callId of calls.slice(1)) {
      ask = only(await next(rig).byId(ask, rig.answer(ask)));
      expect(requestOf(ask)).toMatchObject({ callId, generation: 0 });
      ids.push(ask.id);
    }
    expect(ended(await next(rig).byId(ask, rig.answer(ask)))).toBe("done");
    expect(new Set(ids).size).toBe(30);
    expect(rig.ran).toEqual(calls);
  });
});

const DURABILITY = ["sync", "async", "exit"] as const;

describe.each(DURABILITY)("durability %s", (durability) => {
  describe.each([
    ["at the root", undefined],
    ["in a subgraph", inSubgraph],
  ] as const)("%s", (_level, graph) => {
    it.each(PROCESSES)("A6: asks, bad answers, failures before the claim and replays hold %s", async (_where, next) => {
      let broken = false;
      const beforeTool = () => {
        if (broken) throw new Error("over budget");
      };
      const rig = new Rig({ durability, hooks: [{ beforeTool }], ...(graph === undefined ? {} : { graph }) });
      const ask = await rig.asked(["p1", "a1", "a2"]);
      expect(only(await next(rig).nothing()).value.binding).toBe(ask.value.binding);
      expect(ended(await next(rig).byId(ask, "yes"))).toBe("invalid");
      expect(ended(await next(rig).plain("yes"))).toBe("invalid");
      expect(only(await next(rig).nothing()).value.binding).toBe(ask.value.binding);
      const answer = rig.answer(ask);
      broken = true;
      expect(ended(await next(rig).byId(ask, answer))).toBe("Error: over budget");
      broken = false;
      expect(rig.times("a1")).toBe(0);
      const second = only(await next(rig).nothing());
      expect(requestOf(second).callId).toBe("a2");
      expect(ended(await next(rig).byId(ask, answer))).toBe("ApprovalAlreadyDecided");
      expect(only(await next(rig).nothing()).value.binding).toBe(second.value.binding);
      expect(ended(await next(rig).byId(second, rig.answer(second)))).toBe("done");
      expect(rig.times("a1")).toBe(1);
      expect(rig.times("a2")).toBe(1);
    });
  });
});

describe("two nodes side by side", () => {
  async function bothAsked(rig: Rig): Promise<readonly [Ask, Ask]> {
    const { asks } = await rig.start();
    const [x, y] = asks;
    if (x === undefined || y === undefined) throw new Error("two asks were expected");
    return [x, y];
  }

  it.each(PROCESSES)("A6, L1: both requests surface together and are answered in one map %s", async (_where, next) => {
    const rig = new Rig({ graph: twoNodes });
    const [x, y] = await bothAsked(rig);
    expect(x.id).not.toBe(y.id);
    expect(x.value.binding).not.toBe(y.value.binding);
    expect(ended(await next(rig).byMap({ [x.id]: rig.answer(x), [y.id]: rig.answer(y) }))).toBe("done");
    expect(rig.ran).toHaveLength(2);
  });

  it.each(PROCESSES)("A6, L2: answers swapped between them are refused %s", async (_where, next) => {
    const rig = new Rig({ graph: twoNodes });
    const [x, y] = await bothAsked(rig);
    expect(ended(await next(rig).byMap({ [x.id]: rig.answer(y), [y.id]: rig.answer(x) }))).toBe("invalid");
    expect(rig.ran).toEqual([]);
    expect(ended(await next(rig).byMap({ [x.id]: rig.answer(x), [y.id]: rig.answer(y) }))).toBe("done");
    expect(rig.ran).toHaveLength(2);
  });

  it.each(PROCESSES)("A6, L1: answered one by one %s", async (_where, next) => {
    const rig = new Rig({ graph: twoNodes });
    const [x, y] = await bothAsked(rig);
    const left = only(await next(rig).byId(y, rig.answer(y)));
    expect(left.value.binding).toBe(x.value.binding);
    expect(rig.ran).toHaveLength(1);
    expect(ended(await next(rig).byId(x, rig.answer(x)))).toBe("done");
    expect(rig.ran).toHaveLength(2);
  });

  it("A5/process, A6: a double-clicked `approve all` in opposite order: both tools run exactly once, no loser kills a winner", async () => {
    const bodies = [deferred(), deferred()];
    const aborted: string[] = [];
    let running = 0;
    // In the first run x claims first, in the second y: each run wins one call and loses the other.
    let visit = 0;
    const gates = [deferred(), deferred()];
    const rig = new Rig({
      graph: twoNodes,
      body: async (callId, { signal }) => {
        const body = bodies[rig.ran.length - 1];
        running += 1;
        signal.addEventListener("abort", () => {
          if (running > 0) aborted.push(callId);
        });
        await body?.promise;
        running -= 1;
      },
      hooks: [
        {
          // Of the four attempts (x and y of two runs) the second and third wait for the other two to claim.
          beforeTool: async () => {
            if (!armed) return;
            visit += 1;
            if (visit === 2) await gates[0]?.promise;
            if (visit === 3) await gates[1]?.promise;
          },
        },
      ],
    });
    let armed = false;
    const [x, y] = await bothAsked(rig);
    armed = true;
    const [ax, ay] = [rig.answer(x), rig.answer(y)];
    const settled: string[] = [];
    const runs = [
      rig.byMap({ [x.id]: ax, [y.id]: ay }).then((step) => settled.push(ended(step))),
      rig.byMap({ [y.id]: ay, [x.id]: ax }).then((step) => settled.push(ended(step))),
    ];
    await until(() => rig.ran.length === 2);
    gates[0]?.resolve("");
    gates[1]?.resolve("");
    await idle(20);
    // The losers wait: nothing has been thrown while a winner runs.
    expect(settled).toEqual([]);
    bodies[0]?.resolve("paid");
    await idle(20);
    expect(settled).toEqual([]);
    expect(aborted).toEqual([]);
    bodies[1]?.resolve("paid");
    await Promise.all(runs);
    expect(aborted).toEqual([]);
    expect(ended(await rig.nothing())).toBe("done");
    expect(rig.ran).toHaveLength(2);
  });

  it("A6: a claim lost to another worker is refused only after the approved calls running here have settled", async () => {
    const body = deferred();
    const aborted: string[] = [];
    let running = 0;
    const rig = new Rig({
      graph: twoNodes,
      body: async (callId, { signal }) => {
        running += 1;
        signal.addEventListener("abort", () => {
          if (running > 0) aborted.push(callId);
        });
        await body.promise;
        running -= 1;
      },
    });
    const [x, y] = await bothAsked(rig);
    const gate = deferred();
    const other = beatenBy(rig, x, gate.promise);
    const settled: string[] = [];
    const run = rig.byMap({ [x.id]: rig.answer(x), [y.id]: rig.answer(y) }).then((step) => settled.push(ended(step)));
    await until(() => rig.ran.length === 1);
    gate.resolve("");
    await until(() => other.wrote);
    await idle(20);
    expect(settled).toEqual([]);
    body.resolve("paid");
    await run;
    expect(settled).toEqual(["ApprovalAlreadyDecided"]);
    expect(aborted).toEqual([]);
    expect(rig.ran).toHaveLength(1);
    // The other worker's call may still be running: it is not asked about and not run.
    expect(ended(await rig.nothing())).toBe("ApprovalAlreadyDecided");
    expect(ended(await rig.newProcess().nothing())).toBe("ApprovalAlreadyDecided");
    expect(rig.ran).toHaveLength(1);
  });
});

/** Another worker marks the answer to this ask as used, just before this one does. */
function beatenBy(rig: Rig, ask: Ask, when: Promise<unknown>): { wrote: boolean } {
  const keys = KeyRing.of(SECRET, "secret");
  const { taskRun } = requestOf(ask);
  const mark = {
    v: 1,
    record: openAsk(keys, taskRun, ask.value.aa_state),
    decision: { approved: true },
    decidedBy: null,
    token: "the token of another worker",
    process: "another worker",
    claimedAt: rig.clock.now(),
  } as const;
  const other = { wrote: false };
  const { saver } = rig;
  const putWrites = saver.putWrites.bind(saver);
  saver.putWrites = async (config, writes, taskId) => {
    if (writes.some(([channel]) => channel === "aa:spent") && taskId.endsWith(ask.value.binding)) {
      await when;
      await putWrites(config, [["aa:spent", sealMark(keys, taskRun, mark)]], taskId);
      other.wrote = true;
    }
    await putWrites(config, writes, taskId);
  };
  return other;
}
