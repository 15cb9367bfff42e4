// JSON as bytes that everybody agrees on: the strict check and the JCS (RFC 8785) text that every hash, MAC and seal
// is made over. What is not JSON is refused, never flattened: two different values must never share a text.
// I1: user code never runs (no getters, no toJSON); every member is read once, from its own property descriptor.
// I2: work is bounded by the limits, whatever the value: the walk stops where depth or bytes run out.

/** A value that JSON can hold without loss. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object; an own `__proto__` key is data like any other. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** How much is too much. */
export interface JsonLimits {
  /** Containers inside each other: a scalar is 0, `[]` is 1, `[[]]` is 2. Never more than 1000, whatever is given. */
  readonly maxDepth: number;
  /** UTF-8 bytes of the canonical form. */
  readonly maxBytes: number;
}

/** What tool arguments get when nothing else was said. */
export const DEFAULT_JSON_LIMITS: JsonLimits = Object.freeze({ maxDepth: 64, maxBytes: 1_048_576 });

/** Why a value is not JSON. */
export type NotJsonReason = "type" | "number" | "surrogate" | "cycle" | "depth" | "bytes";

const WORDS: Readonly<Record<NotJsonReason, string>> = {
  type: "is not a plain JSON value",
  number: "is not a finite number",
  surrogate: "holds half a surrogate pair",
  cycle: "contains itself",
  depth: "is nested too deep",
  bytes: "makes the value too large",
};

/** The value is not JSON, or too deep or too large. `path` and message name members, never values. */
export class NotJson extends Error {
  override readonly name = "NotJson";
  readonly reason: NotJsonReason;
  /** Where, like `a.b[3]`; the root is the empty string; cut when long. */
  readonly path: string;

  constructor(reason: NotJsonReason, path: string) {
    super(`${path === "" ? "the value" : path} ${WORDS[reason]}`);
    this.reason = reason;
    this.path = path;
  }
}

// Without limits only the machine's own remain: the stack, and the longest string V8 can hold.
const NO_LIMITS: JsonLimits = { maxDepth: 256, maxBytes: 2 ** 29 - 24 };
// Far below what overflows the default stack of about 1 MB.
const HARD_DEPTH = 1000;
const MAX_PATH = 200;
const MAX_PATH_KEY = 40;
const PLAIN = /^[ !#-[\]-~]*$/;
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** How a text is written. */
interface Form {
  readonly sorted: boolean;
  /** Write half a surrogate pair as an escape, which JSON carries exactly; hashes and UTF-8 cannot have it. */
  readonly escapesSurrogates: boolean;
}

const CANONICAL: Form = { sorted: true, escapesSurrogates: false };
const ORDERED: Form = { sorted: false, escapesSurrogates: false };
const EXACT: Form = { sorted: false, escapesSurrogates: true };

/**
 * The state of one walk. `path` and `parents` are valid below `depth` only, and every container sets `depth` before it
 * writes a member, so that nothing is popped.
 */
interface Walk extends Form {
  readonly maxDepth: number;
  /** Bytes that may still be written. */
  left: number;
  depth: number;
  readonly path: (string | number)[];
  readonly parents: object[];
}

/**
 * The RFC 8785 text of a JSON value: keys in code-unit order, `-0` as `0`, undefined members left out.
 * Throws `NotJson`. Without limits: 256 deep, any size; give limits for what comes from outside.
 */
export function canonicalJson(value: unknown, limits: JsonLimits = NO_LIMITS): string {
  return write(value, limits, CANONICAL);
}

/** Like `canonicalJson`, but members keep their order: for text that is read back, not hashed. */
export function orderedJson(value: unknown, limits: JsonLimits = NO_LIMITS): string {
  return write(value, limits, ORDERED);
}

/** Like `orderedJson`, for results that must come back exactly: half a surrogate pair, which tools that cut text give, is kept. */
export function exactJson(value: unknown, limits: JsonLimits = NO_LIMITS): string {
  return write(value, limits, EXACT);
}

/** Can this be written as JSON without loss, within the limits? Undefined members do not count. */
export function isJson(value: unknown, limits: JsonLimits = NO_LIMITS): value is JsonValue {
  return canonicalOrNothing(value, limits) !== undefined;
}

/** Is this text that can be hashed and stored: without half a surrogate pair, which UTF-8 cannot have? */
export function isWellFormed(value: unknown): value is string {
  return typeof value === "string" && !LONE_SURROGATE.test(value);
}

/** Is this JSON value an object, not an array or a scalar? */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A deep-frozen copy made of own properties only: undefined members are gone, `-0` is `0`, member order is kept, an own
 * `__proto__` key stays a key. Throws `NotJson`.
 */
export function jsonCopy(value: unknown, limits: JsonLimits = NO_LIMITS): JsonValue {
  // JSON.parse defines members instead of assigning them: no key can reach a prototype.
  const copy: JsonValue = JSON.parse(write(value, limits, ORDERED));
  return frozenJson(copy);
}

/** The same value, frozen at every depth: for what was just parsed and belongs to nobody else. */
export function frozenJson<T extends JsonValue>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) frozenJson(inner);
  return Object.freeze(value);
}

/** Do both have the same canonical form? What is not JSON is the same as nothing, not even itself. */
export function sameJson(a: unknown, b: unknown): boolean {
  const text = canonicalOrNothing(a, NO_LIMITS);
  return text !== undefined && text === canonicalOrNothing(b, NO_LIMITS);
}

