// Answers: signed, dated, parsed to the last field, checked without reading more than the caps allow.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSigned, parseAnswer, signAnswer, type MacAnswer } from "../../../src/approvals/answer.js";
import type { DecisionFields } from "../../../src/approvals/decision.js";
import { DEFAULT_JSON_LIMITS } from "../../../src/crypto/canonical-json.js";
import { KeyRing } from "../../../src/crypto/keys.js";
import { RING } from "./requests.js";

const LIMITS = DEFAULT_JSON_LIMITS;
const CAP = 64 * 1024;
const OLDER = "an older key, which is also long";
const NEWER = "the newer key, which is long too";

function answer(decision: DecisionFields = { approved: true, by: "ana" }, ring = RING): MacAnswer {
  return signAnswer(ring, { binding: "b".repeat(64), decision, signedAt: 1000, expiresAt: 2000 });
}

const parse = (value: unknown) => parseAnswer(value, LIMITS);

describe("A3/hmac: signing", () => {
  it("what was signed verifies, also after JSON", () => {
    const signed = answer({ approved: true, by: "ana", reason: "r", editedArgs: { "10": 1, "9": [null] } });
    expect(isSigned(RING, signed)).toBe(true);
    const back = parse(JSON.parse(JSON.stringify(signed)));
    expect(back).toEqual(signed);
    expect(back !== undefined && "mac" in back && isSigned(RING, back)).toBe(true);
  });

  it("is deterministic: there is one good MAC for an answer", () => {
    expect(answer()).toEqual(answer());
  });

  const approved = answer({ approved: true, by: "ana", reason: "fine", editedArgs: { n: 1 } });
  const edits: readonly (readonly [string, MacAnswer])[] = [
    ["binding", { ...approved, binding: "c".repeat(64) }],
    ["decision: denied", { ...approved, decision: { approved: false, by: "ana", reason: "fine" } }],
    [
      "decision: other edit",
      { ...approved, decision: { ...approved.decision, editedArgs: { n: 2 } } as DecisionFields },
    ],
    [
      "decision: edit as text",
      { ...approved, decision: { ...approved.decision, editedArgs: { n: "1" } } as DecisionFields },
    ],
    ["decision: no edit", { ...approved, decision: { approved: true, by: "ana", reason: "fine" } }],
    ["decision: other name", { ...approved, decision: { ...approved.decision, by: "bob" } }],
    ["decision: no name", { ...approved, decision: { approved: true, reason: "fine", editedArgs: { n: 1 } } }],
    ["decision: other reason", { ...approved, decision: { ...approved.decision, reason: "" } }],
    ["signedAt", { ...approved, signedAt: 1001 }],
    ["expiresAt", { ...approved, expiresAt: 2001 }],
    ["keyId", { ...approved, keyId: "00000000" }],
    [
      "mac: first character",
      { ...approved, mac: `${approved.mac.startsWith("A") ? "B" : "A"}${approved.mac.slice(1)}` },
    ],
    ["mac: cut", { ...approved, mac: approved.mac.slice(0, -1) }],
    ["mac: padded", { ...approved, mac: `${approved.mac}=` }],
    ["mac: empty", { ...approved, mac: "" }],
  ];

  it.each(edits)("a change of %s is seen", (_field, changed) => {
    expect(isSigned(RING, approved)).toBe(true);
    expect(isSigned(RING, changed)).toBe(false);
  });

  it("every field is one of those", () => {
    const named = new Set(edits.map(([name]) => name.split(":")[0]));
    expect(named).toEqual(new Set(Object.keys(approved)));
  });

  it("no other spelling of the MAC's bytes is accepted", () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/";
    const good = [...alphabet].filter((last) => isSigned(RING, { ...approved, mac: approved.mac.slice(0, -1) + last }));
    expect(good).toEqual([approved.mac.at(-1)]);
  });

  it("moving text between fields changes the MAC", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (reason, by) => {
        fc.pre(reason !== by);
        const one = answer({ approved: true, reason, by });
        expect(isSigned(RING, { ...one, decision: { approved: true, reason: by, by: reason } })).toBe(false);
      }),
    );
  });

  it("an older key verifies as long as it is on the ring, and never signs", () => {
    const old = answer(undefined, KeyRing.of(OLDER, "key"));
    const rotated = KeyRing.of([NEWER, OLDER], "key");
    expect(isSigned(rotated, old)).toBe(true);
    expect(answer(undefined, rotated).keyId).not.toBe(old.keyId);
    expect(isSigned(KeyRing.of(NEWER, "key"), old)).toBe(false);
    expect(isSigned(KeyRing.of(OLDER, "key"), answer(undefined, rotated))).toBe(false);
  });

  it("W0: a MAC made with the same secret for another purpose or label is worth nothing", () => {
    const { binding, decision, signedAt, expiresAt, keyId } = answer();
    const covered = [binding, { ...decision }, signedAt, expiresAt, keyId];
    for (const purpose of ["seal", "checkpoint", "mark"] as const) {
      const { mac } = RING.sign(purpose, "agent-adapter/answer/v1", covered);
      expect(isSigned(RING, { ...answer(), mac })).toBe(false);
    }
    const { mac } = RING.sign("answer", "agent-adapter/answer/v2", covered);
    expect(isSigned(RING, { ...answer(), mac })).toBe(false);
    expect(RING.sign("answer", "agent-adapter/answer/v1", covered).mac).toBe(answer().mac);
  });

  it("the random key of a process is not the empty or a guessed one", () => {
    const mine = answer(undefined, KeyRing.forProcess());
    expect(mine.keyId).toBe("process");
    expect(isSigned(RING, mine)).toBe(false);
    expect(isSigned(KeyRing.of("process".repeat(5), "key"), mine)).toBe(false);
  });
});

