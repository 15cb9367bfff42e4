// Properties proved: one entry per call whatever happens to it; replays, races and re-runs add nothing and change nothing;
// a ledger that fails costs no result.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, MemoryLedger, ToolError, type ExecutorOptions, type LedgerEntry } from "../../../src/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import {
  expired,
  failure,
  gate,
  kindOf,
  no,
  ourError,
  pay,
  pending,
  ScriptedPort,
  stand,
  turns,
  yes,
} from "./stand.js";

const thrower = (thrown: unknown) => () => {
  throw thrown;
};
const asking = (...steps: ConstructorParameters<typeof ScriptedPort>) => ({ approval: new ScriptedPort(...steps) });
const [to, plain, gated] = [{ to: "ana" }, pay(), pay({ confirm: true })];

type Ending = readonly [
  what: string,
  tool: ReturnType<typeof pay>,
  options: ExecutorOptions,
  entry: Partial<LedgerEntry>,
];
const ENDINGS: readonly Ending[] = [
  ["returned", plain, {}, { status: "ok", errorKind: undefined, attempts: 1, binding: undefined }],
  ["threw", pay({ execute: thrower(new Error()) }), {}, { status: "failed", errorKind: "ToolFailed", attempts: 1 }],
  [
    "told the model",
    pay({ execute: thrower(new ToolError("x")) }),
    {},
    { status: "failed", errorKind: "ToolError", attempts: 1 },
  ],
  ["was approved", gated, asking(yes()), { status: "ok", attempts: 1, decidedBy: "ana", editDigest: undefined }],
  ["was denied", gated, asking(no()), { status: "denied", errorKind: "ApprovalDenied", attempts: 0, decidedBy: "bob" }],
  ["ran out of time", gated, asking(expired), { status: "expired", errorKind: "ApprovalExpired", attempts: 0 }],
  ["waits", gated, asking(pending), { status: "pending", errorKind: undefined, attempts: 0 }],
  ["had no port", gated, {}, { status: "failed", errorKind: "ToolUsageError", attempts: 0 }],
  [
    "was refused by a hook",
    plain,
    { hooks: [{ beforeTool: thrower(new ToolError("stop")) }] },
    { status: "failed", errorKind: "ToolError", attempts: 0 },
  ],
  ["was refused by its rule", pay({ confirm: thrower(new Error()) }), {}, { status: "failed", attempts: 0 }],
];

describe("one entry for a call that", () => {
  test.each(ENDINGS)("E1: %s", async (_what, tool, options, expected) => {
    const { executor, entry, runId, again } = stand([tool], options);
    await executor.run(tool, to, { context: again() }).catch(() => undefined);
    expect(await entry()).toMatchObject({ ...expected, tool: "pay", runId, threadId: undefined });
  });

  test("E1: named no tool", async () => {
    const { executor, entry } = stand([]);
    expect(await kindOf(executor.run("nobody", to))).toBe("ToolNotFound");
    expect(await entry()).toMatchObject({ tool: "nobody", status: "failed", errorKind: "ToolNotFound", attempts: 0 });
  });

  test("E1: had arguments that do not fit", async () => {
    const { executor, entry } = stand([plain], { ledger: new MemoryLedger({ arguments: true }) });
    expect(await kindOf(executor.run("pay", { to: 5 }))).toBe("ToolArgsInvalid");
    expect(await entry()).toMatchObject({ status: "failed", errorKind: "ToolArgsInvalid", arguments: { to: 5 } });
  });

  test("E1: waited, and was approved later", async () => {
    const port = new ScriptedPort(pending, yes());
    const { executor, entry, again } = stand([gated], { approval: port });
    expect(await kindOf(executor.run(gated, to, { context: again() }))).toBe("ApprovalPending");
    const waiting = await entry();
    expect(waiting).toMatchObject({ status: "pending", binding: port.asked[0]?.binding });
    await executor.run(gated, to, { context: again() });
    expect(await entry()).toMatchObject({ id: waiting.id, status: "ok", attempts: 1, binding: waiting.binding });
  });
});

test("E1: an entry says who, where and when, and digests arguments", async () => {
  const clock = new ManualClock(1000);
  const { executor, entry } = stand([plain], { clock });
  const context = executor.context({ runId: "r", threadId: "t", principal: "carl" });
  await executor.run(plain, to, { context, callId: "c" });
  const found = await entry();
  expect(found).toMatchObject({
    runId: "r",
    threadId: "t",
    principal: "carl",
    callId: "c",
    tool: "pay",
    startedAt: 1000,
  });
  expect(found.argumentsDigest).toMatch(/^[0-9a-f]{64}$/);
  expect(found).not.toHaveProperty("arguments");
  expect(JSON.stringify(found)).not.toContain("ana");
});

