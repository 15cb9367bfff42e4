// What a process remembers about task runs is bounded, and what is in use is not forgotten.
//   P1  a task run is forgotten only when nobody is in it
//   P2  bounded by count, age and bytes

import { beforeEach, describe, expect, it } from "vitest";
import { keepOutcome, runOnce } from "../../../src/journal/journal.js";
import {
  addBytes,
  JOURNAL_LIMITS,
  leave,
  privateTaskEntry,
  processState,
  taskEntry,
  type CallEntry,
  type TaskEntry,
} from "../../../src/journal/process-state.js";
import { plainHost, TaskRun } from "../../../src/journal/task-run.js";
import { forgetProcess } from "../../support/process.js";

beforeEach(forgetProcess);

const { tasks: MAX_TASKS, ageMs: MAX_AGE, bytes: MAX_BYTES } = JOURNAL_LIMITS;
/** How many more may be there for a while. */
const SPARE = 100;
const known = (key: string) => processState().tasks.has(key);
const newCall = (): CallEntry => ({ rawDigest: "r", outcome: undefined, running: undefined });

function fill(count: number, now = 0): void {
  for (let i = 0; i < count; i += 1) taskEntry(`fill ${i}`, now);
}

function taskRun(entry: TaskEntry): TaskRun {
  return new TaskRun({ id: ["t"], group: "g", entry, host: plainHost, signal: undefined });
}

describe("J1/count-time: the journal of a process", () => {
  it("is 10 000 task runs, 24 hours, 64 MiB (invariant P2)", () => {
    expect(JOURNAL_LIMITS).toEqual({ tasks: 10_000, ageMs: 86_400_000, bytes: 67_108_864 });
  });

  it("an attempt that leaves nothing behind leaves no entry; a passed gate, or another attempt in it, keeps it", () => {
    const enter = (key: string) => {
      const entry = taskEntry(key, 0);
      entry.attempts += 1;
      return entry;
    };
    const gated = Object.assign(enter("gated"), { behindGate: "over" as const });
    const twice = [enter("twice"), enter("twice")] as const;
    for (const entry of [enter("empty"), gated, twice[0]]) leave(entry);
    expect(["empty", "gated", "twice"].map(known)).toEqual([false, true, true]);
    leave(twice[1]);
    expect([known("twice"), gated.shared]).toEqual([false, true]);
  });

  it("gives the same entry for the same key, and another for another", () => {
    const entry = taskEntry("a", 0);
    expect(taskEntry("a", 1)).toBe(entry);
    expect(taskEntry("b", 1)).not.toBe(entry);
    expect(taskEntry("__proto__", 1)).not.toBe(taskEntry("constructor", 1));
  });

  it("by count: a hundred more at most, then those touched longest ago go (invariant P2)", () => {
    fill(MAX_TASKS + SPARE);
    expect(processState().tasks.size).toBe(MAX_TASKS + SPARE);
    taskEntry("fill 0", 0);
    taskEntry("new", 0);
    expect(processState().tasks.size).toBe(MAX_TASKS);
    const others = Array.from({ length: MAX_TASKS + SPARE - 1 }, (_, i) => known(`fill ${i + 1}`));
    expect([known("fill 0"), known("new"), others.indexOf(true)]).toEqual([true, true, SPARE + 1]);
  });

  it("by age: a day after it was last touched, not a millisecond earlier (invariant P2)", () => {
    const [old, later] = [taskEntry("old", 0), taskEntry("later", 1)];
    expect(taskEntry("later", MAX_AGE + 1)).toBe(later);
    expect(taskEntry("old", MAX_AGE + 1)).not.toBe(old);
  });

  it("by age: also when all old ones were looked for a moment before (invariant P2)", () => {
    const old = taskEntry("old", 0);
    taskEntry("now", MAX_AGE);
    expect(known("old")).toBe(true);
    expect(taskEntry("old", MAX_AGE + 1)).not.toBe(old);
  });

  it("by age: what nobody asks for any more is gone a minute later, at the latest (invariant P2)", () => {
    taskEntry("old", 0);
    taskEntry("now", MAX_AGE);
    expect(known("old")).toBe(true);
    taskEntry("now", MAX_AGE + 60_001);
    expect([known("old"), known("now")]).toEqual([false, true]);
  });

  it("an entry with an attempt in it stays, however old and however many there are (invariant P1)", async () => {
    const entry = taskEntry("used", 0);
    await taskRun(entry).attempt(() => {
      fill(MAX_TASKS + SPARE + 10, MAX_AGE * 3);
      expect(taskEntry("used", MAX_AGE * 3)).toBe(entry);
      return Promise.resolve();
    });
    expect(entry.attempts).toBe(0);
    fill(MAX_TASKS + SPARE + 10, MAX_AGE * 3);
    expect(known("used")).toBe(false);
  });

  it("an attempt that fails leaves its entry, too (invariant P1)", async () => {
    const entry = taskEntry("used", 0);
    await expect(taskRun(entry).attempt(() => Promise.reject(new Error("x")))).rejects.toThrow("x");
    expect(entry.attempts).toBe(0);
  });

  it("an entry whose call is still running stays, also when the attempt around it has gone (invariant P1)", async () => {
    const entry = taskEntry("used", 0);
    let finish: (value: string) => void = () => undefined;
    const body = () => new Promise<string>((resolve) => (finish = resolve));
    const call = newCall();
    entry.calls.set("c", call);
    const options = {
      task: taskRun(entry),
      callId: "c",
      call,
      approved: false,
      isLost: () => false,
      claimed: () => false,
    };
    const run = runOnce(options, body);
    fill(MAX_TASKS + SPARE + 10, MAX_AGE * 3);
    expect(taskEntry("used", MAX_AGE * 3)).toBe(entry);
    finish("done");
    await run;
    fill(MAX_TASKS + SPARE + 10, MAX_AGE * 6);
    expect(known("used")).toBe(false);
  });

  it("whoever asks for an entry gets one that the next caller finds, also when all others are in use (invariant P1)", () => {
    for (let i = 0; i < MAX_TASKS; i += 1) taskEntry(`used ${i}`, 0).attempts = 1;
    const entry = taskEntry("new", 0);
    expect(taskEntry("new", 0)).toBe(entry);
  });

  it("used answers (claims) are not forgotten with their task run", () => {
    processState().claims.set("b", { token: "t", state: "held", guardUntil: MAX_AGE * 10 });
    taskEntry("a", 0);
    fill(MAX_TASKS + 1, MAX_AGE * 3);
    expect(known("a")).toBe(false);
    expect(processState().claims.has("b")).toBe(true);
  });
});

