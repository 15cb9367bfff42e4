// Properties proved: the order of a batch, its concurrency, what stops it before a human is asked, and that nothing is lost
// or left unhandled.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, ToolError, type BatchCall, type Hook } from "../../../src/index.js";
import { failure, gate, kindOf, no, ourError, pay, pending, ScriptedPort, stand, turns, yes } from "./stand.js";

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));

const thrower = (thrown: unknown) => () => {
  throw thrown;
};
const bubble = (): Error => Object.assign(new Error("pause"), { is_bubble_up: true });
const calls = (...names: string[]): BatchCall[] =>
  names.map((tool, index) => ({ tool, args: { to: `${tool}${index}` } }));

/** Tools that write down what happens. */
function noted(port = new ScriptedPort(yes(), yes(), yes())) {
  const log: string[] = [];
  const plain = pay({
    name: "plain",
    effects: "read",
    execute: async ({ to }) => {
      log.push(`+${to}`);
      await turns();
      log.push(`-${to}`);
      return to;
    },
  });
  const gated = pay({
    name: "gated",
    confirm: true,
    execute: async ({ to }) => {
      log.push(`+${to}`);
      await turns();
      log.push(`-${to}`);
      return to;
    },
  });
  const bad = pay({ name: "bad", execute: thrower(new Error("x")) });
  const told = pay({ name: "told", execute: thrower(new ToolError("x")) });
  const decide = port.decide.bind(port);
  port.decide = (shown) => {
    const { to } = shown.request.arguments;
    log.push(typeof to === "string" ? `?${to}` : "?");
    return decide(shown);
  };
  const tools = [plain, gated, bad, told];
  return { log, port, tools, ...stand(tools, { approval: port }) };
}

