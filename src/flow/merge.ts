// `Merge`: how the writes of one superstep to one field become its next value. Pure functions of (current, writes); they see
// all writes at once, in a fixed order.

/** All writes of a superstep into one value. `current` is undefined while nothing was written. */
export interface MergeRule<Value, Write = Value> {
  readonly name: string;
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

const min = rule<number, number>("min", (current, writes) =>
  Math.min(...(current === undefined ? [] : [current]), ...writes),
);

const max = rule<number, number>("max", (current, writes) =>
  Math.max(...(current === undefined ? [] : [current]), ...writes),
);

/** Distinct items in the order in which they came; equal means the same JSON for objects, the same value otherwise. */
function union<Item>(): MergeRule<readonly Item[], readonly Item[]> {
  return rule<readonly Item[], readonly Item[]>("union", (current, writes) => {
    const seen = new Map<unknown, Item>();
    for (const item of [current ?? [], ...writes].flatMap((items) => [...items])) {
      const key = typeof item === "object" && item !== null ? `json:${JSON.stringify(item)}` : item;
      if (!seen.has(key)) seen.set(key, item);
    }
    return [...seen.values()];
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

/** The rules a field can have. */
export const Merge = Object.freeze({ last, append, sum, min, max, union, assign, by });
