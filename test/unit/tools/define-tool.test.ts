// Properties proved: bad options are refused at once and by name; options are read once; the spec cannot be changed; the
// definition digest covers what a reviewer relies on and nothing that only describes.
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ToolUsageError } from "../../../src/errors.js";
import { defineTool } from "../../../src/tools/define-tool.js";
import type { AnyToolSpec, JsonSchema } from "../../../src/tools/spec.js";

const base = {
  name: "pay",
  description: "Pays.",
  inputSchema: z.object({ amount: z.number() }),
  execute: () => "paid",
};
// Programs in plain JavaScript pass anything.
const define = (change: Record<string, unknown>): AnyToolSpec => defineTool({ ...base, ...change });

describe("options", () => {
  const bad: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    ["no name", { name: undefined }, /option "name"/],
    ["a name with a space", { name: "pay now" }, /tool "pay now".*"name"/],
    ["an empty name", { name: "" }, /"name"/],
    ["65 characters", { name: "a".repeat(65) }, /"name"/],
    ["a name that ends in a line break", { name: "pay\n" }, /"name"/],
    ...["constructor", "toString", "__proto__", "hasOwnProperty"].map(
      (name): readonly [string, Record<string, unknown>, RegExp] => [`the name ${name}`, { name }, /Object\.prototype/],
    ),
    ["no description", { description: undefined }, /tool "pay".*"description"/],
    ["an empty description", { description: "  " }, /tool "pay".*"description"/],
    ["half a surrogate pair in the description", { description: "a\ud83d" }, /"description"/],
    ["unknown effects", { effects: "writes" }, /tool "pay".*"effects"/],
    ["a number as version", { version: 2 }, /tool "pay".*"version"/],
    ["an empty version", { version: "" }, /"version"/],
    ["confirm as text", { confirm: "yes" }, /tool "pay".*"confirm"/],
    ["confirm null", { confirm: null }, /"confirm"/],
    ["confirm given as undefined", { confirm: undefined }, /"confirm"/],
    ["idempotent as text", { idempotent: "no" }, /"idempotent"/],
    ["no execute", { execute: undefined }, /tool "pay".*"execute"/],
    ["no inputSchema", { inputSchema: undefined }, /tool "pay".*inputSchema/],
    ["a plain JSON Schema as outputSchema", { outputSchema: { type: "string" } }, /tool "pay".*outputSchema/],
    ["a misspelt option", { confrim: true }, /tool "pay".*"confrim"/],
    ["an option of a later release", { timeoutSeconds: 5 }, /tool "pay".*"timeoutSeconds"/],
  ];
  test.each(bad)("G1 N1: %s is refused at once, naming the tool and the option", (_, change, message) => {
    expect(() => define(change)).toThrow(ToolUsageError);
    expect(() => define(change)).toThrow(message);
  });

  test("G1: no options at all is refused", () => {
    expect(() => defineTool(undefined as never)).toThrow(ToolUsageError);
  });

  test("the defaults are those of the table", () => {
    expect(define({})).toMatchObject({ confirm: false, effects: "write", idempotent: false, version: "1" });
    expect(define({ effects: "read" })).toMatchObject({ effects: "read", idempotent: true });
    expect(define({ effects: "read", idempotent: false })).toMatchObject({ idempotent: false });
    expect(define({ effects: undefined, version: undefined })).toMatchObject({ effects: "write", version: "1" });
  });

  test("G1: every option is read once, so that a getter cannot take the gate away later", () => {
    let reads = 0;
    const options = {
      ...base,
      get confirm() {
        reads += 1;
        return reads === 1;
      },
    };
    const spec = defineTool(options);
    expect([spec.confirm, spec.confirm, reads]).toEqual([true, true, 1]);
  });

  test("the spec and its JSON Schema are frozen, and changing the options afterwards changes nothing", () => {
    const inputSchema = { type: "object", properties: { a: { type: "string" } } };
    const options = { ...base, inputSchema, confirm: true };
    const spec = define(options);
    options.confirm = false;
    inputSchema.properties.a.type = "number";
    expect(spec.confirm).toBe(true);
    expect(Object.isFrozen(spec)).toBe(true);
    expect(spec.inputJsonSchema).toEqual({ type: "object", properties: { a: { type: "string" } } });
    expect(Object.isFrozen(spec.inputJsonSchema["properties"])).toBe(true);
    expect(() => Object.assign(spec, { confirm: false })).toThrow(TypeError);
  });
});

