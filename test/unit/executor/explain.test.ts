// Properties proved: `explain` says whether a call would ask, and why, by the rules that a run goes by; it asks, runs and
// records nothing.
import { describe, expect, test } from "vitest";
import { type Policy } from "../../../src/index.js";
import { kindOf, ScriptedPort, stand, yes } from "./stand.js";
import { to, tool, type Options } from "./tools.js";

const yesRule = () => true;
const noRule = () => false;

describe("explain", () => {
  test.each<[string, Options["confirm"], Policy["act"], boolean]>([
    ["confirm", true, undefined, true],
    ["confirm", true, noRule, true],
    ["confirm-predicate", yesRule, undefined, true],
    ["confirm-predicate", yesRule, true, true],
    ["policy", false, true, true],
    ["policy", noRule, yesRule, true],
    ["nobody-asks", false, undefined, false],
    ["nobody-asks", noRule, noRule, false],
  ])("E12/explain: %s (tool: %s, policy: %s), as a run does", async (because, confirm, policy, asks) => {
    const port = new ScriptedPort(yes());
    const made = tool(confirm === undefined ? {} : { confirm });
    const { executor, entries } = stand([made], {
      approval: port,
      policy: policy === undefined ? {} : { act: policy },
    });
    expect(await executor.explain(made, to)).toEqual({ asks, because });
    expect(await executor.explain("act", to)).toEqual({ asks, because });
    expect([port.asked.length, (await entries()).length]).toEqual([0, 0]);
    await executor.run(made, to);
    expect(port.asked.length > 0).toBe(asks);
  });

  test("E12/explain: runs neither the tool nor hooks, and changes nothing for the call that follows", async () => {
    const log: string[] = [];
    const made = tool({ confirm: ({ to: name }) => name === "ana", execute: () => void log.push("ran") });
    const port = new ScriptedPort(yes());
    const { executor, again } = stand([made], { approval: port, hooks: [{ beforeTool: () => void log.push("hook") }] });
    await executor.explain(made, to, { context: again() });
    expect(log).toEqual([]);
    expect(await executor.explain(made, { to: "bob" }, { context: again() })).toMatchObject({ asks: false });
    await executor.run(made, to, { context: again() });
    expect(log).toEqual(["hook", "ran"]);
    expect(port.asked[0]?.request.generation).toBe(0);
  });

  test("E12/explain: its rules see the parsed arguments and the run", async () => {
    const seen: unknown[] = [];
    const made = tool({
      confirm: (args, ctx) => {
        seen.push(args, ctx.runId, ctx.principal);
        return true;
      },
    });
    const { executor } = stand([made]);
    const context = executor.context({ runId: "r", principal: "ana" });
    await executor.explain("act", { to: "x", extra: 1 }, { context });
    expect(seen).toEqual([{ to: "x" }, "r", "ana"]);
  });

  test.each<[string, string, unknown]>([
    ["ToolArgsInvalid", "act", { to: 5 }],
    ["ToolArgsInvalid", "act", undefined],
    ["ToolNotFound", "nothing", to],
    ["ToolNotFound", "constructor", to],
  ])("E12/explain: %s for %s with %j", async (kind, name, args) => {
    const { executor } = stand([tool()]);
    expect(await kindOf(executor.explain(name, args))).toBe(kind);
  });

  test("E12/explain: a spec of another registry is refused", async () => {
    const { executor } = stand([tool()]);
    expect(await kindOf(executor.explain(tool(), to))).toBe("ToolUsageError");
  });
});
