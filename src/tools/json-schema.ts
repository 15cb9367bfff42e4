// JSON Schema 2020-12 documents as data: where sub-schemas are, what the model is shown, what a digest covers.
// Owns structure only; validating a value against a document is `schema.ts`.

import { isJsonObject, sameJson, type JsonObject, type JsonValue } from "../crypto/canonical-json.js";

const ONE = new Set(
  "items contains additionalProperties unevaluatedItems unevaluatedProperties propertyNames not if then else contentSchema".split(
    " ",
  ),
);
const LIST = new Set(["prefixItems", "allOf", "anyOf", "oneOf"]);
const MAP = new Set(["properties", "patternProperties", "dependentSchemas", "$defs"]);
const ANNOTATIONS = new Set(["title", "description", "examples", "$comment"]);
const BESIDE_REF = new Set([...ANNOTATIONS, "$ref", "$defs", "default", "deprecated", "readOnly", "writeOnly"]);
const DROPPED = new Set(["$schema", "$id", "$anchor", "$defs", "definitions"]);

/** A document cannot be used; the message says where and why, and holds nothing but the document's own words. */
export class BadSchema extends Error {}

/** Is this a JSON array? (`Array.isArray` alone forgets what is in a read-only one.) */
export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The value of an own member, so that no name reaches a prototype. */
export function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Every sub-schema of one schema with its place; members that are no sub-schemas are left alone. */
export function* subschemas(schema: JsonObject): Generator<readonly [place: readonly string[], schema: JsonValue]> {
  for (const [keyword, value] of Object.entries(schema)) {
    if (ONE.has(keyword)) yield [[keyword], value];
    else if (LIST.has(keyword) && Array.isArray(value)) {
      for (const [index, inner] of value.entries()) yield [[keyword, String(index)], inner];
    } else if (MAP.has(keyword) && isJsonObject(value)) {
      for (const [name, inner] of Object.entries(value)) yield [[keyword, name], inner];
    }
  }
}

/** The same schema with every direct sub-schema replaced. */
function mapped(schema: JsonObject, change: (inner: JsonValue) => JsonValue): JsonObject {
  // fromEntries defines members, so a property called "__proto__" stays a property.
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
      if (ONE.has(keyword)) return [keyword, change(value)];
      if (LIST.has(keyword) && Array.isArray(value)) return [keyword, value.map((inner: JsonValue) => change(inner))];
      if (!MAP.has(keyword) || !isJsonObject(value)) return [keyword, value];
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]))];
    }),
  );
}

function without(schema: JsonObject, dropped: (keyword: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !dropped(keyword)));
}

/** Leaves out keywords, as keywords, at every level: a property called `title` and a `default` stay. */
export function withoutKeywords(schema: JsonValue, dropped: (keyword: string) => boolean): JsonValue {
  if (!isJsonObject(schema)) return schema;
  return mapped(without(schema, dropped), (inner) => withoutKeywords(inner, dropped));
}

/** Does the keyword only describe, so that a reviewer's decision does not hang on it? */
export function isAnnotation(keyword: string): boolean {
  return ANNOTATIONS.has(keyword);
}

/** `first` without the defaults that came out otherwise when the same schema was converted again. */
export function withoutVolatileDefaults(first: JsonValue, second: JsonValue): JsonValue {
  if (!isJsonObject(first) || !isJsonObject(second)) return first;
  const again = [...subschemas(second)].map(([, inner]) => inner);
  const changes = !sameJson(own(first, "default") ?? [], own(second, "default") ?? []);
  const kept = without(first, (keyword) => changes && keyword === "default");
  // Both conversions list their members in the same order.
  return mapped(kept, (inner) => withoutVolatileDefaults(inner, again.shift() ?? inner));
}

