// Properties proved: raw arguments are a JSON object within limits or refused; the schema runs once on a private copy and all
// see one frozen value; edits and approved calls are fixed points; messages name fields and never hold values.
import { describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { DEFAULT_JSON_LIMITS, type JsonLimits } from "../../../src/crypto/canonical-json.js";
import { ToolArgsInvalid, ToolFailed, ToolUsageError } from "../../../src/errors.js";
import { defineTool } from "../../../src/tools/define-tool.js";
import type { AnyToolSpec, InputSchema, ToolOptions } from "../../../src/tools/spec.js";

const LIMITS = DEFAULT_JSON_LIMITS;
const define = (inputSchema: InputSchema): AnyToolSpec =>
  defineTool({ name: "pay", description: "d", inputSchema, execute: () => 1 });
const parse = async (schema: InputSchema, raw: unknown, limits: JsonLimits = LIMITS): Promise<unknown> =>
  define(schema).parseArguments(raw, limits);
const parseResult = async (spec: AnyToolSpec, value: unknown): Promise<unknown> => spec.parseResult(value);
const failure = async (promise: Promise<unknown>): Promise<Error> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("should have been refused");
};
const anything = z.looseObject({});
const plainAnything = { type: "object" };

/** A Standard Schema written by hand; `jsonSchema` lets every object through unless given. */
function byHand(validate: (value: unknown) => unknown, jsonSchema: object = { type: "object" }): InputSchema {
  const converter = { input: () => jsonSchema, output: () => jsonSchema };
  return { "~standard": { version: 1, vendor: "hand", validate, jsonSchema: converter } };
}

describe("raw arguments", () => {
  const noObjects: readonly (readonly [string, unknown])[] = [
    ["undefined", undefined],
    ["null", null],
    ["an array", []],
    ["JSON text", '{"a":1}'],
    ["a number", 5],
    ["a function", () => ({})],
    ["a Date", new Date(0)],
    ["a Map", new Map()],
    ["a boxed string", Object("x")],
  ];
  describe.each([
    ["zod", anything],
    ["plain JSON Schema", plainAnything],
    ["a schema that takes everything", byHand((value) => ({ value }))],
  ])("%s", (_, schema: InputSchema) => {
    test.each(noObjects)("G3 B31: %s is no JSON object and never becomes {}", async (_name, raw) => {
      expect(await failure(parse(schema, raw))).toBeInstanceOf(ToolArgsInvalid);
    });

    const cycle: Record<string, unknown> = {};
    cycle["a"] = cycle;
    const notJson: readonly (readonly [string, unknown])[] = [
      ["NaN", NaN],
      ["Infinity", -Infinity],
      ["a BigInt", 1n],
      ["half a surrogate pair", "x\ud83d"],
      ["a key with half a surrogate pair", { "\udc00": 1 }],
      ["a function", () => 1],
      ["a symbol", Symbol("x")],
      ["a Date", new Date(0)],
      ["a class instance", new URL("https://a.test")],
      ["a sparse array", [, 1]], // oxlint-disable-line no-sparse-arrays
      ["a cycle", cycle],
    ];
    test.each(notJson)("G3 B51: %s inside is refused", async (_name, value) => {
      expect(await failure(parse(schema, { deep: [{ value }] }))).toBeInstanceOf(ToolArgsInvalid);
    });

    test("G3: a getter is refused and does not run", async () => {
      const getter = vi.fn<() => number>(() => 1);
      const raw = Object.defineProperty({}, "a", { get: getter, enumerable: true });
      expect(await failure(parse(schema, raw))).toBeInstanceOf(ToolArgsInvalid);
      expect(getter).not.toHaveBeenCalled();
    });

    test("G3 B51: valid emoji, NUL, combining marks and bidirectional marks pass unchanged", async () => {
      const text = "\u{1F600}\0e\u0301\u202E";
      expect(await parse(schema, { text, [text]: 1 })).toEqual({ text, [text]: 1 });
    });

    test("G3: what is too deep or too large is refused, at the limit it is not", async () => {
      const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });
      await parse(schema, nested(64));
      expect(await failure(parse(schema, nested(65)))).toBeInstanceOf(ToolArgsInvalid);
      const limits = { maxDepth: 3, maxBytes: 20 };
      await parse(schema, { a: "x".repeat(12) }, limits);
      expect((await failure(parse(schema, { a: "x".repeat(13) }, limits))).message).toContain("too large");
    });

    test("G3: a hostile value is refused in bounded time", async () => {
      const limits = { maxDepth: 64, maxBytes: 1_048_576 };
      let deep: unknown = 1;
      for (let i = 0; i < 200_000; i += 1) deep = [deep];
      const wide = Object.fromEntries(Array.from({ length: 300_000 }, (_item, index) => [`k${index}`, 2 ** 60]));
      expect(await failure(parse(schema, { deep }, limits))).toBeInstanceOf(ToolArgsInvalid);
      expect(await failure(parse(schema, wide, limits))).toBeInstanceOf(ToolArgsInvalid);
    });

    test("G3 B32: an own __proto__ key at any depth is refused", async () => {
      for (const text of ['{"__proto__":{"admin":true},"k":1}', '{"a":[{"__proto__":{"admin":true}}]}']) {
        const error = await failure(parse(schema, JSON.parse(text)));
        expect(error).toBeInstanceOf(ToolArgsInvalid);
        expect(error.message).not.toContain("admin");
      }
      expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
    });

    test("G3 B32: constructor and prototype keys stay own data", async () => {
      const raw: unknown = JSON.parse('{"constructor":{"prototype":{"admin":true}},"hasOwnProperty":1}');
      const parsed = await parse(schema, raw);
      expect(parsed).toEqual(raw);
      expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
      expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
    });
  });
});

