// Properties proved: random tools (schemas, timeouts, retries, caches, once per run, approvals) under random batches and
// re-runs, with failures and aborts: results, ledger and number of body runs are what the model of the rules says.
import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  BudgetHook,
  defineTool,
  Executor,
  isAgentAdapterError,
  MemoryLedger,
  Registry,
  ToolError,
  type ApprovalPort,
  type Clock,
} from "../../../src/index.js";
import type { Shown, Verdict } from "../../../src/approvals/port.js";
import {
  Model,
  type Answer,
  type BatchEnd,
  type BodyEnd,
  type CallPlan,
  type End,
  type ToolPlan,
} from "./fuzz-model.js";
import { unhandledRejections } from "./tools.js";

const unhandled = unhandledRejections();
const SEED = Number(process.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31);
const TIME_MS = 4000;

const tick = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Every wait is over at the end of the turn: bodies that do not wait themselves are always faster. */
const hasty: Clock = {
  now: () => 0,
  sleep: (_ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const timer = setTimeout(resolve, 0);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};

const toolPlan: fc.Arbitrary<ToolPlan> = fc
  .record({
    kind: fc.constantFrom("plain", "confirm", "cached"),
    once: fc.boolean(),
    idempotent: fc.boolean(),
    attempts: fc.integer({ min: 1, max: 3 }),
    cost: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ kind, ...rest }) => ({ ...rest, confirm: kind === "confirm", cached: kind === "cached" }));

const NAMES = ["a", "b", "c"];
const callPlan: fc.Arbitrary<Omit<CallPlan, "id">> = fc.record({
  tool: fc.constantFrom(...NAMES),
  n: fc.constantFrom(0, 0, 1, 2, 3),
  answer: fc.constantFrom<Answer>("yes", "yes", "no", "later"),
  ends: fc.array(fc.constantFrom<BodyEnd>("ok", "ok", "fails", "tells", "hangs", "aborts"), { maxLength: 4 }),
});

const scenario = fc.record({
  plans: fc.tuple(toolPlan, toolPlan, toolPlan),
  calls: fc
    .array(callPlan, { minLength: 1, maxLength: 6 })
    .map((plans) => plans.map((plan, index) => ({ ...plan, id: `c${index}` }))),
  batches: fc.array(
    fc.record({
      picks: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 6 }),
      dead: fc.constantFrom(false, false, false, false, true),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

const REASON = new Error("stopped");
const kindOf = (error: unknown): string =>
  error === REASON ? "abort" : isAgentAdapterError(error) ? error.kind : String(error);

/** The executor under a plan. */
class Real {
  readonly bodies = new Map<string, number>();
  readonly ledger = new MemoryLedger();
  uses = 0;
  readonly #executor: Executor;
  readonly #runId = randomUUID();
  readonly #calls: ReadonlyMap<string, CallPlan>;
  readonly #asked = new Set<string>();
  #stop = new AbortController();

  constructor(tools: ReadonlyMap<string, ToolPlan>, calls: readonly CallPlan[], parallelSafe = false) {
    this.#calls = new Map(calls.map((call) => [call.id, call]));
    const specs = [...tools].map(([name, plan]) => this.#tool(name, plan, parallelSafe));
    this.#executor = new Executor(new Registry(specs), {
      approval: this.#port(),
      ledger: this.ledger,
      clock: hasty,
      hooks: [new BudgetHook({ maxCalls: 1000 })],
    });
  }

  async batch(calls: readonly CallPlan[], abortedBefore: boolean): Promise<BatchEnd> {
    this.#stop = new AbortController();
    if (abortedBefore) this.#stop.abort(REASON);
    const context = this.#executor.context({ runId: this.#runId, signal: this.#stop.signal });
    const given = calls.map(({ id, tool, n }) => ({ tool, args: { n }, callId: id }));
    try {
      const outcomes = await this.#executor.runMany(given, { context });
      return {
        ends: outcomes.map((one): End =>
          one.status === "fulfilled" ? { value: String(one.value) } : { kind: kindOf(one.reason) },
        ),
      };
    } catch (error) {
      return { thrown: kindOf(error) };
    }
  }

  #tool(name: string, plan: ToolPlan, parallelSafe: boolean) {
    return defineTool({
      name,
      description: name,
      inputSchema: z.object({ n: z.number().max(2) }),
      effects: plan.cached ? "read" : "write",
      parallelSafe,
      idempotent: plan.idempotent,
      confirm: plan.confirm,
      oncePerRun: plan.once,
      timeoutMs: 10,
      cost: plan.cost,
      retries: { maxAttempts: plan.attempts, initialDelayMs: 1 },
      ...(plan.cached ? { cache: { ttlMs: 1000, scope: "run" } as const } : {}),
      execute: (_args, { callId }) => this.#body(callId),
    });
  }

  async #body(callId: string): Promise<string> {
    const ran = this.bodies.get(callId) ?? 0;
    this.bodies.set(callId, ran + 1);
    switch (this.#calls.get(callId)?.ends[ran] ?? "ok") {
      case "ok":
        return `${callId}:${ran}`;
      case "fails":
        throw new Error("x");
      case "tells":
        throw new ToolError("x");
      case "hangs":
        return new Promise(() => undefined);
      case "aborts":
        // What needs no body is over by then: the model knows no half-finished calls.
        for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
        this.#stop.abort(REASON);
        throw REASON;
    }
  }

  #port(): ApprovalPort {
    const decide = async ({ binding, request }: Shown): Promise<Verdict> => {
      const answer = this.#calls.get(request.callId)?.answer;
      // A new question is looked at twice: once more when its hooks have heard of it.
      const looks = [1, 2].find((look) => !this.#asked.has(`${binding} ${look}`));
      if (answer === "later" && looks !== undefined) {
        this.#asked.add(`${binding} ${looks}`);
        return { status: "pending" };
      }
      const consume = () => {
        this.uses += 1;
        return Promise.resolve();
      };
      return { status: "decided", decision: { approved: answer !== "no" }, decidedBy: "ana", guardUntil: 0, consume };
    };
    return {
      source: "port",
      requestTtlMs: null,
      unknownAfterMs: Number.POSITIVE_INFINITY,
      keys: undefined,
      attach: () => undefined,
      verify: () => "malformed",
      decide,
    };
  }
}

