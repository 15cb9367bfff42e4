// Properties proved: keys are checked and copied, never shown; a MAC is good for one purpose, label, value and spelling;
// older keys verify; nobody can make verify throw.
import { inspect } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { digest } from "../../../src/crypto/digest.js";
import { KeyRing, type Secrets } from "../../../src/crypto/keys.js";
import { isAgentAdapterError } from "../../../src/errors.js";

const NEW = "the current secret, 32 bytes long";
const OLD = "an older secret, also long enough";
const LABEL = "agent-adapter/answer/v1";
const ring = (secrets: Secrets): KeyRing => KeyRing.of(secrets, "secret");

describe("secrets", () => {
  const bad: readonly (readonly [string, unknown])[] = [
    ["undefined", undefined],
    ["null", null],
    ["an empty string", ""],
    ["15 bytes", "fifteen-bytes-k"],
    ["15 bytes of an array", new Uint8Array(15)],
    ["a number", 1e30],
    ["an ArrayBuffer", new ArrayBuffer(32)],
    ["other typed arrays", new Uint16Array(32)],
    ["an empty list", []],
    ["a list with a short one", [NEW, "short-older-key"]],
    ["a list in a list", [[NEW]]],
    ["half a surrogate pair", `${NEW}\ud83d`],
  ];
  test.each(bad)("A3: %s is refused by the name of the option, without the key", (_name, secrets) => {
    let error: unknown;
    try {
      // What a program without types may pass.
      KeyRing.of(secrets as Secrets, "approval.key");
    } catch (caught) {
      error = caught;
    }
    expect(isAgentAdapterError(error, "ToolUsageError")).toBe(true);
    expect(String(error)).toContain("`approval.key`");
    expect(String(error)).not.toMatch(/fifteen|short-older|current secret/);
  });

  test("W0: the length of a string is that of its UTF-8 bytes", () => {
    expect(ring("éééééééé").currentId).toMatch(/^[0-9a-f]{8}$/);
    expect(ring("éééééééé").sameAs(ring(Buffer.from("éééééééé", "utf8")))).toBe(true);
  });

  test("A3: bytes are copied, so changing them later changes nothing", () => {
    const bytes = new Uint8Array(Buffer.from(`..${NEW}..`)).subarray(2, -2);
    const made = ring(bytes);
    expect(made.sameAs(ring(NEW))).toBe(true);
    bytes.fill(0);
    const signed = made.sign("answer", LABEL, 1);
    expect(ring(NEW).verify("answer", LABEL, 1, signed)).toBe(true);
  });

  test("the same key twice is fine", () => {
    const twice = ring([NEW, NEW]);
    expect(twice.verify("answer", LABEL, 1, ring(NEW).sign("answer", LABEL, 1))).toBe(true);
  });

  test("N1: a ring shows no key, however it is printed", () => {
    for (const made of [ring([NEW, OLD]), KeyRing.forProcess()]) {
      made.sign("answer", LABEL, 1);
      expect(JSON.stringify(made)).toBe("{}");
      expect(inspect(made, { showHidden: true, depth: 9 })).toBe(
        "KeyRing { [currentId]: [Getter], [perProcess]: [Getter] }",
      );
      expect(Reflect.ownKeys(made)).toEqual([]);
      expect(inspect(made, { depth: 9, getters: true })).not.toMatch(/secret|Buffer|[0-9a-f]{9}/);
    }
  });

  test("E7/process: the identity of a ring is that of its current secret, and is neither the secret nor its id", () => {
    expect(ring([NEW, OLD]).identity()).toBe(ring(Buffer.from(NEW)).identity());
    expect(ring(NEW).identity()).not.toBe(ring(OLD).identity());
    expect(ring(NEW).identity()).toMatch(/^[0-9a-f]{64}$/);
    expect(ring(NEW).identity().startsWith(ring(NEW).currentId)).toBe(false);
  });

  test("E7/shared: a name is made under each key, the current one first, and under its own label", () => {
    const label = "agent-adapter/once/v1";
    const names = ring([NEW, OLD]).names("once", label, ["run"]);
    expect(names).toEqual([...ring(NEW).names("once", label, ["run"]), ...ring(OLD).names("once", label, ["run"])]);
    expect(new Set(names).size).toBe(2);
    expect(names[0]).toBe(ring(NEW).sign("once", label, ["run"]).mac);
    expect(names[0]).not.toBe(ring(NEW).sign("answer", label, ["run"]).mac);
  });

  test("rings with the same keys in the same order are the same", () => {
    expect(ring([NEW, OLD]).sameAs(ring([NEW, OLD]))).toBe(true);
    expect(ring([NEW, OLD]).sameAs(ring([OLD, NEW]))).toBe(false);
    expect(ring([NEW, OLD]).sameAs(ring(NEW))).toBe(false);
    expect(ring(NEW).sameAs(ring([NEW, OLD]))).toBe(false);
    expect(ring(NEW).sameAs(KeyRing.forProcess())).toBe(false);
  });
});

