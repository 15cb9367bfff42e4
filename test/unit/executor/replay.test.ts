// Properties proved: a finished call gives its result or its answer for the model again, unchanged, and never runs twice;
// what cannot be given again is refused, never changed.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  ApprovalDenied,
  ApprovalExpired,
  defineTool,
  ToolArgsInvalid,
  ToolError,
  ToolNotFound,
  type AgentAdapterError,
} from "../../../src/index.js";
import { failure, kindOf, ourError, pay, ScriptedPort, stand, yes } from "./stand.js";

const to = { to: "ana" };

function returning(value: unknown, confirm = false) {
  const count = { runs: 0 };
  const tool = pay({
    confirm,
    execute: () => {
      count.runs += 1;
      return value;
    },
  });
  const setup = stand([tool], { approval: new ScriptedPort(yes(), yes()) });
  return { ...setup, count, run: () => setup.executor.run("pay", to, { context: setup.again() }) };
}

describe("a result", () => {
  test.each([
    ["text", "paid"],
    ["empty text", ""],
    ["zero", 0],
    ["false", false],
    ["null", null],
    ["nothing", undefined],
    ["an empty list", []],
    ["nested JSON", { b: [1, { c: null }], a: "é\u2028\ud83d\ude00" }],
    ["half a surrogate pair", "\ud800"],
    ["a __proto__ key", JSON.parse('{"__proto__":{"admin":true},"k":1}')],
  ])("J2, B48: %s is given again as it was", async (_what, value) => {
    for (const confirm of [false, true]) {
      const { run, count } = returning(value, confirm);
      expect(await run()).toStrictEqual(value);
      expect(await run()).toStrictEqual(value);
      expect(count.runs).toBe(1);
    }
  });

  test("J2, B32: a __proto__ key in it reaches no prototype", async () => {
    const { run } = returning(JSON.parse('{"__proto__":{"admin":true}}'));
    await run();
    const again = await run();
    expect(again).not.toHaveProperty("admin");
    expect(Object.getPrototypeOf(again)).toBe(Object.prototype);
    expect(JSON.stringify(again)).toBe('{"__proto__":{"admin":true}}');
  });

  test("J2: keeps the order of its fields, so that the model reads the same text", async () => {
    const { run } = returning({ zebra: 1, apple: { y: 1, x: 2 } });
    const first = JSON.stringify(await run());
    expect(JSON.stringify(await run())).toBe(first);
  });

  test("J2: is a copy: nobody changes what others get", async () => {
    const { run } = returning({ list: [1] });
    const first = (await run()) as { list: number[] };
    first.list.push(2);
    const second = (await run()) as { list: number[] };
    expect(second).toEqual({ list: [1] });
    second.list.push(3);
    expect(await run()).toEqual({ list: [1] });
  });

  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  test.each([
    ["a Date", new Date(0)],
    ["a Map", new Map([[1, 2]])],
    ["a Set", new Set([1])],
    ["a bigint", 1n],
    ["a class instance", new (class Money {})()],
    ["bytes", new Uint8Array(2)],
    ["an error", new Error("x")],
    ["a function", () => 1],
    ["NaN", Number.NaN],
    ["a cycle", cyclic],
    ["a Date deep inside", { a: [{ when: new Date(0) }] }],
  ])("J2, B48: %s is given once as it is; again it is refused, and never runs again", async (_what, value) => {
    for (const confirm of [false, true]) {
      const { run, count } = returning(value, confirm);
      expect(await run()).toBe(value);
      const error = await ourError(run());
      expect(error).toMatchObject({ kind: "ToolUsageError", tool: "pay" });
      expect(await kindOf(run())).toBe("ToolUsageError");
      expect(count.runs).toBe(1);
    }
  });

  test("J2: what outputSchema made of it is what is kept", async () => {
    const tool = defineTool({
      name: "sum",
      description: "d",
      inputSchema: z.object({}),
      outputSchema: z.object({ total: z.coerce.number() }),
      execute: () => JSON.parse('{"total":"5","more":1}'),
    });
    const { executor, again } = stand([tool]);
    expect(await executor.run(tool, {}, { context: again() })).toEqual({ total: 5 });
    expect(await executor.run(tool, {}, { context: again() })).toEqual({ total: 5 });
  });
});