describe("order", () => {
  test("E8: what asks nobody runs first and together; the others are asked and run one by one, in input order", async () => {
    const { executor, log } = noted();
    const outcomes = await executor.runMany(calls("gated", "plain", "gated", "plain"));
    expect(log.join(" ").split(/ (?=\?)/)).toEqual([
      "+plain1 +plain3 -plain1 -plain3",
      "?gated0 +gated0 -gated0",
      "?gated2 +gated2 -gated2",
    ]);
    expect(outcomes.map((outcome) => outcome.status === "fulfilled" && outcome.value)).toEqual([
      "gated0",
      "plain1",
      "gated2",
      "plain3",
    ]);
  });

  test("E8: what may not run beside others runs one at a time, beside the pool", async () => {
    const log: string[] = [];
    const noting = (name: string, effects: "read" | "write") =>
      pay({
        name,
        effects,
        execute: async ({ to }) => {
          log.push(`+${to}`);
          await turns();
          log.push(`-${to}`);
        },
      });
    const { executor } = stand([noting("reads", "read"), noting("writes", "write")]);
    await executor.runMany(calls("writes", "reads", "writes", "reads"));
    expect(log.slice(0, 3).toSorted()).toEqual(["+reads1", "+reads3", "+writes0"]);
    expect(log.filter((line) => line.includes("writes"))).toEqual(["+writes0", "-writes0", "+writes2", "-writes2"]);
  });

  test("E8: outcomes say the call's id, and what ran instead of what was asked for", async () => {
    const { executor } = noted(new ScriptedPort(yes({ to: "bob" })));
    const [one, two] = await executor.runMany([{ ...calls("plain")[0], callId: "c" } as BatchCall, ...calls("gated")]);
    expect(one).toMatchObject({ callId: "c", editedArguments: undefined });
    expect(two).toMatchObject({ value: "bob", editedArguments: { to: "bob", amount: 1 } });
    expect(two?.callId).toMatch(/^#gated\//);
  });

  test("E8: a replayed batch says the same, edits too", async () => {
    const { executor, again, log } = noted(new ScriptedPort(yes({ to: "bob" })));
    const first = await executor.runMany(calls("plain", "gated"), { context: again() });
    const ran = log.length;
    expect(await executor.runMany(calls("plain", "gated"), { context: again() })).toEqual(first);
    expect(log).toHaveLength(ran);
  });

  test("E8: an empty batch is an empty list", async () => {
    await expect(stand([]).executor.runMany([])).resolves.toEqual([]);
  });
});

describe("concurrency", () => {
  test.each([
    ["the call", { concurrency: 2 }, {}],
    ["the executor", {}, { concurrency: 2 }],
    ["the call, over the executor's", { concurrency: 2 }, { concurrency: 5 }],
  ])("E8: is capped by %s", async (_whose, batch, options) => {
    let [running, most] = [0, 0];
    const tool = pay({
      execute: async () => {
        running += 1;
        most = Math.max(most, running);
        await turns();
        running -= 1;
      },
      effects: "read",
    });
    const { executor } = stand([tool], options);
    await executor.runMany(calls("pay", "pay", "pay", "pay", "pay"), batch);
    expect(most).toBe(2);
  });

  test.each([[0], [-1], [1.5], [Number.NaN]])("E8, N1: %s is refused before anything runs", async (concurrency) => {
    const { executor, entries } = noted();
    expect(await kindOf(executor.runMany(calls("plain"), { concurrency }))).toBe("ToolUsageError");
    expect(() => stand([], { concurrency })).toThrow("concurrency");
    expect(await entries()).toEqual([]);
  });
});

describe("failures", () => {
  test("E8, G5: a call that needs a human but failed before its turn asks nobody, so that it holds no failure back", async () => {
    let parses = 0;
    // No fixed point: found out once it is known that the call needs a human.
    const inputSchema = z.object({ to: z.string() }).transform(() => ({ to: `${(parses += 1)}` }));
    const moving = defineTool({ name: "moving", description: "Moves.", inputSchema, confirm: true, execute: () => 1 });
    const { tools, port } = noted();
    const { executor } = stand([...tools, moving], { approval: port });
    const outcomes = await executor.runMany(calls("moving", "bad"));
    const kinds = outcomes.map(
      (outcome) => outcome.status === "rejected" && Reflect.get(Object(outcome.reason), "kind"),
    );
    expect(kinds).toEqual(["ToolUsageError", "ToolFailed"]);
    expect(port.asked).toEqual([]);
  });

  test("E8, B33: a failing call loses nothing of its siblings", async () => {
    const { executor } = noted();
    const outcomes = await executor.runMany([
      ...calls("plain", "bad", "told", "plain", "none"),
      { tool: "plain", args: 5 },
    ]);
    expect(outcomes.map((outcome) => (outcome.status === "fulfilled" ? "ok" : outcome.reason.kind))).toEqual([
      "ok",
      "ToolFailed",
      "ToolError",
      "ok",
      "ToolNotFound",
      "ToolArgsInvalid",
    ]);
  });

  test("E8, B33: what finished is replayed when the batch runs again; only the failed call runs again", async () => {
    const { executor, log, again, ledger } = noted();
    await executor.runMany(calls("plain", "bad", "plain"), { context: again() });
    await executor.runMany(calls("plain", "bad", "plain"), { context: again() });
    expect(log.filter((line) => line.startsWith("+"))).toEqual(["+plain0", "+plain2"]);
    expect(await ledger.totals()).toMatchObject({ calls: 3, attempts: 4 });
  });

  test("E8: one that the model may not read is thrown before a human is asked, after the siblings settled", async () => {
    const { executor, log } = noted();
    expect(await kindOf(executor.runMany(calls("gated", "bad", "plain")))).toBe("ToolFailed");
    expect(log).toEqual(["+plain2", "-plain2"]);
  });

  test("E8: one that the model may read stops nobody", async () => {
    const { executor, log } = noted();
    const outcomes = await executor.runMany(calls("gated", "told", "none"));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(log).toContain("?gated0");
  });

  test("E8: one of an approved call is thrown before the next human is asked", async () => {
    const port = new ScriptedPort(yes(), yes());
    const bad = pay({ name: "bad", confirm: true, execute: thrower(new Error("x")) });
    const { executor } = stand([bad], { approval: port });
    expect(await kindOf(executor.runMany(calls("bad", "bad")))).toBe("ToolFailed");
    expect(port.asked).toHaveLength(1);
  });

  test("E8: a denial is an outcome like any other, and the next one is asked", async () => {
    const { executor, port } = noted(new ScriptedPort(no(), yes()));
    const outcomes = await executor.runMany(calls("gated", "gated"));
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(port.asked).toHaveLength(2);
  });

  test("E8: of the last asking call alone is an outcome", async () => {
    const { executor } = noted(new ScriptedPort(pending));
    const outcomes = await executor.runMany(calls("plain", "gated"));
    expect(outcomes).toMatchObject([{ status: "fulfilled" }, { reason: { kind: "ApprovalPending" } }]);
  });

  test("E8: a call that needs a human and was refused before it asked is an outcome beside the others", async () => {
    const { executor, log } = noted();
    const outcomes = await executor.runMany([{ tool: "gated", args: { to: 5 } }, ...calls("gated")]);
    expect(outcomes).toMatchObject([{ reason: { kind: "ToolArgsInvalid" } }, { status: "fulfilled" }]);
    expect(log[0]).toBe("?gated0");
  });
});

describe("control flow", () => {
  test("E8, E3: rejects as it came, once every sibling has settled, and before a human is asked", async () => {
    const slow = gate();
    const log: string[] = [];
    const thrown = bubble();
    const pausing = pay({ name: "pausing", execute: thrower(thrown) });
    const waiting = pay({
      name: "waiting",
      execute: async () => {
        await slow.wait;
        log.push("settled");
      },
    });
    const port = new ScriptedPort(yes());
    const { executor, entries } = stand([pausing, waiting, pay({ confirm: true })], { approval: port });
    const run = failure(executor.runMany(calls("pausing", "waiting", "pay"))).then((error) => {
      log.push("thrown");
      return error;
    });
    await turns();
    expect(log).toEqual([]);
    slow.open();
    expect(await run).toBe(thrown);
    expect(log).toEqual(["settled", "thrown"]);
    expect(port.asked).toEqual([]);
    expect((await entries()).find(({ tool }) => tool === "waiting")).toMatchObject({ status: "ok" });
  });

  test("E8, E3: wins over a failure beside it", async () => {
    const thrown = bubble();
    const { executor } = stand([
      pay({ name: "pausing", execute: thrower(thrown) }),
      pay({ name: "bad", execute: thrower(new Error("x")) }),
    ]);
    expect(await failure(executor.runMany(calls("bad", "pausing")))).toBe(thrown);
  });

  test("E8, E3: of a call that asks stops the asking: one pause, one question", async () => {
    const thrown = bubble();
    const { executor, port } = noted(new ScriptedPort(thrower(thrown), yes()));
    expect(await failure(executor.runMany(calls("gated", "gated")))).toBe(thrown);
    expect(port.asked).toHaveLength(1);
  });

  test("E8, E3: an abort rejects with its reason; nothing queued starts and nobody is asked", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const log: string[] = [];
    const tool = pay({
      name: "plain",
      execute: async ({ to }) => {
        log.push(to);
        stop.abort(reason);
        await turns();
        return to;
      },
    });
    const port = new ScriptedPort(yes());
    const { executor } = stand([tool, pay({ name: "gated", confirm: true })], { approval: port });
    const context = executor.context({ signal: stop.signal });
    expect(await failure(executor.runMany(calls("plain", "plain", "gated"), { context }))).toBe(reason);
    await turns();
    expect(log).toEqual(["plain0"]);
    expect(port.asked).toEqual([]);
  });
});

