// The journal of a task run: one entry per call, one running instance of it, and who may share it.
//   J1  a call is registered as running in the same turn in which it was seen not to be
//   J2  its outcome is in the entry before anybody who waits for it goes on

import { beforeEach, describe, expect, it } from "vitest";
import { isAgentAdapterError, ToolFailed, ToolUsageError } from "../../../src/errors.js";
import { callEntry, joinRunning, runOnce } from "../../../src/journal/journal.js";
import type { Outcome } from "../../../src/journal/outcome.js";
import { processState, taskEntry, type CallEntry, type TaskEntry } from "../../../src/journal/process-state.js";
import { groupSettled, plainHost, TaskRun, type TaskHost } from "../../../src/journal/task-run.js";
import { mark, record } from "../approvals/requests.js";
import { forgetProcess } from "../../support/process.js";

beforeEach(forgetProcess);

const ABOUT = { tool: "pay", callId: "c1" };

interface Setting {
  readonly entry: TaskEntry;
  readonly call: CallEntry;
  readonly kept: Outcome[];
  task(signal?: AbortSignal): TaskRun;
}

function setting(): Setting {
  const entry = taskEntry("t", 0);
  const kept: Outcome[] = [];
  const host: TaskHost = {
    ...plainHost,
    keepOutcome: ({ outcome }, claimed) => {
      if (claimed) kept.push(outcome);
    },
  };
  const task = (signal?: AbortSignal) => new TaskRun({ id: ["t"], group: "g", entry, host, signal });
  return { entry, call: callEntry(entry, "c1", "raw"), kept, task };
}

function options(
  { call }: Setting,
  task: TaskRun,
  changes: { approved?: boolean; claimed?: boolean; lost?: boolean } = {},
) {
  const { approved = false, claimed = approved, lost = false } = changes;
  return { task, callId: "c1", call, approved, isLost: () => lost, claimed: () => claimed };
}

function held(): {
  body: () => Promise<string>;
  resolve(value: string): void;
  reject(error: unknown): void;
  ran: number;
} {
  const gate: { resolve(value: string): void; reject(error: unknown): void } = { resolve: () => {}, reject: () => {} };
  const promise = new Promise<string>((resolve, reject) => Object.assign(gate, { resolve, reject }));
  const call = {
    ran: 0,
    body: () => {
      call.ran += 1;
      return promise;
    },
    resolve: (value: string) => gate.resolve(value),
    reject: (error: unknown) => gate.reject(error),
  };
  return call;
}

const soon = async () => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
};

async function settledYet(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  await soon();
  return settled;
}

describe("callEntry", () => {
  it("is one per call id", () => {
    const { entry, call } = setting();
    expect(callEntry(entry, "c1", "raw")).toBe(call);
    expect(callEntry(entry, "c2", "raw")).not.toBe(call);
    expect(callEntry(entry, "__proto__", "raw")).not.toBe(call);
  });

  it("A6: the same id with other raw arguments is a ToolUsageError", () => {
    const { entry } = setting();
    expect(() => callEntry(entry, "c1", "other")).toThrow(ToolUsageError);
  });

  it("A6: also when all that is left of the call is its ask", () => {
    const entry = taskEntry("t2", 0);
    entry.asks.remember(record({ callId: "c9" }));
    expect(() => callEntry(entry, "c9", "other")).toThrow(ToolUsageError);
    expect(callEntry(entry, "c9", record().rawDigest).outcome).toBeUndefined();
  });
});

describe("E11/process: one running instance", () => {
  it("is registered in the same turn (invariant J1)", async () => {
    const s = setting();
    const gate = held();
    const run = runOnce(options(s, s.task()), gate.body);
    expect(s.call.running).toBeDefined();
    expect(gate.ran).toBe(1);
    gate.resolve("x");
    expect(await run).toEqual({ ok: true, value: "x" });
    expect(s.call.running).toBeUndefined();
  });

  it("the outcome is there before anybody who waits goes on (invariant J2)", async () => {
    const s = setting();
    const gate = held();
    const run = runOnce(options(s, s.task()), gate.body);
    const seen = s.call.running?.settled.then(() => s.call.outcome);
    gate.resolve("x");
    expect(await seen).toEqual({ status: "ok", json: '"x"' });
    await run;
  });

  it("never rejects: how it ended is the value", async () => {
    const s = setting();
    const error = new Error("x");
    expect(await runOnce(options(s, s.task()), () => Promise.reject(error))).toEqual({ ok: false, error, lost: false });
    expect(s.call.outcome).toBeUndefined();
  });

  it("a plain call is shared", async () => {
    const s = setting();
    const gate = held();
    const run = runOnce(options(s, s.task()), gate.body);
    if (s.call.running === undefined) throw new Error("not running");
    const joined = joinRunning(s.task(), s.call.running, ABOUT);
    expect(await settledYet(joined)).toBe(false);
    gate.resolve("x");
    expect(await joined).toEqual({ ok: true, value: "x" });
    expect(await run).toEqual({ ok: true, value: "x" });
    expect(gate.ran).toBe(1);
  });

  it("an approved call whose owner is alive is refused, once it and the approved ones beside it have settled", async () => {
    const s = setting();
    const [one, two] = [held(), held()];
    const run = runOnce(options(s, s.task(), { approved: true }), one.body);
    const beside = { ...s, call: callEntry(s.entry, "c2", "raw") };
    const run2 = runOnce(options(beside, s.task(), { approved: true }), two.body);
    if (s.call.running === undefined) throw new Error("not running");
    const joined = joinRunning(s.task(), s.call.running, ABOUT);
    expect(await settledYet(joined)).toBe(false);
    one.resolve("x");
    expect(await settledYet(joined)).toBe(false);
    two.resolve("y");
    const refused = await joined.catch((error: unknown) => error);
    expect(isAgentAdapterError(refused, "ApprovalAlreadyDecided")).toBe(true);
    expect(refused).toMatchObject(ABOUT);
    await Promise.all([run, run2]);
    expect(processState().busy.size).toBe(0);
  });

  it.each(["its signal is aborted", "its attempt has settled"])(
    "a call is adopted when the owner is gone: %s",
    async (how) => {
      const s = setting();
      const controller = new AbortController();
      const owner = s.task(controller.signal);
      const gate = held();
      const run = runOnce(options(s, owner, { approved: true }), gate.body);
      if (how === "its signal is aborted") controller.abort();
      else await owner.attempt(() => Promise.resolve());
      expect(owner.alive).toBe(false);
      const { running } = s.call;
      if (running === undefined) throw new Error("not running");
      const next = s.task();
      const joined = joinRunning(next, running, ABOUT);
      expect(running.owner).toBe(next);
      // The one that adopted it is alive: a third is refused.
      const third = joinRunning(s.task(), running, ABOUT).catch((error: unknown) => error);
      gate.resolve("x");
      expect(await joined).toEqual({ ok: true, value: "x" });
      expect(isAgentAdapterError(await third, "ApprovalAlreadyDecided")).toBe(true);
      await run;
      expect(gate.ran).toBe(1);
    },
  );
});

