// What the compiler promises about policies: names of the registry's tools only, and no way to say "do not ask" (G4).
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineTool, Executor, Registry, type Explanation, type Policy } from "../../src/index.js";

const make = <Name extends string>(name: Name) =>
  defineTool({ name, description: "d", inputSchema: z.object({ to: z.string() }), execute: () => 1 });
const registry = new Registry([make("pay"), make("send-mail")]);

describe("G4: a policy", () => {
  test("names tools that the registry was made with", () => {
    expectTypeOf(new Executor(registry, { policy: { pay: true } })).toEqualTypeOf<Executor<"pay" | "send-mail">>();
    expectTypeOf(new Executor(registry, { policy: { "send-mail": () => true, pay: async () => false } })).toBeObject();
    // @ts-expect-error no such tool
    expectTypeOf(new Executor(registry, { policy: { sendMail: true } })).toBeObject();
    // @ts-expect-error one of them is no tool
    expectTypeOf(new Executor(registry, { policy: { pay: true, refund: true } })).toBeObject();
  });

  test("may ask more, never less", () => {
    // @ts-expect-error there is no way to say "do not ask"
    expectTypeOf(new Executor(registry, { policy: { pay: false } })).toBeObject();
    // @ts-expect-error a word is no rule
    expectTypeOf(new Executor(registry, { policy: { pay: "never" } })).toBeObject();
    // @ts-expect-error a rule answers yes or no
    expectTypeOf(new Executor(registry, { policy: { pay: () => "no" } })).toBeObject();
  });

  test("cannot widen the registry's names by itself", () => {
    // @ts-expect-error the names come from the registry, not from the policy
    expectTypeOf(new Executor(registry, { policy: { anything: () => true } })).toBeObject();
  });

  test("reads arguments as unknown values", () => {
    const policy: Policy<"pay"> = {
      pay: (args, ctx) => {
        expectTypeOf(args).toEqualTypeOf<Readonly<Record<string, unknown>>>();
        expectTypeOf(ctx.principal).toEqualTypeOf<string | undefined>();
        return args["amount"] !== 1;
      },
    };
    expectTypeOf(policy).toBeObject();
  });

  test("of a registry whose names are not known names any tool; the executor checks them when it is made", () => {
    const open: Registry = new Registry();
    expectTypeOf(new Executor(open, { policy: { anything: true } })).toBeObject();
  });
});

test("E12/explain: says whether and why, by words that can be told apart", () => {
  expectTypeOf<Explanation["asks"]>().toEqualTypeOf<boolean>();
  expectTypeOf<Explanation["because"]>().toEqualTypeOf<
    "confirm" | "confirm-predicate" | "policy" | "asked-before" | "nobody-asks"
  >();
});
