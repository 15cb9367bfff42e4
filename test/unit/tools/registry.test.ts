// Properties proved: names meet own entries only; nothing enters but what defineTool made; order is that of adding.
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ToolUsageError } from "../../../src/errors.js";
import { defineTool } from "../../../src/tools/define-tool.js";
import { Registry } from "../../../src/tools/registry.js";
import type { AnyToolSpec } from "../../../src/tools/spec.js";

const tool = (name: string): AnyToolSpec =>
  defineTool({ name, description: "d", inputSchema: z.object({ a: z.string() }), confirm: true, execute: () => 1 });

describe("Registry", () => {
  test("keeps the order in which tools were added", () => {
    const registry = new Registry([tool("b"), tool("a")]).add(tool("2")).add(tool("1"));
    expect(registry.list().map(({ name }) => name)).toEqual(["b", "a", "2", "1"]);
    expect([...registry].map(({ name }) => name)).toEqual(["b", "a", "2", "1"]);
  });

  test("tool() defines, adds and returns the spec", () => {
    const registry = new Registry();
    const pay = registry.tool({ name: "pay", description: "d", inputSchema: z.object({}), execute: () => 1 });
    expect(registry.get("pay")).toBe(pay);
    expect(registry.has("pay")).toBe(true);
  });

  test("G1: a second tool of the same name is refused, naming it", () => {
    const registry = new Registry([tool("pay")]);
    expect(() => registry.add(tool("pay"))).toThrow(/tool "pay".*"name"/);
    expect(() => registry.add(tool("pay"))).toThrow(ToolUsageError);
    expect(() => new Registry([tool("pay"), tool("pay")])).toThrow(ToolUsageError);
    expect(registry.list()).toHaveLength(1);
  });

  test.each(["constructor", "toString", "__proto__", "hasOwnProperty"])("G2 B32: %s is no tool", (name) => {
    const registry = new Registry([tool("pay")]);
    expect(registry.get(name)).toBeUndefined();
    expect(registry.has(name)).toBe(false);
  });

  test("a copy of a spec that lost its gate is refused, as is everything defineTool did not make", () => {
    const registry = new Registry();
    const spec = tool("pay");
    for (const fake of [{ ...spec, confirm: false }, Object.create(spec), { name: "x" }, null, undefined, "pay"]) {
      // What a program without types would pass.
      expect(() => registry.add(fake as AnyToolSpec)).toThrow(ToolUsageError);
    }
    expect(registry.list()).toEqual([]);
  });

  test("subset is a new registry in the old order; an unknown name is refused", () => {
    const registry = new Registry([tool("a"), tool("b"), tool("c")]);
    const part = registry.subset(["c", "a", "c"]);
    expect(part.list().map(({ name }) => name)).toEqual(["a", "c"]);
    part.add(tool("d"));
    expect(registry.has("d")).toBe(false);
    expect(() => registry.subset(["a", "constructor"])).toThrow(/"constructor"/);
  });

  test("the list is a copy", () => {
    const registry = new Registry([tool("a")]);
    // A caller without types could write to it.
    (registry.list() as AnyToolSpec[]).pop();
    expect(registry.list()).toHaveLength(1);
  });
});

describe("a strict registry", () => {
  const options = { name: "wipe", description: "d", inputSchema: z.object({}), execute: () => 1 };
  const wipe = (change: Record<string, unknown>): AnyToolSpec => defineTool({ ...options, ...change });
  const silent = { effects: "destructive" };

  test("G1/strict: a destructive tool that does not say confirm is refused, naming both, however it is added", () => {
    const registry = new Registry([], { strict: true });
    const message = /tool "wipe": bad option "confirm"/;
    expect(() => registry.add(wipe(silent))).toThrow(ToolUsageError);
    expect(() => registry.add(wipe(silent))).toThrow(message);
    expect(() => new Registry([wipe(silent)], { strict: true })).toThrow(message);
    expect(() => registry.tool({ ...options, effects: "destructive" })).toThrow(message);
    expect(registry.list()).toEqual([]);
  });

  test.each([
    ["confirm: false", { ...silent, confirm: false }],
    ["confirm: true", { ...silent, confirm: true }],
    ["a predicate", { ...silent, confirm: () => false }],
    ["effects write and nothing said", { effects: "write" }],
    ["effects read and nothing said", { effects: "read" }],
  ])("G1/strict: takes %s", (_, change) => {
    expect(new Registry([wipe(change)], { strict: true }).has("wipe")).toBe(true);
  });

  test.each([
    ["no options", undefined],
    ["no strict", {}],
    ["strict: undefined", { strict: undefined }],
    ["strict: false", { strict: false }],
  ])("[G1/strict] with %s nothing is asked for", (_, registryOptions) => {
    // What a program without types would pass.
    expect(new Registry([wipe(silent)], registryOptions as { strict?: boolean }).has("wipe")).toBe(true);
  });

  test("G1/strict: a subset is as strict as the whole", () => {
    const strict = new Registry([tool("a")], { strict: true }).subset(["a"]);
    expect(() => strict.add(wipe(silent))).toThrow(/"confirm"/);
    expect(new Registry([tool("a")]).subset(["a"]).add(wipe(silent)).has("wipe")).toBe(true);
  });

  test.each([
    ["strict as text", { strict: "false" }, /"strict"/],
    ["strict as null", { strict: null }, /"strict"/],
    ["a misspelt option", { strikt: true }, /"strikt"/],
    ["a bare true", true, /options/],
    ["null", null, /options/],
  ])("G1/strict: %s is refused", (_, registryOptions, message) => {
    // What a program without types would pass.
    expect(() => new Registry([], registryOptions as { strict?: boolean })).toThrow(ToolUsageError);
    expect(() => new Registry([], registryOptions as { strict?: boolean })).toThrow(message);
  });
});