test("E1: attempts and durations are those of the tool, without the time a human took", async () => {
  const clock = new ManualClock();
  const port = new ScriptedPort(() => {
    clock.advance(60_000);
    return yes();
  });
  const slow = pay({
    confirm: true,
    execute: async () => {
      clock.advance(30);
      await turns();
      clock.advance(12);
    },
  });
  const { executor, entry, ledger } = stand([slow], { clock, approval: port });
  await executor.run(slow, to);
  expect(await entry()).toMatchObject({ attempts: 1, durationMs: 42 });
  expect(await ledger.totals()).toMatchObject({ calls: 1, attempts: 1, durationMs: 42 });
});

test("A7, E1: an edit is in the ledger beside the original; both in words only when told to", async () => {
  for (const keep of [false, true]) {
    const { executor, entry } = stand([gated], {
      ...asking(yes({ to: "bob", amount: 2 })),
      ledger: new MemoryLedger({ arguments: keep }),
    });
    await executor.run(gated, to);
    const { arguments: original, editedArguments, editDigest } = await entry();
    expect(editDigest).toMatch(/^[0-9a-f]{64}$/);
    expect([original, editedArguments]).toEqual(keep ? [to, { to: "bob", amount: 2 }] : [undefined, undefined]);
  }
});

describe("nothing is added or changed", () => {
  const STABLE = ENDINGS.filter(
    ([what]) => !["waits", "threw", "had no port"].includes(what) && !what.startsWith("was refused"),
  );

  test.each(STABLE)("E1, B56: by re-running a call that %s", async (_what, tool, options) => {
    const { executor, entry, again, ledger } = stand([tool], options);
    await executor.run(tool, to, { context: again() }).catch(() => undefined);
    const [first, totals] = [await entry(), await ledger.totals()];
    for (let i = 0; i < 3; i += 1) await executor.run(tool, to, { context: again() }).catch(() => undefined);
    expect(await entry()).toEqual(first);
    expect(await ledger.totals()).toEqual(totals);
  });

  test("E1: by re-running an approved call that failed: it failed by what it failed by", async () => {
    const tool = pay({ confirm: true, execute: thrower(new Error()) });
    const { executor, entry, again } = stand([tool], asking(yes()));
    await failure(executor.run(tool, to, { context: again() }));
    const first = await entry();
    expect(first).toMatchObject({ status: "failed", errorKind: "ToolFailed" });
    expect(await kindOf(executor.run(tool, to, { context: again() }))).toBe("ApprovalAlreadyDecided");
    expect(await entry()).toEqual(first);
  });

  test("E1: by re-running a call whose result cannot be given again: it was paid", async () => {
    const tool = pay({ execute: () => new Date(0) });
    const { executor, entry, again } = stand([tool]);
    await executor.run(tool, to, { context: again() });
    const first = await entry();
    expect(await kindOf(executor.run(tool, to, { context: again() }))).toBe("ToolUsageError");
    expect(await entry()).toEqual(first);
  });

  test("E1: by two runs of one plain call at once, which share it", async () => {
    const entered = gate();
    const finish = gate();
    const tool = pay({
      execute: async () => {
        entered.open();
        await finish.wait;
        return "paid";
      },
    });
    const { executor, entry, again, ledger } = stand([tool]);
    const one = executor.run(tool, to, { context: again() });
    await entered.wait;
    const two = executor.run(tool, to, { context: again() });
    await turns();
    finish.open();
    expect(await Promise.all([one, two])).toEqual(["paid", "paid"]);
    expect(await entry()).toMatchObject({ status: "ok", attempts: 1 });
    expect(await ledger.totals()).toMatchObject({ calls: 1, attempts: 1 });
  });

  test("E1: by two runs of one approved call at once, of which one is refused", async () => {
    const entered = gate();
    const finish = gate();
    const tool = pay({
      confirm: true,
      execute: async () => {
        entered.open();
        await finish.wait;
      },
    });
    const { executor, entry, again } = stand([tool], asking(yes(), yes()));
    const one = executor.run(tool, to, { context: again() });
    await entered.wait;
    const two = failure(executor.run(tool, to, { context: again() }));
    await turns();
    expect(await entry()).toMatchObject({ status: "running" });
    finish.open();
    await one;
    expect(await two).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(await entry()).toMatchObject({ status: "ok", attempts: 1, errorKind: undefined });
  });

  test("E1: to the entry of a call by another one that misuses its id; the misuse has its own", async () => {
    const { executor, entries, again } = stand([plain, pay({ name: "other" })]);
    const context = again();
    await executor.run("pay", to, { context, callId: "c" });
    const [first] = await entries();
    for (const [tool, args] of [
      ["pay", { to: "bob" }],
      ["other", to],
    ] as const) {
      expect(await kindOf(executor.run(tool, args, { context, callId: "c" }))).toBe("ToolUsageError");
    }
    const all = await entries();
    expect(all[0]).toEqual(first);
    expect(all.slice(1).map(({ status, errorKind, attempts }) => [status, errorKind, attempts])).toEqual([
      ["failed", "ToolUsageError", 0],
      ["failed", "ToolUsageError", 0],
    ]);
  });
});

