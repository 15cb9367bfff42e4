// The state of a flow: its fields, their schemas and merge rules. Owns what may be in it: JSON, deep-frozen, of known fields.
//   S1  what enters (input, edits, writes) is copied and frozen, so that no node changes what another one reads
//   S2  what JSON cannot carry exactly is refused before anything runs on it, with the field named and no value shown

import { jsonCopy, NotJson, type JsonObject, type JsonValue } from "../crypto/canonical-json.js";
import { FlowError } from "../errors.js";
import { issuesText } from "../tools/issues.js";
import type { CompiledInput, CompiledSchema, Verdict } from "../tools/schema.js";
import type { MergeRule } from "./merge.js";
import { shown } from "./names.js";

/** One field of a flow's state. */
export interface Field {
  /** Its name. */
  readonly name: string;
  /** Parses what is written to it. */
  readonly schema: CompiledSchema;
  /** `undefined`: one writer per step. */
  readonly rule: MergeRule<never, never> | undefined;
}

export type Fields = ReadonlyMap<string, Field>;

/** Frozen JSON; a field that has no value is not there. */
export type FlowState = JsonObject;

/** What one node writes: per field its writes in order. */
export type Writes = ReadonlyMap<string, readonly JsonValue[]>;

// Sealed state, journals and hosts put some more containers around a value, and JSON here ends at 256 of them.
const MAX_DEPTH = 128;

const LIMITS = { maxDepth: MAX_DEPTH, maxBytes: Number.POSITIVE_INFINITY };

/** Copies that were made here: nobody can change them, so that they need no other copy on their way from node to node. */
const COPIES = new WeakSet<object>();

/** JSON of the value, frozen. @throws FlowError naming the field */
export function fieldValue(field: string, value: unknown, what: string): JsonValue {
  if (isCopy(value)) return value;
  try {
    const copy = jsonCopy(value, LIMITS);
    if (typeof copy === "object" && copy !== null) COPIES.add(copy);
    return copy;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new FlowError(`${what}: field "${field}" cannot be kept: it holds something that is not JSON`, {
      cause: error,
    });
  }
}

function isCopy(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && COPIES.has(value);
}

/**
 * The state a run starts from.
 *
 * @throws FlowError naming every field that does not fit
 */
export async function parseInput(fields: Fields, input: unknown): Promise<FlowState> {
  const given = membersOf(input, "the input");
  refuseUnknownFields(fields, given, "the input");
  const faults: string[] = [];
  const state: [string, JsonValue][] = [];
  for (const { name, schema } of fields.values()) {
    const value = given[name];
    const verdict = await schema.validate(value === undefined ? undefined : thawed(name, value));
    if (!verdict.ok) faults.push(`"${name}" ${issuesText(verdict.issues, value, schema.names)}`);
    else if (verdict.value !== undefined) state.push([name, fieldValue(name, verdict.value, "the input")]);
  }
  if (faults.length > 0) throw new FlowError(`the input does not fit the state: ${faults.join("; ")}`);
  return Object.freeze(Object.fromEntries(state));
}

/** A copy that a schema may work on; checked first, so that a schema sees nothing JSON cannot carry. */
function thawed(field: string, value: unknown): unknown {
  return structuredClone(fieldValue(field, value, "the input"));
}

/** What a node returned, as writes. `undefined` is no write. @throws FlowError naming node and field */
export function checkWrites(fields: Fields, node: string, update: unknown): Writes {
  const what = `node "${node}"`;
  if (update === undefined) return new Map();
  const given = membersOf(update, what);
  refuseUnknownFields(fields, given, what);
  return new Map(
    Object.entries(given).flatMap(([field, value]) =>
      value === undefined ? [] : [[field, [fieldValue(field, value, what)]] as const],
    ),
  );
}

/** Several writes of one node to one field. */
export function writesTo(field: string, node: string, values: readonly unknown[]): Writes {
  const written = values.filter((value) => value !== undefined);
  // Nothing written is no write: it is nobody's second writer.
  if (written.length === 0) return new Map();
  return new Map([[field, written.map((value) => fieldValue(field, value, `node "${node}"`))]]);
}

/** The state that a route of the node sees: its own writes on what it read. */
export function withWrites(fields: Fields, state: FlowState, node: string, writes: Writes): FlowState {
  return applyWrites(fields, state, [[node, writes]]);
}

