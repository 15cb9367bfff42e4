// Properties proved: hooks hear of failures in reverse order, of questions once and of used answers; not of pauses and
// aborts; a failing hook hides no error; what a hook holds for a call is let go once, however the call ends.
import { describe, expect, test } from "vitest";
import {
  approve,
  DeferredApproval,
  MemoryApprovalStore,
  ToolError,
  type ApprovalEvent,
  type ExecutorOptions,
  type Hook,
} from "../../../src/index.js";
import { failure, kindOf, no, pending, ScriptedPort, stand, turns, yes } from "../executor/stand.js";
import { never, to, tool, type Options } from "../executor/tools.js";

const fails = { execute: () => Promise.reject(new Error("x")) };
const hearing = (name: string, log: string[]): Partial<Hook> => ({
  onError: (_call, error) => void log.push(`${name} ${error instanceof Error ? error.name : "?"}`),
});

describe("onError", () => {
  test("E9/errors-approvals: is called in reverse order, with the error the caller gets", async () => {
    const heard: unknown[] = [];
    const hook = (name: string): Partial<Hook> => ({
      onError: (call, error) => void heard.push([name, call.callId, error]),
    });
    const { executor } = stand([tool(fails)], { hooks: [hook("a"), hook("b"), hook("c")] });
    const error = await failure(executor.run("act", to, { callId: "1" }));
    expect(heard).toEqual([
      ["c", "1", error],
      ["b", "1", error],
      ["a", "1", error],
    ]);
  });

  test("E9/errors-approvals: that fails itself is logged; the others are called, and the caller gets the first error", async () => {
    const [log, logged]: string[][] = [[], []];
    const logger = { ...console, error: (line: string) => void logged?.push(line) };
    const broken: Partial<Hook> = { onError: () => Promise.reject(new Error("a secret")) };
    const throws: Partial<Hook> = {
      onError: () => {
        throw new Error("a secret");
      },
    };
    const { executor, entry } = stand([tool(fails)], {
      hooks: [hearing("a", log ?? []), broken, throws, hearing("d", log ?? [])],
      logger,
    });
    expect(await kindOf(executor.run("act", to))).toBe("ToolFailed");
    expect(log).toEqual(["d ToolFailed", "a ToolFailed"]);
    expect(logged).toEqual(Array.from({ length: 2 }, () => "an onError hook failed for a call of act"));
    expect(await entry()).toMatchObject({ status: "failed", errorKind: "ToolFailed" });
  });

  test.each<[string, Options, ExecutorOptions, unknown]>([
    ["an answer for the model", { execute: () => Promise.reject(new ToolError("x")) }, {}, "ToolError"],
    ["a timeout", { timeoutMs: 2, execute: never }, {}, "ToolTimeout"],
    ["a denial", { confirm: true }, { approval: new ScriptedPort(no()) }, "ApprovalDenied"],
    ["nobody to ask", { confirm: true }, {}, "ToolUsageError"],
    ["a rule that throws", { confirm: () => Promise.reject(new Error("x")) }, {}, "Error"],
  ])("E9/errors-approvals: hears of %s", async (_what, options, more, name) => {
    const log: string[] = [];
    const { executor } = stand([tool(options)], { ...more, hooks: [hearing("a", log)] });
    await failure(executor.run("act", to));
    expect(log).toEqual([`a ${String(name)}`]);
  });

  test("E9/errors-approvals: hears once of a call with several attempts", async () => {
    const log: string[] = [];
    const retries = { maxAttempts: 3, initialDelayMs: 0 };
    const { executor } = stand([tool({ ...fails, retries })], { hooks: [hearing("a", log)] });
    await failure(executor.run("act", to));
    expect(log).toEqual(["a ToolFailed"]);
  });

  test("E9/errors-approvals: of hooks that were opened only: one that refuses a call, and those after it, were not", async () => {
    const log: string[] = [];
    const refuses: Partial<Hook> = {
      beforeTool: () => {
        throw new ToolError("stop");
      },
      ...hearing("b", log),
    };
    const { executor } = stand([tool()], { hooks: [hearing("a", log), refuses, hearing("c", log)] });
    expect(await kindOf(executor.run("act", to))).toBe("ToolError");
    expect(log).toEqual(["a ToolError"]);
  });

  test("E9/errors-approvals, E3: hears of no pause and of no abort", async () => {
    const log: string[] = [];
    const pause = Object.assign(new Error("pause"), { is_bubble_up: true });
    const stop = new AbortController();
    const tools = [
      tool({ name: "pauses", execute: () => Promise.reject(pause) }),
      tool({ name: "waits", execute: never }),
      tool({ name: "asks", confirm: true }),
    ];
    const approval = new ScriptedPort(pending);
    const { executor } = stand(tools, { hooks: [hearing("a", log)], approval });
    await failure(executor.run("pauses", to));
    expect(await kindOf(executor.run("asks", to))).toBe("ApprovalPending");
    const run = failure(executor.run("waits", to, { signal: stop.signal }));
    await turns();
    stop.abort();
    await run;
    await turns();
    expect(log).toEqual([]);
  });

  test("E9/errors-approvals: hears of no replayed failure", async () => {
    const log: string[] = [];
    const { executor, again } = stand([tool({ ...fails, confirm: true })], {
      approval: new ScriptedPort(yes()),
      hooks: [hearing("a", log)],
    });
    await failure(executor.run("act", to, { context: again() }));
    await failure(executor.run("act", to, { context: again() }));
    expect(log).toEqual(["a ToolFailed"]);
  });
});

