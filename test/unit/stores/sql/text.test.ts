// Every text comes back as it was, and no two texts share a key, whatever a database can hold.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fromColumn, jsonColumn, keyOf, toColumn } from "../../../../src/stores/sql/text.js";

/** Any sequence of UTF-16 units, half surrogate pairs and NUL among them. */
const units = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 1, 0xd800, 0xdc00, 0x2f, 0x22)), {
    maxLength: 30,
  })
  .map((codes) => String.fromCharCode(...codes));

const isWellFormed = (text: string) => !/[\uD800-\uDFFF]/u.test(text);

test("B51: any text comes back unchanged, from a column that has no NUL and no half surrogate pair", () => {
  fc.assert(
    fc.property(units, (text) => {
      const column = toColumn(text);
      expect(fromColumn(column)).toBe(text);
      expect(column).not.toContain("\0");
      expect(isWellFormed(column)).toBe(true);
    }),
  );
});

test("a text that looks like a written one is told apart from it", () => {
  for (const text of ['\u0001json:"x"', "\u0001", toColumn("\0"), toColumn(toColumn("\uD800"))]) {
    expect(fromColumn(toColumn(text))).toBe(text);
  }
});

test("keys of different texts differ, and are short and clean", () => {
  const texts = [
    "",
    " ",
    "a",
    "A",
    "a ",
    "\0",
    "a\0",
    "\uD800",
    "\uDBFF",
    "x".repeat(5000),
    "x".repeat(5001),
    keyOf("\0"),
  ];
  expect(new Set(texts.map(keyOf)).size).toBe(texts.length);
  for (const text of texts) expect(keyOf(text).length).toBeLessThan(600);
  fc.assert(
    fc.property(units, (text) => {
      const key = keyOf(text);
      expect(key.length).toBeLessThan(600);
      expect(isWellFormed(key) && !key.includes("\0")).toBe(true);
    }),
  );
});

test("B51: JSON in a column has NUL and half surrogate pairs as escapes", () => {
  const value = { text: "a\0b", half: "\uD800", own: JSON.parse('{"__proto__":1}') as unknown };
  const column = jsonColumn(value);
  expect(isWellFormed(column) && !column.includes("\0")).toBe(true);
  expect(JSON.parse(column)).toEqual(value);
  expect(Object.hasOwn((JSON.parse(column) as typeof value).own as object, "__proto__")).toBe(true);
});
