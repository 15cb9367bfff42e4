// Schemas and results that misbehave: what a reviewer sees is what runs, or nothing runs, and nothing is quoted.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { approve, CallbackApproval, defineTool, Executor, Registry, isAgentAdapterError } from "agent-adapter";
import { forgetProcess } from "../../support/process.js";
import { boom, CANARY, failing, thenable } from "./parts.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";

/** A Standard Schema that validates as told. */
function schemaOf(
  validate: (value: unknown) => unknown,
  json: object = { type: "object", properties: { s: { type: "string" } } },
) {
  return {
    "~standard": {
      version: 1,
      vendor: "attack",
      validate,
      jsonSchema: { input: () => json, output: () => json },
    },
  } as never;
}

describe("G3, G5, N1: schemas", () => {
  const run = async (validate: (value: unknown) => unknown, args: unknown = { s: CANARY }, confirm = true) => {
    const ran: unknown[] = [];
    const shown: unknown[] = [];
    const registry = new Registry([
      defineTool({
        name: "pay",
        description: "P.",
        inputSchema: schemaOf(validate),
        confirm,
        execute: (given: unknown) => {
          ran.push(given);
          return 1;
        },
      }),
    ]);
    const executor = new Executor(registry, {
      secret: SECRET,
      approval: new CallbackApproval((review) => {
        shown.push(review.request.arguments);
        return approve();
      }),
    });
    const got: unknown = await executor.run("pay", args).catch((error: unknown) => error);
    return { got, ran, shown };
  };

  test.each([true, false])("a thenable, a promise, a late rejection (confirm %s)", async (confirm) => {
    const ok = (value: unknown) => ({ value });
    for (const validate of [
      (value: unknown) => thenable(ok(value)),
      (value: unknown) => Promise.resolve(ok(value)),
      (value: unknown) => Promise.resolve(thenable(ok(value))),
    ]) {
      const { got, ran } = await run(validate, { s: CANARY }, confirm);
      expect([got, ran]).toEqual([1, [{ s: CANARY }]]);
    }
    for (const validate of [
      boom,
      async () => boom(),
      () => failing(new Error(CANARY)),
      () => undefined,
      async () => null,
    ]) {
      const { got, ran } = await run(validate, { s: CANARY }, confirm);
      expect(ran).toEqual([]);
      expect(isAgentAdapterError(got, "ToolUsageError")).toBe(true);
      expect(String(got)).not.toContain(CANARY);
    }
  });

  test("what changes from parse to parse is refused before anybody is asked", async () => {
    let n = 0;
    const { got, ran, shown } = await run(() => ({ value: { s: String((n += 1)) } }));
    expect([isAgentAdapterError(got, "ToolUsageError"), ran, shown]).toEqual([true, [], []]);
  });

  test("undefined members, other orders, -0: the reviewer sees what runs", async () => {
    let n = 0;
    const { got, ran, shown } = await run(() => {
      n += 1;
      return { value: n % 2 === 0 ? { b: 0, a: 1, gone: undefined } : { a: 1, gone: undefined, b: -0 } };
    });
    expect(got).toBe(1);
    expect(ran).toEqual(shown);
  });

  test("getters and proxies that a schema gives are read once", async () => {
    const value = (calls: { n: number }) => ({
      get s() {
        calls.n += 1;
        return calls.n === 1 ? "ana" : "mallory";
      },
    });
    const { got, ran, shown } = await run(() => ({ value: value({ n: 0 }) }));
    expect([got, ran]).toEqual([1, [{ s: "ana" }]]);
    expect(shown).toEqual(ran);
  });

  test("raw arguments with getters or behind a proxy run no user code, or nothing runs", async () => {
    let read = 0;
    const getter = {
      get s() {
        read += 1;
        return "x";
      },
    };
    const first = await run((value) => ({ value }), getter);
    expect([isAgentAdapterError(first.got, "ToolArgsInvalid"), read, first.ran]).toEqual([true, 0, []]);
    const changing = new Proxy(
      { s: "ana" },
      {
        getOwnPropertyDescriptor: () => ({
          value: (read += 1) === 1 ? "ana" : "mallory",
          enumerable: true,
          configurable: true,
          writable: true,
        }),
      },
    );
    const second = await run((value) => ({ value }), changing);
    expect(second.ran).toEqual(second.shown);
    const throwing = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error(CANARY);
        },
      },
    );
    const third = await run((value) => ({ value }), throwing);
    expect(third.ran).toEqual([]);
    expect(String(third.got)).not.toContain(CANARY);
  });

  test("__proto__ from every door", async () => {
    for (const raw of [
      JSON.parse('{"s":"x","__proto__":{"admin":true}}'),
      JSON.parse('{"s":{"__proto__":{"admin":true}}}'),
    ]) {
      const { got, ran } = await run((value) => ({ value }), raw);
      expect([isAgentAdapterError(got, "ToolArgsInvalid"), ran]).toEqual([true, []]);
    }
    const { got, ran, shown } = await run(() => ({ value: JSON.parse('{"s":"x","__proto__":{"admin":true}}') }));
    expect(ran).toEqual(ran.length > 0 ? shown : []);
    expect(ran.length > 0 || isAgentAdapterError(got)).toBe(true);
    expect(({} as { admin?: boolean }).admin).toBe(undefined);
  });

  test("a member called then, in arguments and results", async () => {
    const { got, ran } = await run((value) => ({ value }), { then: "x", s: "y" });
    expect([got, ran]).toEqual([1, [{ then: "x", s: "y" }]]);
  });
});

describe("J2, G3: results", () => {
  const of = async (execute: () => unknown, more: object = {}) => {
    const registry = new Registry([
      defineTool({ name: "t", description: "T.", inputSchema: z.object({}), execute, ...more } as never),
    ]);
    const executor = new Executor(registry, {});
    const once = () =>
      executor
        .run("t", {}, { context: executor.context({ runId: "r" }), callId: "c" })
        .catch((error: unknown) => error);
    return [await once(), await once()];
  };

  test("J2: falsy ones, lone surrogates, thenables", async () => {
    for (const value of [0, "", false, null, undefined, "\uD800", [], { then: 1 }]) {
      let runs = 0;
      expect(
        await of(() => {
          runs += 1;
          return value;
        }),
      ).toEqual([value, value]);
      expect(runs).toBe(1);
    }
    expect(await of(() => thenable(7))).toEqual([7, 7]);
  });

  test("G3: an outputSchema that answers at once, late, with a thenable, or throws", async () => {
    const out = (validate: (value: unknown) => unknown) => ({ outputSchema: schemaOf(validate) });
    expect(
      await of(
        () => 1,
        out((value) => ({ value })),
      ),
    ).toEqual([1, 1]);
    expect(
      await of(
        () => 1,
        out((value) => thenable({ value })),
      ),
    ).toEqual([1, 1]);
    for (const validate of [
      boom,
      async () => boom(),
      () => ({ issues: [{ message: CANARY }] }),
      () => failing(new Error(CANARY)),
    ]) {
      const [first] = await of(() => CANARY, out(validate));
      expect(isAgentAdapterError(first, "ToolFailed")).toBe(true);
      expect((first as Error).message).not.toContain(CANARY);
    }
  });
});
