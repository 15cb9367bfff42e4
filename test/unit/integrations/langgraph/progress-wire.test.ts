// W1: progress of compiled flows, wire format 1, sealed once with node:crypto alone. Proved: every later version opens it, finds the
// same in it, and takes neither kind of text for the other. `sealed` is all that it takes to make such a fixture.

import { createCipheriv, createHmac, hkdfSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { canonicalJson, type JsonObject } from "../../../../src/crypto/canonical-json.js";
import { KeyRing } from "../../../../src/crypto/keys.js";
import { definitionOf } from "../../../../src/flow/definition.js";
import { planOf } from "../../../../src/flow/plan.js";
import { ProgressSeals } from "../../../../src/integrations/langgraph/compile-flow/progress.js";
import { wireFlow } from "../../../support/wire-flow.js";

interface Text {
  readonly plain: JsonObject;
  /** Twelve times this byte. */
  readonly iv: number;
  readonly sealed: string;
}

interface Fixture {
  readonly secret: string;
  readonly fingerprint: string;
  readonly progress: Text;
  readonly addition: Text;
}

const file = new URL("../../../fixtures/wire-v1/progress.json", import.meta.url);
const { secret, fingerprint, progress, addition }: Fixture = JSON.parse(readFileSync(file, "utf8"));
const plan = planOf(definitionOf(wireFlow([])));
const seals = new ProgressSeals(KeyRing.of(secret, "secret"), plan);

function sealed(what: "progress" | "addition", { plain, iv }: Text): string {
  const key = new Uint8Array(hkdfSync("sha256", secret, "", '["agent-adapter/seal/v1","checkpoint"]', 32));
  const nonce = Buffer.alloc(12, iv);
  const owner = ["compiled", plan.name, fingerprint, what];
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(canonicalJson(["agent-adapter/seal/v1", "checkpoint", owner])));
  const body = Buffer.concat([cipher.update(JSON.stringify(plain), "utf8"), cipher.final()]);
  const keyId = createHmac("sha256", secret).update("agent-adapter/key-id/v1").digest("hex").slice(0, 8);
  return `v1.${keyId}.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}`;
}

describe("W1/progress: what an earlier version kept under aa_visits", () => {
  test("the fixture is what node:crypto seals, and of this flow", () => {
    expect(plan.fingerprint).toBe(fingerprint);
    expect([progress.sealed, addition.sealed]).toEqual([sealed("progress", progress), sealed("addition", addition)]);
  });

  test("opens, and holds the same", () => {
    const { v: _, ...inside } = progress.plain;
    expect(seals.openProgress(progress.sealed)).toEqual(inside);
    const { v: __, ...added } = addition.plain;
    expect(seals.openAddition(addition.sealed)).toEqual(added);
  });

  test("W1/progress, C4: neither is taken for the other, and another version does not open", () => {
    expect(seals.openAddition(progress.sealed)).toBeUndefined();
    expect(() => seals.openProgress(addition.sealed)).toThrow("was changed, or was made for another run or purpose");
    const later = sealed("progress", { ...progress, plain: { ...progress.plain, v: 2 } });
    expect(() => seals.openProgress(later)).toThrow("not of a version this release can read");
  });
});