/** Every property name the document declares: what a message may show of a path. */
export function declaredNames(schema: JsonValue, into: Set<string> = new Set()): Set<string> {
  if (!isJsonObject(schema)) return into;
  const required = own(schema, "required");
  if (Array.isArray(required)) for (const name of required) if (typeof name === "string") into.add(name);
  for (const [place, inner] of subschemas(schema)) {
    const [keyword, name] = place;
    if (keyword === "properties" && name !== undefined) into.add(name);
    declaredNames(inner, into);
  }
  return into;
}

/** The schema a `$ref` of a normalised document stands for. */
function target(root: JsonObject, ref: JsonValue | undefined): JsonValue | undefined {
  const defs = own(root, "$defs");
  return isJsonObject(defs) && typeof ref === "string" ? own(defs, ref.slice("#/$defs/".length)) : undefined;
}

/**
 * What the model is shown: `type: "object"` at the root, every `$ref` points to `#/$defs/<name>`, no other identifiers.
 * Throws `BadSchema` when the root cannot be an object or a `$ref` leads nowhere or only to itself.
 */
export function modelSchema(document: JsonObject): JsonObject {
  const defs = new Definitions(document);
  const root = defs.rewritten(document);
  const definitions = defs.complete();
  const whole: JsonObject = Object.keys(definitions).length === 0 ? root : { ...root, $defs: definitions };
  refuseEndlessRefs(whole);
  const inlined = inlineDescribedRefs(whole, whole, new Set());
  const unwrapped = isJsonObject(inlined) ? inlined : whole;
  if (!admitsObject(unwrapped, unwrapped, new Map())) {
    throw new BadSchema("the root must describe an object: wrap the value in an object with one property");
  }
  return { ...unwrapped, type: "object" };
}

/** Collects what refs point to under `$defs`, each target once. */
class Definitions {
  readonly #document: JsonObject;
  readonly #names = new Map<string, string>();
  readonly #waiting: (readonly [name: string, schema: JsonValue])[] = [];

  constructor(document: JsonObject) {
    this.#document = document;
  }

  rewritten(schema: JsonObject): JsonObject {
    const kept = without(schema, (keyword) => DROPPED.has(keyword));
    const inner = mapped(kept, (sub) => (isJsonObject(sub) ? this.rewritten(sub) : sub));
    const ref = own(schema, "$ref");
    return ref === undefined ? inner : { ...inner, $ref: `#/$defs/${this.#nameOf(ref)}` };
  }

  complete(): JsonObject {
    const done: [string, JsonValue][] = [];
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const [name, schema] = next;
      done.push([name, isJsonObject(schema) ? this.rewritten(schema) : schema]);
    }
    return Object.fromEntries(done);
  }

  #nameOf(ref: JsonValue): string {
    const steps = pointerSteps(ref);
    const key = JSON.stringify(steps);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const found = this.#resolve(steps);
    const wanted = (steps.at(-1) ?? "root").replaceAll(/[^A-Za-z0-9_.-]/g, "_") || "_";
    const taken = new Set(this.#names.values());
    let name = wanted;
    for (let n = 2; taken.has(name); n += 1) name = `${wanted}_${n}`;
    this.#names.set(key, name);
    this.#waiting.push([name, found]);
    return name;
  }

  #resolve(steps: readonly string[]): JsonValue {
    let at: JsonValue | undefined = this.#document;
    for (const step of steps) {
      if (isList(at)) at = /^(0|[1-9]\d*)$/.test(step) ? at[Number(step)] : undefined;
      else at = isJsonObject(at) ? own(at, step) : undefined;
    }
    if (isJsonObject(at) || typeof at === "boolean") return at;
    throw new BadSchema(`$ref "#${steps.map((step) => `/${step}`).join("")}" does not lead to a schema`);
  }
}

