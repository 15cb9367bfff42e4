// Properties proved: timeout, retries, cache, once per run, parallel and cost are refused at once and by name when they
// cannot work; what is settled is complete, frozen and read once; none of it is part of the definition digest.
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ToolUsageError } from "../../../src/errors.js";
import { defineTool } from "../../../src/tools/define-tool.js";
import type { AnyToolSpec } from "../../../src/tools/spec.js";

const base = {
  name: "rate",
  description: "Finds a rate.",
  inputSchema: z.object({ to: z.string() }),
  execute: () => 4,
};
// Programs in plain JavaScript pass anything.
const define = (change: Record<string, unknown>): AnyToolSpec => defineTool({ ...base, ...change });
const LONGEST = 2 ** 31 - 1;

/** Values that are refused for one option or a part of one, each with its place in the options. */
function refusals(
  option: string,
  values: readonly unknown[],
  options: (value: unknown) => Record<string, unknown> = (value) => ({ [option]: value }),
): [string, string, Record<string, unknown>][] {
  return values.map((value) => [option, typeof value === "bigint" ? `${value}n` : show(value), options(value)]);
}
function show(value: unknown): string {
  return typeof value === "number" || typeof value === "function"
    ? String(value)
    : (JSON.stringify(value) ?? "undefined");
}

const retries = (part: string) => (value: unknown) => ({ retries: { maxAttempts: 3, [part]: value } });
const cache = (part: string) => (value: unknown) => ({
  effects: "read",
  cache: { ttlMs: 1000, scope: "run", [part]: value },
});
const NO_DELAY = [-1, NaN, Infinity, 2 ** 31, "5", null, true];
const NO_FLAG = ["yes", 1, 0, null, () => true];
const read = { effects: "read", cache: { ttlMs: 1000, scope: "run" } };

describe("G1/limits: what cannot work is refused at once, naming the tool and the option", () => {
  const refused: readonly [string, string, Record<string, unknown>][] = [
    ...refusals("retries", [-1, 0.5, NaN, Infinity, 101, "2", 2n, null, true, [3], () => 2]),
    ...refusals("retries.maxAttempts", [undefined, 0, -1, 1.5, NaN, Infinity, 102, "3", null], retries("maxAttempts")),
    ...refusals("retries.initialDelayMs", NO_DELAY, retries("initialDelayMs")),
    ...refusals("retries.maxDelayMs", NO_DELAY, retries("maxDelayMs")),
    ...refusals("retries.factor", [0.9, 0, -2, NaN, Infinity, "2", null], retries("factor")),
    ...refusals("retries.jitter", NO_FLAG, retries("jitter")),
    ...refusals("retries.retryOn", [true, "TypeError", null, /x/], retries("retryOn")),
    ...refusals("retries.maxRetries", [3], retries("maxRetries")),
    ...refusals("cache", [true, 1000, "run", null, [1000, "run"]], (value) => ({ effects: "read", cache: value })),
    ...refusals("cache.ttlMs", [undefined, 0, 0.5, -1, NaN, Infinity, 2 ** 53, "5", 5n, null], cache("ttlMs")),
    ...refusals("cache.scope", [undefined, "thread", "Run", "toString", 1, null], cache("scope")),
    ...refusals("cache.ttl", [5], cache("ttl")),
    ...refusals("oncePerRun", NO_FLAG),
    ...refusals("parallelSafe", NO_FLAG),
    ...refusals("cost", [-1, NaN, Infinity, -Infinity, "5", 5n, null, true, {}]),
  ];
  test.each(refused)("%s of %s", (option, _, change) => {
    const message = expect.stringContaining(`tool "rate": bad option "${option}": `);
    expect(() => define(change)).toThrow(ToolUsageError);
    expect(() => define(change)).toThrow(expect.objectContaining({ message, tool: "rate" }));
  });

  test.each(["0", "-1", "0.5", "NaN", '"5"', "5n", "null", "true", "2 ** 31", "2 ** 31 - 0.5", "Infinity", "30 days"])(
    "G1/limits, B37: timeoutMs of %s",
    (given) => {
      const values: Record<string, unknown> = {
        "0": 0,
        "-1": -1,
        "0.5": 0.5,
        NaN,
        '"5"': "5",
        "5n": 5n,
        null: null,
        true: true,
        "2 ** 31": 2 ** 31,
        "2 ** 31 - 0.5": 2 ** 31 - 0.5,
        Infinity,
        "30 days": 30 * 86_400_000,
      };
      expect(() => define({ timeoutMs: values[given] })).toThrow(
        /tool "rate": bad option "timeoutMs": .*at most 2147483647/,
      );
    },
  );

  test.each(["write", "destructive", undefined])("a cache with effects %s, although it looks idempotent", (effects) => {
    const change = { ...read, effects, idempotent: true };
    expect(() => define(change)).toThrow(/tool "rate": bad option "cache": .*effects: "read"/);
  });

  test.each([
    ["true", true],
    ["a predicate", () => false],
  ])("a cache with confirm as %s, which would run unasked", (_, confirm) => {
    expect(() => define({ ...read, confirm })).toThrow(/tool "rate": bad option "cache": .*confirm/);
  });

  test("no message quotes what was given", () => {
    for (const option of ["timeoutMs", "retries", "cache", "oncePerRun", "parallelSafe", "cost"]) {
      const thrown = expect.objectContaining({ message: expect.not.stringContaining("hunter2") });
      expect(() => define({ effects: "read", [option]: "hunter2" })).toThrow(thrown);
    }
  });
});

