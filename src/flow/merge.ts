// `Merge`: how the writes of one superstep to one field become its next value. Pure functions of (current, writes); they see
// all writes at once, in a fixed order.

import { canonicalJson, isJson } from "../crypto/canonical-json.js";

/** All writes of a superstep into one value. `current` is undefined while nothing was written. */
export interface MergeRule<Value, Write = Value> {
  /** For messages and for the fingerprint of the flow. */
  readonly name: string;
  /** The value after the writes, in a fixed order: by node name, then by item. */
  readonly apply: (current: Value | undefined, writes: readonly Write[]) => Value;
}

const rule = <Value, Write>(
  name: string,
  apply: (current: Value | undefined, writes: readonly Write[]) => Value,
): MergeRule<Value, Write> => Object.freeze({ name, apply });

function last<Value>(): MergeRule<Value> {
  return rule<Value, Value>("last", (current, writes) => {
    const newest = writes.at(-1);
    // An array with an element at the end, or nothing was written; a written `undefined` counts.
    return (writes.length === 0 ? current : newest) as Value;
  });
}

/** Like `Array.prototype.concat`: a written array adds its items, anything else adds itself. */
function append<Item>(): MergeRule<readonly Item[], Item | readonly Item[]> {
  return rule<readonly Item[], Item | readonly Item[]>("append", (current, writes) =>
    (current ?? []).concat(...writes),
  );
}

const sum = rule<number, number>("sum", (current, writes) =>
  writes.reduce((total, write) => total + write, current ?? 0),
);

// Folded, not spread into one call: a superstep may have more writes than a call may have arguments.
const min = rule<number, number>("min", (current, writes) =>
  writes.reduce((least, write) => Math.min(least, write), current ?? Number.POSITIVE_INFINITY),
);

const max = rule<number, number>("max", (current, writes) =>
  writes.reduce((most, write) => Math.max(most, write), current ?? Number.NEGATIVE_INFINITY),
);

/** Distinct items in the order in which they came; equal means the same JSON for objects, whatever the order of members. */
function union<Item>(): MergeRule<readonly Item[], readonly Item[]> {
  return rule<readonly Item[], readonly Item[]>("union", (current, writes) => {
    const [values, objects] = [new Set<unknown>(), new Set<unknown>()];
    return [current ?? [], ...writes]
      .flatMap((items) => [...items])
      .filter((item) => {
        // Objects apart: the text of one may also be an item. What is no JSON is itself only.
        const isObject = typeof item === "object" && item !== null;
        const [seen, key] = isObject ? [objects, isJson(item) ? canonicalJson(item) : item] : [values, item];
        const isNew = !seen.has(key);
        seen.add(key);
        return isNew;
      });
  });
}

/** Later fields win; own fields only, so that a `__proto__` field stays data. */
function assign<Value extends object>(): MergeRule<Value, Partial<Value>> {
  return rule("assign", (current: Value | undefined, writes: readonly Partial<Value>[]) => {
    const entries = [current ?? {}, ...writes].flatMap((part) => Object.entries(part));
    // Fields of a Value and of Partial<Value>s: every one of them is a Value's field.
    return Object.fromEntries(entries) as Value;
  });
}

function by<Value, Write>(
  fn: (current: Value | undefined, writes: readonly Write[]) => Value,
): MergeRule<Value, Write> {
  return rule("by", fn);
}

/** A rule that is made per field; the name tells the compiler what may be written. */
function made<Make extends () => unknown, const Kind extends string>(kind: Kind, make: Make): Make & RuleMaker<Kind> {
  return Object.assign(make, { kind });
}

/** A rule that a flow makes for its field: `merge: { rates: Merge.append }`. */
export interface RuleMaker<Kind extends string = string> {
  readonly kind: Kind;
}

/** What may be written to a field under each kind of rule that is made per field. */
export interface WritesByKind<Value> {
  readonly last: Value;
  readonly append: Value | (Value extends readonly (infer Item)[] ? Item : never);
  readonly union: Value;
  readonly assign: Partial<Value>;
}

type ListKind<Value> = Value extends readonly unknown[] ? "append" | "union" : never;
type RecordKind<Value> = Value extends object ? "assign" : never;

/** The rules made per field that a field of this type can have: lists are appended to, objects are assigned to. */
export type KindFor<Value> = "last" | ListKind<Value> | RecordKind<Exclude<Value, readonly unknown[]>>;

/** The rules a field can have. */
export const Merge = Object.freeze({
  last: made("last", last),
  append: made("append", append),
  sum,
  min,
  max,
  union: made("union", union),
  assign: made("assign", assign),
  by,
});