describe("calls that a batch does not reach", () => {
  test("E8, E9/errors-approvals: let go of what hooks hold for them, and no hook hears of a failure that is not theirs", async () => {
    const log: string[] = [];
    const hook: Partial<Hook> = {
      beforeTool: ({ tool }) => ({ finally: () => void log.push(`${tool} released`) }),
      onError: ({ tool }) => void log.push(`${tool} failed`),
    };
    const bad = pay({ name: "bad", execute: thrower(new Error("x")) });
    const port = new ScriptedPort(yes());
    const { executor } = stand([bad, pay({ confirm: true })], { approval: port, hooks: [hook] });
    expect(await kindOf(executor.runMany(calls("pay", "bad", "pay")))).toBe("ToolFailed");
    expect(log).toEqual(["bad failed", "bad released", "pay released", "pay released"]);
  });
});

describe("calls that look alike", () => {
  test("E8: equal calls without ids are two calls", async () => {
    const { executor, log } = noted();
    const twin = { tool: "plain", args: { to: "ana" } };
    const outcomes = await executor.runMany([twin, twin]);
    expect(log.filter((line) => line === "+ana")).toHaveLength(2);
    expect(new Set(outcomes.map(({ callId }) => callId)).size).toBe(2);
  });

  test("E8: the same call given twice runs once, and both get the result", async () => {
    const { executor, log } = noted();
    const twin = { tool: "plain", args: { to: "ana" }, callId: "c" };
    const outcomes = await executor.runMany([twin, twin]);
    expect(outcomes).toMatchObject([{ value: "ana" }, { value: "ana" }]);
    expect(log.filter((line) => line === "+ana")).toHaveLength(1);
  });

  test("A5, E8: the same approved call given twice asks once and runs once, and both get the result", async () => {
    const { executor, port, log } = noted(new ScriptedPort(yes(), yes()));
    const twin = { tool: "gated", args: { to: "ana" }, callId: "c" };
    const outcomes = await executor.runMany([twin, twin]);
    expect(outcomes).toMatchObject([{ value: "ana" }, { value: "ana" }]);
    expect(log.filter((line) => line === "+ana")).toHaveLength(1);
    expect(port.asked).toHaveLength(1);
  });

  test("A5, E8: the same call given twice and denied is denied to both; nobody is asked again", async () => {
    const { executor, port, log } = noted(new ScriptedPort(no(), yes()));
    const twin = { tool: "gated", args: { to: "ana" }, callId: "c" };
    expect(await executor.runMany([twin, twin])).toMatchObject([
      { reason: { kind: "ApprovalDenied" } },
      { reason: { kind: "ApprovalDenied" } },
    ]);
    expect(port.asked).toHaveLength(1);
    expect(log).not.toContain("+ana");
  });

  test("E8, N1: one id for two different calls refuses the second, and the first one runs", async () => {
    const { executor } = noted();
    const [one, two] = calls("plain", "plain").map((call) => ({ ...call, callId: "c" }));
    const outcomes = await executor.runMany([one, two] as BatchCall[]);
    expect(outcomes).toMatchObject([{ value: "plain0" }, { reason: { kind: "ToolUsageError" } }]);
  });
});

test("E8: a tool outside the registry is refused with its name, and a spec of that name too", async () => {
  const { executor } = noted();
  const stray = pay({ name: "plain" });
  const error = await ourError(executor.run(stray, { to: "ana" }));
  expect(error).toMatchObject({ kind: "ToolUsageError", tool: "plain" });
});

test("E8, B33: none of the batches above left a rejection unhandled", async () => {
  await turns();
  expect(unhandled).toEqual([]);
});