describe("a batch that ends early", () => {
  const batch = [
    { tool: "plain", args: to },
    { tool: "gated", args: to },
    { tool: "gated", args: to },
  ];
  const tools = (execute: () => unknown) => [pay({ name: "plain", execute }), pay({ name: "gated", confirm: true })];

  test("E1: by a hidden failure leaves no call that was not reached as running", async () => {
    const { executor, entries } = stand(tools(thrower(new Error())), asking(yes(), yes()));
    expect(await kindOf(executor.runMany(batch))).toBe("ToolFailed");
    expect((await entries()).map(({ status }) => status)).toEqual(["failed", "cancelled", "cancelled"]);
  });

  test("E1: by a pause leaves the calls behind it waiting, too", async () => {
    const pause = Object.assign(new Error("pause"), { is_bubble_up: true });
    const { executor, entries } = stand(
      tools(() => "ok"),
      asking(thrower(pause)),
    );
    expect(await failure(executor.runMany(batch))).toBe(pause);
    expect((await entries()).map(({ status }) => status)).toEqual(["ok", "pending", "pending"]);
  });

  test("E1: by an abort leaves every call that did not start as cancelled", async () => {
    const stop = new AbortController();
    const { executor, entries } = stand(
      tools(() => stop.abort()),
      { ...asking(yes()), concurrency: 1 },
    );
    await failure(executor.runMany([...batch, { tool: "plain", args: to }], { signal: stop.signal }));
    expect((await entries()).map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => "cancelled"));
  });
});

describe("a ledger", () => {
  const broken = (method: "open" | "close") =>
    Object.assign(new MemoryLedger(), { [method]: () => Promise.reject(new Error("down")) });

  test("E1: that cannot be opened refuses the call before anybody is asked and anything runs", async () => {
    let runs = 0;
    const port = new ScriptedPort(yes());
    const tool = pay({ confirm: true, execute: () => (runs += 1) });
    const { executor } = stand([tool], { ledger: broken("open"), approval: port });
    const error = await ourError(executor.run("pay", to));
    expect(error).toMatchObject({ kind: "StoreUnavailable", cause: { message: "down" } });
    const refused = { status: "rejected", reason: { kind: "StoreUnavailable" } };
    const call = { tool: "pay", args: to };
    expect(await executor.runMany([call, call])).toMatchObject([refused, refused]);
    expect([runs, port.asked.length]).toEqual([0, 0]);
  });

  test("E1: that cannot be opened spends no answer: the call runs when it is back", async () => {
    const ledger = new MemoryLedger();
    const open = ledger.open.bind(ledger);
    const { executor, again } = stand([gated], { ledger, ...asking(pending, yes()) });
    expect(await kindOf(executor.run(gated, to, { context: again() }))).toBe("ApprovalPending");
    ledger.open = () => Promise.reject(new Error("down"));
    expect(await kindOf(executor.run(gated, to, { context: again() }))).toBe("StoreUnavailable");
    ledger.open = open;
    await expect(executor.run(gated, to, { context: again() })).resolves.toBe("paid ana");
  });

  test("E1: that cannot be closed loses neither a result nor an error, and the call stays finished", async () => {
    const tools = [plain, pay({ name: "bad", execute: thrower(new ToolError("no")) })];
    const { executor, again } = stand(tools, { ledger: broken("close") });
    await expect(executor.run("pay", to, { context: again() })).resolves.toBe("paid ana");
    await expect(executor.run("pay", to, { context: again() })).resolves.toBe("paid ana");
    expect(await kindOf(executor.run("bad", to))).toBe("ToolError");
  });
});

test("B27, E1: what has half a surrogate pair in its name or id is refused like anything else, beside its siblings", async () => {
  const { executor } = stand([plain]);
  const outcomes = await executor.runMany([
    { tool: "pay\ud800", args: to },
    { tool: "pay", args: to, callId: "\udc00" },
    { tool: "pay", args: to },
  ]);
  expect(outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : outcome.reason.kind))).toEqual([
    "ToolNotFound",
    "ToolUsageError",
    "paid ana",
  ]);
});

test("N1: a batch takes names only: something else in their place runs nothing", async () => {
  let runs = 0;
  const tool = pay({ confirm: true, execute: () => (runs += 1) });
  const ungated = { ...tool, confirm: false };
  const { executor } = stand([tool]);
  const outcomes = await executor.runMany(
    [ungated, undefined, 5, null].map((name) => ({ tool: name as never, args: to })),
  );
  expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.kind)).toEqual(
    Array.from({ length: 4 }, () => "ToolNotFound"),
  );
  expect(runs).toBe(0);
});

test("E1: a result schema that refuses is a failure of the tool, after one attempt", async () => {
  const tool = defineTool({
    name: "pay",
    description: "d",
    inputSchema: z.object({}),
    outputSchema: z.object({ total: z.number() }),
    execute: () => JSON.parse('{"total":"1"}'),
  });
  const { executor, entry } = stand([tool]);
  expect(await kindOf(executor.run(tool, {}))).toBe("ToolFailed");
  expect(await entry()).toMatchObject({ status: "failed", errorKind: "ToolFailed", attempts: 1 });
});
