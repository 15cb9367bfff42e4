// Properties proved: `LoggingHook` writes one line for every thing that happens to a call, with names and ids that cannot
// forge a line, and values only when it was told to.
import { describe, expect, test } from "vitest";
import { LoggingHook, ToolError, type ExecutorOptions, type LoggingHookOptions } from "../../../src/index.js";
import { failure, no, pending, ScriptedPort, stand, yes } from "../executor/stand.js";
import { tool, type Options } from "../executor/tools.js";

const secret = { to: "a secret" };

/** A stand whose calls are logged, and the lines. */
function logged(options: Options, more: ExecutorOptions = {}, how: LoggingHookOptions = {}) {
  const lines: string[] = [];
  const at = (level: string) => (line: string) => void lines.push(`${level}: ${line}`);
  const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const made = stand([tool(options)], { ...more, hooks: [new LoggingHook(logger, how)] });
  const context = () => made.executor.context({ runId: "r-1" });
  return { lines, run: (callId = "c") => made.executor.run("act", secret, { context: context(), callId }) };
}

const called = 'info: act "c" in run "r-1" called';

describe("a line for", () => {
  test("E9/logging: a call and its result", async () => {
    const { lines, run } = logged({});
    await run();
    expect(lines).toEqual([called, 'info: act "c" in run "r-1" returned']);
  });

  test.each<[string, Options, string]>([
    ["a failure", { execute: () => Promise.reject(new Error("a secret")) }, "ToolFailed"],
    ["an answer for the model", { execute: () => Promise.reject(new ToolError("a secret")) }, "ToolError"],
    ["a timeout", { timeoutMs: 2, execute: () => new Promise(() => undefined) }, "ToolTimeout"],
  ])("E9/logging: %s: its kind, and nothing of what was thrown", async (_what, options, kind) => {
    const { lines, run } = logged(options);
    await failure(run());
    expect(lines).toEqual([called, `error: act "c" in run "r-1" failed: ${kind}`]);
  });

  test("E9/logging: a question, and who answered it how", async () => {
    const { lines, run } = logged({ confirm: true }, { approval: new ScriptedPort(pending, yes()) });
    await failure(run());
    expect(lines).toEqual([called, 'info: act "c" in run "r-1" waits for a human']);
    lines.length = 0;
    await run();
    expect(lines).toEqual([
      called,
      'info: act "c" in run "r-1" approved by "ana"',
      'info: act "c" in run "r-1" returned',
    ]);
  });

  test("E9/logging: a denial", async () => {
    const { lines, run } = logged({ confirm: true }, { approval: new ScriptedPort(no("a secret")) });
    await failure(run());
    expect(lines).toEqual([
      called,
      'info: act "c" in run "r-1" denied by "bob"',
      'error: act "c" in run "r-1" failed: ApprovalDenied',
    ]);
  });
});

describe("values", () => {
  test("E9/logging, N1: are in no line unless asked for", async () => {
    const { lines, run } = logged({ execute: () => ({ key: "another secret" }) });
    await run();
    expect(lines.join("\n")).not.toContain("secret");
  });

  test.each([[{ values: false }], [{ values: "yes" as unknown as boolean }]])(
    "E9/logging, N1: nor with %j",
    async (how) => {
      const { lines, run } = logged({}, {}, how);
      await run();
      expect(lines.join("\n")).not.toContain("secret");
    },
  );

  test("E9/logging: are JSON on one line when asked for", async () => {
    const { lines, run } = logged({ execute: () => ({ text: "one\ntwo" }) }, {}, { values: true });
    await run();
    expect(lines).toEqual([`${called} {"to":"a secret"}`, 'info: act "c" in run "r-1" returned {"text":"one\\ntwo"}']);
  });

  test.each<[string, unknown, string]>([
    ["undefined", undefined, " undefined"],
    ["a bigint", 1n, " (not JSON)"],
  ])("E9/logging: that are not JSON say so: %s", async (_what, result, shown) => {
    const { lines, run } = logged({ execute: () => result }, {}, { values: true });
    expect(await run()).toBe(result);
    expect(lines.at(-1)).toBe(`info: act "c" in run "r-1" returned${shown}`);
  });
});

test("E9/logging: ids and names are quoted: whoever chooses them forges no line", async () => {
  const forged = 'c" in run "r-1" returned\ninfo: pay "d';
  const port = new ScriptedPort({
    status: "decided",
    decision: { approved: true },
    decidedBy: "ana\nerror: x",
    guardUntil: 0,
    consume: () => Promise.resolve(),
  });
  const { lines, run } = logged({ confirm: true }, { approval: port });
  await run(forged);
  expect(lines).toHaveLength(3);
  expect(lines.join("")).not.toContain("\n");
  expect(lines[0]).toBe(`info: act ${JSON.stringify(forged)} in run "r-1" called`);
  expect(lines[1]).toContain(String.raw`approved by "ana\nerror: x"`);
});

test("E9/logging: a console is a logger", () => {
  expect(() => new LoggingHook(console)).not.toThrow();
});
