// Parts that misbehave: ledgers, hooks, schemas, stores and tools that throw at once, reject, or give what only looks like a promise.
import { afterEach, describe, expect, test } from "vitest";
import { MemorySaver } from "@langchain/langgraph";
import { z } from "zod";
import {
  approve,
  CallbackApproval,
  DeferredApproval,
  defineTool,
  Executor,
  MemoryApprovalStore,
  MemoryClaimStore,
  MemoryLedger,
  Registry,
  isAgentAdapterError,
  type Ledger,
  type Logger,
} from "agent-adapter";
import { Stand } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";
const CANARY = "CANARY-4242";

function logger() {
  const lines: string[] = [];
  const add = (line: string) => void lines.push(line);
  const log: Logger = { debug: add, info: add, warn: add, error: add };
  return { lines, log };
}

const thenable = (value: unknown) => ({
  // eslint-disable-next-line unicorn/no-thenable -- that is the attack
  then: (resolve: (value: unknown) => void) => resolve(value),
});
const failing = (error: unknown) => ({
  // eslint-disable-next-line unicorn/no-thenable -- that is the attack
  then: (_: unknown, reject: (error: unknown) => void) => reject(error),
});

const boom = () => {
  throw new Error(CANARY);
};

const ENDS: readonly [string, () => unknown][] = [
  ["throws", boom],
  ["rejects", async () => boom()],
  ["gives a promise", async () => undefined],
  ["gives null", () => null],
  ["gives a thenable", () => thenable(undefined)],
  ["gives a thenable that rejects", () => failing(new Error(CANARY))],
  ["gives a lazy thenable", () => thenable(undefined)],
];

const OPENS_FAIL = new Set(["throws", "rejects", "gives a thenable that rejects"]);

describe.each(["pay", "plain"])("E1, A5, N1: a ledger whose open or close misbehaves, a call of %s", (name) => {
  const build = (ledger: Ledger) => {
    const ran: string[] = [];
    const { lines, log } = logger();
    const registry = new Registry([
      defineTool({
        name: "pay",
        description: "P.",
        inputSchema: z.object({ s: z.string() }),
        confirm: true,
        execute: () => {
          ran.push("x");
          return CANARY;
        },
      }),
      defineTool({
        name: "plain",
        description: "P.",
        inputSchema: z.object({ s: z.string() }),
        execute: () => {
          ran.push("x");
          return CANARY;
        },
      }),
    ]);
    let asks = 0;
    const approval = new CallbackApproval(() => {
      asks += 1;
      return approve();
    });
    const executor = new Executor(registry, { secret: SECRET, ledger, logger: log, approval });
    return { executor, ran, lines, asks: () => asks };
  };

  test.each(ENDS)("open %s", async (what, end) => {
    const memory = new MemoryLedger();
    const ledger = {
      open: end,
      close: memory.close.bind(memory),
      entries: memory.entries.bind(memory),
      totals: memory.totals.bind(memory),
    };
    const { executor, ran, lines } = build(ledger as never);
    const got: unknown = await executor.run(name, { s: CANARY }).catch((error: unknown) => error);
    if (OPENS_FAIL.has(what)) {
      expect(isAgentAdapterError(got, "StoreUnavailable")).toBe(true);
      expect(ran).toEqual([]);
      expect(String(got)).not.toContain(CANARY);
    } else {
      expect(got).toBe(CANARY);
      expect(ran).toEqual(["x"]);
    }
    expect(lines.join("\n")).not.toContain(CANARY);
  });

  test.each(ENDS)("close %s: the result is given, once", async (what, end) => {
    const memory = new MemoryLedger();
    const closed: number[] = [];
    const close = () => {
      closed.push(1);
      return end();
    };
    const ledger = {
      open: memory.open.bind(memory),
      close,
      entries: memory.entries.bind(memory),
      totals: memory.totals.bind(memory),
    };
    const { executor, ran, lines } = build(ledger as never);
    const context = executor.context({ runId: "r" });
    expect(await executor.run(name, { s: CANARY }, { context, callId: "c" })).toBe(CANARY);
    expect(await executor.run(name, { s: CANARY }, { context: executor.context({ runId: "r" }), callId: "c" })).toBe(
      CANARY,
    );
    expect(ran).toEqual(["x"]);
    expect(lines.join("\n")).not.toContain(CANARY);
    const failed = OPENS_FAIL.has(what);
    expect([what, lines.length > 0]).toEqual([what, failed]);
  });
});

