// Properties proved: a policy asks more and never less, its names are checked when the executor is made, and it cannot be
// changed afterwards.
import { describe, expect, test } from "vitest";
import { Executor, Registry, type ConfirmContext, type Policy } from "../../../src/index.js";
import { kindOf, no, ScriptedPort, stand, yes } from "./stand.js";
import { to, tool, type Options } from "./tools.js";

const rule = (answer: unknown) => () => answer as boolean;

describe("a policy asks", () => {
  test.each<[string, Options["confirm"], Policy["act"], number]>([
    ["nobody", false, undefined, 0],
    ["where the tool would not: true", false, true, 1],
    ["where the tool would not: a rule that says yes", false, rule(true), 1],
    ["nobody: a rule that says no", false, rule(false), 0],
    ["where the tool's rule says no", rule(false), true, 1],
    ["where the tool's rule says no, by a rule", rule(false), rule(true), 1],
    ["nobody: both rules say no", rule(false), rule(false), 0],
    ["where the tool says yes: its rule cannot take that away", true, rule(false), 1],
    ["where the tool's rule says yes: nor that", rule(true), rule(false), 1],
    ["when its rule forgot to answer", false, rule(undefined), 1],
    ["when its rule answers something else than false", false, rule(0), 1],
  ])("G4: %s", async (_what, confirm, policy, asked) => {
    const port = new ScriptedPort(yes());
    const made = tool(confirm === undefined ? {} : { confirm });
    const { executor } = stand([made], { approval: port, policy: policy === undefined ? {} : { act: policy } });
    expect(await executor.run(made, to)).toBe("did ana");
    expect([port.asked.length, port.tokens.length]).toEqual([asked, asked]);
  });

  test("G4: and a denial is one", async () => {
    let runs = 0;
    const { executor } = stand([tool({ execute: () => (runs += 1) })], {
      approval: new ScriptedPort(no()),
      policy: { act: true },
    });
    expect(await kindOf(executor.run("act", to))).toBe("ApprovalDenied");
    expect(runs).toBe(0);
  });

  test("G4: without a port the call is refused, not run", async () => {
    let runs = 0;
    const { executor } = stand([tool({ execute: () => (runs += 1) })], { policy: { act: true } });
    expect(await kindOf(executor.run("act", to))).toBe("ToolUsageError");
    expect(runs).toBe(0);
  });

  test("G4: nested calls too: they cannot ask, so they are refused", async () => {
    let runs = 0;
    const inner = tool({ name: "inner", execute: () => (runs += 1) });
    const outer = tool({ name: "outer", execute: (_args, ctx) => ctx.run("inner", to) });
    const { executor } = stand([inner, outer], { policy: { inner: true }, approval: new ScriptedPort(yes()) });
    expect(await kindOf(executor.run("outer", to))).toBe("ToolUsageError");
    expect(runs).toBe(0);
  });

  test("G4: a rule sees the parsed arguments, frozen, and who it is for; once per call", async () => {
    const seen: [unknown, ConfirmContext][] = [];
    const made = tool();
    const { executor } = stand([made], {
      approval: new ScriptedPort(yes()),
      policy: {
        act: (args, ctx) => {
          seen.push([args, ctx]);
          return false;
        },
      },
    });
    const context = executor.context({ runId: "r", threadId: "t", principal: "ana", metadata: { a: 1 } });
    await executor.run("act", { to: "ana", extra: 1 }, { context, callId: "c" });
    expect(seen).toEqual([
      [{ to: "ana" }, { runId: "r", threadId: "t", callId: "c", principal: "ana", metadata: { a: 1 } }],
    ]);
    expect(Object.isFrozen(seen[0]?.[0])).toBe(true);
  });

  test("G4, N1: a rule that throws refuses the call", async () => {
    let runs = 0;
    const policy = { act: () => Promise.reject(new Error("x")) };
    const { executor } = stand([tool({ execute: () => (runs += 1) })], { approval: new ScriptedPort(yes()), policy });
    await expect(executor.run("act", to)).rejects.toThrow("x");
    expect(runs).toBe(0);
  });
});

describe("a policy is checked when the executor is made", () => {
  const registry = new Registry([tool()]);
  // What a program without types may give.
  const made = (policy: unknown) => () => new Executor(registry, { policy: policy as Policy<"act"> });

  test.each(["acts", "Act", "", "constructor", "toString", "__proto__x"])("G4: %j is no tool", (name) => {
    expect(made({ [name]: true })).toThrow(
      expect.objectContaining({ kind: "ToolUsageError", message: expect.stringContaining(JSON.stringify(name)) }),
    );
  });

  test.each([[false], ["never"], [0], [1], [null], [undefined], [{}]])("G4: %j is no rule", (given) => {
    expect(made({ act: given })).toThrow(
      expect.objectContaining({ kind: "ToolUsageError", message: expect.stringContaining("act") }),
    );
  });

  test("G4: changing the object afterwards changes nothing", async () => {
    const policy: { act?: true } = { act: true };
    const port = new ScriptedPort(yes());
    const { executor } = stand([tool()], { approval: port, policy });
    delete policy.act;
    await executor.run("act", to);
    expect(port.asked).toHaveLength(1);
  });

  test("G4: rules on its prototype are none of its own", async () => {
    const policy: Policy<"act"> = Object.create({ act: true });
    const port = new ScriptedPort();
    const { executor } = stand([tool()], { approval: port, policy });
    await executor.run("act", to);
    expect(port.asked).toEqual([]);
  });
});