describe("the ring of a process", () => {
  test("all rings of one process are the same, and say what they are", () => {
    const [first, second] = [KeyRing.forProcess(), KeyRing.forProcess()];
    expect(first.sameAs(second)).toBe(true);
    expect(first.currentId).toBe("process");
    expect([first.perProcess, ring(NEW).perProcess]).toEqual([true, false]);
    expect(second.verify("mark", LABEL, [1], first.sign("mark", LABEL, [1]))).toBe(true);
  });

  test("two copies of the package share it", async () => {
    const here = KeyRing.forProcess();
    vi.resetModules();
    const copy = await import("../../../src/crypto/keys.js");
    expect(copy.KeyRing).not.toBe(KeyRing);
    const signed = copy.KeyRing.forProcess().sign("mark", LABEL, [1]);
    expect(here.verify("mark", LABEL, [1], signed)).toBe(true);
    expect(here.sameAs(copy.KeyRing.forProcess())).toBe(false);
  });

  test("its key lies on globalThis, unlisted, unreadable and not replaceable", () => {
    KeyRing.forProcess();
    const where = Symbol.for("agent-adapter/process-key/v1");
    expect(Object.getOwnPropertyDescriptor(globalThis, where)).toMatchObject({ enumerable: false, writable: false });
    expect(inspect(Reflect.get(globalThis, where))).not.toMatch(/Buffer|Uint8Array/);
    expect(Reflect.set(globalThis, where, "mine")).toBe(false);
  });
});

