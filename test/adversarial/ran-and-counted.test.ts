// A logger that throws, and what a hook or a limit makes of a call that has already run.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { approve, BudgetHook, CallbackApproval, Executor, MemoryLedger, Registry } from "agent-adapter";
import { openSqlite } from "agent-adapter/sqlite";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);
const SECRET = "a secret of at least 32 bytes, for tests";

describe("E1, N1: the result of a call that ran", () => {
  test("is given although the ledger cannot be closed and the logger throws", async () => {
    const memory = new MemoryLedger();
    const registry = new Registry();
    registry.tool({ name: "t", description: "T.", inputSchema: z.object({}), execute: () => 7 });
    const fail = () => {
      throw new Error("no");
    };
    const executor = new Executor(registry, {
      ledger: {
        open: (o) => memory.open(o),
        close: async () => fail(),
        entries: () => memory.entries(),
        totals: () => memory.totals(),
      },
      logger: { debug: fail, info: fail, warn: fail, error: fail },
    });
    expect(await executor.run("t", {})).toBe(7);
  });
});

describe("E9, E1: budgets and ledgers count alike", () => {
  test.each(["memory", "sqlite"])(
    "%s: never beyond the budget, whatever runs beside; totals are the sum of the entries",
    async (kind) => {
      const stores = await openSqlite(":memory:");
      const ledger = kind === "memory" ? new MemoryLedger() : stores.ledger;
      let ran = 0;
      const registry = new Registry();
      const inputSchema = z.object({ n: z.number() });
      registry.tool({
        name: "t",
        description: "T.",
        inputSchema,
        effects: "read",
        cost: 0.1,
        retries: { maxAttempts: 3, initialDelayMs: 1 },
        execute: async ({ n }) => {
          ran += 1;
          await Promise.resolve();
          if (n % 5 === 0) throw new Error("no");
          return n;
        },
      });
      registry.tool({
        name: "pay",
        description: "T.",
        inputSchema,
        confirm: true,
        cost: 0.1,
        execute: async () => {
          ran += 1;
          return 1;
        },
      });
      registry.tool({
        name: "seen",
        description: "T.",
        inputSchema,
        effects: "read",
        cost: 0.1,
        cache: { ttlMs: 60_000, scope: "shared" },
        execute: async () => {
          ran += 1;
          return 1;
        },
      });
      const executor = new Executor(registry, {
        secret: SECRET,
        ledger,
        approval: new CallbackApproval(() => approve()),
        hooks: [new BudgetHook({ maxCalls: 20 })],
      });
      const context = executor.context({ runId: "r" });
      const calls = Array.from({ length: 40 }, (_, n) => ({
        tool: ["t", "pay", "seen"][n % 3] ?? "t",
        args: { n: n % 7 },
        callId: `c${n % 30}`,
      }));
      await Promise.all([1, 2].map(() => executor.runMany(calls, { context, concurrency: 4 }).catch(() => undefined)));
      await executor.runMany(calls, { context: executor.context({ runId: "r" }) }).catch(() => undefined);
      const entries = await ledger.entries({ runId: "r" });
      const totals = await ledger.totals({ runId: "r" });
      const sum = (field: "attempts" | "cost") => entries.reduce((all, entry) => all + entry[field], 0);
      expect(totals.attempts).toBe(sum("attempts"));
      expect(totals.cost).toBeCloseTo(sum("cost"), 6);
      expect(totals.calls).toBe(entries.filter(({ attempts }) => attempts > 0).length);
      expect(totals.calls).toBeLessThanOrEqual(20);
      const perTool = await Promise.all(["t", "pay", "seen"].map((tool) => ledger.totals({ runId: "r", tool })));
      expect(perTool.reduce((all, { attempts }) => all + attempts, 0)).toBe(totals.attempts);
      expect(ran).toBe(totals.attempts);
      await stores.close();
    },
  );
});