describe("onApproval", () => {
  const noting = (events: ApprovalEvent[]): Partial<Hook> => ({
    onApproval: (_call, event) => void events.push(event),
  });

  test("E9/errors-approvals: hears of a question once, however often the call is run, and of the answer when it is used", async () => {
    const events: ApprovalEvent[] = [];
    const port = new ScriptedPort(pending, pending, yes());
    const { executor, again } = stand([tool({ confirm: true })], { approval: port, hooks: [noting(events)] });
    for (let i = 0; i < 2; i += 1) await failure(executor.run("act", to, { context: again() }));
    expect(events.map(({ state }) => state)).toEqual(["asked"]);
    await executor.run("act", to, { context: again() });
    await executor.run("act", to, { context: again() });
    const [asked] = port.asked;
    expect(events).toEqual([
      { state: "asked", binding: asked?.binding, request: asked?.request },
      { state: "approved", binding: asked?.binding, decidedBy: "ana", askedAt: expect.any(Number) },
    ]);
  });

  test("E9/errors-approvals: hears of a denial, before onError does", async () => {
    const log: string[] = [];
    const hook: Partial<Hook> = {
      onApproval: (_call, event) => void log.push(event.state),
      onError: () => void log.push("error"),
    };
    const { executor } = stand([tool({ confirm: true })], { approval: new ScriptedPort(no()), hooks: [hook] });
    await failure(executor.run("act", to));
    expect(log).toEqual(["denied", "error"]);
  });

  test("E9/errors-approvals: of all hooks, in order", async () => {
    const log: string[] = [];
    const hook = (name: string): Partial<Hook> => ({
      onApproval: (_call, { state }) => void log.push(`${name} ${state}`),
    });
    const { executor } = stand([tool({ confirm: true })], {
      approval: new ScriptedPort(yes()),
      hooks: [hook("a"), hook("b")],
    });
    await executor.run("act", to);
    expect(log).toEqual(["a approved", "b approved"]);
  });

  test("E9/errors-approvals, B11: one that fails when a human is asked stops the call and spends nothing", async () => {
    let broken = true;
    let runs = 0;
    const hook: Partial<Hook> = {
      onApproval: () => {
        if (broken) throw new ToolError("the pager is down");
      },
    };
    const port = new ScriptedPort(pending, yes());
    const { executor, again } = stand([tool({ confirm: true, execute: () => (runs += 1) })], {
      approval: port,
      hooks: [hook],
    });
    expect(await kindOf(executor.run("act", to, { context: again() }))).toBe("ToolError");
    expect([runs, port.tokens.length]).toEqual([0, 0]);
    broken = false;
    expect(await executor.run("act", to, { context: again() })).toBe(1);
  });

  test("E9/errors-approvals, B11: one that fails after the answer was used has spent it, and the tool does not run", async () => {
    let runs = 0;
    const hook: Partial<Hook> = {
      onApproval: () => {
        throw new Error("x");
      },
    };
    const port = new ScriptedPort(yes(), yes());
    const { executor, again } = stand([tool({ confirm: true, execute: () => (runs += 1) })], {
      approval: port,
      hooks: [hook],
    });
    await failure(executor.run("act", to, { context: again() }));
    expect(await kindOf(executor.run("act", to, { context: again() }))).toBe("ApprovalAlreadyDecided");
    expect([runs, port.tokens.length]).toEqual([0, 1]);
  });

  test("B59, A8/ports: one that decides in the store as soon as it hears of the request lets the call run at once", async () => {
    const store = new MemoryApprovalStore();
    const states: string[] = [];
    const hook: Partial<Hook> = {
      async onApproval(_call, event) {
        states.push(event.state);
        if (event.state === "asked") await store.decide(event.binding, approve({ by: "policy engine" }));
      },
    };
    const { executor, entry } = stand([tool({ confirm: true })], {
      approval: new DeferredApproval(store),
      secret: "a secret of at least sixteen bytes",
      hooks: [hook],
    });
    expect(await executor.run("act", to)).toBe("did ana");
    expect(states).toEqual(["asked", "approved"]);
    expect(await entry()).toMatchObject({ status: "ok", decidedBy: "policy engine" });
  });
});

