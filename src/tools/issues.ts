// What was wrong with a value, in words that are safe for the model and for logs: fields that the schema declares and
// reasons from a fixed list. The messages of schema libraries are never passed on, because they may quote the value.

import type { NotJson } from "../crypto/canonical-json.js";

/** One thing that is wrong. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly reason: string;
}

const MAX_ISSUES = 5;
const MAX_STEPS = 8;
const MAX_NAME = 64;

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ["too_big", "is too large or too long"],
  ["too_small", "is too small or too short"],
  ["invalid_format", "has the wrong format"],
  ["not_multiple_of", "is not a multiple of the step"],
  ["unrecognized_keys", "has unknown fields"],
  ["invalid_union", "fits none of the alternatives"],
  ["invalid_value", "is not one of the allowed values"],
  ["invalid_key", "has a key that is not allowed"],
  ["invalid_element", "has an element that is not allowed"],
]);
const TYPE_NAMES: ReadonlySet<unknown> = new Set(
  "string number int boolean object array record null undefined never date bigint map set tuple nan file".split(" "),
);
const NOT_JSON: Readonly<Record<NotJson["reason"], string>> = {
  type: "holds something that is not JSON",
  number: "holds a number that is not finite",
  surrogate: "holds half a surrogate pair",
  cycle: "contains itself",
  depth: "is nested too deep",
  bytes: "is too large",
};

/** Reads the issues of a Standard Schema result; what the library left out or made up becomes "is not valid". */
export function standardIssues(found: readonly unknown[], value: unknown): Issue[] {
  // A library may report a hundred thousand of them.
  return found.slice(0, MAX_ISSUES + 1).map((issue) => {
    const path = pathOf(issue);
    return { path, reason: isMissing(value, path) ? "is required" : reasonOf(issue) };
  });
}

/** "amount: is required; items.0: must be string; and more"; a step that no schema declares is shown as `*`. */
export function issuesText(issues: readonly Issue[], value: unknown, names: ReadonlySet<string>): string {
  const texts = new Set<string>();
  for (const { path, reason } of issues) {
    const where = pathText(path, value, names);
    texts.add(where === "" ? `the value ${reason}` : `${where}: ${reason}`);
  }
  const shown = [...texts].slice(0, MAX_ISSUES);
  if (texts.size > MAX_ISSUES) shown.push("and more");
  return shown.join("; ");
}

/** Why it is not JSON, with the top-level field when the schema declares it. */
export function notJsonText(error: NotJson, names: ReadonlySet<string>): string {
  const field = /^[A-Za-z_$][\w$]*/.exec(error.path)?.[0];
  return field !== undefined && names.has(field)
    ? `${field}: ${NOT_JSON[error.reason]}`
    : `the value ${NOT_JSON[error.reason]}`;
}

function member(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function pathOf(issue: unknown): PropertyKey[] {
  const path = member(issue, "path");
  if (!Array.isArray(path)) return [];
  return path.map((step: unknown) => {
    const key = typeof step === "object" ? member(step, "key") : step;
    return typeof key === "number" || typeof key === "symbol" ? key : String(key);
  });
}

function reasonOf(issue: unknown): string {
  if (member(issue, "code") !== "invalid_type") return REASONS.get(member(issue, "code")) ?? "is not valid";
  const expected = member(issue, "expected");
  return TYPE_NAMES.has(expected) ? `must be ${String(expected)}` : "has the wrong type";
}

function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  const last = path.at(-1);
  let owner = value;
  for (const step of path.slice(0, -1)) owner = member(owner, step);
  return last !== undefined && typeof owner === "object" && owner !== null && !Object.hasOwn(owner, last);
}

function pathText(path: readonly PropertyKey[], value: unknown, names: ReadonlySet<string>): string {
  const steps: string[] = [];
  let owner = value;
  for (const step of path.slice(0, MAX_STEPS)) {
    const name = String(step);
    // Only positions and declared names: the keys of a record are a part of the arguments.
    const mayShow = Array.isArray(owner) ? /^\d+$/.test(name) : names.has(name);
    steps.push(mayShow ? name.slice(0, MAX_NAME) : "*");
    owner = member(owner, step);
  }
  if (path.length > MAX_STEPS) steps.push("…");
  return steps.join(".");
}
