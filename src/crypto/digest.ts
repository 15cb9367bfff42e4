// The one hash of the package: SHA-256 over the canonical JSON of `[label, value]`, so that no two uses can be confused.
import { hash } from "node:crypto";
import { canonicalJson, type JsonLimits } from "./canonical-json.js";

/** What a digest is for; part of what is hashed. A new format is a new label. */
export type DigestLabel =
  | "agent-adapter/arguments/v1"
  | "agent-adapter/binding/v1"
  | "agent-adapter/cache/v1"
  | "agent-adapter/definition/v1"
  | "agent-adapter/flow/v1"
  | "agent-adapter/history/v1"
  | "agent-adapter/idempotency/v1"
  | "agent-adapter/row/v1";

/** Lower-case hex SHA-256 of `[label, value]` as canonical JSON. Throws `NotJson`. */
export function digest(label: DigestLabel, value: unknown, limits?: JsonLimits): string {
  return hash("sha256", labelled(label, value, limits));
}

/** The bytes (as text) of `[label, value]` that every hash and MAC is over. Throws `NotJson`. */
export function labelled(label: string, value: unknown, limits?: JsonLimits): string {
  // The value is written on its own so that it keeps its full depth and its own path in errors.
  // Of a label, which is plain text, this is the canonical form as well.
  return `[${JSON.stringify(label)},${canonicalJson(value, limits)}]`;
}