describe("integers", () => {
  const unsafe = Number("9007199254740993");
  const integer = { type: "integer" };
  const schemas: readonly (readonly [string, InputSchema, unknown])[] = [
    ["zod integer", z.object({ id: z.number().int() }), { id: unsafe }],
    ["zod coerced integer", z.object({ id: z.coerce.number().int() }), { id: unsafe }],
    ["negative", z.object({ id: z.int() }), { id: -unsafe }],
    ["far beyond", z.object({ id: z.int() }), { id: 1e300 }],
    ["plain integer", { type: "object", properties: { id: integer } }, { id: unsafe }],
    ["items", { type: "object", properties: { id: { items: integer } } }, { id: [1, unsafe] }],
    ["prefixItems", { type: "object", properties: { id: { prefixItems: [{}, integer] } } }, { id: [1, unsafe] }],
    [
      "items after prefixItems",
      { type: "object", properties: { id: { prefixItems: [{}], items: integer } } },
      { id: [1, unsafe] },
    ],
    ["additionalProperties", { type: "object", additionalProperties: integer }, { x: unsafe }],
    [
      "additionalProperties beside properties",
      { type: "object", properties: { a: {} }, additionalProperties: integer },
      { a: 1, x: unsafe },
    ],
    ["patternProperties", { type: "object", patternProperties: { "^n": integer } }, { n1: unsafe }],
    ["anyOf", { type: "object", properties: { id: { anyOf: [{ type: "string" }, integer] } } }, { id: unsafe }],
    ["oneOf at the root", { oneOf: [{ properties: { id: integer } }] }, { id: unsafe }],
    ["allOf", { type: "object", allOf: [{ properties: { id: integer } }] }, { id: unsafe }],
    [
      "then",
      Object.fromEntries([
        ["if", {}],
        ["then", { type: "object", properties: { id: integer } }],
        ["type", "object"],
      ]),
      { id: unsafe },
    ],
    ["a nullable type", { type: "object", properties: { id: { type: ["integer", "null"] } } }, { id: unsafe }],
    ["a ref", { type: "object", properties: { id: { $ref: "#/$defs/id" } }, $defs: { id: integer } }, { id: unsafe }],
    [
      "a recursive ref",
      { type: "object", properties: { n: integer, next: { $ref: "#" } } },
      { n: 1, next: { n: 1, next: { n: unsafe } } },
    ],
  ];
  test.each(schemas)("G3 B27: an unsafe integer is refused as such: %s", async (_, schema, raw) => {
    const error = await failure(parse(schema, raw));
    expect(error).toBeInstanceOf(ToolArgsInvalid);
    expect(error.message).toContain("unsafe integer");
    expect(error.message).not.toMatch(/900719925474099|1e\+?300/);
  });

  test("B27: the field is named", async () => {
    const schema = z.object({ order: z.object({ ids: z.array(z.int()) }) });
    const error = await failure(parse(schema, { order: { ids: [1, unsafe] } }));
    expect(error.message).toContain("order.ids.1: is an unsafe integer");
  });

  test("B27: an edit with an unsafe integer is refused", async () => {
    const spec = define(z.object({ id: z.int() }));
    expect((await failure(spec.parseEditedArguments({ id: unsafe }, LIMITS))).message).toContain("unsafe integer");
    expect(() => spec.parseEditedArgumentsSync({ id: unsafe }, LIMITS)).toThrow("unsafe integer");
  });

  test("B27: as text it passes byte for byte; safe integers and other numbers pass", async () => {
    expect(await parse(z.object({ id: z.string() }), { id: "9007199254740993" })).toEqual({ id: "9007199254740993" });
    const edges = { id: Number.MAX_SAFE_INTEGER };
    expect(await parse(z.object({ id: z.int() }), edges)).toEqual(edges);
    expect(await parse(z.object({ n: z.number() }), { n: 1e300 })).toEqual({ n: 1e300 });
    const schema = { type: "object", properties: { id: integer }, additionalProperties: { type: "number" } };
    expect(await parse(schema, { id: 1, other: 2 ** 60 })).toEqual({ id: 1, other: 2 ** 60 });
  });

  test("G3 B27: schemas that meet again and again are looked at once", async () => {
    const level = (n: number): object => ({ allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] });
    const defs = Array.from({ length: 40 }, (_, n) => [`d${n}`, n < 39 ? level(n) : { type: "object" }]);
    const schema = byHand((value) => ({ value }), { $ref: "#/$defs/d0", $defs: Object.fromEntries(defs) });
    expect(await parse(schema, { a: unsafe })).toEqual({ a: unsafe });
  });

  test("G3 B27: the search ends on schemas that branch at every level, and in bounded time", async () => {
    const schema = {
      $ref: "#/$defs/n",
      $defs: {
        n: {
          type: "object",
          properties: { a: { anyOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/m" }, { type: "number" }] } },
        },
        m: { $ref: "#/$defs/n" },
      },
    };
    let raw: Record<string, unknown> = { b: 2 ** 60 };
    for (let i = 0; i < 14; i += 1) raw = { a: raw };
    // Whichever way it ends: it ends.
    const ended = await parse(schema, raw).then(
      () => true,
      () => true,
    );
    expect(ended).toBe(true);
  });
});

describe("the schema runs once and everybody sees one value", () => {
  test("G3 B19: defaults, coercions and transforms are applied once; the caller's object is untouched", async () => {
    let counter = 0;
    const schema = z.object({
      dangerous: z.boolean().default(true),
      amount: z.coerce.number(),
      note: z.string().transform((text) => text.trim()),
      id: z.number().default(() => (counter += 1)),
    });
    const raw = { amount: "5", note: " hi " };
    const spec = define(schema);
    // Zod computes defaults when it is converted.
    counter = 0;
    const parsed = await spec.parseArguments(raw, LIMITS);
    expect(parsed).toEqual({ dangerous: true, amount: 5, note: "hi", id: 1 });
    expect(counter).toBe(1);
    expect(raw).toEqual({ amount: "5", note: " hi " });
    expect(Object.isFrozen(raw)).toBe(false);
  });

  test("G3: the validator is called once per parse, sync or async", async () => {
    const validate = vi.fn<(value: unknown) => unknown>((value) => ({ value }));
    await parse(byHand(validate), { a: 1 });
    expect(validate).toHaveBeenCalledTimes(1);
    const late = vi.fn<(value: unknown) => Promise<unknown>>(async (value) => ({ value }));
    expect(await parse(byHand(late), { a: 1 })).toEqual({ a: 1 });
    expect(late).toHaveBeenCalledTimes(1);
  });

  test("B19: the schema works on a private copy, which it may change", async () => {
    const inner = { list: [1] };
    const schema = z.preprocess((value) => {
      if (typeof value === "object" && value !== null) Object.assign(value, { added: true });
      return value;
    }, z.looseObject({}));
    const parsed = await parse(schema, inner);
    inner.list.push(2);
    expect(parsed).toEqual({ list: [1], added: true });
    expect(inner).toEqual({ list: [1, 2] });
  });

  test("G3: plain objects and arrays of the parsed value are frozen at every depth, class instances are not", async () => {
    const when = new Date(0);
    const schema = anything.transform((value) => ({ value, when, list: [{ when }] }));
    const parsed = await parse(schema, { a: { b: [{}] } });
    expect(parsed).toEqual({ value: { a: { b: [{}] } }, when, list: [{ when }] });
    const visit = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      expect(Object.isFrozen(value)).toBe(!(value instanceof Date));
      Object.values(value).forEach(visit);
    };
    visit(parsed);
    expect(Reflect.get(Object(parsed), "when")).toBe(when);
  });

  test("a default that the schema keeps is neither frozen nor shared", async () => {
    const kept = { tags: ["x"] };
    const schema = byHand(() => ({ value: kept }));
    const parsed = await parse(schema, {});
    kept.tags.push("y");
    expect(parsed).toEqual({ tags: ["x"] });
  });

  test("a parsed value that contains itself is still one value", async () => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    const parsed = await parse(
      byHand(() => ({ value: loop })),
      {},
    );
    expect(Reflect.get(Object(parsed), "self")).toBe(parsed);
  });
});

