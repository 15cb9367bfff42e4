// What the compiler promises about running tools: arguments and results by spec, `unknown` by name, misspelt fields refused.
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  currentContext,
  defineTool,
  Executor,
  MemoryLedger,
  Registry,
  type AgentAdapterError,
  type CallContext,
  type CallOutcome,
  type Hook,
  type JsonObject,
  type JsonSchema,
  type LedgerEntry,
  type RunContext,
  isAgentAdapterError,
} from "../../src/index.js";

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  inputSchema: z.object({ to: z.string(), amount: z.number().default(1), note: z.string().optional() }),
  confirm: (args, ctx) => {
    expectTypeOf(args).toEqualTypeOf<{ to: string; amount: number; note?: string | undefined }>();
    expectTypeOf(ctx.runId).toEqualTypeOf<string>();
    return args.amount > 5;
  },
  execute: async ({ amount }, ctx) => {
    expectTypeOf(ctx.run("pay", {})).toEqualTypeOf<Promise<unknown>>();
    expectTypeOf(ctx.idempotencyKey).toEqualTypeOf<string>();
    expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
    return { paid: amount };
  },
});
const orderSchema: JsonSchema<{ readonly id: string }> = { type: "object", properties: { id: { type: "string" } } };
const find = defineTool({ name: "find", description: "Finds.", inputSchema: orderSchema, execute: ({ id }) => [id] });
const registry = new Registry([pay, find]);
const executor = new Executor(registry);

describe("executor.run", () => {
  test("by spec: takes what the schema accepts and gives what the tool returns", () => {
    expectTypeOf(executor.run(pay, { to: "ana" })).toEqualTypeOf<Promise<{ paid: number }>>();
    expectTypeOf(executor.run(pay, { to: "ana", amount: 2, note: "x" })).toEqualTypeOf<Promise<{ paid: number }>>();
    expectTypeOf(executor.run(find, { id: "1" })).toEqualTypeOf<Promise<string[]>>();
  });

  test("by spec: wrong arguments do not compile", () => {
    // @ts-expect-error a required field is missing
    void executor.run(pay, {});
    // @ts-expect-error the wrong type
    void executor.run(pay, { to: 5 });
    // @ts-expect-error misspelt
    void executor.run(pay, { to: "ana", amuont: 2 });
    // @ts-expect-error another tool's arguments
    void executor.run(find, { to: "ana" });
    // @ts-expect-error no arguments at all
    void executor.run(pay);
    // @ts-expect-error a list of arguments
    void executor.run(pay, ["ana"]);
    expectTypeOf(executor).toExtend<Executor>();
  });

  test("by spec: the result cannot be taken for something else", async () => {
    const result = await executor.run(pay, { to: "ana" });
    expectTypeOf(result.paid).toEqualTypeOf<number>();
    // @ts-expect-error no such field
    void result.payed;
    // @ts-expect-error it is an object
    const text: string = result;
    expectTypeOf(text).toBeString();
  });

  test("by name: takes anything and gives `unknown`", async () => {
    const result = await executor.run("pay", { anything: true });
    expectTypeOf(result).toEqualTypeOf<unknown>();
    // @ts-expect-error unknown is not an object
    void result.paid;
  });

  test("options: unknown and misspelt ones do not compile", () => {
    void executor.run(pay, { to: "ana" }, { callId: "c", signal: AbortSignal.abort(), context: executor.context() });
    // @ts-expect-error misspelt
    void executor.run(pay, { to: "ana" }, { callID: "c" });
    // @ts-expect-error a context is made by the executor
    void executor.run(pay, { to: "ana" }, { context: { runId: "r" } });
    // @ts-expect-error plain options are no tool
    void executor.run({ name: "pay" }, {});
    expectTypeOf(executor.context({ runId: "r" })).toEqualTypeOf<RunContext>();
    // @ts-expect-error misspelt
    executor.context({ runID: "r" });
  });
});

describe("executor.runMany", () => {
  test("takes calls by name and gives outcomes to be told apart", async () => {
    const outcomes = await executor.runMany([{ tool: "pay", args: { to: "ana" }, callId: "c" }], { concurrency: 2 });
    expectTypeOf(outcomes).toEqualTypeOf<CallOutcome[]>();
    for (const outcome of outcomes) {
      expectTypeOf(outcome.callId).toEqualTypeOf<string>();
      expectTypeOf(outcome.editedArguments).toEqualTypeOf<JsonObject | undefined>();
      // @ts-expect-error only a fulfilled one has a value
      void outcome.value;
      if (outcome.status === "fulfilled") expectTypeOf(outcome.value).toEqualTypeOf<unknown>();
    }
    // @ts-expect-error a spec is not a name
    void executor.runMany([{ tool: pay, args: {} }]);
    // @ts-expect-error misspelt
    void executor.runMany([{ name: "pay", args: {} }]);
  });
});

describe("new Executor", () => {
  test("options: unknown, misspelt and ill-typed ones do not compile", () => {
    const hook: Partial<Hook> = { beforeTool: (call) => void call.tool };
    expectTypeOf(
      new Executor(registry, { hooks: [hook], ledger: new MemoryLedger(), concurrency: 2 }),
    ).toExtend<Executor>();
    // @ts-expect-error misspelt
    expectTypeOf(new Executor(registry, { approvals: undefined })).toBeObject();
    // @ts-expect-error an object is no port
    expectTypeOf(new Executor(registry, { approval: {} })).toBeObject();
    // @ts-expect-error a number is no secret
    expectTypeOf(new Executor(registry, { secret: 5 })).toBeObject();
    // @ts-expect-error tools are not a registry
    expectTypeOf(new Executor([pay])).toBeObject();
  });

  test("a policy names tools of the registry only, and may not say false", () => {
    expectTypeOf(new Executor(registry, { policy: { pay: true, find: () => true } })).toBeObject();
    // @ts-expect-error no such tool
    expectTypeOf(new Executor(registry, { policy: { pya: true } })).toBeObject();
    // @ts-expect-error a policy may only ask more
    expectTypeOf(new Executor(registry, { policy: { pay: false } })).toBeObject();
  });

  test("a hook's answer is typed", () => {
    const hook: Partial<Hook> = {
      // @ts-expect-error misspelt: the replacement would be lost
      beforeTool: () => ({ args: { to: "ana" } }),
    };
    expectTypeOf(hook).toBeObject();
  });
});

test("what is read back is typed", async () => {
  expectTypeOf(await executor.ledger.entries()).toEqualTypeOf<readonly LedgerEntry[]>();
  expectTypeOf(currentContext()).toEqualTypeOf<CallContext | undefined>();
  const error: unknown = undefined;
  if (isAgentAdapterError(error, "ToolArgsInvalid")) expectTypeOf(error).toEqualTypeOf<AgentAdapterError>();
  // @ts-expect-error no such kind
  isAgentAdapterError(error, "ToolArgInvalid");
});
