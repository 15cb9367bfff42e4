// Decisions: the brand tells what `approve` and `deny` made from what came over the wire; the wire form is parsed to the last
// field.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { approve, deny, fieldsOf, isApprovalDecision, parseDecision } from "../../../src/approvals/decision.js";
import { ToolUsageError } from "../../../src/errors.js";
import { json } from "./requests.js";

describe("A9/review: the brand", () => {
  const made = () => [
    approve(),
    approve({ by: "ana", reason: "fine", editedArgs: { n: [1, { m: null }] } }),
    deny(),
    deny({ by: "ana", reason: "no" }),
  ];

  it("decisions are decisions, and frozen", () => {
    for (const decision of made()) {
      expect(isApprovalDecision(decision)).toBe(true);
      expect(Object.isFrozen(decision)).toBe(true);
      expect(fieldsOf(decision)).toEqual({ ...decision });
    }
  });

  it.each([
    ["JSON and back", (value: object): unknown => JSON.parse(JSON.stringify(value))],
    ["structuredClone", (value: object): unknown => structuredClone(value)],
    ["a spread copy", (value: object): unknown => ({ ...value })],
    ["Object.assign", (value: object): unknown => Object.assign({}, value)],
    ["its entries", (value: object): unknown => Object.fromEntries(Object.entries(value))],
    ["an heir", (value: object): unknown => Object.create(value)],
  ])("%s is not a decision", (_how, copy) => {
    for (const decision of made()) {
      const copied = copy(decision);
      expect(isApprovalDecision(copied)).toBe(false);
      expect(() => fieldsOf(copied as never)).toThrow(ToolUsageError);
    }
  });

  it("no JSON text parses to a decision", () => {
    fc.assert(
      fc.property(json, (value) => {
        const parsed: unknown = JSON.parse(JSON.stringify(value));
        expect(isApprovalDecision(parsed)).toBe(false);
        expect(() => fieldsOf(parsed as never)).toThrow(ToolUsageError);
      }),
    );
    for (const value of ['{"approved":true}', '{"approved":true,"Symbol(agent-adapter/decision/v1)":true}']) {
      expect(isApprovalDecision(JSON.parse(value))).toBe(false);
    }
  });

  it("nothing else is one, and asking never throws", () => {
    for (const value of [undefined, null, 0, "", "approve", true, Symbol("x"), () => true, approve, [], new Map()]) {
      expect(isApprovalDecision(value)).toBe(false);
    }
  });

  it("the brand with other fields than a decision's is refused", () => {
    const brand = Symbol.for("agent-adapter/decision/v1");
    for (const fields of [{}, { approved: "yes" }, { approved: true, extra: 1 }]) {
      const forged = Object.defineProperty({ ...fields }, brand, { value: true });
      expect(() => fieldsOf(forged as never)).toThrow(ToolUsageError);
    }
  });
});

describe("A7: approve and deny", () => {
  it("leave out what was not said", () => {
    expect(Object.keys(approve())).toEqual(["approved"]);
    expect(Object.keys(approve({ by: undefined as never }))).toEqual(["approved"]);
    expect({ ...deny({ reason: "no" }) }).toEqual({ approved: false, reason: "no" });
  });

  it("a later change of the edit that was passed in changes nothing", () => {
    const editedArgs = { n: [1] };
    const decision = approve({ editedArgs });
    editedArgs.n.push(2);
    expect(fieldsOf(decision)).toEqual({ approved: true, editedArgs: { n: [1] } });
  });

  it.each([
    ["an edit that is a list", { editedArgs: [1] }],
    ["an edit that is null", { editedArgs: null }],
    ["an edit that is text", { editedArgs: "n" }],
    ["an edit with NaN", { editedArgs: { n: Number.NaN } }],
    ["an edit with a Date", { editedArgs: { n: new Date(0) } }],
    ["an edit with a function", { editedArgs: { n: () => 1 } }],
    ["an edit with half a surrogate pair", { editedArgs: { n: "\uD800" } }],
    ["a reason that is no text", { reason: 1 }],
    ["a name that is no text", { by: { name: "ana" } }],
    ["a reason with half a surrogate pair", { reason: "\uDC00" }],
    ["an option that does not exist", { editArgs: {} }],
  ])("N1: %s is a ToolUsageError", (_what, options) => {
    expect(() => approve(options as never)).toThrow(ToolUsageError);
  });

  it("N1: a denial takes no edit", () => {
    expect(() => deny({ editedArgs: {} } as never)).toThrow(ToolUsageError);
  });

  it("N1: the options cannot turn one into the other", () => {
    for (const approved of [true, false]) {
      expect(() => deny({ approved } as never)).toThrow(ToolUsageError);
      expect(() => approve({ approved } as never)).toThrow(ToolUsageError);
    }
  });
});

describe("A9/review: the wire form", () => {
  it.each([
    { approved: true },
    { approved: false },
    { approved: true, by: "ana" },
    { approved: true, reason: "", by: "" },
    { approved: true, editedArgs: {} },
    { approved: true, editedArgs: { n: { m: [null] } }, by: "ana", reason: "r" },
    { approved: false, by: "ana", reason: "r" },
  ])("reads %j", (value) => {
    expect(parseDecision(value)).toEqual(value);
    expect(isApprovalDecision(parseDecision(value))).toBe(false);
  });

  it.each([
    [null],
    [undefined],
    ["approve"],
    [true],
    [[]],
    [[true]],
    [{}],
    [{ approved: "true" }],
    [{ approved: 1 }],
    [{ approved: null }],
    [{ Approved: true }],
    [{ approved: true, extra: 1 }],
    [{ approved: true, by: null }],
    [{ approved: true, reason: ["r"] }],
    [{ approved: true, editedArgs: [] }],
    [{ approved: true, editedArgs: null }],
    [{ approved: true, editedArgs: undefined }],
    [{ approved: false, editedArgs: {} }],
    [{ approved: false, editedArgs: undefined }],
    [{ approved: true, editedArgs: { n: Number.NaN } }],
    [{ approved: true, by: "\uD800" }],
  ])("refuses %j", (value) => {
    expect(parseDecision(value)).toBeUndefined();
  });

  it("never throws on JSON, and reads only what has exactly the fields", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("approved", "by", "reason", "editedArgs", "x"), json), (value) => {
        const parsed = parseDecision(value);
        const fields = Object.keys(value);
        const allowed =
          value["approved"] === true ? ["approved", "by", "reason", "editedArgs"] : ["approved", "by", "reason"];
        const wellFormed = typeof value["approved"] === "boolean" && fields.every((field) => allowed.includes(field));
        expect(parsed === undefined || wellFormed).toBe(true);
      }),
    );
  });

  it("takes own fields only", () => {
    expect(parseDecision(Object.create({ approved: true }))).toBeUndefined();
    expect(parseDecision(JSON.parse('{"approved":true,"__proto__":{"by":"x"}}'))).toBeUndefined();
  });

  it("gives a frozen copy", () => {
    const wire = { approved: true, editedArgs: { n: 1 } };
    const parsed = parseDecision(wire);
    wire.editedArgs.n = 2;
    expect(parsed).toEqual({ approved: true, editedArgs: { n: 1 } });
    expect(Object.isFrozen(parsed)).toBe(true);
  });
});