describe("messages", () => {
  const SECRET = "s3cr3t-4111111111111111";
  const withSecrets: readonly (readonly [string, InputSchema, unknown, string])[] = [
    ["a wrong type", z.object({ card: z.number() }), { card: SECRET }, "card: must be number"],
    ["a wrong value", z.object({ card: z.enum(["a"]) }), { card: SECRET }, "card: is not one of the allowed values"],
    [
      "a custom message",
      z.object({ card: z.string().refine(() => false, { error: (issue) => `bad ${String(issue.input)}` }) }),
      { card: SECRET },
      "card: is not valid",
    ],
    ["an unknown key", z.strictObject({}), { [SECRET]: 1 }, "the value has unknown fields"],
    [
      "a record key",
      z.object({ cards: z.record(z.string(), z.number()) }),
      { cards: { [SECRET]: "x" } },
      "cards.*: must be number",
    ],
    [
      "a numeric record key",
      z.object({ cards: z.record(z.string(), z.number()) }),
      { cards: { "4111": "x" } },
      "cards.*: must be number",
    ],
    ["a missing field", z.object({ card: z.string() }), { other: SECRET }, "card: is required"],
    ["a list item", z.object({ cards: z.array(z.number()) }), { cards: [1, SECRET] }, "cards.1: must be number"],
    [
      "plain: a wrong type",
      { type: "object", properties: { card: { type: "number" } } },
      { card: SECRET },
      "card: has the wrong type",
    ],
    [
      "plain: a const",
      { type: "object", properties: { card: { const: "a" } } },
      { card: SECRET },
      "card: is not the allowed value",
    ],
    ["plain: an unknown key", { type: "object", additionalProperties: false }, { [SECRET]: 1 }, "*: is not allowed"],
    ["plain: a missing field", { type: "object", required: ["card"] }, { other: SECRET }, "card: is required"],
    [
      "plain: an odd field name",
      { type: "object", properties: { "a/b~c%": { items: { type: "number" } } } },
      { "a/b~c%": [SECRET] },
      "a/b~c%.0: has the wrong type",
    ],
    [
      "plain: a pattern",
      { type: "object", properties: { card: { pattern: "^x" } } },
      { card: SECRET },
      'card: does not fit "pattern"',
    ],
    [
      "not JSON",
      z.object({ card: z.number() }),
      { card: { [SECRET]: NaN } },
      "card: holds a number that is not finite",
    ],
    ["not JSON, below an unknown key", z.object({ card: z.number() }), { s3cr3t: NaN }, "the value holds a number"],
    [
      "a code that is a value",
      byHand(() => ({ issues: [{ message: SECRET, code: SECRET, path: [SECRET] }] })),
      { [SECRET]: 1 },
      "*: is not valid",
    ],
    [
      "an expected that is a value",
      byHand(() => ({ issues: [{ message: "", code: "invalid_type", expected: SECRET }] })),
      {},
      "the value has the wrong type",
    ],
  ];
  test.each(withSecrets)("N1 G3: %s is named without values", async (_, schema, raw, words) => {
    const error = await failure(parse(schema, raw));
    expect(error).toBeInstanceOf(ToolArgsInvalid);
    expect(error.message).toContain(words);
    expect(error.message).toContain('tool "pay"');
    expect(error.message).not.toMatch(/s3cr3t|4111/);
    expect(error.cause).toBeUndefined();
  });

  test("plain: what wraps a fault is not repeated", async () => {
    const schema = { type: "object", properties: { a: { type: "array", items: { allOf: [{ type: "number" }] } } } };
    const { message } = await failure(parse(schema, { a: ["x"] }));
    expect(message).toBe('arguments of tool "pay" are not valid: a.0: has the wrong type');
    const choice = { type: "object", properties: { a: { oneOf: [{ type: "number" }, { minimum: 0 }] } } };
    expect((await failure(parse(choice, { a: 1 }))).message).toContain("a: must fit exactly one of the alternatives");
  });

  test("N1: number and length are bounded", async () => {
    const fields = Array.from({ length: 50 }, (_, index) => [`${"f".repeat(100)}${index}`, z.string()]);
    const { message } = await failure(parse(z.object(Object.fromEntries(fields)), {}));
    expect(message.length).toBeLessThan(600);
    const many = byHand(() => ({
      issues: Array.from({ length: 200_000 }, (_, index) => ({ message: "", path: Array(100).fill(index) })),
    }));
    expect((await failure(parse(many, {}))).message.length).toBeLessThan(600);
    const short = z.object(Object.fromEntries("abcdefgh".split("").map((name) => [name, z.string()])));
    expect((await failure(parse(short, {}))).message).toMatch(/: a: is required; .*; e: is required; and more$/);
  });

  test("path segments may be objects, symbols or missing", async () => {
    const issues = [{ message: "", path: [{ key: "a" }, Symbol("x")] }, { message: "" }, { path: "odd" }, null];
    const schema = byHand(() => ({ issues }), { type: "object", properties: { a: {} } });
    expect((await failure(parse(schema, { a: 1 }))).message).toContain("a.*: is not valid; the value is not valid");
  });
});

