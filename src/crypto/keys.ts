// Key rings: the secrets somebody gave us, or one per process, and what may be made from them. Owns key ids, derivation
// and MACs; a secret itself never signs or encrypts anything, and never leaves this file.
import { createHmac, createSecretKey, hkdfSync, KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import { ToolUsageError } from "../errors.js";
import { canonicalJson, isWellFormed, NotJson, type JsonValue } from "./canonical-json.js";
import { labelled } from "./digest.js";

/** Key material: at least 16 bytes, 32 recommended. A string is its UTF-8 bytes. */
export type Secret = string | Uint8Array;

/** One secret, or the current one followed by older ones that still open what they made. */
export type Secrets = Secret | readonly [Secret, ...Secret[]];

/** What a key is derived for; a MAC of one purpose is worth nothing for another. */
export type KeyPurpose = "answer" | "seal" | "checkpoint" | "mark" | "once";

/** The label a MAC is made under; part of what is signed. */
export type MacLabel = `agent-adapter/${string}/v${number}`;

/** A MAC and the id of the key that made it. */
export interface Signed {
  readonly keyId: string;
  /** HMAC-SHA256, base64url without padding. */
  readonly mac: string;
}

/** The id of a key that no other process has. */
export const PROCESS_KEY_ID = "process";

const MIN_SECRET_BYTES = 16;
const KEY_BYTES = 32;
const MAC_CHARACTERS = 43;
const KEY_ID_LABEL = "agent-adapter/key-id/v1";
const IDENTITY_LABEL = "agent-adapter/identity/v1";
// Shared by every copy of the package in a process: what one sealed the other opens.
const PROCESS_KEY = Symbol.for("agent-adapter/process-key/v1");

interface RingKey {
  readonly id: string;
  readonly identity: string;
  readonly secret: KeyObject;
  /** By HKDF info; the infos are a closed set, so this stays small. */
  readonly derived: Map<string, KeyObject>;
}

let derivedKeys: (ring: KeyRing, keyId: string, info: string) => readonly KeyObject[];

/** The keys of an executor or a port: the first signs and seals, all verify and open. Shows no key to anybody. */
export class KeyRing {
  readonly #keys: readonly [RingKey, ...RingKey[]];

  static {
    derivedKeys = (ring, keyId, info) => ring.#derived(keyId, info);
  }

  private constructor(current: RingKey, older: readonly RingKey[]) {
    this.#keys = [current, ...older];
  }

  /** A ring of given secrets. Throws `ToolUsageError` naming `option` for a missing or short secret. */
  static of(secrets: Secrets, option: string): KeyRing {
    const list: readonly unknown[] = isList(secrets) ? secrets : [secrets];
    const [current, ...older] = list.map((secret) => ringKey(secretKey(secret, option)));
    if (current === undefined) throw new ToolUsageError(`\`${option}\` is an empty list; give at least one secret`);
    return new KeyRing(current, older);
  }

  /** The ring of this process: random, the same for every copy of the package, useless to any other process. */
  static forProcess(): KeyRing {
    return new KeyRing({ ...ringKey(processSecret()), id: PROCESS_KEY_ID }, []);
  }

  /** The id of the key that signs and seals. */
  get currentId(): string {
    return this.#keys[0].id;
  }

  /**
   * Tells whoever has the current secret from everybody else, in full length where the id has eight digits. For the memory of
   * this process only: written down, it would let anybody try out guesses of a weak secret.
   */
  identity(): string {
    return this.#keys[0].identity;
  }

  /** Is this the random ring of one process? What it seals dies with the process. */
  get perProcess(): boolean {
    return this.currentId === PROCESS_KEY_ID;
  }

  /** Is a key of this id on the ring? */
  has(keyId: string): boolean {
    return this.#keys.some((key) => key.id === keyId);
  }

  /** The same keys in the same order? A ring of another copy of the package cannot be compared: false. */
  sameAs(other: KeyRing): boolean {
    if (!(#keys in other)) return false;
    const theirs = other.#keys;
    if (theirs.length !== this.#keys.length) return false;
    return this.#keys.every((key, i) => key.id === theirs[i]?.id && key.secret.equals(theirs[i].secret));
  }

  /** Signs `[label, value]` with the current key. Throws `NotJson`. */
  sign(purpose: KeyPurpose, label: MacLabel, value: JsonValue): Signed {
    const [current] = this.#keys;
    return { keyId: current.id, mac: macOf(derive(current, macInfo(purpose)), labelled(label, value)) };
  }

  /** The MAC of `[label, value]` under each key, the current one first: what a key that was rotated out named is still found. */
  names(purpose: KeyPurpose, label: MacLabel, value: JsonValue): readonly string[] {
    const text = labelled(label, value);
    return this.#keys.map((key) => macOf(derive(key, macInfo(purpose)), text));
  }

  /**
   * Did a key of this ring sign `[label, value]`? Only the exact text `sign` gives is good. Never throws, whatever
   * `value` and `signed` hold.
   */
  verify(purpose: KeyPurpose, label: MacLabel, value: unknown, signed: SignedClaim): boolean {
    const { keyId, mac } = signed;
    if (typeof keyId !== "string" || typeof mac !== "string" || mac.length !== MAC_CHARACTERS) return false;
    const text = labelledOrNothing(label, value);
    if (text === undefined) return false;
    let good = false;
    // All keys of that id are tried: two keys may share eight digits.
    for (const key of this.#derived(keyId, macInfo(purpose))) good = sameText(macOf(key, text), mac) || good;
    return good;
  }

  #derived(keyId: string, info: string): readonly KeyObject[] {
    return this.#keys.filter((key) => key.id === keyId).map((key) => derive(key, info));
  }
}

/** What somebody says is a MAC of ours: nothing in it is trusted. */
export interface SignedClaim {
  readonly keyId: unknown;
  readonly mac: unknown;
}

/**
 * The AES-256 keys of a ring for one seal purpose, for `seal.ts` alone: never the key of a MAC.
 *
 * @internal
 */
export function sealKeys(ring: KeyRing, keyId: string, purpose: string): readonly KeyObject[] {
  return derivedKeys(ring, keyId, canonicalJson(["agent-adapter/seal/v1", purpose]));
}

function isList(secrets: Secrets): secrets is readonly [Secret, ...Secret[]] {
  return Array.isArray(secrets);
}

/** A copy of the secret that nobody can read back by accident. */
function secretKey(secret: unknown, option: string): KeyObject {
  const bytes = secretBytes(secret);
  if (bytes === undefined) throw new ToolUsageError(`\`${option}\` must be a string or a Uint8Array`);
  if (bytes.length < MIN_SECRET_BYTES) {
    throw new ToolUsageError(
      `\`${option}\` must have at least ${MIN_SECRET_BYTES} bytes; use 32 random ones (an empty one is often a variable that is not set)`,
    );
  }
  return createSecretKey(bytes);
}

function secretBytes(secret: unknown): Buffer | undefined {
  // Half a surrogate pair has no UTF-8 bytes: all of them would become the same replacement character.
  if (typeof secret === "string") return isWellFormed(secret) ? Buffer.from(secret, "utf8") : undefined;
  // By its internal tag: an array of another realm (a test runner's) is one too.
  if (!ArrayBuffer.isView(secret) || Object.prototype.toString.call(secret) !== "[object Uint8Array]") return undefined;
  return Buffer.from(Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength));
}

function ringKey(secret: KeyObject): RingKey {
  const print = (label: string) => createHmac("sha256", secret).update(label).digest("hex");
  return { id: print(KEY_ID_LABEL).slice(0, 8), identity: print(IDENTITY_LABEL), secret, derived: new Map() };
}

function processSecret(): KeyObject {
  const found: unknown = Reflect.get(globalThis, PROCESS_KEY);
  if (found instanceof KeyObject && found.type === "secret" && found.symmetricKeySize === KEY_BYTES) return found;
  if (found !== undefined) throw new ToolUsageError("the key of this process was replaced by something else");
  const value = createSecretKey(randomBytes(KEY_BYTES));
  // Neither listed nor replaceable; a KeyObject prints without its bytes.
  Object.defineProperty(globalThis, PROCESS_KEY, { value });
  return value;
}

function macInfo(purpose: KeyPurpose): string {
  return `agent-adapter/${purpose}/v1`;
}

function derive(key: RingKey, info: string): KeyObject {
  let derived = key.derived.get(info);
  if (derived === undefined) {
    derived = createSecretKey(new Uint8Array(hkdfSync("sha256", key.secret, "", info, KEY_BYTES)));
    key.derived.set(info, derived);
  }
  return derived;
}

function macOf(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

function labelledOrNothing(label: string, value: unknown): string | undefined {
  try {
    return labelled(label, value);
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

/** Compared as text, so that a second spelling of the same bytes is not the same MAC. */
function sameText(expected: string, given: string): boolean {
  const theirs = Buffer.from(given, "utf8");
  const ours = Buffer.from(expected, "utf8");
  return ours.length === theirs.length && timingSafeEqual(ours, theirs);
}