/**
 * All writes of a step at once, in node-name order.
 *
 * @throws FlowError naming the field, and both writers of one that takes one
 */
export function applyWrites(
  fields: Fields,
  state: FlowState,
  step: readonly (readonly [node: string, writes: Writes])[],
): FlowState {
  const byField = new Map<string, { readonly writers: Set<string>; readonly values: JsonValue[] }>();
  for (const [node, writes] of step.toSorted(byName)) {
    for (const [field, values] of writes) {
      const all = byField.get(field) ?? { writers: new Set(), values: [] };
      byField.set(field, all);
      all.writers.add(node);
      for (const value of values) all.values.push(value);
    }
  }
  const changed: Record<string, JsonValue> = {};
  for (const [name, { writers, values }] of byField) {
    const field = fields.get(name);
    if (field !== undefined && values.length > 0) changed[name] = mergeField(field, state[name], writers, values);
  }
  return Object.keys(changed).length === 0 ? state : Object.freeze({ ...state, ...changed });
}

/** What the writes of one step make of a field. @throws FlowError naming it, and both writers of one that takes one */
export function mergeField(
  { name, rule }: Field,
  current: JsonValue | undefined,
  writers: ReadonlySet<string>,
  values: readonly JsonValue[],
): JsonValue {
  if (rule === undefined) {
    const [first, second] = writers;
    if (first !== undefined && second !== undefined) throw twoWriters(name, first, second);
    // There is at least one write.
    return values.at(-1) ?? null;
  }
  let value: unknown;
  try {
    // The builder's types say that these are values and writes of this rule.
    value = rule.apply(current as never, values as never);
  } catch (cause) {
    throw new FlowError(`the merge rule "${rule.name}" of field "${name}" threw`, { cause });
  }
  return fieldValue(name, value, `the merge rule "${rule.name}"`);
}

/** Of a field that takes one writer in a step. */
export function twoWriters(field: string, first: string, second: string): FlowError {
  return new FlowError(
    `field "${field}" was written by "${first}" and by "${second}" in one step, and has no merge rule`,
  );
}

/** Node names by code units, which is LangGraph's order too. */
function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What an edit at a gate must fit: some of the fields, each as its schema makes it. */
export function editSchema(fields: Fields): CompiledInput {
  const jsonSchema = { type: "object" };
  return {
    jsonSchema,
    covered: jsonSchema,
    names: new Set([...fields.keys(), ...[...fields.values()].flatMap(({ schema }) => [...schema.names])]),
    validate: (edit) => editVerdict(fields, edit),
  };
}

async function editVerdict(fields: Fields, edit: unknown): Promise<Verdict> {
  const parsed: [string, unknown][] = [];
  for (const [name, value] of Object.entries(membersOf(edit, "the edit"))) {
    const field = fields.get(name);
    if (field === undefined)
      return { ok: false, issues: [{ path: [], reason: "names a field that the state does not have" }] };
    const verdict = await field.schema.validate(value);
    if (!verdict.ok)
      return { ok: false, issues: verdict.issues.map(({ path, reason }) => ({ path: [name, ...path], reason })) };
    parsed.push([name, verdict.value]);
  }
  return { ok: true, value: Object.fromEntries(parsed) };
}

/** The state with a reviewer's edit in it. */
export function withEdit(state: FlowState, edit: JsonObject | undefined): FlowState {
  return edit === undefined ? state : Object.freeze({ ...state, ...edit });
}

/** Is this a state that these fields could have? For states that come out of a checkpoint. */
export function isStateOf(fields: Fields, value: JsonObject): boolean {
  return Object.keys(value).every((name) => fields.has(name));
}

function refuseUnknownFields(fields: Fields, given: object, what: string): void {
  const unknown = Object.keys(given).find((name) => !fields.has(name));
  if (unknown === undefined) return;
  throw new FlowError(`${what}: the state has no field ${shown(unknown)}`);
}

function membersOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new FlowError(`${what} must be an object of state fields`);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new FlowError(`${what} must be a plain object of state fields`);
  const members = Reflect.ownKeys(value).map((name): [string, unknown] => {
    const found = Reflect.getOwnPropertyDescriptor(value, name);
    // A symbol or a hidden member would be lost without a word, and a getter is somebody's code.
    if (typeof name === "string" && found?.enumerable === true && "value" in found) return [name, found.value];
    throw new FlowError(`${what}: ${shown(name)} is not a plain member`);
  });
  return Object.fromEntries(members);
}