describe("finally", () => {
  /** A stand whose hooks count how often they let go. */
  function holding(options: Options, more: ExecutorOptions = {}) {
    const log: string[] = [];
    const hook = (name: string): Partial<Hook> => ({ beforeTool: () => ({ finally: () => void log.push(name) }) });
    return { log, ...stand([tool(options)], { ...more, hooks: [hook("a"), hook("b")] }) };
  }

  test.each<[string, Options, ExecutorOptions]>([
    ["a result", {}, {}],
    ["a failure", fails, {}],
    ["an answer for the model", { execute: () => Promise.reject(new ToolError("x")) }, {}],
    ["a timeout", { timeoutMs: 2, execute: never }, {}],
    ["a denial", { confirm: true }, { approval: new ScriptedPort(no()) }],
    ["a question that waits", { confirm: true }, { approval: new ScriptedPort(pending) }],
    ["a rule that throws", { confirm: () => Promise.reject(new Error("x")) }, {}],
    ["a pause", { execute: () => Promise.reject(Object.assign(new Error("p"), { is_bubble_up: true })) }, {}],
    ["a port that throws", { confirm: true }, { approval: new ScriptedPort(() => Promise.reject(new Error("x"))) }],
  ])("E9/errors-approvals: is called once per hook, in reverse, after %s", async (_what, options, more) => {
    const { log, executor } = holding(options, more);
    await Promise.allSettled([executor.run("act", to)]);
    expect(log).toEqual(["b", "a"]);
  });

  test("E9/errors-approvals: is called once after an abort, also when the body goes on", async () => {
    const stop = new AbortController();
    const { log, executor } = holding({ execute: never });
    const run = failure(executor.run("act", to, { signal: stop.signal }));
    await turns();
    stop.abort();
    await run;
    expect(log).toEqual(["b", "a"]);
  });

  test("E9/errors-approvals: of a hook that was opened is called when a later one refuses the call", async () => {
    const log: string[] = [];
    const holds: Partial<Hook> = { beforeTool: () => ({ finally: () => void log.push("let go") }) };
    const refuses: Partial<Hook> = { beforeTool: () => Promise.reject(new ToolError("stop")) };
    const { executor } = stand([tool()], { hooks: [holds, refuses] });
    await failure(executor.run("act", to));
    expect(log).toEqual(["let go"]);
  });

  test("E9/errors-approvals: that throws is logged: the others let go, and the call ends as it ended", async () => {
    const [log, logged]: string[][] = [[], []];
    const logger = { ...console, error: (line: string) => void logged?.push(line) };
    const holds: Partial<Hook> = { beforeTool: () => ({ finally: () => void log?.push("let go") }) };
    const throws: Partial<Hook> = {
      beforeTool: () => ({
        finally: () => {
          throw new Error("a secret");
        },
      }),
    };
    const { executor } = stand([tool(), tool({ name: "fails", ...fails })], { hooks: [holds, throws], logger });
    expect(await executor.run("act", to)).toBe("did ana");
    expect(await kindOf(executor.run("fails", to))).toBe("ToolFailed");
    expect(log).toEqual(["let go", "let go"]);
    expect(logged).toEqual([
      "what a hook held for a call of act could not be let go",
      "what a hook held for a call of fails could not be let go",
    ]);
  });
});