describe("an answer for the model", () => {
  test.each<[string, AgentAdapterError]>([
    ["ToolError", new ToolError("no such account")],
    ["ToolArgsInvalid", new ToolArgsInvalid("look at amount")],
    ["ToolNotFound", new ToolNotFound("no helper")],
    ["ApprovalDenied", new ApprovalDenied("the bank said no")],
    ["ApprovalExpired", new ApprovalExpired("too late")],
  ])(
    "J2: a %s of the tool's is given again with its kind and message; the tool is not run again",
    async (kind, thrown) => {
      let runs = 0;
      const tool = pay({
        execute: () => {
          runs += 1;
          throw thrown;
        },
      });
      const { executor, again } = stand([tool]);
      for (let i = 0; i < 2; i += 1) {
        expect(await ourError(executor.run(tool, to, { context: again() }))).toMatchObject({
          kind,
          message: thrown.message,
        });
      }
      expect(runs).toBe(1);
    },
  );

  test("J2: a failure of a call that needed nobody is not kept: a re-run tries again", async () => {
    let runs = 0;
    const tool = pay({
      execute: () => {
        runs += 1;
        if (runs === 1) throw new Error("x");
        return "paid";
      },
    });
    const { executor, again } = stand([tool]);
    await failure(executor.run(tool, to, { context: again() }));
    expect(await executor.run(tool, to, { context: again() })).toBe("paid");
  });
});

describe("replaying", () => {
  test("J2, G3: asks neither schema, hooks nor rule", async () => {
    const count = { schema: 0, hooks: 0, rules: 0 };
    const tool = defineTool({
      name: "pay",
      description: "d",
      inputSchema: z.object({ to: z.string() }).refine(() => (count.schema += 1) > 0),
      confirm: () => {
        count.rules += 1;
        return false;
      },
      execute: () => "paid",
    });
    const { executor, again } = stand([tool], { hooks: [{ beforeTool: () => void (count.hooks += 1) }] });
    await executor.run(tool, to, { context: again() });
    const once = { ...count };
    await executor.run(tool, to, { context: again() });
    expect(count).toEqual(once);
  });

  test("J2: works for calls made in a batch and alone alike", async () => {
    const { executor, again, count } = returning("paid");
    const batch = [{ tool: "pay", args: to, callId: "c" }];
    await executor.runMany(batch, { context: again() });
    expect(await executor.run("pay", to, { context: again(), callId: "c" })).toBe("paid");
    expect(count.runs).toBe(1);
  });

  test("G3: equal arguments with other spelling are the same call; other arguments are another", async () => {
    const { executor, again, count } = returning("paid");
    await executor.run("pay", { to: "ana", amount: 2 }, { context: again() });
    await executor.run("pay", { amount: 2, to: "ana" }, { context: again() });
    expect(count.runs).toBe(1);
    await executor.run("pay", { amount: 3, to: "ana" }, { context: again() });
    expect(count.runs).toBe(2);
  });
});

describe("arguments", () => {
  test.each([
    ["a bigint", { to: 1n }],
    ["a Date", { to: new Date(0) }],
    ["an unsafe integer", { to: "ana", amount: 2 ** 53 }],
    ["a __proto__ key", JSON.parse('{"to":"ana","__proto__":{"admin":true}}')],
    ["text", '{"to":"ana"}'],
    ["nothing", undefined],
    ["a list", ["ana"]],
  ])("G3, B27, B32: %s is ToolArgsInvalid, and nothing runs or is asked", async (_what, args) => {
    const port = new ScriptedPort(yes());
    let runs = 0;
    const tool = defineTool({
      name: "pay",
      description: "d",
      inputSchema: z.object({ to: z.unknown(), amount: z.int().optional() }),
      confirm: true,
      execute: () => (runs += 1),
    });
    const { executor } = stand([tool], { approval: port });
    expect(await kindOf(executor.run("pay", args))).toBe("ToolArgsInvalid");
    expect([runs, port.asked.length]).toEqual([0, 0]);
  });

  test("G3: limits are options of the executor", async () => {
    const { executor } = stand([pay()], { limits: { maxBytes: 40 } });
    await expect(executor.run("pay", to)).resolves.toBe("paid ana");
    expect(await kindOf(executor.run("pay", { to: "a".repeat(40) }))).toBe("ToolArgsInvalid");
  });

  test("G2, B32: names on Object.prototype are no tools", async () => {
    const { executor } = stand([pay()]);
    for (const name of ["__proto__", "constructor", "toString", ""]) {
      expect(await kindOf(executor.run(name, to))).toBe("ToolNotFound");
    }
  });
});
