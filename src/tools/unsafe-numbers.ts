// Integers that JSON.parse rounded before anyone saw them, where the schema expects an integer.
// The value is walked once, whatever the schema looks like: each place carries the set of schemas that apply to it.

import { isJsonObject, type JsonObject, type JsonValue } from "../crypto/canonical-json.js";
import { regExp } from "./check-json-schema.js";
import { inPlace, isList, own } from "./json-schema.js";

/** Where a value is inside another one. */
export type ValuePath = readonly (string | number)[];

type Schemas = ReadonlySet<JsonObject>;

/** The first unsafe integer in an integer position of any alternative, or `undefined`. `root` is a normalised document. */
export function unsafeIntegerPath(value: JsonValue, root: JsonObject): ValuePath | undefined {
  // Nearly all values have none, and are spared the walk along the schema.
  return hasUnsafeInteger(value) ? search(value, applying([root], root), { root, path: [] }) : undefined;
}

function hasUnsafeInteger(value: JsonValue): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnsafeInteger);
}

interface Place {
  readonly root: JsonObject;
  readonly path: ValuePath;
}

function search(value: JsonValue, schemas: Schemas, { root, path }: Place): ValuePath | undefined {
  if (typeof value === "number") return hasUnsafeInteger(value) && [...schemas].some(isInteger) ? path : undefined;
  if (typeof value !== "object" || value === null || !hasUnsafeInteger(value)) return undefined;
  const members: Iterable<readonly [string | number, JsonValue]> = isList(value)
    ? value.entries()
    : Object.entries(value);
  const inner = memberSchemas(schemas, root, Array.isArray(value));
  for (const [key, member] of members) {
    const found = search(member, inner(key), { root, path: [...path, key] });
    if (found !== undefined) return found;
  }
  return undefined;
}

function isInteger(schema: JsonObject): boolean {
  const type = own(schema, "type");
  return type === "integer" || (Array.isArray(type) && type.includes("integer") && !type.includes("number"));
}

/** What applies to the member of that name; members nobody names share one answer, so that long arrays stay cheap. */
function memberSchemas(schemas: Schemas, root: JsonObject, isArray: boolean): (key: string | number) => Schemas {
  const list = [...schemas];
  const rest = isArray ? ["items", "unevaluatedItems"] : ["additionalProperties", "unevaluatedProperties"];
  const patterns = list.flatMap((schema) => {
    const found = own(schema, "patternProperties");
    return isJsonObject(found)
      ? Object.entries(found).map(([source, inner]) => ({ pattern: regExp(source), inner }))
      : [];
  });
  const shared = applying(
    list.flatMap((schema) => rest.map((keyword) => own(schema, keyword))),
    root,
  );
  return (key) => {
    const named = list.flatMap((schema) => namedMember(schema, key));
    // A pattern that cannot be read counts as a match: wrong only towards refusing.
    for (const { pattern, inner } of patterns) if (pattern?.test(String(key)) ?? true) named.push(inner);
    if (named.length === 0) return shared;
    const others = list.filter((schema) => namedMember(schema, key).length === 0);
    return applying([...named, ...others.flatMap((schema) => rest.map((keyword) => own(schema, keyword)))], root);
  };
}

function namedMember(schema: JsonObject, key: string | number): JsonValue[] {
  const members = own(schema, typeof key === "number" ? "prefixItems" : "properties");
  if (typeof key === "number") {
    const item: JsonValue | undefined = isList(members) ? members[key] : undefined;
    return item === undefined ? [] : [item];
  }
  const member = isJsonObject(members) ? own(members, key) : undefined;
  return member === undefined ? [] : [member];
}

/** These schemas and all that apply to the same value through refs and alternatives; cycles end. */
function applying(start: readonly (JsonValue | undefined)[], root: JsonObject): Schemas {
  const found = new Set<JsonObject>();
  const waiting = [...start];
  for (let next = waiting.pop(); waiting.length > 0 || next !== undefined; next = waiting.pop()) {
    if (!isJsonObject(next) || found.has(next)) continue;
    found.add(next);
    waiting.push(...inPlace(next, root));
  }
  return found;
}
