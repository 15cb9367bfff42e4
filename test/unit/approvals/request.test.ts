// The request and its binding: one hash over everything that is shown.
//   R1  everything shown is hashed: distinct requests have distinct bindings
//   R2  the order of members does not matter; what is not exactly a request of version 1 is none

import canonicalize from "canonicalize";
import * as fc from "fast-check";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { bindingOf, isApprovalRequest, type ApprovalRequest } from "../../../src/approvals/request.js";
import { NotJson, sameJson, type JsonObject } from "../../../src/crypto/canonical-json.js";
import { json, request, requests, shuffled } from "./requests.js";

const OTHER: Required<{ [Field in keyof ApprovalRequest]: unknown }> = {
  v: 2,
  kind: "gate",
  runId: "run2",
  threadId: null,
  taskRun: ["thread", "tools:2"],
  tool: "pay2",
  description: "Pays!",
  effects: "read",
  definitionDigest: "e".repeat(64),
  arguments: { to: "ana", amount: 6 },
  callId: "call2",
  generation: 1,
  requestedBy: null,
  expiresAt: 1,
  supersedes: "s",
  previousAttempt: { outcome: "unknown", claimedAt: 1 },
};

describe("A2: the binding", () => {
  it.each(Object.entries(OTHER))("changes with %s", (field, value) => {
    expect(bindingOf({ ...request(), [field]: value } as ApprovalRequest)).not.toBe(bindingOf(request()));
  });

  it("covers exactly these fields", () => {
    expect(Object.keys(OTHER).toSorted()).toEqual(Object.keys(request()).toSorted());
  });

  it("is SHA-256, lower-case hex", () => {
    expect(bindingOf(request())).toMatch(/^[0-9a-f]{64}$/);
  });

  it("W0: is what an independent RFC 8785 writer and SHA-256 give", () => {
    const independent = canonicalize as unknown as (value: unknown) => string;
    fc.assert(
      fc.property(requests, (one) => {
        const label = "agent-adapter/binding/v1";
        expect(bindingOf(one)).toBe(
          createHash("sha256")
            .update(independent([label, one]))
            .digest("hex"),
        );
      }),
    );
  });

  it("distinct requests have distinct bindings, equal ones the same", () => {
    fc.assert(
      fc.property(requests, requests, (one, two) => {
        expect(bindingOf(one) === bindingOf(two)).toBe(sameJson(one, two));
      }),
      { numRuns: 300 },
    );
  });

  it("one changed argument value changes it", () => {
    fc.assert(
      fc.property(requests, fc.string(), json, json, (one, key, before, after) => {
        fc.pre(!sameJson(before, after));
        const withValue = (value: unknown) =>
          bindingOf({ ...one, arguments: Object.fromEntries([[key, value]]) as JsonObject });
        expect(withValue(before)).not.toBe(withValue(after));
      }),
    );
  });

  it("the order of members does not matter, at any depth", () => {
    fc.assert(
      fc.property(requests, fc.nat({ max: 6 }), (one, seed) => {
        expect(bindingOf(shuffled(one, seed))).toBe(bindingOf(one));
      }),
    );
  });

  it("a checkpoint in between (JSON text and back) changes nothing", () => {
    fc.assert(
      fc.property(requests, (one) => {
        const back: ApprovalRequest = JSON.parse(JSON.stringify(one));
        expect(bindingOf(back)).toBe(bindingOf(one));
      }),
    );
  });

  it("integer-like keys are sorted as strings and stay apart from their numbers", () => {
    const forwards = bindingOf(request({ arguments: { "9": 1, "10": 2, "01": 3 } }));
    expect(bindingOf(request({ arguments: { "01": 3, "10": 2, "9": 1 } }))).toBe(forwards);
    expect(bindingOf(request({ arguments: { "9": 2, "10": 1, "01": 3 } }))).not.toBe(forwards);
    expect(bindingOf(request({ arguments: { list: ["9"] } }))).not.toBe(
      bindingOf(request({ arguments: { list: [9] } })),
    );
  });

  it("what looks alike is not alike", () => {
    const alike: JsonObject[] = [
      { n: 1 },
      { n: "1" },
      { n: [1] },
      { n: true },
      { n: null },
      {},
      { n: {} },
      { n: [] },
      { n: "" },
      { "n ": 1 },
      { n: "é" },
      { n: "e\u0301" },
      { n: "a,b" },
      { n: ["a", "b"] },
      JSON.parse('{"__proto__":1}'),
      { n: { m: 1 } },
    ];
    expect(new Set(alike.map((args) => bindingOf(request({ arguments: args })))).size).toBe(alike.length);
    expect(bindingOf(request({ taskRun: ["a", "b"] }))).not.toBe(bindingOf(request({ taskRun: ["a,b"] })));
    expect(bindingOf(request({ taskRun: ["a|b"] }))).not.toBe(bindingOf(request({ taskRun: ["a", "b"] })));
  });

  it("A1: `-0` is `0`, undefined members do not count", () => {
    expect(bindingOf(request({ arguments: { n: -0 } }))).toBe(bindingOf(request({ arguments: { n: 0 } })));
    const withUndefined = { n: 1, m: undefined } as unknown as JsonObject;
    expect(bindingOf(request({ arguments: withUndefined }))).toBe(bindingOf(request({ arguments: { n: 1 } })));
  });

  it.each([
    ["half a surrogate pair in a value", { n: "\uD800" }],
    ["half a surrogate pair in a key", { "\uDC00": 1 }],
    ["NaN", { n: Number.NaN }],
    ["Infinity", { n: Number.POSITIVE_INFINITY }],
    ["a bigint", { n: 1n }],
    ["a Date", { n: new Date(0) }],
    ["a Map", { n: new Map() }],
    ["a function", { n: () => 1 }],
    ["a symbol", { n: Symbol("n") }],
    ["a hole", { n: Object.assign([1, 2, 3], { length: 4 }) }],
    ["a getter", Object.defineProperty({}, "n", { get: () => 1, enumerable: true })],
  ])("A1: %s is refused, never flattened", (_what, args) => {
    expect(() => bindingOf(request({ arguments: args as unknown as JsonObject }))).toThrow(NotJson);
  });

  it("A1: a cycle is refused", () => {
    const args: Record<string, unknown> = {};
    args["self"] = args;
    expect(() => bindingOf(request({ arguments: args as JsonObject }))).toThrow(NotJson);
  });

  it("deep and huge requests are hashed in bounded time; too deep is refused", () => {
    const deep = (levels: number) => {
      let value: unknown = 1;
      for (let i = 0; i < levels; i += 1) value = { n: value };
      return value as JsonObject;
    };
    expect(bindingOf(request({ arguments: deep(200) }))).not.toBe(bindingOf(request({ arguments: deep(201) })));
    expect(() => bindingOf(request({ arguments: deep(100_000) }))).toThrow(NotJson);
    const huge = (last: number) => ({ list: [...Array.from({ length: 200_000 }, (_, i) => i), last] });
    expect(bindingOf(request({ arguments: huge(1) }))).not.toBe(bindingOf(request({ arguments: huge(2) })));
  });
});

