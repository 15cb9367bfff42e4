// Properties proved: one key per call and its arguments: the same on every re-run, another for everything else.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, ToolFailed, type ExecutorOptions, type JsonObject } from "../../../src/index.js";
import { failure, kindOf, pay, pending, ScriptedPort, stand, yes, type PayOptions } from "./stand.js";

const to = { to: "ana" };

/** A tool that writes its keys down, and fails as often as told. */
function keeping(options: PayOptions = {}, failures = 0) {
  const keys: string[] = [];
  let left = failures;
  const tool = pay({
    ...options,
    execute: (_args, ctx) => {
      keys.push(ctx.idempotencyKey, ctx.idempotencyKey);
      left -= 1;
      if (left >= 0) throw new Error("x");
      return "done";
    },
  });
  return { keys, tool };
}

describe("the key of a call", () => {
  test("E10: is hex, and the same every time it is read and on every re-run", async () => {
    const { keys, tool } = keeping({}, 2);
    const { executor, again } = stand([tool]);
    for (let i = 0; i < 2; i += 1) {
      expect(await kindOf(executor.run(tool, to, { context: again() }))).toBe("ToolFailed");
    }
    await executor.run(tool, to, { context: again() });
    expect(keys).toHaveLength(6);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  test("E10: is the same before and after a pause", async () => {
    const { keys, tool } = keeping({ confirm: true });
    const { executor, again, runId } = stand([tool], { approval: new ScriptedPort(pending, yes()) });
    await failure(executor.run(tool, to, { context: again(), callId: "c" }));
    await executor.run(tool, to, { context: again(), callId: "c" });
    const plain = keeping();
    const other = stand([plain.tool]);
    await other.executor.run(plain.tool, to, { context: other.executor.context({ runId }), callId: "c" });
    expect(plain.keys[0]).toBe(keys[0]);
  });

  test("E10: of a nested call is the same when the call around it runs again", async () => {
    const { keys, tool } = keeping({}, 1);
    const outer = pay({ name: "outer", execute: (args, ctx) => ctx.run("pay", args) });
    const { executor, again } = stand([outer, tool]);
    expect(await failure(executor.run(outer, to, { context: again(), callId: "c" }))).toBeInstanceOf(ToolFailed);
    await executor.run(outer, to, { context: again(), callId: "c" });
    expect(new Set(keys).size).toBe(1);
  });

  test("E10: says nothing about the arguments", async () => {
    const { keys, tool } = keeping();
    await stand([tool]).executor.run(tool, { to: "deadbeef" });
    expect(keys[0]).not.toContain("deadbeef");
  });

  test("E10: is there for arguments that are not JSON, too", async () => {
    const keys: string[] = [];
    let fails = true;
    const tool = defineTool({
      name: "remind",
      description: "d",
      inputSchema: z.object({ at: z.iso.datetime().transform((at) => new Date(at)) }),
      execute: (_args, ctx) => {
        keys.push(ctx.idempotencyKey);
        if (fails) throw new Error("x");
      },
    });
    const { executor, again } = stand([tool]);
    const at = { at: "2026-01-01T00:00:00Z" };
    expect(await failure(executor.run(tool, at, { context: again() }))).toMatchObject({ cause: { message: "x" } });
    fails = false;
    await executor.run(tool, at, { context: again() });
    await executor.run(tool, { at: "2026-01-02T00:00:00Z" }, { context: again() });
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[1]);
  });
});

describe("another key", () => {
  const base = { runId: "one run", callId: "c", args: to, name: "pay" };
  const keyOf = async (
    change: Partial<typeof base>,
    options: ExecutorOptions = {},
    confirm = false,
  ): Promise<string | undefined> => {
    const { runId, callId, args, name } = { ...base, ...change };
    const { keys, tool } = keeping({ name, confirm });
    const { executor } = stand([tool], options);
    await executor.run(tool, args, { context: executor.context({ runId }), callId });
    return keys[0];
  };

  test("E10: only for another call: the same in another process would be the same", async () => {
    expect(await keyOf({})).toBe(await keyOf({}));
  });

  test.each<[string, Partial<typeof base>]>([
    ["run", { runId: "another run" }],
    ["call", { callId: "d" }],
    ["tool", { name: "other" }],
    ["arguments", { args: { to: "bob" } }],
  ])("E10: for another %s", async (_what, change) => {
    expect(await keyOf(change)).not.toBe(await keyOf({}));
  });

  test("E10: for an edit, the key of what ran", async () => {
    const edited = (args: JsonObject, runId: string) =>
      keyOf({ runId }, { approval: new ScriptedPort(yes(args)) }, true);
    expect(await edited({ to: "bob" }, "run 1")).not.toBe(await keyOf({ runId: "run 1" }));
    expect(await edited({ to: "bob" }, "run 2")).toBe(await keyOf({ runId: "run 2", args: { to: "bob" } }));
  });

  test("E10: for every position of equal calls", async () => {
    const { keys, tool } = keeping();
    const { executor } = stand([tool]);
    const context = executor.context();
    await executor.run(tool, to, { context });
    await executor.run(tool, to, { context });
    expect(new Set(keys).size).toBe(2);
  });
});
