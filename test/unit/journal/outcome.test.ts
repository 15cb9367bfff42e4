// What a finished call came to, as JSON, and what a replay of it gives. J2: results come back unchanged or not at all.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ApprovalExpired,
  failureKind,
  isAgentAdapterError,
  ToolArgsInvalid,
  ToolError,
  ToolFailed,
  ToolNotFound,
  type AgentAdapterError,
} from "../../../src/errors.js";
import {
  outcomeFromJson,
  outcomeOf,
  outcomeToJson,
  replay,
  type Outcome,
  type Settled,
} from "../../../src/journal/outcome.js";
import { json } from "../approvals/requests.js";

const ABOUT = { tool: "pay", callId: "c1" };
const ok = (value: unknown): Settled => ({ ok: true, value });
const failed = (error: unknown, lost = false): Settled => ({ ok: false, error, lost });

function again(settled: Settled, approved = true): unknown {
  const outcome = outcomeOf(settled, approved);
  if (outcome === undefined) throw new Error("nothing was kept");
  const back = outcomeFromJson(JSON.parse(JSON.stringify(outcomeToJson(outcome))));
  if (back === undefined) throw new Error("it did not come back");
  const replayed = replay(back, ABOUT);
  return replayed.ok ? replayed.value : replayed.error;
}

describe("J2: results", () => {
  it.each([[null], [false], [0], [""], [undefined], [[]], [{}], ["0"], [[null]], [{ a: null }]])(
    "%j comes back as it is",
    (value) => {
      expect(again(ok(value))).toEqual(value);
      expect(outcomeOf(ok(value), false)).toEqual(outcomeOf(ok(value), true));
    },
  );

  it("every JSON value comes back as it is", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(again(ok(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("an own `__proto__` key comes back as a key", () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
    const back = again(ok(value));
    expect(Object.keys(back as object)).toEqual(["__proto__"]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  it("each replay gives a copy of its own", () => {
    const outcome = outcomeOf(ok({ list: [1] }), true);
    if (outcome === undefined) throw new Error("nothing was kept");
    const [one, two] = [replay(outcome, ABOUT), replay(outcome, ABOUT)];
    expect(one).toEqual(two);
    expect(one.ok && two.ok && one.value === two.value).toBe(false);
  });

  class Money {
    readonly amount = 5;
  }
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;

  it.each([
    ["NaN", Number.NaN],
    ["Infinity inside", { n: [Number.POSITIVE_INFINITY] }],
    ["a bigint", 5n],
    ["a Date", { at: new Date(0) }],
    ["a Map", new Map([["a", 1]])],
    ["a Set", new Set([1])],
    ["bytes", new Uint8Array(3)],
    ["a class instance", new Money()],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["a cycle", cycle],
    ["an Error", new Error("x")],
  ])("%s finished, and cannot be given again: ToolUsageError, never a changed value", (_what, value) => {
    for (const approved of [true, false]) {
      expect(outcomeOf(ok(value), approved)).toEqual({ status: "ok-not-kept" });
      const error = again(ok(value), approved);
      expect(isAgentAdapterError(error, "ToolUsageError")).toBe(true);
      expect(error).toMatchObject(ABOUT);
    }
  });
});

describe("A6: failures", () => {
  it.each([
    new ToolError("no such account"),
    new ToolArgsInvalid("n is missing"),
    new ToolNotFound("there is no such tool"),
  ] satisfies AgentAdapterError[])("an error for the model comes back with kind and message: $kind", (error) => {
    for (const approved of [true, false]) {
      const back = again(failed(error), approved);
      expect(isAgentAdapterError(back, error.kind)).toBe(true);
      expect(back).toMatchObject({ message: error.message, modelVisible: true, ...ABOUT });
    }
  });

  it("a failed approved call is ApprovalAlreadyDecided with the first failure's kind as cause, and without its message", () => {
    const error = again(failed(new ToolFailed("hunter2", { cause: new Error("hunter2") })));
    expect(isAgentAdapterError(error, "ApprovalAlreadyDecided")).toBe(true);
    expect(error).toMatchObject({ cause: { name: "ToolFailed" }, ...ABOUT });
    expect(JSON.stringify(outcomeOf(failed(new ToolFailed("hunter2")), true))).not.toContain("hunter2");
  });

  it.each([["text"], [undefined], [null], [new TypeError("x")], [{ kind: "ToolError" }]])(
    "what is none of our errors is called Error: %j",
    (thrown) => {
      expect(failureKind(thrown)).toBe("Error");
      expect(outcomeOf(failed(thrown), true)).toEqual({ status: "failed", kind: "Error" });
    },
  );

  it("a failed plain call is not kept: a re-run tries again", () => {
    expect(outcomeOf(failed(new ToolFailed("x")), false)).toBeUndefined();
    expect(outcomeOf(failed(new Error("x")), false)).toBeUndefined();
  });

  it("a lost call (pause, abort) is not kept, whatever it threw", () => {
    for (const approved of [true, false]) {
      for (const error of [new Error("aborted"), new ToolError("x"), undefined]) {
        expect(outcomeOf(failed(error, true), approved)).toBeUndefined();
      }
    }
  });

  it("an expired request is replayed as ApprovalExpired, which is not a denial", () => {
    const replayed = replay({ status: "expired" }, ABOUT);
    expect(replayed).toMatchObject({ ok: false, lost: false });
    expect(replayed.ok ? undefined : replayed.error).toBeInstanceOf(ApprovalExpired);
  });
});

describe("W1/asks: the form in rows", () => {
  const all: readonly Outcome[] = [
    { status: "ok", json: "null" },
    { status: "ok", json: null },
    { status: "ok-not-kept" },
    { status: "error", kind: "ToolError", message: "m" },
    { status: "failed", kind: "ToolFailed" },
    { status: "expired" },
  ];

  it.each(all)("comes back: %j", (outcome) => {
    expect(outcomeFromJson(JSON.parse(JSON.stringify(outcomeToJson(outcome))))).toEqual(outcome);
  });

  it.each([
    [undefined],
    [null],
    ["ok"],
    [[]],
    [{}],
    [{ status: "running" }],
    [{ status: "ok" }],
    [{ status: "ok", json: 1 }],
    [{ status: "error", kind: "ToolError" }],
    [{ status: "error", message: "m" }],
    [{ status: "failed" }],
    [{ status: "failed", kind: 1 }],
  ])("is not read from %j", (value) => {
    expect(outcomeFromJson(value)).toBeUndefined();
  });
});