function canonicalOrNothing(value: unknown, limits: JsonLimits): string | undefined {
  try {
    return write(value, limits, CANONICAL);
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

function write(value: unknown, limits: JsonLimits, form: Form): string {
  // Written so that a NaN limit allows nothing instead of everything.
  const maxDepth = limits.maxDepth >= 0 ? Math.min(limits.maxDepth, HARD_DEPTH) : 0;
  const left = limits.maxBytes >= 0 ? limits.maxBytes : 0;
  const { sorted, escapesSurrogates } = form;
  const walk: Walk = { sorted, escapesSurrogates, maxDepth, left, depth: 0, path: [], parents: [] };
  try {
    return valueText(value, walk);
  } catch (error) {
    if (error instanceof NotJson) throw error;
    // A proxy trap threw, or the caller had used up the stack. The error may hold values: it is not passed on.
    throw notJson(error instanceof RangeError ? "depth" : "type", walk);
  }
}

function valueText(value: unknown, walk: Walk): string {
  if (typeof value === "string") return stringText(value, walk);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw notJson("number", walk);
    // String() is the number format of RFC 8785, and gives "0" for -0.
    return spent(String(value), walk);
  }
  if (value === null || typeof value === "boolean") return spent(String(value), walk);
  if (typeof value === "object") return containerText(value, walk);
  throw notJson("type", walk);
}

function stringText(value: string, walk: Walk): string {
  // UTF-8 never has fewer bytes than there are code units: a huge string is refused before it is looked at.
  if (value.length + 2 > walk.left) throw notJson("bytes", walk);
  if (PLAIN.test(value)) {
    walk.left -= value.length + 2;
    return `"${value}"`;
  }
  if (!walk.escapesSurrogates && !isWellFormed(value)) throw notJson("surrogate", walk);
  const text = JSON.stringify(value);
  spend(Buffer.byteLength(text), walk);
  return text;
}

function containerText(value: object, walk: Walk): string {
  const { depth } = walk;
  for (let i = 0; i < depth; i += 1) if (walk.parents[i] === value) throw notJson("cycle", walk);
  if (depth >= walk.maxDepth) throw notJson("depth", walk);
  spend(2, walk);
  walk.parents[depth] = value;
  return Array.isArray(value) ? arrayText(value, walk) : objectText(value, walk);
}

function arrayText(items: readonly unknown[], walk: Walk): string {
  const { depth } = walk;
  const count = items.length;
  if (Object.getPrototypeOf(items) !== Array.prototype) throw notJson("type", walk);
  if (count * 2 - 1 > walk.left) throw notJson("bytes", walk);
  // Exactly the items and `length`: no holes, no extra members.
  if (Reflect.ownKeys(items).length !== count + 1) throw notJson("type", walk);
  let text = "[";
  for (let i = 0; i < count; i += 1) {
    walk.path[depth] = i;
    walk.depth = depth + 1;
    if (i > 0) text += comma(walk);
    text += valueText(member(items, i, walk), walk);
  }
  return `${text}]`;
}

function objectText(object: object, walk: Walk): string {
  const { depth } = walk;
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) throw notJson("type", walk);
  let text = "{";
  for (const key of memberNames(object, walk)) {
    walk.path[depth] = key;
    walk.depth = depth + 1;
    const value = member(object, key, walk);
    if (value === undefined) continue;
    if (text !== "{") text += comma(walk);
    text += `${stringText(key, walk)}${colon(walk)}${valueText(value, walk)}`;
  }
  return `${text}}`;
}

function memberNames(object: object, walk: Walk): readonly string[] {
  let keys: readonly (string | symbol)[] = Reflect.ownKeys(object);
  // Too many members to fit: found before they are sorted. Undefined ones cost nothing, so they are not counted.
  if (keys.length * 5 - 1 > walk.left) {
    keys = keys.filter((key) => Reflect.getOwnPropertyDescriptor(object, key)?.value !== undefined);
    if (keys.length * 5 - 1 > walk.left) throw notJson("bytes", walk);
  }
  if (!areNames(keys)) throw notJson("type", walk);
  // The default order is by code units, which is what RFC 8785 asks for.
  return walk.sorted && keys.length > 1 ? keys.toSorted() : keys;
}

function areNames(keys: readonly (string | symbol)[]): keys is readonly string[] {
  return keys.every((key) => typeof key === "string");
}

/** The value of an own, enumerable data property; a getter is refused, not called. */
function member(owner: object, key: string | number, walk: Walk): unknown {
  const found = Reflect.getOwnPropertyDescriptor(owner, key);
  if (found === undefined || found.enumerable !== true || !Object.hasOwn(found, "value")) throw notJson("type", walk);
  return found.value;
}

function comma(walk: Walk): string {
  spend(1, walk);
  return ",";
}

function colon(walk: Walk): string {
  spend(1, walk);
  return ":";
}

function spent(text: string, walk: Walk): string {
  spend(text.length, walk);
  return text;
}

function spend(bytes: number, walk: Walk): void {
  walk.left -= bytes;
  if (walk.left < 0) throw notJson("bytes", walk);
}

function notJson(reason: NotJsonReason, walk: Walk): NotJson {
  let path = "";
  for (const step of walk.path.slice(0, walk.depth)) {
    path += pathStep(step, path === "");
    if (path.length > MAX_PATH) return new NotJson(reason, `${path.slice(0, MAX_PATH)}…`);
  }
  return new NotJson(reason, path);
}

function pathStep(step: string | number, first: boolean): string {
  if (typeof step === "number") return `[${step}]`;
  const name = step.length > MAX_PATH_KEY ? `${step.slice(0, MAX_PATH_KEY)}…` : step;
  if (!IDENTIFIER.test(step)) return `[${JSON.stringify(name)}]`;
  return first ? name : `.${name}`;
}
