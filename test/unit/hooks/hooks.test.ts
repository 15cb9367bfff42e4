// Properties proved: hooks see every call in order before anything is asked, unwind in reverse, and what they replace is
// what everybody sees; a failing hook spends no answer and undoes no result.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, ToolError, type Hook, type HookCall, type RunContext } from "../../../src/index.js";
import { failure, kindOf, no, pay, pending, ScriptedPort, stand, yes } from "../executor/stand.js";

const to = { to: "ana" };
const replaceBy = (args: unknown): Partial<Hook> => ({ beforeTool: () => ({ arguments: args }) });
const thrower = (thrown: unknown) => () => {
  throw thrown;
};
const named = (name: string, log: string[]): Partial<Hook> => ({
  beforeTool: () => void log.push(`${name} before`),
  afterTool: () => void log.push(`${name} after`),
});

describe("order", () => {
  test("E9/before-after: hooks are called in order around the tool and unwound in reverse", async () => {
    const log: string[] = [];
    const tool = pay({ execute: () => void log.push("tool") });
    const { executor } = stand([tool], { hooks: [named("a", log), named("b", log), named("c", log)] });
    await executor.run(tool, to);
    expect(log).toEqual(["a before", "b before", "c before", "tool", "c after", "b after", "a after"]);
  });

  test("E9/before-after: each is awaited, and a hook may have any half", async () => {
    const log: string[] = [];
    const slow: Partial<Hook> = {
      beforeTool: async () => {
        await Promise.resolve();
        log.push("slow before");
      },
    };
    const late: Partial<Hook> = {
      afterTool: async () => {
        await Promise.resolve();
        log.push("late after");
      },
    };
    const tool = pay({ execute: () => void log.push("tool") });
    const { executor } = stand([tool], { hooks: [slow, late] });
    await executor.run(tool, to);
    expect(log).toEqual(["slow before", "tool", "late after"]);
  });

  test("E9/before-after, N1: a hook with none of the methods is refused: a misspelt kill switch would never run", () => {
    const misspelt: object = { beforeTools: () => undefined };
    expect(() => stand([pay()], { hooks: [misspelt] })).toThrow("a hook has at least one of");
  });

  test("E9/before-after: a hook that is an object with methods keeps its `this`", async () => {
    class Counting {
      calls = 0;
      beforeTool(): void {
        this.calls += 1;
      }
    }
    const hook = new Counting();
    const { executor } = stand([pay()], { hooks: [hook] });
    await executor.run("pay", to);
    expect(hook.calls).toBe(1);
  });

  test("E9/before-after: before anything is asked", async () => {
    const log: string[] = [];
    const port = new ScriptedPort(() => {
      log.push("asked");
      return yes();
    });
    const { executor } = stand([pay({ confirm: true })], { approval: port, hooks: [named("a", log)] });
    await executor.run("pay", to);
    expect(log).toEqual(["a before", "asked", "a after"]);
  });
});