describe("schemas that misbehave", () => {
  const boom = new Error("boom");
  const throwing: readonly (readonly [string, InputSchema])[] = [
    [
      "throws",
      byHand(() => {
        throw boom;
      }),
    ],
    ["rejects", byHand(() => Promise.reject(boom))],
    [
      "has a transform that throws",
      anything.transform(() => {
        throw boom;
      }),
    ],
  ];
  test.each(throwing)("G3: a schema that %s is a ToolUsageError with the cause", async (_, schema) => {
    const error = await failure(parse(schema, {}));
    expect(error).toBeInstanceOf(ToolUsageError);
    expect(error.cause).toBe(boom);
  });

  test("G3: a schema that returns no result is a ToolUsageError", async () => {
    expect(
      await failure(
        parse(
          byHand(() => undefined),
          {},
        ),
      ),
    ).toBeInstanceOf(ToolUsageError);
  });

  test("G3: too many errors for the validator's stack are ToolArgsInvalid", async () => {
    const schema = { allOf: [{ type: "object", unevaluatedProperties: false }], type: "object" };
    const raw = Object.fromEntries(Array.from({ length: 130_000 }, (_, index) => [`k${index}`, 1]));
    expect(await failure(parse(schema, raw, { maxDepth: 3, maxBytes: 1e7 }))).toBeInstanceOf(ToolArgsInvalid);
  });

  test("G3: uniqueItems on a huge array is refused in bounded time, on a small one it is checked", async () => {
    const schema = { type: "object", properties: { a: { type: "array", uniqueItems: true } } };
    const raw = { a: Array.from({ length: 200_000 }, (_, index) => index) };
    expect((await failure(parse(schema, raw, { maxDepth: 3, maxBytes: 1e7 }))).message).toContain(
      "more than 2000 items",
    );
    await parse(schema, { a: [1, 2] });
    expect((await failure(parse(schema, { a: [1, 1] }))).message).toContain("uniqueItems");
  });
});

