// What an attacker has in a case before it begins, so that the totals of the table do not add up different things. Where a case could be
// put in either of two, it is not in `none`: that falls in favour of the stack.

import type { AttackCase } from "../src/testing/attacks/attack-case.js";

export type Part = "none" | "endpoint" | "storage";

/** In the order of the lines of the table. */
export const PARTS: Readonly<Record<Part, string>> = {
  none: "needs no intruder",
  endpoint: "needs an unauthenticated endpoint",
  storage: "needs write access to the state",
};

/** The attacker writes to what holds the state of a thread: the server's storage, or the client's where the client holds it. */
const STORAGE: ReadonlySet<string> = new Set([
  "replayed/rolled-back",
  "replayed/rolled-back-and-restarted",
  "moved/before-the-answer",
  "moved/after-the-answer",
  "moved/under-an-answer",
  "blind-signed/state-edited",
]);

/** Anybody reaches what takes messages or answers, or changes what passes to or from the reviewer. */
const ENDPOINT_FAMILIES: ReadonlySet<AttackCase["family"]> = new Set(["forged", "bare"]);
const ENDPOINT: ReadonlySet<string> = new Set([
  "replayed/next-turn-rewritten",
  "poisoned/garbage",
  "poisoned/then-restart",
  "poisoned/one-bad-of-two",
  "blind-signed/other-arguments-shown",
  "blind-signed/argument-hidden",
  "blind-signed/other-request-shown",
]);

export function partOf({ id, family }: Pick<AttackCase, "id" | "family">): Part {
  if (STORAGE.has(id)) return "storage";
  return ENDPOINT_FAMILIES.has(family) || ENDPOINT.has(id) ? "endpoint" : "none";
}
