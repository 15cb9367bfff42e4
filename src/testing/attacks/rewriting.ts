// What an attacker without any secret does to bytes that he has seen: pure functions on JSON. They know no stack.

import type { JsonObject, JsonValue } from "../../index.js";

type Swap = readonly [from: string | number, to: string | number];

/** Put one text or number in the place of another wherever it stands, also inside of texts that hold JSON. */
export function replaceAll<T extends JsonValue>(value: T, swaps: readonly Swap[]): T {
  // The same shape, other leaves.
  return mapLeaves(value, (leaf) => swapped(leaf, swaps)) as T;
}

/**
 * An answer to one request, made over for another: each value that stands at some place in the first request, and differs from what
 * stands there in the second, becomes that one.
 */
export function rewrite(answer: JsonValue, from: JsonValue, onto: JsonValue): JsonValue {
  return replaceAll(answer, differences(from, onto));
}

const NO_TO_YES: ReadonlyMap<string, string> = new Map([
  ["deny", "approve"],
  ["denied", "approved"],
  ["reject", "approve"],
  ["rejected", "approved"],
  ["decline", "accept"],
  ["declined", "accepted"],
  ["no", "yes"],
]);

/** Every false a true, every word for no a word for yes. */
export function flip(answer: JsonValue): JsonValue {
  return mapLeaves(answer, (leaf) => {
    if (leaf === false) return true;
    return typeof leaf === "string" ? (NO_TO_YES.get(leaf) ?? leaf) : leaf;
  });
}

/** Leave out every member of this name that stands beside others of the arguments. */
export function hide(value: JsonValue, argument: string): JsonValue {
  if (Array.isArray(value)) return value.map((item) => hide(item, argument));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => name !== argument || !("to" in value));
  return Object.fromEntries(kept.map(([name, member]) => [name, hide(member, argument)]));
}

function differences(from: JsonValue, onto: JsonValue): Swap[] {
  if (isObject(from) && isObject(onto)) {
    const other = new Map(Object.entries(onto));
    return Object.entries(from).flatMap(([name, member]) => differences(member, other.get(name) ?? null));
  }
  if (!isTelling(from) || typeof onto !== typeof from || from === onto) return [];
  // Of the same type as `from`.
  return [[from, onto as string | number]];
}

/** Short texts and small numbers stand anywhere by chance. */
function isTelling(value: JsonValue): value is string | number {
  return typeof value === "string" ? value.length > 2 : typeof value === "number" && value > 9;
}

function isObject(value: JsonValue): value is JsonObject | JsonValue[] {
  return typeof value === "object" && value !== null;
}

function swapped(leaf: JsonValue, swaps: readonly Swap[]): JsonValue {
  if (typeof leaf === "number") return swaps.find(([from]) => from === leaf)?.[1] ?? leaf;
  if (typeof leaf !== "string") return leaf;
  const whole = swaps.find(([from]) => from === leaf);
  if (whole !== undefined) return whole[1];
  return swaps.reduce((text, [from, to]) => text.replaceAll(String(from), () => String(to)), leaf);
}

function mapLeaves(value: JsonValue, change: (leaf: JsonValue) => JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, change));
  if (typeof value !== "object" || value === null) return change(value);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapLeaves(member, change)]));
}