describe("what is settled", () => {
  const once = { maxAttempts: 1, initialDelayMs: 200, factor: 2, maxDelayMs: 10_000, jitter: true, retryOn: undefined };

  test("G1/limits: the defaults are those of the table", () => {
    const spec = define({});
    expect(spec).toMatchObject({
      timeoutMs: undefined,
      cache: undefined,
      oncePerRun: false,
      parallelSafe: false,
      cost: 0,
    });
    expect(spec.retry).toStrictEqual(once);
    expect(define({ effects: "read" }).parallelSafe).toBe(true);
    expect(define({ effects: "read", parallelSafe: false }).parallelSafe).toBe(false);
    expect(define({ parallelSafe: true }).parallelSafe).toBe(true);
  });

  test("an option given as undefined has its default", () => {
    const none = { timeoutMs: undefined, retries: undefined, cache: undefined, oncePerRun: undefined };
    const spec = define({ ...none, effects: "read", parallelSafe: undefined, cost: undefined });
    expect(spec).toMatchObject({
      timeoutMs: undefined,
      cache: undefined,
      oncePerRun: false,
      parallelSafe: true,
      cost: 0,
    });
    expect(spec.retry).toStrictEqual(once);
  });

  test.each([1, 1.5, LONGEST])("B37: a timeoutMs of %d is taken as it is", (timeoutMs) => {
    expect(define({ timeoutMs }).timeoutMs).toBe(timeoutMs);
  });

  test.each([0, 1, 2, 100])("%d retries are one attempt more", (number) => {
    expect(define({ retries: number }).retry).toStrictEqual({ ...once, maxAttempts: number + 1 });
  });

  test("a retry policy keeps what is said and fills in the rest", () => {
    expect(define({ retries: { maxAttempts: 101 } }).retry).toStrictEqual({ ...once, maxAttempts: 101 });
    const said = {
      maxAttempts: 1,
      initialDelayMs: 0,
      factor: 1,
      maxDelayMs: LONGEST,
      jitter: false,
      retryOn: () => true,
    };
    expect(define({ retries: said }).retry).toStrictEqual(said);
    expect(define({ retries: { ...said, maxDelayMs: 0, initialDelayMs: LONGEST, factor: 1.5 } }).retry).toStrictEqual({
      ...said,
      maxDelayMs: 0,
      initialDelayMs: LONGEST,
      factor: 1.5,
    });
  });

  test.each(["run", "principal", "shared"])("a cache of scope %s is kept; its ttlMs is not a timer", (scope) => {
    for (const ttlMs of [1, 1.5, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      expect(define({ effects: "read", cache: { ttlMs, scope } }).cache).toStrictEqual({ ttlMs, scope });
    }
  });

  test("a cache goes with confirm: false and with oncePerRun", () => {
    const spec = define({ ...read, confirm: false, oncePerRun: true });
    expect(spec).toMatchObject({ cache: read.cache, oncePerRun: true });
  });

  test("cost is a number from 0 or the function itself", () => {
    const cost = (): number => 3;
    expect([0, 0.25, 1e9, cost].map((given) => define({ cost: given }).cost)).toEqual([0, 0.25, 1e9, cost]);
  });

  test("the parts are frozen copies: changing the options afterwards changes nothing", () => {
    const options = { effects: "read", retries: { maxAttempts: 2 }, cache: { ttlMs: 5, scope: "run" } };
    const spec = define(options);
    options.retries.maxAttempts = 9;
    options.cache.scope = "shared";
    expect([spec.retry.maxAttempts, spec.cache?.scope]).toEqual([2, "run"]);
    expect(Object.isFrozen(spec.retry) && Object.isFrozen(spec.cache)).toBe(true);
  });

  test("G1/limits: every part is read once, so that a getter cannot widen a scope later", () => {
    const reads: string[] = [];
    const counting = (of: Record<string, unknown>): unknown =>
      new Proxy(of, {
        get(target, key) {
          reads.push(String(key));
          return Reflect.get(target, key);
        },
      });
    define({
      effects: "read",
      cache: counting({ ttlMs: 5, scope: "run" }),
      retries: counting({ maxAttempts: 2, factor: 3 }),
    });
    expect(reads.toSorted()).toEqual(["factor", "maxAttempts", "scope", "ttlMs"]);
  });

  test.each([
    ["timeoutMs", { timeoutMs: 5 }],
    ["retries", { retries: 5 }],
    ["cache", { cache: { ttlMs: 5, scope: "shared" } }],
    ["oncePerRun", { oncePerRun: true }],
    ["parallelSafe", { parallelSafe: false }],
    ["cost", { cost: 5 }],
  ])("%s is no part of the definition digest", (_, change) => {
    expect(define({ effects: "read", ...change }).definitionDigest).toBe(define({ effects: "read" }).definitionDigest);
  });

  test("the spec remembers whether confirm was said", () => {
    expect(define({}).confirmStated).toBe(false);
    const stated = [false, true, () => true].map((confirm) => define({ confirm }).confirmStated);
    expect(stated).toEqual([true, true, true]);
  });
});
