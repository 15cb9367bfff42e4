// Ed25519 keys of approvers: who signs holds a private key somewhere else, who runs tools holds public ones and can approve
// nothing.

import { createPrivateKey, createPublicKey, KeyObject, sign, verify } from "node:crypto";
import { ToolUsageError } from "../errors.js";
import { NotJson } from "./canonical-json.js";
import { labelled } from "./digest.js";

/** A key as PEM text or as a `KeyObject` of node:crypto. */
export type AsymmetricKey = string | KeyObject;

const SIGNATURE = /^[A-Za-z0-9_-]{86}$/;

/** @throws ToolUsageError naming the option when it is not an Ed25519 public key */
export function readPublicKey(key: AsymmetricKey, option: string): KeyObject {
  const read = tryKey(() => (typeof key === "string" ? createPublicKey(key) : key));
  if (read?.asymmetricKeyType === "ed25519" && read.type === "public" && !isPrivatePem(key)) return read;
  throw new ToolUsageError(`\`${option}\` must be an Ed25519 public key, as PEM text or a KeyObject`);
}

/** @throws ToolUsageError naming the option when it is not an Ed25519 private key */
export function readPrivateKey(key: AsymmetricKey, option: string): KeyObject {
  const read = tryKey(() => (typeof key === "string" ? createPrivateKey(key) : key));
  if (read?.asymmetricKeyType === "ed25519" && read.type === "private") return read;
  throw new ToolUsageError(`\`${option}\` must be an Ed25519 private key, as PEM text or a KeyObject`);
}

/** The signature over `[label, value]`, base64url without padding. */
export function signWith(key: KeyObject, label: string, value: unknown): string {
  return sign(null, Buffer.from(labelled(label, value), "utf8"), key).toString("base64url");
}

/** Did the holder of the private key sign `[label, value]`? Only the exact text `signWith` gives is good; never throws. */
export function verifyWith(key: KeyObject, label: string, value: unknown, signature: unknown): boolean {
  if (typeof signature !== "string" || !SIGNATURE.test(signature)) return false;
  const bytes = Buffer.from(signature, "base64url");
  if (bytes.toString("base64url") !== signature) return false;
  try {
    return verify(null, Buffer.from(labelled(label, value), "utf8"), key, bytes);
  } catch (error) {
    if (error instanceof NotJson) return false;
    throw error;
  }
}

function tryKey(read: () => KeyObject): KeyObject | undefined {
  try {
    const key = read();
    return key instanceof KeyObject ? key : undefined;
  } catch {
    // The error may quote the key.
    return undefined;
  }
}

/** A public key can be made of a private one: whoever passes that has the wrong file, and holds what they must not hold. */
function isPrivatePem(key: AsymmetricKey): boolean {
  return typeof key === "string" && key.includes("PRIVATE KEY");
}