describe("what a hook sees", () => {
  test("E9/before-after, G3: the parsed arguments, frozen, the call and its run; afterwards the result", async () => {
    const seen: HookCall[] = [];
    const results: unknown[] = [];
    const hook: Partial<Hook> = {
      beforeTool: (call) => void seen.push(call),
      afterTool: (call, result) => {
        seen.push(call);
        results.push(result);
      },
    };
    const { executor } = stand([pay()], { hooks: [hook] });
    const context: RunContext = executor.context({ runId: "r", metadata: { a: 1 } });
    await executor.run("pay", to, { context, callId: "c" });
    const call = { tool: "pay", callId: "c", arguments: { to: "ana", amount: 1 } };
    expect(seen).toMatchObject([call, call]);
    expect(seen.map((one) => one.context)).toEqual([context, context]);
    expect(Object.isFrozen(seen[0]?.arguments)).toBe(true);
    expect(results).toEqual(["paid ana"]);
  });

  test("E9/before-after, A7: afterwards the arguments that ran, when a reviewer edited them", async () => {
    const seen: unknown[] = [];
    const hook: Partial<Hook> = {
      beforeTool: (call) => void seen.push(call.arguments),
      afterTool: (call) => void seen.push(call.arguments),
    };
    const { executor } = stand([pay({ confirm: true })], {
      hooks: [hook],
      approval: new ScriptedPort(yes({ to: "bob" })),
    });
    await executor.run("pay", to);
    expect(seen).toEqual([
      { to: "ana", amount: 1 },
      { to: "bob", amount: 1 },
    ]);
  });

  test.each([
    ["a failure", new Error("x")],
    ["an answer for the model", new ToolError("x")],
  ])("E9/before-after: afterTool is not called for %s", async (_what, thrown) => {
    const log: string[] = [];
    const { executor } = stand([pay({ execute: thrower(thrown) })], { hooks: [named("a", log)] });
    await failure(executor.run("pay", to));
    expect(log).toEqual(["a before"]);
  });

  test("E9/before-after: no hook is called for a replay", async () => {
    const log: string[] = [];
    const { executor, again } = stand([pay()], { hooks: [named("a", log)] });
    await executor.run("pay", to, { context: again() });
    await executor.run("pay", to, { context: again() });
    expect(log).toEqual(["a before", "a after"]);
  });

  test.each([
    ["a refused call", { to: 5 }, []],
    ["a denied call", to, ["a before"]],
  ])("E9/before-after: %s has no end to see", async (_what, args, expected) => {
    const log: string[] = [];
    const { executor } = stand([pay({ confirm: true })], {
      hooks: [named("a", log)],
      approval: new ScriptedPort(no()),
    });
    await failure(executor.run("pay", args));
    expect(log).toEqual(expected);
  });
});

describe("a replacement", () => {
  test("E9/before-after, B19: is what the next hook, the rule, the reviewer and the tool see", async () => {
    const seen: unknown[] = [];
    const port = new ScriptedPort(yes());
    const tool = pay({
      confirm: (args) => {
        seen.push(args);
        return true;
      },
      execute: (args) => void seen.push(args),
    });
    const watch: Partial<Hook> = { beforeTool: (call) => void seen.push(call.arguments) };
    const { executor } = stand([tool], { hooks: [replaceBy({ to: "bob", amount: 2 }), watch], approval: port });
    await executor.run(tool, to);
    expect([...seen, port.asked[0]?.request.arguments]).toEqual(
      Array.from({ length: 4 }, () => ({ to: "bob", amount: 2 })),
    );
    expect(Object.isFrozen(seen[0])).toBe(true);
  });

  test("E9/before-after: of a later hook wins over an earlier one", async () => {
    const { executor } = stand([pay()], {
      hooks: [replaceBy({ to: "bob", amount: 2 }), replaceBy({ to: "carl", amount: 3 })],
    });
    await expect(executor.run("pay", to)).resolves.toBe("paid carl");
  });

  test.each([
    ["that does not fit the schema", { to: 5, amount: 1 }, "ToolArgsInvalid"],
    ["that is no object", "bob", "ToolArgsInvalid"],
    ["that the schema changes again", { to: "bob" }, "ToolUsageError"],
  ])("E9/before-after, G5: %s is refused before the rule and the reviewer", async (_what, args, kind) => {
    let rules = 0;
    const port = new ScriptedPort(yes());
    const tool = pay({
      confirm: () => {
        rules += 1;
        return true;
      },
    });
    const { executor } = stand([tool], { hooks: [replaceBy(args)], approval: port });
    expect(await kindOf(executor.run(tool, to))).toBe(kind);
    expect([rules, port.asked.length]).toEqual([0, 0]);
  });

  test("E9/before-after, G5: is not transformed a second time", async () => {
    const shout = defineTool({
      name: "shout",
      description: "d",
      inputSchema: z.object({ text: z.string().transform((text) => `${text}!`) }),
      execute: ({ text }) => text,
    });
    const { executor } = stand([shout], { hooks: [replaceBy({ text: "hey!" })] });
    expect(await kindOf(executor.run(shout, { text: "hey" }))).toBe("ToolUsageError");
  });

  test("E9/before-after: is ignored when an asked call runs again: the reviewer has seen the arguments", async () => {
    let target = "bob";
    const hook: Partial<Hook> = { beforeTool: () => ({ arguments: { to: target, amount: 1 } }) };
    const port = new ScriptedPort(pending, yes());
    const { executor, again } = stand([pay({ confirm: true })], { hooks: [hook], approval: port });
    await failure(executor.run("pay", to, { context: again() }));
    target = "mallory";
    await expect(executor.run("pay", to, { context: again() })).resolves.toBe("paid bob");
    expect(port.asked[1]).toEqual(port.asked[0]);
  });

  test("E9/before-after: of any shape is ignored then, and hooks see the arguments the reviewer saw", async () => {
    const seen: unknown[] = [];
    let first = true;
    const hook: Partial<Hook> = {
      beforeTool: (call) => {
        seen.push(call.arguments);
        if (first) return { arguments: { to: "bob", amount: 1 } };
        return { arguments: 5 };
      },
    };
    const { executor, again } = stand([pay({ confirm: true })], {
      hooks: [hook],
      approval: new ScriptedPort(pending, yes()),
    });
    await failure(executor.run("pay", to, { context: again() }));
    first = false;
    await expect(executor.run("pay", to, { context: again() })).resolves.toBe("paid bob");
    expect(seen).toEqual([
      { to: "ana", amount: 1 },
      { to: "bob", amount: 1 },
    ]);
  });
});