describe("J1/bytes: the journal of a process", () => {
  it("over 64 MiB the oldest go until it fits (invariant P2)", () => {
    const half = MAX_BYTES / 2;
    addBytes(taskEntry("a", 0), half);
    addBytes(taskEntry("b", 0), half);
    taskEntry("c", 0);
    expect([known("a"), known("b")]).toEqual([true, true]);
    addBytes(taskEntry("c", 0), 1);
    taskEntry("d", 0);
    expect([known("a"), known("b"), known("c"), known("d")]).toEqual([false, true, true, true]);
    expect(processState().bytes).toBe(half + 1);
  });

  it("counts results once", () => {
    const entry = taskEntry("a", 0);
    const call = newCall();
    keepOutcome(entry, call, { status: "ok", json: "x".repeat(1000) });
    expect(processState().bytes).toBe(2000);
    keepOutcome(entry, call, { status: "ok", json: "y".repeat(5000) });
    expect(call.outcome).toEqual({ status: "ok", json: "x".repeat(1000) });
    expect(processState().bytes).toBe(2000);
  });

  it("what somebody adds to an entry that was forgotten counts for nothing: there is nobody to take it off again", () => {
    const entry = taskEntry("a", 0);
    addBytes(entry, 10);
    taskEntry("b", MAX_AGE + 1);
    expect(known("a")).toBe(false);
    expect(processState().bytes).toBe(0);
    addBytes(entry, 1000);
    expect(processState().bytes).toBe(0);
  });

  it("runs that nobody can name live outside it", () => {
    const entry = privateTaskEntry();
    addBytes(entry, 1000);
    expect(processState()).toMatchObject({ bytes: 0 });
    expect(processState().tasks.size).toBe(0);
  });

  it("ten thousand entries with results come and go, and the count of bytes comes back to what is there", () => {
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < MAX_TASKS; i += 1) addBytes(taskEntry(`${round} ${i}`, 0), 100);
    }
    const held = [...processState().tasks.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    expect(processState().bytes).toBe(held);
    expect(processState().tasks.size).toBeGreaterThanOrEqual(MAX_TASKS);
    expect(processState().tasks.size).toBeLessThanOrEqual(MAX_TASKS + SPARE);
  });
});

describe("a process", () => {
  it("has an identity of its own, and another after a restart", () => {
    const { id } = processState();
    expect(processState().id).toBe(id);
    forgetProcess();
    expect(processState().id).not.toBe(id);
  });
});
