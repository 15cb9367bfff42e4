// Properties proved: what the model is shown is 2020-12 with an object root and refs into $defs only, accepts the same values
// as the validator, and what has no JSON Schema is refused at registration, naming the field.
import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { DEFAULT_JSON_LIMITS } from "../../../src/crypto/canonical-json.js";
import { ToolUsageError } from "../../../src/errors.js";
import { defineTool } from "../../../src/tools/define-tool.js";
import type { AnyToolSpec, InputSchema } from "../../../src/tools/spec.js";

const define = (inputSchema: InputSchema): AnyToolSpec =>
  defineTool({ name: "pay", description: "d", inputSchema, execute: () => 1 });
const shown = (inputSchema: InputSchema): Readonly<Record<string, unknown>> => define(inputSchema).inputJsonSchema;

const Tree = z.object({
  value: z.number(),
  get children() {
    return z.array(Tree);
  },
});
const address = z.object({ street: z.string() });
const registered = z.object({ street: z.string() }).meta({ id: "Address", description: "where" });
const pet = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("cat"), lives: z.int() }),
  z.object({ kind: z.literal("dog"), name: z.string() }),
]);

const values: readonly unknown[] = [
  {},
  { a: "x" },
  { a: 1 },
  { a: 1.5 },
  { a: null },
  { a: [] },
  { a: ["x", 1] },
  { a: ["x", "y"] },
  { a: { street: "s" } },
  { a: { street: 5 } },
  { a: { street: "s" }, b: { street: "s" } },
  { a: { street: "s" }, b: {} },
  { a: { x: 1, y: 2 } },
  { a: { x: "no" } },
  { a: "red" },
  { a: "2024-02-30" },
  { a: "2024-02-29" },
  { a: "x", extra: true },
  { a: "x", b: "y" },
  { value: 1, children: [] },
  { value: 1, children: [{ value: 2, children: [] }] },
  { value: 1, children: [{ value: "2", children: [] }] },
  { value: 1, children: [{}] },
  { kind: "cat", lives: 9 },
  { kind: "cat", name: "Tom" },
  { kind: "dog", name: "Rex" },
  { kind: "cow" },
];

const schemas: readonly (readonly [string, InputSchema])[] = [
  ["a required string", z.object({ a: z.string() })],
  ["an optional string", z.object({ a: z.string().optional() })],
  ["a nullable string", z.object({ a: z.string().nullable() })],
  ["a nullish string", z.object({ a: z.string().nullish() })],
  ["a default with a description", z.object({ a: z.string().default("x").describe("what") })],
  ["a described default", z.object({ a: z.string().describe("what").default("x") })],
  ["a prefault", z.object({ a: z.string().prefault("x") })],
  ["an integer", z.object({ a: z.int() })],
  ["a bounded number", z.object({ a: z.number().min(0).max(1) })],
  ["a record", z.object({ a: z.record(z.string(), z.number()) })],
  ["an enum", z.object({ a: z.enum(["red", "green"]) })],
  ["a date as text", z.object({ a: z.iso.date() })],
  ["a transform of text", z.object({ a: z.string().transform((text) => text.length) })],
  ["a tuple", z.object({ a: z.tuple([z.string(), z.number()]) })],
  ["a union", z.object({ a: z.union([z.string(), z.int()]) })],
  ["a strict object", z.strictObject({ a: z.string() })],
  ["a loose object", z.looseObject({ a: z.string() })],
  ["a shared sub-schema", z.object({ a: address, b: address })],
  ["a shared, described sub-schema", z.object({ a: address, b: address.describe("second") })],
  ["a registered sub-schema", z.object({ a: registered, b: registered.describe("second") })],
  ["a registered root", z.object({ a: z.string() }).meta({ id: "Root" })],
  ["a recursive root", Tree],
  ["a lazy recursive root", z.lazy(() => Tree)],
  ["a recursive member", z.object({ a: Tree.optional(), b: Tree.describe("tree").optional() })],
  ["a discriminated union at the root", pet],
  ["an intersection at the root", z.intersection(z.object({ a: z.string() }), z.looseObject({ b: z.any() }))],
  ["a nullable object at the root", z.object({ a: z.string() }).nullable()],
  ["a record at the root", z.record(z.string(), z.string())],
  ["JSON of any kind", z.object({ a: z.json() })],
  ["zod/mini", mini.toJSONSchema(mini.object({ a: mini._default(mini.string(), "x") }))],
  ["zod/mini, recursive and shared", mini.toJSONSchema(mini.object({ a: address, b: mini.optional(Tree) }))],
  ["plain JSON Schema", { type: "object", properties: { a: { type: "string" } }, required: ["a"] }],
  ["plain JSON Schema without a type", { properties: { a: { type: ["string", "null"] } } }],
  [
    "plain JSON Schema with refs to anywhere",
    {
      $id: "https://example.test/pay",
      type: "object",
      properties: {
        a: { type: "object", properties: { street: { $ref: "#/definitions/s~1t" } } },
        b: { $ref: "#/properties/a" },
      },
      definitions: { "s/t": { type: "string" } },
    },
  ],
  [
    "a plain recursive JSON Schema",
    {
      type: "object",
      properties: { value: { type: "number" }, children: { type: "array", items: { $ref: "#" } } },
      required: ["value"],
    },
  ],
  [
    "a plain union of refs",
    {
      oneOf: [{ $ref: "#/$defs/x" }, { $ref: "#/$defs/y" }],
      $defs: { x: { required: ["kind"] }, y: { required: ["a"] } },
    },
  ],
  ["a plain root ref", { $ref: "#/$defs/x", title: "t", $defs: { x: { type: "object", required: ["a"] } } }],
];