function pointerSteps(ref: JsonValue): string[] {
  if (typeof ref !== "string" || !/^#(\/|$)/.test(ref)) {
    throw new BadSchema(`$ref ${JSON.stringify(ref)} does not point into this document ("#/..." only)`);
  }
  return ref
    .slice(1)
    .split("/")
    .slice(1)
    .map((step) => percentDecoded(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function percentDecoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** Refs with a description beside them trip strict providers, so their target is written out; as is a root ref. */
function inlineDescribedRefs(schema: JsonValue, root: JsonObject, open: ReadonlySet<JsonValue>): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const found = target(root, own(schema, "$ref"));
  const beside = Object.keys(schema);
  const mayInline = (beside.length > 1 || schema === root) && beside.every((keyword) => BESIDE_REF.has(keyword));
  // A definition that describes a ref to itself would never end: that one keeps its ref.
  if (found !== undefined && found !== false && mayInline && !open.has(found)) {
    const merged = { ...(isJsonObject(found) ? found : {}), ...without(schema, (keyword) => keyword === "$ref") };
    const now = new Set(open).add(found);
    if (isJsonObject(found) && Object.hasOwn(found, "$ref"))
      return inlineDescribedRefs({ ...merged, $ref: found["$ref"] ?? "" }, root, now);
    return mapped(merged, (inner) => inlineDescribedRefs(inner, root, now));
  }
  return mapped(schema, (inner) => inlineDescribedRefs(inner, root, open));
}

/** The schemas that apply to the same value as `schema` does. */
export function inPlace(schema: JsonObject, root: JsonObject): JsonValue[] {
  const result: JsonValue[] = [];
  for (const [[keyword], inner] of subschemas(schema)) {
    if (keyword !== undefined && IN_PLACE.has(keyword)) result.push(inner);
  }
  const referred = target(root, own(schema, "$ref"));
  if (referred !== undefined) result.push(referred);
  return result;
}
const IN_PLACE = new Set(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"]);

/** A definition that applies itself to the same value can never be decided. */
function refuseEndlessRefs(root: JsonObject): void {
  const done = new Set<JsonValue>();
  const visit = (schema: JsonValue, path: ReadonlySet<JsonValue>): void => {
    if (path.has(schema)) throw new BadSchema("a $ref leads back to itself without going into a member");
    if (!isJsonObject(schema) || done.has(schema)) return;
    const deeper = new Set(path).add(schema);
    for (const inner of inPlace(schema, root)) if (isJsonObject(inner)) visit(inner, deeper);
    done.add(schema);
  };
  const all = (schema: JsonValue): void => {
    if (!isJsonObject(schema)) return;
    visit(schema, new Set());
    for (const [, inner] of subschemas(schema)) all(inner);
  };
  all(root);
}

/** May an object be valid? Wrong only towards yes. Ends, because endless refs were refused before. */
function admitsObject(schema: JsonValue, root: JsonObject, known: Map<JsonValue, boolean>): boolean {
  if (!isJsonObject(schema)) return schema !== false;
  const before = known.get(schema);
  if (before !== undefined) return before;
  const admits = (one: JsonValue): boolean => admitsObject(one, root, known);
  const referred = target(root, own(schema, "$ref"));
  const answer =
    valuesAdmit(schema) && (referred === undefined || admits(referred)) && alternativesAdmit(schema, admits);
  known.set(schema, answer);
  return answer;
}

function valuesAdmit(schema: JsonObject): boolean {
  const type = own(schema, "type");
  if (type !== undefined && type !== "object" && !(Array.isArray(type) && type.includes("object"))) return false;
  const constant = own(schema, "const");
  if (constant !== undefined && !isJsonObject(constant)) return false;
  const values = own(schema, "enum");
  return !Array.isArray(values) || values.some((value) => isJsonObject(value));
}

function alternativesAdmit(schema: JsonObject, admits: (one: JsonValue) => boolean): boolean {
  const list = (keyword: string): readonly JsonValue[] | undefined => {
    const value = own(schema, keyword);
    return Array.isArray(value) ? value : undefined;
  };
  if (!(list("allOf") ?? []).every(admits)) return false;
  return (list("anyOf")?.some(admits) ?? true) && (list("oneOf")?.some(admits) ?? true);
}