describe("fixed points", () => {
  const isFixed = async (schema: InputSchema, raw: unknown): Promise<void> => {
    const spec = define(schema);
    await spec.assertFixedPoint(await spec.parseArguments(raw, LIMITS), LIMITS);
  };

  test("G5 B19: defaults, coercions and trimming are fixed points", async () => {
    let counter = 0;
    const schema = z.object({
      amount: z.coerce.number(),
      note: z.string().trim(),
      id: z.number().default(() => (counter += 1)),
      missing: z.string().optional(),
    });
    const spec = define(schema);
    counter = 0;
    await spec.assertFixedPoint(await spec.parseArguments({ amount: "5", note: " hi " }, LIMITS), LIMITS);
    expect(counter).toBe(1);
    await isFixed(plainAnything, { a: [1] });
  });

  const moving: readonly (readonly [string, InputSchema, unknown])[] = [
    ["a transform to another type", z.object({ a: z.string().transform((text) => text.length) }), { a: "x" }],
    ["a transform that moves on", z.object({ a: z.number().transform((n) => n + 1) }), { a: 1 }],
    [
      "a transform to a Date",
      z.object({ a: z.iso.datetime().transform((text) => new Date(text)) }),
      { a: "2024-01-01T00:00:00Z" },
    ],
    ["a transform to a Map", anything.transform((value) => new Map(Object.entries(value))), { a: 1 }],
    ["a transform to a function", z.object({ a: z.string().transform((text) => () => text) }), { a: "x" }],
    ["a default that is not JSON", z.object({ a: z.any().default(() => NaN) }), {}],
    ["a value made anew each time", anything.transform((value) => ({ ...value, id: Math.random() })), {}],
    ["a root that is no object", anything.transform(() => "text"), {}],
  ];
  test.each(moving)("G5: %s is refused, telling what to do", async (_, schema, raw) => {
    const error = await failure(isFixed(schema, raw));
    expect(error).toBeInstanceOf(ToolUsageError);
    expect(error.message).toMatch(/tool "pay".*move the transform into execute/);
  });

  test("G5: the same members in another order on the second parse are a fixed point", async () => {
    let parses = 0;
    const schema = byHand(() => {
      parses += 1;
      return { value: parses === 1 ? { a: 1, b: { c: 2, d: 3 } } : { b: { d: 3, c: 2 }, a: 1 } };
    });
    await expect(isFixed(schema, {})).resolves.toBeUndefined();
    expect(parses).toBe(2);
  });

  test("G5: what a default made too large is the caller's fault, not the schema's", async () => {
    const spec = define(z.object({ a: z.string().default("x".repeat(50)) }));
    const limits = { maxDepth: 3, maxBytes: 20 };
    const error = await failure(spec.assertFixedPoint(await spec.parseArguments({}, limits), limits));
    expect(error).toBeInstanceOf(ToolArgsInvalid);
  });

  test("G5: a schema that throws on its own output is a ToolUsageError with the cause", async () => {
    const boom = new Error("boom");
    let calls = 0;
    const schema = byHand((value) => {
      calls += 1;
      if (calls > 1) throw boom;
      return { value };
    });
    expect((await failure(isFixed(schema, {}))).cause).toBe(boom);
  });
});