function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== "object" || value === null) return;
  yield value;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

describe("JSON Schema for the model", () => {
  test.each(schemas)(
    "G2 B54: %s has an object root and refs into $defs only, and nothing else to resolve",
    (_, schema) => {
      const document = shown(schema);
      expect(document["type"]).toBe("object");
      expect(document).not.toHaveProperty("$ref");
      for (const found of objectsIn(document)) {
        for (const word of ["$id", "$schema", "$anchor", "definitions"]) expect(Object.keys(found)).not.toContain(word);
        const ref: unknown = Reflect.get(found, "$ref");
        if (typeof ref !== "string") continue;
        expect(ref).toMatch(/^#\/\$defs\/[\w.-]+$/);
        expect(document["$defs"]).toHaveProperty([ref.slice(8)]);
        expect(Object.keys(found)).toEqual(["$ref"]);
      }
    },
  );

  test.each(schemas)("B54: %s accepts the same values as JSON Schema and as validator", async (_, schema) => {
    const spec = define(schema);
    const reference = new Validator(
      structuredClone("~standard" in schema ? spec.inputJsonSchema : schema) as object,
      "2020-12",
    );
    const accepted = await Promise.all(
      values.map((value) =>
        Promise.resolve()
          .then(() => spec.parseArguments(value, DEFAULT_JSON_LIMITS))
          .then(
            () => true,
            () => false,
          ),
      ),
    );
    expect(accepted).toEqual(values.map((value) => reference.validate(value).valid));
    expect(new Set(accepted).size, "the samples must tell apart").toBe(2);
  });

  test("G2 B54: fields with a default are not required, however they are described", () => {
    expect(shown(z.object({ a: z.string().default("x").describe("d"), b: z.string() }))).toMatchObject({
      required: ["b"],
    });
    expect(shown(mini.toJSONSchema(mini.object({ a: mini._default(mini.string(), "x") })))).not.toHaveProperty(
      "required",
    );
  });

  test("B54: a description beside a ref does not get lost", () => {
    const document = shown(z.object({ a: registered, b: registered.describe("second") }));
    expect(document).toMatchObject({ properties: { b: { type: "object", description: "second" } } });
  });

  test("B54: a property may have any name", () => {
    const names = ["$ref", "type", "$defs", "properties", "title", "constructor"];
    const document = shown(z.object(Object.fromEntries(names.map((name) => [name, z.string()]))));
    expect(Object.keys(document["properties"] ?? {})).toEqual(names);
  });

  test("B54: definitions of one name at several places stay apart", async () => {
    const spec = define({
      type: "object",
      properties: { a: { $ref: "#/$defs/x" }, b: { $ref: "#/definitions/x" }, c: { $ref: "#/$defs/x/properties/x" } },
      $defs: { x: { type: "object", properties: { x: { type: "null" } } } },
      definitions: { x: { type: "string" } },
    });
    await spec.parseArguments({ a: { x: null }, b: "text", c: null }, DEFAULT_JSON_LIMITS);
    expect(() => spec.parseArguments({ a: "text" }, DEFAULT_JSON_LIMITS)).toThrow("a: has the wrong type");
    expect(() => spec.parseArguments({ c: "text" }, DEFAULT_JSON_LIMITS)).toThrow("c: has the wrong type");
  });
});

describe("schemas that cannot be used", () => {
  const unrepresentable: readonly (readonly [string, InputSchema, string])[] = [
    ["date", z.object({ when: z.object({ start: z.array(z.date()) }) }), '"when.start"'],
    ["bigint", z.object({ big: z.bigint() }), '"big"'],
    ["map", z.object({ lookup: z.map(z.string(), z.string()) }), '"lookup"'],
    ["set", z.object({ tags: z.set(z.string()) }), '"tags"'],
    ["undefined", z.object({ nothing: z.undefined() }), '"nothing"'],
    ["symbol", z.object({ mark: z.symbol() }), '"mark"'],
    ["custom", z.object({ own: z.custom<string>() }), '"own"'],
    ["coerced date", z.object({ when: z.coerce.date() }), '"when"'],
    ["file", z.object({ upload: z.file() }), "upload"],
    ["zod/mini date", mini.toJSONSchema(mini.object({ when: mini.date() }), { unrepresentable: "any" }), '"when"'],
  ];
  test.each(unrepresentable)("G1 B54: %s is refused at registration, naming tool and field", (_, schema, field) => {
    expect(() => define(schema)).toThrow(ToolUsageError);
    expect(() => define(schema)).toThrow('tool "pay"');
    expect(() => define(schema)).toThrow(field);
  });

  const bad: readonly (readonly [string, unknown, RegExp])[] = [
    ["zod/mini without JSON Schema", mini.object({ a: mini.string() }), /z\.toJSONSchema/],
    ["a string", z.string(), /root must describe an object/],
    ["an array", z.array(z.string()), /root must describe an object/],
    ["a union of scalars", z.union([z.string(), z.int()]), /root must describe an object/],
    ["a raw zod shape", { a: z.string() }, /not a JSON Schema/],
    ["an empty object", {}, /does not describe an object/],
    ["a list", [], /must be an object/],
    ["a plain scalar", { type: "string" }, /root must describe an object/],
    [
      "a plain scalar behind a ref",
      { $ref: "#/$defs/a", $defs: { a: { enum: ["x"] } } },
      /root must describe an object/,
    ],
    [
      "plain alternatives without an object",
      { anyOf: [{ type: "null" }, { const: 5 }] },
      /root must describe an object/,
    ],
    ["an unknown type", { type: "object", properties: { a: { type: "strng" } } }, /bad "type" at #\/properties\/a/],
    ["a ref that leads nowhere", { type: "object", properties: { a: { $ref: "#/$defs/b" } } }, /#\/\$defs\/b/],
    ["a ref to a prototype member", { type: "object", properties: { a: { $ref: "#/constructor" } } }, /constructor/],
    ["a ref to the prototype", { type: "object", properties: { a: { $ref: "#/__proto__" } } }, /__proto__/],
    [
      "the same scalar twice",
      { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }], $defs: { a: { type: "null" } } },
      /root must/,
    ],
    ["a ref to another document", { type: "object", properties: { a: { $ref: "other.json" } } }, /other\.json/],
    ["a ref to itself", { type: "object", properties: { a: { $ref: "#/properties/a" } } }, /leads back to itself/],
    [
      "refs in a circle",
      { anyOf: [{ $ref: "#/$defs/a" }], $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } } },
      /itself/,
    ],
    ["properties as a list", { type: "object", properties: [] }, /bad "properties" at #/],
    ["a property that is no schema", { type: "object", properties: { a: "string" } }, /bad "properties"/],
    [
      "required as a boolean",
      { type: "object", properties: { a: { type: "string", required: true } } },
      /bad "required"/,
    ],
    ["tuples of older drafts", { type: "object", properties: { a: { items: [{ type: "string" }] } } }, /bad "items"/],
    [
      "exclusiveMinimum of older drafts",
      { type: "object", properties: { a: { exclusiveMinimum: true } } },
      /exclusiveMinimum/,
    ],
    ["a bad pattern", { type: "object", properties: { a: { pattern: "(" } } }, /regular expression/],
    ["a dynamic ref", { type: "object", properties: { a: { $dynamicRef: "#x" } } }, /\$dynamicRef/],
    [
      "a default that is not JSON",
      { type: "object", properties: { a: { default: new Date(0) } } },
      /not a JSON Schema/,
    ],
    ["a Standard Schema that cannot validate", { "~standard": { version: 1, vendor: "x" } }, /cannot validate/],
  ];
  test.each(bad)("G1 B54: %s is refused at registration", (_, schema, message) => {
    // Half of these would not pass the compiler.
    expect(() => define(schema as InputSchema)).toThrow(ToolUsageError);
    expect(() => define(schema as InputSchema)).toThrow(message);
  });
});
