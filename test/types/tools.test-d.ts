// What the compiler promises about tools: inferred arguments and results, and one type that holds every spec.
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { defineTool } from "../../src/tools/define-tool.js";
import { Registry } from "../../src/tools/registry.js";
import type { AnyToolSpec, JsonSchema, ToolContext, ToolSpec } from "../../src/tools/spec.js";

// The shape of `executor.run`.
declare function run<In, Out>(tool: ToolSpec<In, Out>, args: NoInfer<In>): Promise<Out>;

const base = { name: "pay", description: "d" };
const pay = defineTool({
  ...base,
  inputSchema: z.object({ to: z.string(), amount: z.coerce.number<string>().default(1), when: z.string().optional() }),
  confirm: (args, ctx) => {
    expectTypeOf(args).toEqualTypeOf<{ to: string; amount: number; when?: string | undefined }>();
    expectTypeOf(ctx.threadId).toEqualTypeOf<string | undefined>();
    return args.amount > 5;
  },
  execute: async (args, ctx) => {
    expectTypeOf(args).toEqualTypeOf<{ to: string; amount: number; when?: string | undefined }>();
    expectTypeOf(ctx).toEqualTypeOf<ToolContext>();
    return { paid: args.amount };
  },
});
interface Order {
  readonly id: string;
}
const orderSchema: JsonSchema<Order> = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

describe("defineTool", () => {
  test("callers pass the schema's input, defaulted fields are optional, and get the result", () => {
    expectTypeOf(pay).toEqualTypeOf<
      ToolSpec<{ to: string; amount?: string | undefined; when?: string | undefined }, { paid: number }>
    >();
    expectTypeOf(run(pay, { to: "ana" })).toEqualTypeOf<Promise<{ paid: number }>>();
    // @ts-expect-error a required field is missing
    void run(pay, {});
    // @ts-expect-error the input is text
    void run(pay, { to: "ana", amount: 5 });
    // @ts-expect-error no such field
    void run(pay, { to: "ana", amuont: "5" });
  });

  test("plain JSON Schema gives a record of unknown", () => {
    const tool = defineTool({
      ...base,
      inputSchema: { type: "object", properties: { a: { type: "string" } } },
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>();
        return 1;
      },
    });
    expectTypeOf(tool).toEqualTypeOf<ToolSpec<Record<string, unknown>, number>>();
  });

  test("an annotated JSON Schema gives what it says, interfaces too", () => {
    const tool = defineTool({
      ...base,
      inputSchema: orderSchema,
      confirm: (args) => args.id === "x",
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<Order>();
        return args.id;
      },
    });
    expectTypeOf(tool).toEqualTypeOf<ToolSpec<Order, string>>();
  });

  test("zod/mini goes through its JSON Schema and keeps its types", () => {
    const schema = mini.toJSONSchema(mini.object({ a: mini._default(mini.string(), "x") }));
    const tool = defineTool({ ...base, inputSchema: schema, execute: (args) => args.a });
    expectTypeOf(tool).toEqualTypeOf<ToolSpec<{ a?: string | undefined }, string>>();
  });

  test("outputSchema fixes the result", () => {
    const outputSchema = z.object({ paid: z.number() });
    const tool = defineTool({ ...base, inputSchema: orderSchema, outputSchema, execute: () => ({ paid: 1, more: 2 }) });
    expectTypeOf(tool).toEqualTypeOf<ToolSpec<Order, { paid: number }>>();
    defineTool({
      ...base,
      inputSchema: orderSchema,
      outputSchema,
      // @ts-expect-error the result does not fit
      execute: () => ({ paid: "1" }),
    });
  });

  test("unknown options and wrong values are refused by the compiler", () => {
    // @ts-expect-error misspelt
    defineTool({ ...base, inputSchema: orderSchema, execute: () => 1, confrim: true });
    // @ts-expect-error not one of the effects
    defineTool({ ...base, inputSchema: orderSchema, execute: () => 1, effects: "writes" });
    // @ts-expect-error neither a Standard Schema nor JSON Schema
    defineTool({ ...base, inputSchema: "string", execute: () => 1 });
    expectTypeOf(defineTool).toBeFunction();
    // @ts-expect-error a predicate says yes or no
    defineTool({ ...base, inputSchema: orderSchema, execute: () => 1, confirm: () => "yes" });
  });
});

describe("specs and registries", () => {
  test("any spec is an AnyToolSpec, without a cast; its arguments do not get mixed up", () => {
    const order = defineTool({ ...base, inputSchema: orderSchema, execute: () => undefined });
    const all: readonly AnyToolSpec[] = [pay, order];
    expectTypeOf(all).toEqualTypeOf<readonly AnyToolSpec[]>();
    expectTypeOf(new Registry([pay, order]).add(order).get("pay")).toEqualTypeOf<AnyToolSpec | undefined>();
    // @ts-expect-error another tool's arguments
    const wrong: ToolSpec<{ id: number }> = order;
    // @ts-expect-error a spec of unknown arguments is not a spec of these
    const narrowed: typeof pay = all[0];
    expectTypeOf([wrong, narrowed]).toBeArray();
  });

  test("registry.tool infers like defineTool", () => {
    const tool = new Registry().tool({
      ...base,
      inputSchema: z.object({ a: z.string() }),
      execute: ({ a }) => a.length,
    });
    expectTypeOf(tool).toEqualTypeOf<ToolSpec<{ a: string }, number>>();
  });
});
