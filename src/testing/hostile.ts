// Texts and objects that badly written stores lose, change or choke on.

import type { JsonObject } from "../index.js";

const MEBIBYTE = 1_048_576;

/** Every one of them must come back as it went in. */
export const HOSTILE_TEXTS: readonly string[] = [
  "",
  " ",
  "'; DROP TABLE approvals; --",
  '"quoted" \\ back\\slash \\u0000 %s %d ${x} {{x}}',
  "line\r\nfeed\ttab\u0001\u001f\u007f",
  "\u2028\u2029\uFEFF",
  "e\u0301 is not \u00e9",
  "\u202Eevil\u202C",
  "𝒜🧨👩‍👩‍👧‍👦",
  "__proto__",
  "constructor",
  "null",
  "0",
  "%",
  "_",
];

/** Own members with the names of inherited ones, deep nesting, numbers at the edge. */
export function hostileObject(): JsonObject {
  // JSON.parse makes `__proto__` an own member; an object literal would set the prototype.
  const own: JsonObject = JSON.parse(
    '{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}},"toString":"text","":0,"10":1,"9":2}',
  );
  const numbers = [0, -1, 1e21, 1e-7, Number.MAX_SAFE_INTEGER, 0.1, 5e-324];
  return { own, numbers, deep: nested(60), nothing: null, empty: [{}, []], texts: HOSTILE_TEXTS };
}

function nested(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 1; level < depth; level += 1) value = { in: value };
  return value;
}

/** A mebibyte of text, some of it in more than one byte a character. */
export function bigText(): string {
  return "x".repeat(MEBIBYTE - 4 * 1024) + "é🧨".repeat(512);
}
