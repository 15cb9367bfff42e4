// Properties proved: a host's control flow and our own abort leave every stage and hook as they came and are no failures;
// everything else that a tool throws is a `ToolFailed`, whatever it threw.
import {
  Command,
  GraphInterrupt,
  isGraphInterrupt,
  isInvalidResume,
  NodeInterrupt,
  ParentCommand,
} from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { isAgentAdapterError, ToolFailed, type ExecutorOptions } from "../../../src/index.js";
import { failure, gate, kindOf, ourError, pay, ScriptedPort, stand, yes, type PayOptions } from "./stand.js";

const INVALID = Symbol.for("langgraph.invalid_resume");
const invalidResume = (): Error => Object.assign(new Error("refused"), { [INVALID]: true });
const nested = (error: unknown, depth: number): unknown =>
  depth === 0 ? error : new Error("outer", { cause: nested(error, depth - 1) });

const SIGNALS: readonly (readonly [what: string, make: () => unknown])[] = [
  ["a GraphInterrupt", () => new GraphInterrupt([{ id: "i1", value: "?" }])],
  ["a NodeInterrupt", () => new NodeInterrupt("?")],
  ["a ParentCommand", () => new ParentCommand(new Command({ graph: Command.PARENT, goto: "x" }))],
  ["a bubble-up of another copy of LangGraph", () => Object.assign(new Error("x"), { is_bubble_up: true })],
  ["an invalid resume", invalidResume],
  ["an invalid resume among the causes", () => nested(invalidResume(), 9)],
  ["a frozen invalid resume", () => Object.freeze(invalidResume())],
];

interface Setup {
  readonly tool?: PayOptions;
  readonly options?: ExecutorOptions;
}

const PLACES: readonly (readonly [where: string, setup: (thrown: unknown) => Setup])[] = [
  ["the body", (thrown) => ({ tool: { execute: thrower(thrown) } })],
  ["beforeTool", (thrown) => ({ options: { hooks: [{ beforeTool: thrower(thrown) }] } })],
  ["afterTool", (thrown) => ({ options: { hooks: [{ afterTool: thrower(thrown) }] } })],
  ["the confirm rule", (thrown) => ({ tool: { confirm: thrower(thrown) } })],
  [
    "the approval port",
    (thrown) => ({ tool: { confirm: true }, options: { approval: new ScriptedPort(thrower(thrown)) } }),
  ],
];

function thrower(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}

describe.each(SIGNALS)("%s", (_what, make) => {
  test.each(PLACES)("E3, B14: thrown by %s, it leaves run and runMany as it came", async (_where, setup) => {
    const thrown = make();
    for (const many of [false, true]) {
      const { tool, options } = setup(thrown);
      const { executor, entry } = stand([pay(tool)], options);
      const args = { to: "ana" };
      const run = many ? executor.runMany([{ tool: "pay", args }]) : executor.run("pay", args);
      expect(await failure(run)).toBe(thrown);
      expect(await entry()).toMatchObject({ status: "pending", errorKind: undefined });
    }
  });

  test("E3, B14: hooks around the call see no end of it", async () => {
    const seen: string[] = [];
    const hook = { beforeTool: () => void seen.push("before"), afterTool: () => void seen.push("after") };
    const { executor } = stand([pay({ execute: thrower(make()) })], { hooks: [hook] });
    await failure(executor.run("pay", { to: "ana" }));
    expect(seen).toEqual(["before"]);
  });

  test("E3: thrown by a nested call, it leaves the outer one as it came", async () => {
    const thrown = make();
    const inner = pay({ name: "inner", execute: thrower(thrown) });
    const outer = pay({ name: "outer", execute: (args, ctx) => ctx.run("inner", args) });
    const { executor, entries } = stand([outer, inner]);
    expect(await failure(executor.run(outer, { to: "ana" }))).toBe(thrown);
    expect((await entries()).map(({ status }) => status)).toEqual(["pending", "pending"]);
  });

  test("E3: it keeps nothing: the call runs again when the run is run again", async () => {
    let runs = 0;
    const tool = pay({
      execute: () => {
        runs += 1;
        if (runs === 1) throw make();
        return "paid";
      },
    });
    const { executor, again, entry } = stand([tool]);
    await failure(executor.run(tool, { to: "ana" }, { context: again() }));
    await expect(executor.run(tool, { to: "ana" }, { context: again() })).resolves.toBe("paid");
    expect(await entry()).toMatchObject({ status: "ok", attempts: 2 });
  });
});

test("E3: LangGraph's own tests recognise what comes out", async () => {
  const { executor } = stand([
    pay({ execute: thrower(new GraphInterrupt([])) }),
    pay({ name: "b", execute: thrower(invalidResume()) }),
  ]);
  expect(isGraphInterrupt(await failure(executor.run("pay", { to: "ana" })))).toBe(true);
  expect(isInvalidResume(await failure(executor.run("b", { to: "ana" })))).toBe(true);
});