describe("edits", () => {
  const schema = z.object({ amount: z.number().max(10), note: z.string().trim().default("none") });

  test("G5 B19: an edit is parsed by the same schema and comes back frozen, with and without waiting", async () => {
    const spec = define(schema);
    const edited = { amount: 5, note: " x " };
    const parsed = await spec.parseEditedArguments(edited, LIMITS);
    expect(parsed).toEqual({ amount: 5, note: "x" });
    expect(Object.isFrozen(parsed)).toBe(true);
    expect(spec.parseEditedArgumentsSync(edited, LIMITS)).toEqual(parsed);
    const plain = define({ type: "object", properties: { a: { type: "integer" } } });
    expect(plain.parseEditedArgumentsSync({ a: 1 }, LIMITS)).toEqual({ a: 1 });
  });

  const refused: readonly (readonly [string, InputSchema, unknown])[] = [
    ["does not fit", schema, { amount: 11 }],
    ["is no object", schema, "amount"],
    ["is missing", schema, undefined],
    ["is too large", schema, { amount: 1, note: "x".repeat(2_000_000) }],
    ["has a __proto__ key", schema, JSON.parse('{"amount":1,"__proto__":{}}')],
    ["moves on when it is parsed again", z.object({ a: z.number().transform((n) => n + 1) }), { a: 1 }],
    ["does not fit when it is parsed again", z.object({ a: z.string().transform((text) => text.length) }), { a: "x" }],
    [
      "becomes something that is not JSON",
      z.object({ a: z.string().transform((text) => new Date(text)) }),
      { a: "2024" },
    ],
  ];
  test.each(refused)("G5: an edit that %s is ToolArgsInvalid", async (_, editedSchema, edited) => {
    const spec = define(editedSchema);
    expect(await failure(spec.parseEditedArguments(edited, LIMITS))).toBeInstanceOf(ToolArgsInvalid);
    expect(() => spec.parseEditedArgumentsSync(edited, LIMITS)).toThrow(ToolArgsInvalid);
  });

  test("G5: an asynchronous schema cannot be used without waiting; with waiting it can", async () => {
    const spec = define(z.object({ a: z.string().refine(async (text) => text !== "no") }));
    expect(() => spec.parseEditedArgumentsSync({ a: "x" }, LIMITS)).toThrow(ToolUsageError);
    expect(() => spec.parseEditedArgumentsSync({ a: "x" }, LIMITS)).toThrow(/asynchronously/);
    expect(await spec.parseEditedArguments({ a: "x" }, LIMITS)).toEqual({ a: "x" });
    expect(await failure(spec.parseEditedArguments({ a: "no" }, LIMITS))).toBeInstanceOf(ToolArgsInvalid);
    // Its rejection, which nobody waits for, must not surface as an unhandled one.
    const rejecting = define(byHand(() => Promise.reject(new Error("boom"))));
    expect(() => rejecting.parseEditedArgumentsSync({}, LIMITS)).toThrow(ToolUsageError);
    await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test("G5: a schema that throws is a ToolUsageError without waiting, too", () => {
    const spec = define(
      byHand(() => {
        throw new Error("boom");
      }),
    );
    expect(() => spec.parseEditedArgumentsSync({}, LIMITS)).toThrow(ToolUsageError);
  });
});

describe("results", () => {
  const withOutput = (outputSchema: NonNullable<ToolOptions<InputSchema, unknown>["outputSchema"]>): AnyToolSpec =>
    defineTool({
      name: "pay",
      description: "d",
      inputSchema: plainAnything,
      outputSchema,
      execute: (): unknown => 1,
    });

  test("without outputSchema a result comes back as it is", async () => {
    const result = { when: new Date(0) };
    expect(await define(plainAnything).parseResult(result)).toBe(result);
    expect(await define(plainAnything).parseResult(undefined)).toBeUndefined();
  });

  test("a result is what outputSchema makes of it", async () => {
    const spec = withOutput(z.object({ paid: z.boolean(), at: z.number().default(0) }));
    expect(await spec.parseResult({ paid: true, secret: 1 })).toEqual({ paid: true, at: 0 });
  });

  test("N1: a mismatch is ToolFailed, naming fields and never values", async () => {
    const spec = withOutput(z.object({ paid: z.boolean(), by: z.record(z.string(), z.number()) }));
    const error = await failure(parseResult(spec, { paid: "s3cr3t", by: { s3cr3t: "x" } }));
    expect(error).toBeInstanceOf(ToolFailed);
    expect(error.message).toContain("paid: must be boolean; by.*: must be number");
    expect(error.message).not.toContain("s3cr3t");
  });

  test("an outputSchema without JSON Schema works; one that throws is ToolFailed with the cause", async () => {
    expect(await withOutput(z.date()).parseResult(new Date(0))).toEqual(new Date(0));
    expect(await failure(parseResult(withOutput(z.date()), "x"))).toBeInstanceOf(ToolFailed);
    const boom = new Error("boom");
    const error = await failure(
      parseResult(
        withOutput(
          z.string().transform(() => {
            throw boom;
          }),
        ),
        "x",
      ),
    );
    expect(error).toBeInstanceOf(ToolFailed);
    expect(error.cause).toBe(boom);
  });
});
