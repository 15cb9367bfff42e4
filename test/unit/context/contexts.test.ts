// Properties proved: what a run is, which calls share its journal, how calls are named, and what a body knows about itself.
import { describe, expect, test } from "vitest";
import { currentContext, Executor, type CallContext, type ToolContext } from "../../../src/index.js";
import { gate, kindOf, pay, ScriptedPort, stand, turns, yes } from "../executor/stand.js";

const to = { to: "ana" };
const counting = (name = "pay") => {
  const count = { runs: 0 };
  return { count, tool: pay({ name, execute: () => (count.runs += 1) }) };
};

describe("a run", () => {
  test("E12/default: without an id has a random one of its own", async () => {
    const { count, tool } = counting();
    const { executor, entries } = stand([tool]);
    await executor.run(tool, to);
    await executor.run(tool, to);
    expect(count.runs).toBe(2);
    const ids = (await entries()).map(({ runId }) => runId);
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => id.length >= 16)).toBe(true);
    expect(executor.context().runId).not.toBe(executor.context().runId);
  });

  test("J2: with the same id is the same run, whose finished calls replay", async () => {
    const { count, tool } = counting();
    const { executor, again } = stand([tool]);
    expect(await executor.run(tool, to, { context: again() })).toBe(1);
    expect(await executor.run(tool, to, { context: again() })).toBe(1);
    expect(count.runs).toBe(1);
  });

  test("J2: with the same id in another executor is another run", async () => {
    const { count, tool } = counting();
    const { executor, registry, runId, again } = stand([tool]);
    await executor.run(tool, to, { context: again() });
    const other = new Executor(registry);
    await other.run(tool, to, { context: other.context({ runId }) });
    expect(count.runs).toBe(2);
  });

  test("E12/default: keeps what it was given, frozen", () => {
    const { executor } = stand([]);
    const { signal } = new AbortController();
    const given = { runId: "r", threadId: "t", principal: "ana", signal, metadata: { a: 1 } };
    const context = executor.context(given);
    expect(context).toEqual(given);
    expect(Object.isFrozen(context)).toBe(true);
    expect(executor.context()).toMatchObject({
      threadId: undefined,
      principal: undefined,
      signal: undefined,
      metadata: {},
    });
  });

  test.each([
    ["a run id", { runId: "\ud800" }],
    ["a thread id", { threadId: "\ud800" }],
    ["a principal", { principal: "\ud800" }],
    ["a run id that is no text", { runId: 5 as never }],
  ])("N1: refuses half a surrogate pair in %s at once", (_what, options) => {
    const { executor } = stand([]);
    expect(() => executor.context(options)).toThrow(expect.objectContaining({ kind: "ToolUsageError" }));
  });

  test("E12/default: of another executor is refused, and so is a copy of a context", async () => {
    const { executor } = stand([pay()]);
    const stranger = stand([]).executor.context({ runId: "r" });
    for (const context of [stranger, { ...executor.context() }]) {
      expect(await kindOf(executor.run("pay", to, { context }))).toBe("ToolUsageError");
      expect(await kindOf(executor.runMany([{ tool: "pay", args: to }], { context }))).toBe("ToolUsageError");
    }
  });
});

describe("a call id", () => {
  const ids = async (make: (executor: Executor) => Promise<unknown>): Promise<string[]> => {
    const { executor, entries } = stand([pay(), pay({ name: "other" })]);
    await make(executor);
    return (await entries()).map(({ callId }) => callId);
  };

  test("J2: is what it was given", async () => {
    expect(await ids((executor) => executor.run("pay", to, { callId: "mine" }))).toEqual(["mine"]);
  });

  test("J2: is the position among the calls of the same tool and arguments otherwise", async () => {
    const found = await ids(async (executor) => {
      const context = executor.context();
      await executor.run("pay", to, { context });
      await executor.run("pay", { to: "bob" }, { context });
      await executor.run("other", to, { context });
      await executor.run("pay", to, { context });
    });
    const [first, bob, other, second] = found;
    expect(new Set(found).size).toBe(4);
    for (const id of [first, bob, other]) expect(id).toMatch(/\/0$/);
    expect(second).toBe(first?.replace(/0$/, "1"));
  });

  test("J2: is the same on a re-run, whatever the order of other calls", async () => {
    const { count, tool } = counting();
    const { executor, again } = stand([tool, pay({ name: "other" })]);
    const one = again();
    const results = [await executor.run(tool, to, { context: one }), await executor.run(tool, to, { context: one })];
    const two = again();
    await executor.run("other", to, { context: two });
    const replayed = [await executor.run(tool, to, { context: two }), await executor.run(tool, to, { context: two })];
    expect(replayed).toEqual(results);
    expect(count.runs).toBe(2);
  });

  test("J2: of a nested call is its number below the call around it, at every depth", async () => {
    const inner = pay({ name: "inner" });
    const middle = pay({ name: "middle", execute: (args, ctx) => ctx.run("inner", args) });
    const outer = pay({
      name: "outer",
      execute: async (args, ctx) => {
        await ctx.run("middle", args);
        await ctx.run("inner", args);
      },
    });
    const { executor, entries } = stand([inner, middle, outer]);
    await executor.run(outer, to, { callId: "c" });
    expect((await entries()).map(({ tool, callId }) => [tool, callId])).toEqual([
      ["outer", "c"],
      ["middle", "c/1"],
      ["inner", "c/1/1"],
      ["inner", "c/2"],
    ]);
  });

  test("J2: cannot be used for two calls of one run; in another run it can", async () => {
    const { executor } = stand([pay()]);
    const context = executor.context();
    await executor.run("pay", to, { context, callId: "c" });
    expect(await kindOf(executor.run("pay", { to: "bob" }, { context, callId: "c" }))).toBe("ToolUsageError");
    await expect(executor.run("pay", { to: "bob" }, { callId: "c" })).resolves.toBe("paid bob");
  });
});

