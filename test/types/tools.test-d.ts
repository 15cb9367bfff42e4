// What the compiler promises about tools: inferred arguments and results, and one type that holds every spec.
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { defineTool } from "../../src/tools/define-tool.js";
import { Registry } from "../../src/tools/registry.js";
import type { AnyToolSpec, CacheRule, JsonSchema, RetryPolicy, ToolContext, ToolSpec } from "../../src/tools/spec.js";

// The shape of `executor.run`.
declare function run<In, Out>(tool: ToolSpec<In, Out>, args: NoInfer<In>): Promise<Out>;

// The shape of the executor's constructor.
declare function executor<Names extends string>(
  registry: Registry<Names>,
  options: { readonly policy: { readonly [Tool in NoInfer<Names>]?: true } },
): void;

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

describe("options of the execution", () => {
  const options = { ...base, inputSchema: orderSchema, execute: (args: Order) => ({ found: args.id }) };

  test("a cost function gets the parsed arguments and the result", () => {
    const tool = defineTool({
      ...base,
      inputSchema: z.object({ amount: z.coerce.number<string>() }),
      execute: async ({ amount }) => ({ paid: amount }),
      cost: (args, result) => {
        expectTypeOf(args).toEqualTypeOf<{ amount: number }>();
        expectTypeOf(result).toEqualTypeOf<{ paid: number }>();
        return result.paid;
      },
    });
    expectTypeOf(tool).toEqualTypeOf<ToolSpec<{ amount: string }, { paid: number }>>();
    expectTypeOf(tool.cost).toEqualTypeOf<number | ((args: unknown, result: unknown) => number)>();
    // @ts-expect-error a cost is a number
    defineTool({ ...options, cost: () => "5" });
  });

  test("a cost function above execute may leave out the result, or say its type", () => {
    const tool = defineTool({
      ...base,
      inputSchema: orderSchema,
      cost: (args) => args.id.length,
      execute: (args) => ({ found: args.id }),
    });
    expectTypeOf(tool).toEqualTypeOf<ToolSpec<Order, { found: string }>>();
    const stated = defineTool({
      ...base,
      inputSchema: orderSchema,
      cost: (_, result: { found: string }) => result.found.length,
      execute: (args) => ({ found: args.id }),
    });
    expectTypeOf(stated).toEqualTypeOf<ToolSpec<Order, { found: string }>>();
  });

  test("settled options are complete", () => {
    expectTypeOf(pay.retry).toEqualTypeOf<RetryPolicy>();
    expectTypeOf(pay.cache).toEqualTypeOf<CacheRule | undefined>();
    expectTypeOf(pay.timeoutMs).toEqualTypeOf<number | undefined>();
    expectTypeOf<Required<RetryPolicy>>().toEqualTypeOf<RetryPolicy>();
  });

  test("what is no option, or not one of its values, is refused by the compiler", () => {
    defineTool({ ...options, retries: 2, timeoutMs: 5, oncePerRun: true, parallelSafe: true, cost: 1 });
    defineTool({ ...options, effects: "read", retries: { maxAttempts: 2 }, cache: { ttlMs: 5, scope: "run" } });
    // @ts-expect-error maxAttempts is missing
    defineTool({ ...options, retries: { factor: 2 } });
    // @ts-expect-error misspelt
    defineTool({ ...options, retries: { maxAttempts: 2, maxDelay: 5 } });
    // @ts-expect-error no such scope
    defineTool({ ...options, cache: { ttlMs: 5, scope: "thread" } });
    // @ts-expect-error the scope is missing
    defineTool({ ...options, cache: { ttlMs: 5 } });
    // @ts-expect-error a number of milliseconds
    defineTool({ ...options, timeoutMs: "5" });
  });
});

describe("names", () => {
  const rest = { description: "d", inputSchema: orderSchema, execute: () => 1 };
  const send = defineTool({ name: "send", ...rest });
  const rate = defineTool({ ...rest, name: "rate", inputSchema: z.object({ to: z.string() }), effects: "read" });

  test("defineTool and registry.tool know the literal name", () => {
    expectTypeOf(send).toEqualTypeOf<ToolSpec<Order, number, "send">>();
    expectTypeOf(new Registry().tool({ name: "late", ...rest }).name).toEqualTypeOf<"late">();
    expectTypeOf(run(send, { id: "x" })).toEqualTypeOf<Promise<number>>();
    expectTypeOf(send).toExtend<ToolSpec<Order, number>>();
    expectTypeOf(send).toExtend<AnyToolSpec>();
  });

  test("a registry knows the names it was made with", () => {
    const registry = new Registry([send, rate]);
    expectTypeOf(registry).toEqualTypeOf<Registry<"send" | "rate">>();
    expectTypeOf(registry).not.toEqualTypeOf<Registry>();
    expectTypeOf(new Registry([send, rate], { strict: true })).toEqualTypeOf<Registry<"send" | "rate">>();
    expectTypeOf(new Registry(new Set([send]))).toEqualTypeOf<Registry<"send">>();
    expectTypeOf(registry.add(pay)).toEqualTypeOf<Registry<"send" | "rate">>();
    expectTypeOf(registry.subset(["send"])).toEqualTypeOf<Registry<"send">>();
  });

  test("names that are not known at compile time are any name", () => {
    const list: AnyToolSpec[] = [send, rate];
    const names: string[] = ["send"];
    expectTypeOf(new Registry(list)).toEqualTypeOf<Registry>();
    expectTypeOf(new Registry()).toEqualTypeOf<Registry>();
    expectTypeOf(new Registry([])).toEqualTypeOf<Registry>();
    expectTypeOf(new Registry([send, pay])).toEqualTypeOf<Registry>();
    expectTypeOf(new Registry([send]).subset(names)).toEqualTypeOf<Registry>();
  });

  test("any registry is a Registry, and not the other way round", () => {
    expectTypeOf(new Registry([send])).toExtend<Registry>();
    expectTypeOf(new Registry([send])).toExtend<Registry<"send" | "rate">>();
    expectTypeOf<Registry>().not.toExtend<Registry<"send">>();
  });

  test("a policy with an unknown name is refused by the compiler", () => {
    const registry = new Registry([send, rate]);
    executor(registry, { policy: {} });
    executor(registry, { policy: { send: true, rate: true } });
    // @ts-expect-error no such tool
    executor(registry, { policy: { sned: true } });
    executor(new Registry().add(send), { policy: { anything: true } });
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