describe("A10/check: parsing", () => {
  it.each([
    [null],
    [undefined],
    ["yes"],
    [true],
    [42],
    [[]],
    [{}],
    [[answer()]],
    [{ approved: true }],
    [{ ...answer(), extra: 1 }],
    [{ ...answer(), binding: 1 }],
    [{ ...answer(), decision: "approve" }],
    [{ ...answer(), decision: { approved: true, extra: 1 } }],
    [{ ...answer(), signedAt: "now" }],
    [{ ...answer(), signedAt: -1 }],
    [{ ...answer(), expiresAt: 1.5 }],
    [{ ...answer(), expiresAt: Number.POSITIVE_INFINITY }],
    [{ ...answer(), expiresAt: 2 ** 53 }],
    [{ ...answer(), keyId: null }],
    [{ ...answer(), mac: [] }],
    [{ ...answer(), mac: undefined }],
  ])("malformed %#: undefined, without a throw", (value) => {
    expect(parse(value)).toBeUndefined();
  });

  it.each(["binding", "decision", "signedAt", "expiresAt", "keyId", "mac"] as const)("not without %s", (field) => {
    const { [field]: _left, ...rest } = answer();
    expect(parse(rest)).toBeUndefined();
  });

  it("takes own data only, and runs nothing of the sender's", () => {
    let called = 0;
    const getter = Object.defineProperty({ ...answer() }, "mac", {
      enumerable: true,
      get: () => {
        called += 1;
        return answer().mac;
      },
    });
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("trap");
        },
      },
    );
    for (const value of [Object.create(answer()), getter, proxy, new Map(Object.entries(answer()))]) {
      expect(parse(value)).toBeUndefined();
    }
    expect(called).toBe(0);
  });

  it("a cyclic and a very deep value are refused in bounded time", () => {
    const cyclic: Record<string, unknown> = { ...answer() };
    cyclic["decision"] = cyclic;
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    expect(parse(cyclic)).toBeUndefined();
    expect(parse({ ...answer(), decision: { approved: true, editedArgs: { deep } } })).toBeUndefined();
  });

  it("is a copy: what the sender changes later changes nothing", () => {
    const wire = JSON.parse(JSON.stringify(answer({ approved: true, editedArgs: { n: 1 } })));
    const parsed = parse(wire);
    wire.decision.editedArgs.n = 2;
    expect(parsed?.decision).toEqual({ approved: true, editedArgs: { n: 1 } });
  });

  it("never throws, whatever JSON comes", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom("binding", "decision", "signedAt", "expiresAt", "keyId", "mac"),
        (value, field) => {
          expect(parse(value)).toBeUndefined();
          expect(() => parse({ ...answer(), [field]: value })).not.toThrow();
        },
      ),
    );
  });
});

describe("A10/check: the size caps", () => {
  const withReason = (length: number) => answer({ approved: true, reason: "r".repeat(length) });
  const overhead = JSON.stringify(withReason(0)).length;

  it("64 KiB are good, one byte more is malformed", () => {
    expect(parse(withReason(CAP - overhead))).toBeDefined();
    expect(parse(withReason(CAP - overhead + 1))).toBeUndefined();
  });

  it("bytes count, not characters", () => {
    const fits = Math.floor((CAP - overhead) / 4);
    expect(parse(answer({ approved: true, reason: "😀".repeat(fits) }))).toBeDefined();
    expect(parse(answer({ approved: true, reason: "😀".repeat(fits + 1) }))).toBeUndefined();
  });

  it("edited arguments have the limit of arguments, beside it", () => {
    const limits = { maxDepth: 4, maxBytes: 100 };
    const edited = (n: string, reason = "") => answer({ approved: true, reason, editedArgs: { n } });
    const empty = '{"n":""}'.length;
    expect(parseAnswer(edited("x".repeat(100 - empty)), limits)).toBeDefined();
    expect(parseAnswer(edited("x".repeat(101 - empty)), limits)).toBeUndefined();
    expect(
      parseAnswer(edited("x".repeat(100 - empty), "r".repeat(CAP - overhead - ',"editedArgs":'.length)), limits),
    ).toBeDefined();
    const nested = (levels: number) => {
      let value: unknown = {};
      for (let i = 1; i < levels; i += 1) value = { n: value };
      return answer({ approved: true, editedArgs: value as never });
    };
    expect(parseAnswer(nested(4), limits)).toBeDefined();
    expect(parseAnswer(nested(5), limits)).toBeUndefined();
  });

  it("a large edit cannot be smuggled in as a large reason, nor the other way round", () => {
    const limits = { maxDepth: 64, maxBytes: CAP * 4 };
    expect(parseAnswer(withReason(CAP * 2), limits)).toBeUndefined();
    const small = { maxDepth: 64, maxBytes: 1000 };
    expect(parseAnswer(answer({ approved: true, editedArgs: { n: "x".repeat(2000) } }), small)).toBeUndefined();
  });
});