describe("inside a body", () => {
  const looking = (body: (ctx: ToolContext) => unknown) => pay({ name: "looking", execute: (_args, ctx) => body(ctx) });

  test("E12/default: currentContext is the run and the call, across waits, and gone outside", async () => {
    const seen: (CallContext | undefined)[] = [];
    const tool = looking(async () => {
      seen.push(currentContext());
      await turns();
      seen.push(currentContext());
    });
    const { executor } = stand([tool]);
    const context = executor.context({ runId: "r", principal: "ana" });
    expect(currentContext()).toBeUndefined();
    await executor.run(tool, to, { context, callId: "c" });
    expect(currentContext()).toBeUndefined();
    const expected = { runId: "r", principal: "ana", tool: "looking", callId: "c" };
    expect(seen).toMatchObject([expected, expected]);
  });

  test("E12/default: parallel bodies do not see each other's", async () => {
    const both = gate();
    let inside = 0;
    const tool = looking(async (ctx) => {
      inside += 1;
      if (inside === 2) both.open();
      await both.wait;
      return [ctx.callId, currentContext()?.callId];
    });
    const { executor } = stand([tool]);
    const [one, two] = await Promise.all(
      ["a", "b"].map((callId) => executor.run("looking", to, { callId, context: executor.context() })),
    );
    expect([one, two]).toEqual([
      ["a", "a"],
      ["b", "b"],
    ]);
  });

  test("E12/default: ctx says who, where and which attempt", async () => {
    let seen: ToolContext | undefined;
    const tool = looking((ctx) => {
      seen = ctx;
    });
    const { executor } = stand([tool]);
    const metadata = { a: 1 };
    const context = executor.context({ runId: "r", threadId: "t", principal: "ana", metadata });
    await executor.run(tool, to, { context, callId: "c" });
    expect(seen).toMatchObject({ runId: "r", threadId: "t", principal: "ana", metadata, callId: "c", attempt: 1 });
    expect(seen?.signal.aborted).toBe(false);
    seen?.log.info("a logger that says nothing by default");
  });

  test("J2: executor.run joins the run around it, with or without a context, and is named below the call", async () => {
    const { executor, entries, runId, again } = stand([
      looking(async () => {
        await executor.run("pay", to);
        await executor.run("pay", to, { context: executor.context({ runId: "elsewhere" }) });
        await executor.runMany([{ tool: "pay", args: to }]);
      }),
      pay(),
    ]);
    await executor.run("looking", to, { context: again(), callId: "c" });
    const nested = (await entries()).slice(1);
    expect(nested.map(({ callId }) => callId)).toEqual(["c/1", "c/2", "c/3"]);
    expect(nested.map((entry) => entry.runId)).toEqual([runId, "elsewhere", runId]);
  });

  test("J2: calls of a body that failed are not run again when it is", async () => {
    const { count, tool } = counting();
    let fails = true;
    const { executor, again } = stand([
      looking(async (ctx) => {
        await ctx.run("pay", to);
        if (fails) throw new Error("later");
        return "done";
      }),
      tool,
    ]);
    expect(await kindOf(executor.run("looking", to, { context: again(), callId: "c" }))).toBe("ToolFailed");
    fails = false;
    await expect(executor.run("looking", to, { context: again(), callId: "c" })).resolves.toBe("done");
    expect(count.runs).toBe(1);
  });

  test("E3: the signal of the call around it reaches a nested one", async () => {
    const stop = new AbortController();
    const entered = gate();
    let inner: AbortSignal | undefined;
    const { executor } = stand([
      looking((ctx) => ctx.run("pay", to)),
      pay({
        execute: async (_args, { signal }) => {
          inner = signal;
          entered.open();
          await turns();
          return "done";
        },
      }),
    ]);
    const run = executor.run("looking", to, { signal: stop.signal }).catch((error: unknown) => error);
    await entered.wait;
    stop.abort(new Error("enough"));
    expect(inner?.aborted).toBe(true);
    await run;
  });

  test("A5: a call that needs a human cannot be nested: it is refused before it asks, whatever the way in", async () => {
    const port = new ScriptedPort(yes(), yes());
    const gated = pay({ confirm: true });
    const { executor } = stand(
      [
        pay({ name: "byCtx", execute: (_args, ctx) => ctx.run("pay", to) }),
        pay({ name: "byRun", execute: () => executor.run("pay", to, { context: executor.context() }) }),
        gated,
      ],
      { approval: port },
    );
    for (const name of ["byCtx", "byRun"]) expect(await kindOf(executor.run(name, to))).toBe("ToolUsageError");
    expect(port.asked).toEqual([]);
  });
});
