// Properties proved: each merge rule sees the current value and all writes of a superstep, in order, and changes neither.
import { describe, expect, test } from "vitest";
import { Merge } from "../../../src/flow/index.js";

describe("R3: merge rules", () => {
  test("last takes the newest write, also a written undefined, and keeps the value when nothing was written", () => {
    const rule = Merge.last<number | undefined>();
    expect([rule.apply(1, [2, 3]), rule.apply(1, []), rule.apply(1, [2, undefined])]).toEqual([3, 1, undefined]);
  });

  test("append adds items as concat does", () => {
    const current = Object.freeze([1]);
    expect(Merge.append<number>().apply(current, [2, [3, 4]])).toEqual([1, 2, 3, 4]);
    expect(Merge.append<number>().apply(undefined, [])).toEqual([]);
  });

  test("sum, min and max count the current value, however many writes there are", () => {
    const writes = Array.from({ length: 200_000 }, (_, index) => index);
    expect(Merge.sum.apply(1, [2, 3])).toBe(6);
    expect([Merge.min.apply(-1, writes), Merge.max.apply(undefined, writes)]).toEqual([-1, 199_999]);
  });

  test("union keeps the first of equal items: objects by their JSON, and never a text for an object", () => {
    const rule = Merge.union<unknown>();
    expect(rule.apply([{ a: 1, b: 2 }], [[{ b: 2, a: 1 }, { a: 1 }]])).toEqual([{ a: 1, b: 2 }, { a: 1 }]);
    expect(rule.apply([], [["1", 1, 1, null, '{"a":1}', 'json:{"a":1}', { a: 1 }]])).toEqual([
      "1",
      1,
      null,
      '{"a":1}',
      'json:{"a":1}',
      { a: 1 },
    ]);
    const [one, other] = [new Map(), new Map()];
    expect(rule.apply([one], [[other, one]])).toEqual([one, other]);
  });

  test("assign lets later fields win, and a __proto__ field stays data", () => {
    const hostile: object = JSON.parse('{"__proto__":{"admin":true}}');
    const merged = Merge.assign<object>().apply({ a: 1, b: 1 }, [{ b: 2 }, hostile]);
    expect(merged).toMatchObject({ a: 1, b: 2 });
    expect("admin" in merged).toBe(false);
  });

  test("by is a rule of the user's", () => {
    expect(
      Merge.by((current: number | undefined, writes: readonly number[]) => (current ?? 0) - writes.length).apply(
        5,
        [1, 1],
      ),
    ).toBe(3);
  });
});
