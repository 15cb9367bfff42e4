// Randomness for ids and for spreading load. Keys and nonces are made where they are used (keys.ts, seal.ts).

import { randomInt, randomUUID } from "node:crypto";

/** A new id nobody can guess. */
export function randomId(): string {
  return randomUUID();
}

const STEPS = 2 ** 32;

/** A number in [0, 1). */
export function randomFraction(): number {
  return randomInt(STEPS) / STEPS;
}
