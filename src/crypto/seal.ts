// Sealed envelopes: JSON that may lie open in a checkpointer and still cannot be read, changed, moved or made by others.
// Owns the text `v1.<keyId>.<base64url(iv|tag|ciphertext)>`; what is sealed, and for which owner, is the caller's.
import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from "node:crypto";
import { FlowError } from "../errors.js";
import { canonicalJson, orderedJson, type JsonValue } from "./canonical-json.js";
import { PROCESS_KEY_ID, sealKeys, type KeyRing } from "./keys.js";

/** What an envelope is; one of another purpose does not open. */
export type SealPurpose = "ask" | "spent" | "done" | "checkpoint" | "saver";

/** Where an envelope belongs: it opens for exactly this purpose and owner (run, task run, fingerprint, ...). */
export interface SealContext {
  readonly purpose: SealPurpose;
  readonly owner: JsonValue;
}

const CIPHER = "aes-256-gcm";
const LABEL = "agent-adapter/seal/v1";
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = /^v\d{1,9}\./;
const ENVELOPE = /^v1\.([0-9a-f]{8}|process)\.([A-Za-z0-9_-]+)$/;

const MALFORMED = "sealed state is malformed; nothing was run";
const OTHER_VERSION = "sealed state has a format this version does not know; update agent-adapter";
const UNKNOWN_KEY =
  "sealed under a key that is not here: give this process the same key, older ones behind the current one";
const PROCESS_KEY = "sealed by a process without a shared secret; set `secret`";
const NOT_GENUINE = "sealed state was changed, or was made for another run or purpose; nothing was run";

/** Seals and opens for one place: what all envelopes of a place share is made once. */
export class Sealer {
  readonly #ring: KeyRing;
  readonly #purpose: SealPurpose;
  readonly #bound: Buffer;
  #key: KeyObject | undefined;

  constructor(ring: KeyRing, { purpose, owner }: SealContext) {
    this.#ring = ring;
    this.#purpose = purpose;
    this.#bound = Buffer.from(canonicalJson([LABEL, purpose, owner]), "utf8");
  }

  /** Seals a JSON value with the current key; member order is kept. Throws `NotJson`. */
  seal(value: JsonValue): string {
    return this.sealBytes(Buffer.from(orderedJson(value), "utf8"));
  }

  /** Like `seal`, for at least one byte of something that has a format of its own. */
  sealBytes(bytes: Uint8Array): string {
    const iv = freshIv();
    const cipher = createCipheriv(CIPHER, this.#current(), iv, { authTagLength: TAG_BYTES }).setAAD(this.#bound);
    const body = [cipher.update(bytes), cipher.final()];
    return `v1.${this.#ring.currentId}.${Buffer.concat([iv, cipher.getAuthTag(), ...body]).toString("base64url")}`;
  }

  /** The sealed value, fresh each time. Throws `FlowError` when it is not exactly what was sealed here for this owner. */
  open(text: unknown): JsonValue {
    // Authentic, so it is the JSON that `seal` wrote.
    const value: JsonValue = JSON.parse(this.openBytes(text).toString("utf8"));
    return value;
  }

  /** The bytes given to `sealBytes`. Throws `FlowError` as `open` does. */
  openBytes(text: unknown): Buffer {
    const { keyId, bytes } = parseEnvelope(text);
    const keys = sealKeys(this.#ring, keyId, this.#purpose);
    for (const key of keys) {
      const plain = decrypt(key, this.#bound, bytes);
      if (plain !== undefined) return plain;
    }
    // Another process and a changed byte look the same under a random key; the cure is the same too.
    if (keyId === PROCESS_KEY_ID) throw new FlowError(PROCESS_KEY);
    throw new FlowError(keys.length === 0 ? UNKNOWN_KEY : NOT_GENUINE);
  }

  #current(): KeyObject {
    this.#key ??= sealKeys(this.#ring, this.#ring.currentId, this.#purpose)[0];
    // The current key is always on its ring.
    if (this.#key === undefined) throw new FlowError(UNKNOWN_KEY);
    return this.#key;
  }
}

/** One envelope, as `Sealer.seal` makes it. */
export function seal(ring: KeyRing, context: SealContext, value: JsonValue): string {
  return new Sealer(ring, context).seal(value);
}

/** One envelope, as `Sealer.sealBytes` makes it. */
export function sealBytes(ring: KeyRing, context: SealContext, bytes: Uint8Array): string {
  return new Sealer(ring, context).sealBytes(bytes);
}

const POOLED_IVS = 256;
let pool = Buffer.alloc(0);

/** Random bytes that no other seal gets. Drawn many at a time: one draw costs as much as the cipher. */
function freshIv(): Buffer {
  if (pool.length < IV_BYTES) pool = randomBytes(IV_BYTES * POOLED_IVS);
  const iv = pool.subarray(0, IV_BYTES);
  pool = pool.subarray(IV_BYTES);
  return iv;
}

/** What is in an envelope, as `Sealer.open` gives it. */
export function openSeal(ring: KeyRing, context: SealContext, text: unknown): JsonValue {
  return new Sealer(ring, context).open(text);
}

/** The bytes given to `sealBytes`, in memory of their own. Throws `FlowError` as `openSeal` does. */
export function openSealedBytes(ring: KeyRing, context: SealContext, text: unknown): Uint8Array {
  return new Uint8Array(new Sealer(ring, context).openBytes(text));
}

function parseEnvelope(text: unknown): { readonly keyId: string; readonly bytes: Buffer } {
  if (typeof text !== "string") throw new FlowError(MALFORMED);
  const [, keyId, body] = ENVELOPE.exec(text) ?? [];
  if (keyId === undefined || body === undefined) {
    throw new FlowError(VERSION.test(text) && !text.startsWith("v1.") ? OTHER_VERSION : MALFORMED);
  }
  const bytes = Buffer.from(body, "base64url");
  // One spelling only: Node ignores stray bits at the end.
  if (bytes.length <= IV_BYTES + TAG_BYTES || bytes.toString("base64url") !== body) throw new FlowError(MALFORMED);
  return { keyId, bytes };
}

function decrypt(key: KeyObject, aad: Buffer, bytes: Buffer): Buffer | undefined {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(aad).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const plain = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    // `final` throws for one reason only: the tag does not fit. Its message is OpenSSL's and says nothing more.
    return undefined;
  }
}