const counts = (map: ReadonlyMap<string, number>) => Object.fromEntries(map);

describe(`seed ${SEED}`, () => {
  test("E1, E4, E5, E6, E7/process, E8: results, entries and bodies are what the model says", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ plans, calls, batches }) => {
        const tools = new Map(NAMES.map((name, index) => [name, plans[index] ?? plans[0]]));
        const [real, model] = [new Real(tools, calls), new Model(tools)];
        for (const { picks, dead } of batches) {
          const batch = picks.flatMap((pick) => calls[pick] ?? []);
          expect(await real.batch(batch, dead)).toEqual(model.batch(batch, dead));
          await tick();
          const entries = await real.ledger.entries();
          expect(
            Object.fromEntries(
              entries.map(({ callId, status, attempts, cost }) => [callId, { status, attempts, cost }]),
            ),
          ).toEqual(Object.fromEntries(model.entries));
          expect(counts(real.bodies)).toEqual(counts(model.bodies));
          expect(real.uses).toBe(model.uses);
        }
      }),
      { seed: SEED, numRuns: 3000, interruptAfterTimeLimit: TIME_MS, markInterruptAsFailure: false },
    );
  }, 30_000);

  test("E1, E7/process, E9/budget: side by side, the sums hold whatever the order was", async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ plans, calls, batches }) => {
        const tools = new Map(NAMES.map((name, index) => [name, plans[index] ?? plans[0]]));
        const real = new Real(tools, calls, true);
        await Promise.all(
          batches.map(({ picks }) =>
            real.batch(
              picks.flatMap((pick) => calls[pick] ?? []),
              false,
            ),
          ),
        );
        await tick();
        await tick();
        const entries = await real.ledger.entries();
        const bodies = [...real.bodies.values()].reduce((sum, count) => sum + count, 0);
        expect(entries.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(bodies);
        for (const { callId, tool, attempts, cost, status } of entries) {
          expect(attempts).toBe(real.bodies.get(callId) ?? 0);
          expect(cost).toBe(attempts * (tools.get(tool)?.cost ?? 0));
          expect(status).not.toBe("running");
        }
        // One use of an answer is one call of its tool, with all its attempts.
        const approved = calls.filter(
          ({ tool, ends }) => tools.get(tool)?.confirm === true && !ends.includes("aborts"),
        );
        for (const { id, tool } of approved) {
          expect(real.bodies.get(id) ?? 0).toBeLessThanOrEqual(tools.get(tool)?.attempts ?? 0);
        }
      }),
      { seed: SEED, numRuns: 1000, interruptAfterTimeLimit: TIME_MS, markInterruptAsFailure: false },
    );
  }, 30_000);

  test("E4, E6: none of it left a rejection unhandled", async () => {
    await tick();
    expect(unhandled).toEqual([]);
  });
});