describe("E9, N1: hooks that give what only looks like a promise", () => {
  test.each(ENDS)("beforeTool %s", async (what, end) => {
    const ran: string[] = [];
    const registry = new Registry([
      defineTool({
        name: "plain",
        description: "P.",
        inputSchema: z.object({}),
        execute: () => {
          ran.push("x");
          return 1;
        },
      }),
    ]);
    const executor = new Executor(registry, { hooks: [{ beforeTool: end } as never] });
    const got: unknown = await executor.run("plain", {}).catch((error: unknown) => error);
    expect([what, ran.length]).toEqual([what, OPENS_FAIL.has(what) ? 0 : 1]);
    if (!OPENS_FAIL.has(what)) expect(got).toBe(1);
  });

  test.each(ENDS)("afterTool %s: its failure does not run the tool again", async (_what, end) => {
    const ran: string[] = [];
    const registry = new Registry([
      defineTool({
        name: "plain",
        description: "P.",
        inputSchema: z.object({}),
        execute: () => {
          ran.push("x");
          return 1;
        },
      }),
    ]);
    const executor = new Executor(registry, { hooks: [{ afterTool: end } as never] });
    for (let i = 0; i < 3; i += 1)
      await executor
        .run("plain", {}, { context: executor.context({ runId: "r" }), callId: "c" })
        .catch(() => undefined);
    expect(ran).toEqual(["x"]);
  });
});

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
    if (ran.length > 0) expect(ran).toEqual(shown);
    else expect(isAgentAdapterError(got)).toBe(true);
    expect(({} as { admin?: boolean }).admin).toBe(undefined);
  });

  test("a member called then, in arguments and results", async () => {
    const { got, ran } = await run((value) => ({ value }), { then: "x", s: "y" });
    expect([got, ran]).toEqual([1, [{ then: "x", s: "y" }]]);
  });
});

describe("results", () => {
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

describe("A5: stores and claims that misbehave", () => {
  test("a claims store that throws at once keeps the answer; the same answer is used once", async () => {
    const ran: string[] = [];
    let fail = true;
    const inner = new MemoryClaimStore();
    const claims = {
      claim: (...args: Parameters<MemoryClaimStore["claim"]>) => {
        if (fail) throw new Error(CANARY);
        return inner.claim(...args);
      },
    };
    const stand = new Stand({
      saver: new MemorySaver(),
      claims: claims as never,
      tools: () => [
        defineTool({
          name: "pay",
          description: "P.",
          inputSchema: z.object({}),
          confirm: true,
          execute: () => {
            ran.push("x");
            return 1;
          },
        }),
      ],
    });
    const paused = await stand.start({ name: "pay", args: {}, id: "a" });
    const [pending] = paused.interrupts;
    if (pending === undefined) throw new Error("no pause");
    await stand.decide(pending).catch((thrown: unknown) => thrown);
    expect(ran).toEqual([]);
    fail = false;
    const done = await stand.again();
    expect([ran, done.interrupts.length]).toEqual([["x"], 0]);
  });

  test("A8: a deferred store whose lists and records are written on", async () => {
    const ran: unknown[] = [];
    const inner = new MemoryApprovalStore();
    const registry = new Registry([
      defineTool({
        name: "pay",
        description: "P.",
        inputSchema: z.object({ to: z.string() }),
        confirm: true,
        execute: (args) => {
          ran.push(args);
          return 1;
        },
      }),
    ]);
    const executor = new Executor(registry, {
      secret: SECRET,
      approval: new DeferredApproval(inner, { requestTtlMs: 60_000 }),
    });
    const call = () =>
      executor
        .run("pay", { to: "ana" }, { context: executor.context({ runId: "r" }), callId: "c" })
        .catch((error: unknown) => error);
    expect(isAgentAdapterError(await call(), "ApprovalPending")).toBe(true);
    const [record] = await inner.list();
    if (record === undefined) throw new Error("no record");
    try {
      Object.assign(record.request.arguments, { to: "mallory" });
    } catch {
      /* frozen */
    }
    try {
      Object.assign(record, { status: "approved" });
    } catch {
      /* frozen */
    }
    expect(isAgentAdapterError(await call(), "ApprovalPending")).toBe(true);
    await inner.decide(record.id, approve());
    forgetProcess();
    expect(await call()).toBe(1);
    expect(ran).toEqual([{ to: "ana" }]);
  });
});
