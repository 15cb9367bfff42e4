// Properties proved: an envelope opens only unchanged, for its owner and purpose, under a key of the ring; failures are
// FlowError and tell nothing.
import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, NotJson, type JsonValue } from "../../../src/crypto/canonical-json.js";
import { KeyRing } from "../../../src/crypto/keys.js";
import { openSeal, seal, type SealContext, type SealPurpose } from "../../../src/crypto/seal.js";
import { isAgentAdapterError } from "../../../src/errors.js";

const NEW = KeyRing.of("the current secret, 32 bytes long", "secret");
const OLD = KeyRing.of("an older secret, also long enough", "secret");
const BOTH = KeyRing.of(["the current secret, 32 bytes long", "an older secret, also long enough"], "secret");
const context: SealContext = { purpose: "ask", owner: { runId: "r", taskRun: ["t", "ns"] } };
const value: JsonValue = { to: "ana@example.org", amount: 5 };
const envelope = seal(NEW, context, value);

/** The message of the FlowError; any other outcome fails the test. */
function refusal(ring: KeyRing, where: SealContext, text: unknown): string {
  let error: unknown = new Error("opened");
  try {
    openSeal(ring, where, text);
  } catch (caught) {
    error = caught;
  }
  if (!isAgentAdapterError(error, "FlowError")) throw error;
  expect(error.message).not.toMatch(/ana|example|[A-Za-z0-9_-]{20}/);
  expect(error.cause).toBeUndefined();
  return error.message;
}

describe("sealing", () => {
  test("J3: any JSON value opens as it was, also with other member order in the owner", () => {
    const reordered: SealContext = { purpose: "ask", owner: { taskRun: ["t", "ns"], runId: "r" } };
    expect(openSeal(NEW, reordered, envelope)).toEqual(value);
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), fc.jsonValue({ stringUnit: "binary" }), (inner, owner) => {
        // Plain JSON by construction: written and read.
        const [plain, place]: JsonValue[] = JSON.parse(JSON.stringify([inner, owner]));
        const where: SealContext = { purpose: "done", owner: place ?? null };
        expect(canonicalJson(openSeal(NEW, where, seal(NEW, where, plain ?? null)))).toBe(canonicalJson(plain));
      }),
    );
  });

  test("J2: falsy values and member order survive", () => {
    for (const falsy of [null, false, 0, "", [], {}])
      expect(openSeal(NEW, context, seal(NEW, context, falsy))).toEqual(falsy);
    expect(JSON.stringify(openSeal(NEW, context, seal(NEW, context, { b: 1, a: 2 })))).toBe('{"b":1,"a":2}');
  });

  test("J3: the text is url-safe, names the key, shows nothing, and is never the same twice", () => {
    expect(envelope).toMatch(new RegExp(`^v1\\.${NEW.currentId}\\.[A-Za-z0-9_-]+$`));
    expect(Buffer.from(envelope.split(".")[2] ?? "", "base64url").toString("latin1")).not.toContain("ana");
    expect(seal(NEW, context, value)).not.toBe(envelope);
  });

  test("J2: what is not JSON is not sealed", () => {
    const seals = (inner: unknown): unknown => Reflect.apply(seal, undefined, [NEW, context, inner]);
    for (const odd of [undefined, NaN, new Map(), [undefined], "\ud83d"]) expect(() => seals(odd)).toThrow(NotJson);
  });

  test("B32: a `__proto__` key comes back as data", () => {
    const hostile: JsonValue = JSON.parse('{"__proto__":{"admin":true}}');
    const opened = openSeal(NEW, context, seal(NEW, context, hostile));
    expect(Object.keys(opened ?? {})).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(opened)).toBe(Object.prototype);
  });
});