describe("A6: what is kept", () => {
  it("of a used answer: every end of the body, in the entry and at the host", async () => {
    const s = setting();
    await runOnce(options(s, s.task(), { approved: true }), () => Promise.resolve("x"));
    expect(s.kept).toEqual([{ status: "ok", json: '"x"' }]);
    const t = { ...setting(), call: callEntry(s.entry, "c3", "raw") };
    await runOnce(options(t, t.task(), { approved: true }), () => Promise.reject(new ToolFailed("x")));
    expect(t.kept).toEqual([{ status: "failed", kind: "ToolFailed" }]);
    expect(t.call.outcome).toEqual({ status: "failed", kind: "ToolFailed" });
  });

  it("of an answer that was not used: nothing, so that the next attempt can use it", async () => {
    const s = setting();
    const error = new Error("the mark was not written");
    await runOnce(options(s, s.task(), { approved: true, claimed: false }), () => Promise.reject(error));
    expect(s.kept).toEqual([]);
    expect(s.call.outcome).toBeUndefined();
    expect(s.call.running).toBeUndefined();
  });

  it("of a lost call: nothing, nobody knows", async () => {
    const s = setting();
    const settled = await runOnce(options(s, s.task(), { approved: true, lost: true }), () =>
      Promise.reject(new Error("x")),
    );
    expect(settled).toMatchObject({ ok: false, lost: true });
    expect([s.kept, s.call.outcome]).toEqual([[], undefined]);
  });

  it("of a plain call: its result, in the entry only", async () => {
    const s = setting();
    await runOnce(options(s, s.task()), () => Promise.resolve(0));
    expect([s.kept, s.call.outcome]).toEqual([[], { status: "ok", json: "0" }]);
  });
});

describe("task runs", () => {
  it("T1: a call without an id is named by its position among the calls of the same tool and arguments", () => {
    const s = setting();
    const names = (task: TaskRun) =>
      [
        ["pay", "d1"],
        ["pay", "d2"],
        ["pay", "d1"],
        ["rate", "d1"],
      ].map(([tool, raw]) => task.nextCallId(tool ?? "", raw ?? ""));
    const first = names(s.task());
    expect(new Set(first).size).toBe(4);
    expect(names(s.task())).toEqual(first);
  });

  it("A2: the generation of a call is the number of its used answers", () => {
    const s = setting();
    const task = s.task();
    expect(task.generationOf("call")).toBe(0);
    for (let generation = 0; generation < 3; generation += 1) {
      const used = record({ generation });
      s.entry.marks.set(used.binding, mark({ record: used }));
    }
    const other = record({ callId: "other" });
    s.entry.marks.set(other.binding, mark({ record: other }));
    expect([task.generationOf("call"), task.generationOf("other"), task.generationOf("none")]).toEqual([3, 1, 0]);
  });

  it("the newest ask of a call is the one remembered last; remembering it again moves it to the end, once", () => {
    const s = setting();
    const [one, two, other] = [record(), record({ generation: 1 }), record({ callId: "other" })];
    for (const ask of [one, two, other]) s.entry.asks.remember(ask);
    expect(s.task().askOf("call")).toBe(two);
    s.entry.asks.remember(one);
    expect(s.task().askOf("call")).toBe(one);
    expect([s.entry.asks.newest, s.entry.asks.size, s.entry.asks.bound(two.binding)]).toEqual([one, 3, two]);
    expect(s.task().askOf("none")).toBeUndefined();
  });

  it("waiting for a group in which nothing runs takes no time; one that is joined while waiting is waited for, too", async () => {
    const s = setting();
    await groupSettled("nobody");
    const [one, two] = [held(), held()];
    const run = runOnce(options(s, s.task(), { approved: true }), one.body);
    const waiting = groupSettled("g");
    const beside = { ...s, call: callEntry(s.entry, "c2", "raw") };
    const run2 = runOnce(options(beside, s.task(), { approved: true }), two.body);
    one.resolve("x");
    expect(await settledYet(waiting)).toBe(false);
    two.resolve("y");
    await waiting;
    await Promise.all([run, run2]);
  });
});