describe("A2, N1: what is a request", () => {
  it("every request is one, also after a checkpoint", () => {
    fc.assert(
      fc.property(requests, (one) => {
        expect(isApprovalRequest(one)).toBe(true);
        expect(isApprovalRequest(JSON.parse(JSON.stringify(one)))).toBe(true);
      }),
    );
  });

  it.each(Object.keys(request()))("not without %s", (field) => {
    const { [field as keyof ApprovalRequest]: _left, ...rest } = request();
    expect(isApprovalRequest(rest)).toBe(false);
  });

  it.each([
    ["another version", { v: 2 }],
    ["another kind", { kind: "tools" }],
    ["other effects", { effects: "none" }],
    ["a number as run id", { runId: 1 }],
    ["no text in the task run", { taskRun: ["a", 1] }],
    ["a task run that is no list", { taskRun: "a" }],
    ["arguments that are a list", { arguments: [] }],
    ["arguments that are null", { arguments: null }],
    ["arguments that are not JSON", { arguments: { n: Number.NaN } }],
    ["a negative generation", { generation: -1 }],
    ["half a generation", { generation: 0.5 }],
    ["a generation as text", { generation: "0" }],
    ["a date as text", { expiresAt: "never" }],
    ["undefined for null", { threadId: undefined }],
    ["another outcome", { previousAttempt: { outcome: "done", claimedAt: 1 } }],
    ["more of the previous attempt", { previousAttempt: { outcome: "unknown", claimedAt: 1, note: "x" } }],
    ["a field that nobody shows", { note: "hidden" }],
    ["half a surrogate pair", { description: "\uD800" }],
  ])("not with %s", (_what, changes) => {
    expect(isApprovalRequest({ ...request(), ...changes })).toBe(false);
  });

  it("not anything else", () => {
    for (const value of [null, undefined, 1, "x", [], {}, () => 1, new Map(), [request()]]) {
      expect(isApprovalRequest(value)).toBe(false);
    }
    expect(isApprovalRequest(Object.create(request()))).toBe(false);
  });
});