describe("opening", () => {
  test("J3: every flipped bit and every changed character is refused", () => {
    const [version, keyId, body] = envelope.split(".");
    const bytes = Buffer.from(body ?? "", "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(refusal(NEW, context, `${version}.${keyId}.${changed.toString("base64url")}`)).toMatch(/was changed/);
    }
    for (let i = 0; i < envelope.length; i += 1) {
      for (const put of ["A", "b", ".", "=", " ", "é", ""]) {
        if (envelope[i] === put) continue;
        expect(refusal(NEW, context, envelope.slice(0, i) + put + envelope.slice(i + 1))).not.toBe("");
      }
    }
  });

  test("J3: a second spelling of the same bytes is refused", () => {
    const inner: JsonValue = "x";
    const text = seal(NEW, context, inner);
    const bytes = Buffer.from(text.split(".")[2] ?? "", "base64url");
    // 31 bytes: the last character has spare bits.
    expect(bytes.length % 3).toBe(1);
    const twins = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
      .split("")
      .map((end) => text.slice(0, -1) + end)
      .filter((twin) => twin !== text && Buffer.from(twin.split(".")[2] ?? "", "base64url").equals(bytes));
    expect(twins.length).toBeGreaterThan(0);
    for (const twin of [...twins, `${text}=`, `${text}==`, `${text}\n`]) {
      expect(refusal(NEW, context, twin)).toMatch(/malformed/);
    }
  });

  test("J3: every truncation is refused", () => {
    for (let length = 0; length < envelope.length; length += 1) {
      expect(refusal(NEW, context, envelope.slice(0, length))).toMatch(/malformed|was changed/);
    }
  });

  test("J3: a moved envelope is refused: another owner, another purpose", () => {
    const owners: JsonValue[] = [
      null,
      {},
      [],
      "r",
      { runId: "r" },
      { runId: "r", taskRun: ["t", "n"] },
      [{ runId: "r" }],
    ];
    for (const owner of owners) expect(refusal(NEW, { ...context, owner }, envelope)).toMatch(/another run or purpose/);
    for (const purpose of ["spent", "done", "checkpoint"] satisfies SealPurpose[]) {
      expect(refusal(NEW, { ...context, purpose }, envelope)).toMatch(/another run or purpose/);
    }
  });

  test("J3: purpose and owner cannot be traded for each other", () => {
    const text = seal(NEW, { purpose: "ask", owner: ["done", 1] }, value);
    expect(refusal(NEW, { purpose: "done", owner: ["ask", 1] }, text)).toMatch(/was changed/);
    expect(refusal(NEW, { purpose: "ask", owner: 1 }, text)).toMatch(/was changed/);
  });

  test("J3: the current key seals, all keys open, others do not", () => {
    const old = seal(OLD, context, value);
    expect(seal(BOTH, context, value)).toContain(`.${NEW.currentId}.`);
    expect(openSeal(BOTH, context, old)).toEqual(value);
    expect(openSeal(BOTH, context, envelope)).toEqual(value);
    expect(refusal(NEW, context, old)).toMatch(/under a key that is not here/);
    expect(refusal(BOTH, context, old.replace(OLD.currentId, NEW.currentId))).toMatch(/was changed/);
  });

  test("J3: two keys of one id are both tried", () => {
    const [one, two] = ["colliding-key-39691", "colliding-key-89476"] as const;
    const text = seal(KeyRing.of(two, "secret"), context, value);
    expect(openSeal(KeyRing.of([one, two], "secret"), context, text)).toEqual(value);
    expect(refusal(KeyRing.of(one, "secret"), context, text)).toMatch(/another run or purpose/);
  });

  test("J3: what is no envelope is refused", () => {
    const body = envelope.split(".")[2] ?? "";
    const odd: unknown[] = [
      undefined,
      null,
      1,
      {},
      [envelope],
      Object(envelope),
      Buffer.from(envelope),
      value,
      "",
      "v1..",
    ];
    for (const text of [...odd, `v1.${NEW.currentId}.`, `${envelope}.${body}`, `v1.__proto__.${body}`]) {
      expect(refusal(NEW, context, text)).toMatch(/malformed/);
    }
    fc.assert(
      fc.property(fc.anything(), (text) => {
        expect(refusal(NEW, context, text)).toMatch(/malformed/);
      }),
    );
  });

  test("W1: an envelope of a later version says so", () => {
    expect(refusal(NEW, context, envelope.replace("v1.", "v2."))).toMatch(/update agent-adapter/);
  });
});

describe("without a shared secret", () => {
  const here = KeyRing.forProcess();
  const cure = "sealed by a process without a shared secret; set `secret`";

  test("J3: this process opens what it sealed", () => {
    expect(openSeal(KeyRing.forProcess(), context, seal(here, context, value))).toEqual(value);
  });

  test("J3: another process is told to set a secret", () => {
    const script = [
      `import { KeyRing } from "${new URL("../../../src/crypto/keys.ts", import.meta.url).pathname}";`,
      `import { seal } from "${new URL("../../../src/crypto/seal.ts", import.meta.url).pathname}";`,
      `process.stdout.write(seal(KeyRing.forProcess(), ${JSON.stringify(context)}, 1));`,
    ].join("\n");
    const text = execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect(text).toMatch(/^v1\.process\./);
    expect(refusal(here, context, text)).toBe(cure);
    expect(refusal(NEW, context, text)).toBe(cure);
  });
});