describe("MACs", () => {
  const both = ring([NEW, OLD]);
  const value = { binding: "b", decision: { type: "approve" } };
  const signed = both.sign("answer", LABEL, value);

  test("A3: what the ring signed verifies, in any member order", () => {
    expect(signed).toEqual({ keyId: both.currentId, mac: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) });
    const reordered = { decision: { type: "approve" }, binding: "b" };
    expect(both.verify("answer", LABEL, reordered, signed)).toBe(true);
  });

  test("A3: another purpose, label, value or key id does not", () => {
    expect(both.verify("seal", LABEL, value, signed)).toBe(false);
    expect(both.verify("mark", LABEL, value, signed)).toBe(false);
    expect(both.verify("checkpoint", LABEL, value, signed)).toBe(false);
    expect(both.verify("answer", "agent-adapter/answer/v2", value, signed)).toBe(false);
    expect(both.verify("answer", LABEL, { ...value, binding: "c" }, signed)).toBe(false);
    expect(both.verify("answer", LABEL, [value], signed)).toBe(false);
    expect(both.verify("answer", LABEL, value, { ...signed, keyId: ring(OLD).currentId })).toBe(false);
    expect(both.verify("answer", LABEL, value, { ...signed, keyId: "00000000" })).toBe(false);
  });

  test("A3: the current key signs, older ones verify, removed ones do not", () => {
    const old = ring(OLD).sign("answer", LABEL, value);
    expect(both.currentId).toBe(ring(NEW).currentId);
    expect(both.verify("answer", LABEL, value, old)).toBe(true);
    expect(ring(OLD).verify("answer", LABEL, value, signed)).toBe(false);
    expect([both.has(old.keyId), both.has(signed.keyId), ring(NEW).has(old.keyId)]).toEqual([true, true, false]);
  });

  test("A3: only the exact text is a MAC", () => {
    const bytes = Buffer.from(signed.mac, "base64url");
    const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const spare = last
      .split("")
      .map((end) => signed.mac.slice(0, -1) + end)
      .filter((mac) => mac !== signed.mac);
    const sameBytes = spare.filter((mac) => Buffer.from(mac, "base64url").equals(bytes));
    expect(sameBytes).toHaveLength(3);
    const forms: readonly unknown[] = [
      ...spare,
      `${signed.mac}=`,
      ` ${signed.mac}`,
      signed.mac.slice(0, -1),
      "é".repeat(43),
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase(),
      bytes,
      new Uint8Array(bytes),
      [signed.mac],
      Object(signed.mac),
      "",
      null,
      undefined,
      43,
    ];
    for (const mac of forms) expect(both.verify("answer", LABEL, value, { ...signed, mac })).toBe(false);
    for (const keyId of [undefined, null, 7, [signed.keyId], signed.keyId.toUpperCase().padEnd(9), "__proto__"]) {
      expect(both.verify("answer", LABEL, value, { ...signed, keyId })).toBe(false);
    }
  });

  test("A3: every changed character of a MAC is refused", () => {
    for (let i = 0; i < signed.mac.length; i += 1) {
      const mac = signed.mac.slice(0, i) + (signed.mac[i] === "A" ? "B" : "A") + signed.mac.slice(i + 1);
      expect(both.verify("answer", LABEL, value, { ...signed, mac })).toBe(false);
    }
  });

  test("N1: verify never throws, whatever it is given", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    for (const odd of [NaN, 1n, undefined, Symbol("a"), cycle, new Map(), "\ud83d", () => 1]) {
      expect(both.verify("answer", LABEL, odd, signed)).toBe(false);
    }
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (odd, keyId, mac) => {
        expect(both.verify("answer", LABEL, odd, { keyId, mac })).toBe(false);
        expect(both.verify("answer", LABEL, odd, signed)).toBe(false);
      }),
    );
  });

  test("A3: two keys of one id are both tried", () => {
    // Found by search: the first eight digits of both are the same.
    const [one, two] = ["colliding-key-39691", "colliding-key-89476"];
    expect([ring(one).currentId, ring(two).currentId]).toEqual(["a1a56abe", "a1a56abe"]);
    const made = ring(two).sign("answer", LABEL, 1);
    expect(ring([one, two]).verify("answer", LABEL, 1, made)).toBe(true);
    expect(ring([two, one]).verify("answer", LABEL, 1, made)).toBe(true);
    expect(ring(one).verify("answer", LABEL, 1, made)).toBe(false);
  });
});

describe("digests", () => {
  test("W0: the label is part of what is hashed, and cannot be moved into the value", () => {
    const value = ["agent-adapter/binding/v1", 1];
    const digests = [
      digest("agent-adapter/binding/v1", value),
      digest("agent-adapter/row/v1", value),
      digest("agent-adapter/binding/v1", 1),
    ];
    expect(new Set(digests).size).toBe(3);
    for (const made of digests) expect(made).toMatch(/^[0-9a-f]{64}$/);
  });

  test("A1, B25, B48: a value that went through JSON gives the same digest", () => {
    const live = { z: -0, a: [1.0, { y: undefined, x: "é" }] };
    const read: unknown = JSON.parse(JSON.stringify(live));
    expect(digest("agent-adapter/arguments/v1", read)).toBe(digest("agent-adapter/arguments/v1", live));
  });
});
