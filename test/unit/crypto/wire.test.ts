// W1: bytes of wire format 1, made once with node:crypto alone, that every later version must read and make again.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { canonicalJson, type JsonValue } from "../../../src/crypto/canonical-json.js";
import { digest, type DigestLabel } from "../../../src/crypto/digest.js";
import { KeyRing, type KeyPurpose, type MacLabel } from "../../../src/crypto/keys.js";
import { openSeal, type SealPurpose } from "../../../src/crypto/seal.js";

interface Wire {
  readonly secret: string;
  readonly older: string;
  readonly value: JsonValue;
  readonly canonical: string;
  readonly owner: JsonValue;
  readonly keyIds: { readonly secret: string; readonly older: string };
  readonly envelopes: Readonly<Record<SealPurpose, string>>;
  readonly olderEnvelope: { readonly purpose: SealPurpose; readonly envelope: string };
  readonly digests: Readonly<Record<DigestLabel, string>>;
  readonly macs: readonly { purpose: KeyPurpose; label: MacLabel; keyId: string; mac: string }[];
}

const wire: Wire = JSON.parse(readFileSync(new URL("../../fixtures/wire-v1/seal.json", import.meta.url), "utf8"));
const ring = KeyRing.of([wire.secret, wire.older], "secret");

test("W0: the canonical text and the digests of format 1 are what they were", () => {
  expect(canonicalJson(wire.value)).toBe(wire.canonical);
  const labels = ["arguments", "binding", "definition", "idempotency", "row"] as const;
  expect(Object.keys(wire.digests)).toHaveLength(labels.length);
  for (const name of labels) {
    const label: DigestLabel = `agent-adapter/${name}/v1`;
    expect(digest(label, wire.value)).toBe(wire.digests[label]);
  }
});

test("W0: key ids and MACs of format 1 are what they were", () => {
  expect(ring.currentId).toBe(wire.keyIds.secret);
  expect(KeyRing.of(wire.older, "secret").currentId).toBe(wire.keyIds.older);
  expect(wire.macs).toHaveLength(4);
  for (const { purpose, label, keyId, mac } of wire.macs) {
    expect(ring.sign(purpose, label, wire.value)).toEqual({ keyId, mac });
    expect(ring.verify(purpose, label, wire.value, { keyId, mac })).toBe(true);
  }
});

test("W1: envelopes of format 1 open for every purpose, under current and older keys", () => {
  for (const purpose of ["ask", "spent", "done", "checkpoint"] as const) {
    const opened = openSeal(ring, { purpose, owner: wire.owner }, wire.envelopes[purpose]);
    expect(JSON.stringify(opened)).toBe(JSON.stringify(wire.value));
  }
  const { purpose, envelope } = wire.olderEnvelope;
  expect(openSeal(ring, { purpose, owner: wire.owner }, envelope)).toEqual(wire.value);
});