describe("a hook that throws", () => {
  test("E9/before-after: before a call refuses it: nothing is asked, nothing runs, later hooks are not called", async () => {
    const log: string[] = [];
    const port = new ScriptedPort(yes());
    const { executor } = stand([pay({ confirm: true, execute: () => void log.push("tool") })], {
      hooks: [named("a", log), { beforeTool: thrower(new ToolError("stop")) }, named("c", log)],
      approval: port,
    });
    expect(await kindOf(executor.run("pay", to))).toBe("ToolError");
    expect(log).toEqual(["a before"]);
    expect(port.asked).toEqual([]);
  });

  test("E9/before-after: before an approved call keeps the answer: the next run uses it without asking anew", async () => {
    let on = false;
    const port = new ScriptedPort(pending, yes(), yes());
    const hook: Partial<Hook> = {
      beforeTool: () => {
        if (on) throw new ToolError("kill switch");
      },
    };
    const { executor, again } = stand([pay({ confirm: true })], { hooks: [hook], approval: port });
    expect(await kindOf(executor.run("pay", to, { context: again() }))).toBe("ApprovalPending");
    on = true;
    expect(await kindOf(executor.run("pay", to, { context: again() }))).toBe("ToolError");
    expect(port.tokens).toEqual([]);
    on = false;
    await expect(executor.run("pay", to, { context: again() })).resolves.toBe("paid ana");
    expect(new Set(port.asked.map(({ binding }) => binding)).size).toBe(1);
    expect(port.tokens).toHaveLength(1);
  });

  test("E9/before-after: after a call is what the caller gets, and the kept result stays: a re-run replays it", async () => {
    let runs = 0;
    const log: string[] = [];
    const oops = new Error("oops");
    const tool = pay({ confirm: true, execute: () => (runs += 1) });
    const { executor, again } = stand([tool], {
      hooks: [named("a", log), { afterTool: thrower(oops) }, named("c", log)],
      approval: new ScriptedPort(yes()),
    });
    expect(await failure(executor.run(tool, to, { context: again() }))).toBe(oops);
    await expect(executor.run(tool, to, { context: again() })).resolves.toBe(1);
    expect(runs).toBe(1);
    expect(log).toContain("c after");
  });
});

test("E9/before-after: nested calls pass the hooks too", async () => {
  const seen: string[] = [];
  const outer = pay({ name: "outer", execute: (_args, ctx) => ctx.run("pay", to) });
  const { executor } = stand([outer, pay()], { hooks: [{ beforeTool: (call) => void seen.push(call.tool) }] });
  await executor.run(outer, to);
  expect(seen).toEqual(["outer", "pay"]);
});