test("E3: a pause raised inside an approved call is refused, because its answer is used up", async () => {
  const tool = pay({ confirm: true, execute: thrower(new GraphInterrupt([{ id: "i", value: 1 }])) });
  const { executor, entry } = stand([tool], { approval: new ScriptedPort(yes()) });
  expect(await kindOf(executor.run(tool, { to: "ana" }))).toBe("ToolUsageError");
  expect(await entry()).toMatchObject({ status: "failed", errorKind: "ToolUsageError", attempts: 1 });
});

test("E3: other control flow leaves an approved call as it came", async () => {
  const thrown = new ParentCommand(new Command({ graph: Command.PARENT }));
  const tool = pay({ confirm: true, execute: thrower(thrown) });
  const { executor } = stand([tool], { approval: new ScriptedPort(yes()) });
  expect(await failure(executor.run(tool, { to: "ana" }))).toBe(thrown);
});

describe("an abort", () => {
  const waits = (entered: () => void) =>
    pay({
      execute: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          entered();
        }),
    });

  test.each(["the call", "the run"])(
    "E3: of %s is seen by the body and leaves unwrapped, as `cancelled`",
    async (whose) => {
      const stop = new AbortController();
      const entered = gate();
      const { executor, entry } = stand([waits(() => entered.open())]);
      const options =
        whose === "the call" ? { signal: stop.signal } : { context: executor.context({ signal: stop.signal }) };
      const run = failure(executor.run("pay", { to: "ana" }, options));
      await entered.wait;
      const reason = new Error("enough");
      stop.abort(reason);
      expect(await run).toBe(reason);
      expect(await entry()).toMatchObject({ status: "cancelled", attempts: 1 });
    },
  );

  test("E3: is what happened, whatever a tool throws after it", async () => {
    const stop = new AbortController();
    const tool = pay({
      execute: () => {
        stop.abort();
        throw new TypeError("half way");
      },
    });
    const { executor, entry } = stand([tool]);
    expect(await failure(executor.run(tool, { to: "ana" }, { signal: stop.signal }))).toBe(stop.signal.reason);
    expect(await entry()).toMatchObject({ status: "cancelled" });
  });

  test("E3: of an approved call leaves an unknown outcome in the ledger", async () => {
    const stop = new AbortController();
    const tool = pay({
      confirm: true,
      execute: () => {
        stop.abort();
        throw stop.signal.reason;
      },
    });
    const { executor, entry } = stand([tool], { approval: new ScriptedPort(yes()) });
    expect(await failure(executor.run(tool, { to: "ana" }, { signal: stop.signal }))).toBe(stop.signal.reason);
    expect(await entry()).toMatchObject({ status: "unknown" });
  });

  test("E3: before the call begins means that its body never starts", async () => {
    let runs = 0;
    const { executor, entry } = stand([pay({ execute: () => (runs += 1) })]);
    const reason = new Error("before");
    expect(await failure(executor.run("pay", { to: "ana" }, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(runs).toBe(0);
    expect(await entry()).toMatchObject({ status: "cancelled", attempts: 0 });
  });

  test("E3: an AbortError of the tool's own, while the run is alive, is a failure of the tool", async () => {
    const { executor, entry } = stand([pay({ execute: () => AbortSignal.abort().throwIfAborted() })]);
    const error = await ourError(executor.run("pay", { to: "ana" }));
    expect(error.kind).toBe("ToolFailed");
    expect(error.cause).toMatchObject({ name: "AbortError" });
    expect(await entry()).toMatchObject({ status: "failed", errorKind: "ToolFailed" });
  });
});

const cyclic = new Error("round");
cyclic.cause = cyclic;
const hostile = Object.defineProperty(new Error("hostile"), "cause", { get: thrower(new Error("trap")) });

describe("whatever else a tool throws", () => {
  test.each([
    ["an error", new Error("x")],
    ["text", "x"],
    ["null", null],
    ["nothing", undefined],
    ["a frozen error", Object.freeze(new Error("x"))],
    ["an error that causes itself", cyclic],
    ["an object that only looks like a pause", { is_bubble_up: "true", interrupts: [] }],
    ["an invalid resume too far down the causes", nested(invalidResume(), 10)],
    ["an error whose cause throws", hostile],
    ["a proxy that throws", new Proxy({}, { get: thrower(new Error("trap")), has: thrower(new Error("trap")) })],
  ])("E3: %s is a ToolFailed, with the original as its cause", async (_what, thrown) => {
    const { executor, entry } = stand([pay({ execute: thrower(thrown) })]);
    const error = await failure(executor.run("pay", { to: "ana" }));
    expect(error).toBeInstanceOf(ToolFailed);
    expect(isAgentAdapterError(error) && error.cause === thrown).toBe(true);
    expect(await entry()).toMatchObject({ status: "failed", errorKind: "ToolFailed", attempts: 1 });
  });
});
