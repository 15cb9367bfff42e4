// Randomness for ids. Keys and nonces are made where they are used (keys.ts, seal.ts).

import { randomUUID } from "node:crypto";

/** A new id nobody can guess. */
export function randomId(): string {
  return randomUUID();
}