describe("definitionDigest", () => {
  const of = (inputSchema: JsonSchema, change: Record<string, unknown> = {}): string =>
    define({ inputSchema, ...change }).definitionDigest;
  const plain = { type: "object", properties: { a: { type: "string" } } };

  test("is lower-case hex and the same for the same definition, whatever the key order", () => {
    expect(of(plain)).toMatch(/^[0-9a-f]{64}$/);
    expect(of({ properties: { a: { type: "string" } }, type: "object" })).toBe(of(plain));
  });

  test.each([
    ["name", { name: "pay2" }],
    ["effects", { effects: "destructive" }],
    ["version", { version: "2" }],
  ])("covers %s", (_, change) => {
    expect(of(plain, change)).not.toBe(of(plain));
  });

  test("does not cover description, confirm or execute of the tool", () => {
    expect(of(plain, { description: "other", confirm: true, execute: () => 2 })).toBe(of(plain));
  });

  test("does not cover keywords that only describe, at any depth", () => {
    const words = { title: "t", description: "d", examples: ["e"], $comment: "c" };
    const described = { ...plain, ...words, properties: { a: { type: "string", ...words } } };
    expect(of(described)).toBe(of(plain));
    const nested = (extra: object): JsonSchema => ({
      type: "object",
      properties: { a: { type: "array", items: { anyOf: [{ type: "string", ...extra }] } }, b: { $ref: "#/$defs/b" } },
      patternProperties: { "^x": { type: "null", ...extra } },
      additionalProperties: { type: "null", ...extra },
      $defs: { b: { type: "boolean", ...extra } },
    });
    expect(of(nested(words))).toBe(of(nested({})));
  });

  test.each(["title", "description", "examples", "$comment"])("covers a property that is called %s", (name) => {
    const schema = (type: string): JsonSchema => ({ type: "object", properties: { [name]: { type } } });
    expect(of(schema("string"))).not.toBe(of(schema("number")));
    expect(of(schema("string"))).not.toBe(of({ type: "object", properties: {} }));
    const pattern = (type: string): JsonSchema => ({ type: "object", patternProperties: { [name]: { type } } });
    expect(of(pattern("string"))).not.toBe(of(pattern("number")));
    const definition = (type: string): JsonSchema => ({
      type: "object",
      properties: { a: { $ref: `#/$defs/${name}` } },
      $defs: { [name]: { type } },
    });
    expect(of(definition("string"))).not.toBe(of(definition("number")));
  });

  test.each(["const", "default"])("covers a member called title inside a %s", (keyword) => {
    const schema = (title: string): JsonSchema => ({ type: "object", properties: { a: { [keyword]: { title } } } });
    expect(of(schema("x"))).not.toBe(of(schema("y")));
    const values = (title: string): JsonSchema => ({ type: "object", properties: { a: { enum: [{ title }] } } });
    expect(of(values("x"))).not.toBe(of(values("y")));
  });

  test("does not cover a default that a library computed, which another day may differ", () => {
    let today = "2024-01-01";
    const inputSchema = z.object({ day: z.string().default(() => today) });
    const before = define({ inputSchema }).definitionDigest;
    today = "2024-01-02";
    expect(define({ inputSchema }).definitionDigest).toBe(before);
  });

  test("is the same in every process although a default is computed, and a computed default is not shown", () => {
    let calls = 0;
    const schema = z.object({
      id: z.number().default(() => (calls += 1)),
      currency: z.string().default("EUR"),
      default: z.object({ at: z.number().default(() => (calls += 1)) }),
    });
    const first = define({ inputSchema: schema });
    expect(define({ inputSchema: schema }).definitionDigest).toBe(first.definitionDigest);
    expect(first.inputJsonSchema).toMatchObject({
      properties: {
        id: { type: "number" },
        currency: { default: "EUR" },
        default: { properties: { at: { type: "number" } } },
      },
    });
    expect(JSON.stringify(first.inputJsonSchema).match(/"default":/g)).toHaveLength(2);
  });
});
