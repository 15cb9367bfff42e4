// Ledgers and hooks that throw at once, reject, or give what only looks like a promise.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  approve,
  CallbackApproval,
  defineTool,
  Executor,
  MemoryLedger,
  Registry,
  isAgentAdapterError,
  type Ledger,
  type Logger,
} from "agent-adapter";
import { forgetProcess } from "../../support/process.js";
import { boom, CANARY, failing, thenable } from "./parts.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";

function logger() {
  const lines: string[] = [];
  const add = (line: string) => void lines.push(line);
  const log: Logger = { debug: add, info: add, warn: add, error: add };
  return { lines, log };
}

const ENDS: readonly [string, () => unknown][] = [
  ["throws", boom],
  ["rejects", async () => boom()],
  ["gives a promise", async () => undefined],
  ["gives null", () => null],
  ["gives a thenable", () => thenable(undefined)],
  ["gives a thenable that rejects", () => failing(new Error(CANARY))],
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
    const fails = OPENS_FAIL.has(what);
    expect([isAgentAdapterError(got, "StoreUnavailable"), ran]).toEqual(fails ? [true, []] : [false, ["x"]]);
    expect(String(got).includes(CANARY)).toBe(!fails);
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

/** A registry with one tool, and how often its body ran. */
function counted() {
  const ran: string[] = [];
  const plain = defineTool({
    name: "plain",
    description: "P.",
    inputSchema: z.object({}),
    execute: () => {
      ran.push("x");
      return 1;
    },
  });
  return { ran, registry: new Registry([plain]) };
}

describe("E9, N1: hooks that give what only looks like a promise", () => {
  test.each(ENDS)("beforeTool %s", async (what, end) => {
    const { ran, registry } = counted();
    const executor = new Executor(registry, { hooks: [{ beforeTool: end } as never] });
    const got: unknown = await executor.run("plain", {}).catch((error: unknown) => error);
    const fails = OPENS_FAIL.has(what);
    expect([ran.length, got instanceof Error, got === 1]).toEqual(fails ? [0, true, false] : [1, false, true]);
  });

  test.each(ENDS)("afterTool %s: its failure does not run the tool again", async (_what, end) => {
    const { ran, registry } = counted();
    const executor = new Executor(registry, { hooks: [{ afterTool: end } as never] });
    for (let i = 0; i < 3; i += 1)
      await executor
        .run("plain", {}, { context: executor.context({ runId: "r" }), callId: "c" })
        .catch(() => undefined);
    expect(ran).toEqual(["x"]);
  });
});
