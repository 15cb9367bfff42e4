// Properties proved, on the real SDK: one `execute_tool` span for a call that ended, with the attributes of the conventions; the wait
// for a human beside it; what stands around it in the trace; nothing of values; and that tracing changes no call.
import { metrics, SpanStatusCode, trace } from "@opentelemetry/api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  BudgetHook,
  CallbackApproval,
  approve,
  deny,
  MemoryLedger,
  ToolError,
  type ExecutorOptions,
} from "agent-adapter";
import { OpenTelemetryHook, type OpenTelemetryHookOptions } from "agent-adapter/opentelemetry";
import { endMs, Sdk, startMs } from "../../../support/telemetry.js";
import { sleep } from "../../../support/langgraph.js";
import { failure, gate, kindOf, no, pending, ScriptedPort, stand, turns, yes } from "../../executor/stand.js";
import { never, tool, type Options } from "../../executor/tools.js";

let sdk: Sdk;
beforeEach(() => {
  sdk = new Sdk().register();
});
afterEach(() => Sdk.unregister());

const secret = { to: "a secret" };
const CALL = "execute_tool act";
const WAIT = "wait_for_approval act";

function traced(options: Options = {}, more: ExecutorOptions = {}, how: OpenTelemetryHookOptions = {}) {
  const hook = new OpenTelemetryHook(how);
  const made = stand([tool(options)], { ...more, hooks: [hook, ...(more.hooks ?? [])] });
  const { executor } = made;
  const context = executor.context({ runId: "r-1", threadId: "t-1" });
  return { ...made, hook, context, run: (callId = "c") => executor.run("act", secret, { context, callId }) };
}

function only(name: string) {
  const [span, ...more] = sdk.named(name);
  if (span === undefined || more.length > 0) throw new Error(`${more.length + (span ? 1 : 0)} spans named ${name}`);
  return span;
}

describe("a call", () => {
  test("O1: is one `execute_tool` span with the attributes of the conventions, and nothing of its values", async () => {
    await traced().run();
    expect(sdk.spans().map(({ name }) => name)).toEqual([CALL]);
    const span = only(CALL);
    expect(span.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "act",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "c",
      "gen_ai.conversation.id": "t-1",
      "agent_adapter.run.id": "r-1",
    });
    expect([span.status.code, span.kind, span.events, span.links]).toEqual([SpanStatusCode.UNSET, 0, [], []]);
    expect(JSON.stringify([span.attributes, span.name, span.status])).not.toContain("a secret");
  });

  test("O1: carries its arguments and its result when that is turned on", async () => {
    await traced({}, {}, { values: true }).run();
    expect(only(CALL).attributes).toMatchObject({
      "gen_ai.tool.call.arguments": '{"to":"a secret"}',
      "gen_ai.tool.call.result": '"did a secret"',
    });
  });

  test("O1: is as long as it took, and so is what the histogram says, in seconds", async () => {
    await traced({ execute: () => sleep(30) }).run();
    const span = only(CALL);
    const took = endMs(span) - startMs(span);
    expect(took).toBeGreaterThan(25);
    const [measured, ...more] = await sdk.durations();
    expect(more).toEqual([]);
    expect(measured).toMatchObject({
      count: 1,
      unit: "s",
      attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "act" },
    });
    expect(Math.abs((measured?.sum ?? 0) * 1000 - took)).toBeLessThan(1);
  });

  test.each<[string, Options, string, boolean]>([
    ["a failure", { execute: () => Promise.reject(new Error("a secret")) }, "ToolFailed", false],
    ["an answer for the model", { execute: () => Promise.reject(new ToolError("a secret")) }, "ToolError", true],
    ["a timeout", { timeoutMs: 2, execute: never }, "ToolTimeout", false],
  ])(
    "O1: that ends with %s has its kind as error type, in the span and in the histogram",
    async (_, options, kind, visible) => {
      await failure(traced(options).run());
      const span = only(CALL);
      expect(span.attributes).toMatchObject({ "error.type": kind, "agent_adapter.error.model_visible": visible });
      expect(span.status).toEqual({ code: SpanStatusCode.ERROR });
      expect((await sdk.durations())[0]?.attributes["error.type"]).toBe(kind);
      expect(JSON.stringify([span.attributes, span.status, span.events])).not.toContain("a secret");
    },
  );

  test("O1: that another hook refuses has a span", async () => {
    const { run } = traced({}, { hooks: [new BudgetHook({ maxCalls: 0 })] });
    expect(await kindOf(run())).toBe("BudgetExceeded");
    expect(only(CALL).attributes["error.type"]).toBe("BudgetExceeded");
  });

  test("O1: that is aborted is `cancelled`", async () => {
    const abort = new AbortController();
    const { executor } = traced({ execute: never });
    const running = executor.run("act", secret, { context: executor.context({ signal: abort.signal }) });
    await sleep(5);
    abort.abort();
    await failure(running);
    expect(only(CALL).attributes["error.type"]).toBe("cancelled");
  });

  test("O1: that replays has no second span; retries are in the one", async () => {
    let runs = 0;
    const { run } = traced({
      idempotent: true,
      retries: { maxAttempts: 2, initialDelayMs: 1 },
      execute: () => ((runs += 1) === 1 ? Promise.reject(new Error("once")) : "ok"),
    });
    await run();
    await run();
    expect(runs).toBe(2);
    expect(sdk.spans().length).toBe(1);
    expect((await sdk.durations())[0]?.count).toBe(1);
  });

  test("O1: of the same name at the same time, in two runs or two contexts of one, each keeps its own end", async () => {
    const gates = { one: gate<string>(), two: gate<string>() };
    const { executor } = traced(
      {
        execute: async ({ to }) => {
          await (to === "one" ? gates.one.wait : gates.two.wait);
          if (to === "two") throw new ToolError("no");
        },
      },
      {},
      { values: true },
    );
    const start = (to: string, metadata: object) =>
      executor.run(
        "act",
        { to },
        { context: executor.context({ threadId: "t", metadata: { ...metadata } }), callId: "c" },
      );
    const [one, two] = [start("one", {}), failure(start("two", {}))];
    await turns();
    gates.two.open("");
    await two;
    gates.one.open("");
    await one;
    const ends = sdk
      .named(CALL)
      .map(({ attributes }) => [attributes["gen_ai.tool.call.arguments"], attributes["error.type"]]);
    expect(ends).toEqual([
      ['{"to":"two"}', "ToolError"],
      ['{"to":"one"}', undefined],
    ]);
  });
});

describe("in the trace", () => {
  test("O1: a call is a child of the span that is active where it is made", async () => {
    const { run } = traced();
    await sdk.inSpan("agent", () => run());
    const agent = only("agent");
    expect(only(CALL).parentSpanContext?.spanId).toBe(agent.spanContext().spanId);
    expect(only(CALL).spanContext().traceId).toBe(agent.spanContext().traceId);
  });

  test("O1: a call made in a body is that call's child, and of a span that the body opened", async () => {
    const hook = new OpenTelemetryHook();
    const made = stand(
      [
        tool({ name: "inner" }),
        tool({
          execute: async (_, ctx) => {
            await ctx.run("inner", { to: "1" });
            await sdk.inSpan("own", () => ctx.run("inner", { to: "2" }));
            await hook.inSpan(() => sdk.inSpan("inside", () => Promise.resolve()));
          },
        }),
      ],
      { hooks: [hook] },
    );
    await sdk.inSpan("agent", () => made.executor.run("act", secret));
    const parentOf = (span: { parentSpanContext?: { spanId: string } }) =>
      sdk.spans().find((other) => other.spanContext().spanId === span.parentSpanContext?.spanId)?.name;
    expect(sdk.named("execute_tool inner").map(parentOf)).toEqual([CALL, "own"]);
    expect(parentOf(only("inside"))).toBe(CALL);
    expect(parentOf(only(CALL))).toBe("agent");
    expect(hook.inSpan(() => 7)).toBe(7);
  });
});

describe("the wait for a human", () => {
  test.each([
    ["approved", approve({ by: "ana" }), undefined],
    ["denied", deny({ by: "ana" }), "ApprovalDenied"],
  ])(
    "O1: of a call that is %s is a span of its own, and the call's begins where it ends",
    async (state, decision, kind) => {
      const approval = new CallbackApproval(() => sleep(30).then(() => decision));
      const { run } = traced({ confirm: true }, { approval });
      await sdk.inSpan("agent", () => run().catch(() => undefined));
      const [wait, call] = [only(WAIT), only(CALL)];
      expect(wait.attributes).toMatchObject({
        "gen_ai.tool.name": "act",
        "gen_ai.tool.call.id": "c",
        "agent_adapter.approval.decision": state,
        "agent_adapter.approval.decided_by": "ana",
      });
      expect(endMs(wait) - startMs(wait)).toBeGreaterThanOrEqual(25);
      expect(startMs(call)).toBeGreaterThanOrEqual(endMs(wait) - 2);
      expect(endMs(call) - startMs(call)).toBeLessThan(25);
      expect(call.links.map(({ context }) => context.spanId)).toEqual([wait.spanContext().spanId]);
      const parents = [wait, call].map(({ parentSpanContext }) => parentSpanContext?.spanId);
      expect(parents).toEqual([only("agent").spanContext().spanId, only("agent").spanContext().spanId]);
      expect(call.attributes["error.type"]).toBe(kind);
    },
  );

  test("O1: a program that cannot pause writes nothing until the answer is used; the wait begins when it was asked", async () => {
    const { run } = traced({ confirm: true }, { approval: new ScriptedPort(pending, yes()) });
    const before = Date.now();
    await sdk.inSpan("first", () => failure(run()));
    expect(sdk.spans().map(({ name }) => name)).toEqual(["first"]);
    expect(only("first").events.map(({ name }) => name)).toEqual(["agent_adapter.approval.asked"]);
    const asked = Date.now();
    await sleep(30);
    await run();
    expect(startMs(only(WAIT))).toBeGreaterThanOrEqual(before);
    expect(startMs(only(WAIT))).toBeLessThanOrEqual(asked);
    expect(endMs(only(WAIT)) - startMs(only(WAIT))).toBeGreaterThanOrEqual(25);
    expect(sdk.named(CALL).length).toBe(1);
  });

  test("O1: arguments that a reviewer changed are the ones in the span", async () => {
    const { run } = traced({ confirm: true }, { approval: new ScriptedPort(yes({ to: "bo" })) }, { values: true });
    await run();
    expect(only(CALL).attributes["gen_ai.tool.call.arguments"]).toBe('{"to":"bo"}');
  });

  test("O1: a denial counts as such", async () => {
    await failure(traced({ confirm: true }, { approval: new ScriptedPort(no("a secret")) }).run());
    expect((await sdk.durations())[0]?.attributes["error.type"]).toBe("ApprovalDenied");
    expect(JSON.stringify(sdk.spans().map(({ attributes, status }) => [attributes, status]))).not.toContain("a secret");
  });
});

describe("with its ledger", () => {
  const observed = (options: Options = {}, more: ExecutorOptions = {}, values = false) => {
    const hook = new OpenTelemetryHook({ values });
    return stand([tool(options)], { ...more, hooks: [hook], ledger: hook.ledger(new MemoryLedger()) });
  };

  test("O1: a name that a model made up is written with `values` only, and bounded", async () => {
    for (const values of [false, true])
      await failure(observed({}, {}, values).executor.run("ssn 078-05-1120 ".repeat(9), {}));
    const names = sdk.spans().map(({ attributes }) => attributes["gen_ai.tool.name"]);
    expect(names).toEqual(["(unknown)", "ssn 078-05-1120 ".repeat(4)]);
  });

  test("O1: arguments that do not fit and tools that do not exist have a span; unknown names are in no name and no metric", async () => {
    const { executor, entries } = observed();
    const outcomes = await sdk.inSpan("agent", () =>
      executor.runMany([
        { tool: "act", args: {} },
        { tool: "x".repeat(99), args: {} },
      ]),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    const spans = sdk.spans().filter(({ name }) => name.startsWith("execute_tool"));
    expect(
      spans.map(({ name, attributes }) => [name, attributes["gen_ai.tool.name"], attributes["error.type"]]),
    ).toEqual([
      [CALL, "act", "ToolArgsInvalid"],
      ["execute_tool (unknown)", "(unknown)", "ToolNotFound"],
    ]);
    for (const span of spans) expect(span.parentSpanContext?.spanId).toBe(only("agent").spanContext().spanId);
    expect((await sdk.durations()).map(({ attributes }) => attributes["gen_ai.tool.name"])).toEqual([
      "act",
      "(unknown)",
    ]);
    expect((await entries()).map(({ errorKind }) => errorKind)).toEqual(["ToolArgsInvalid", "ToolNotFound"]);
    expect((await executor.ledger.totals()).calls).toBe(0);
  });

  test("O1: every other call has the one span of the hook", async () => {
    const { executor } = observed({ confirm: true }, { approval: new ScriptedPort(yes({ to: 7 } as never)) });
    expect(await kindOf(executor.run("act", secret))).toBe("ToolArgsInvalid");
    expect(sdk.named(CALL).map(({ attributes }) => attributes["error.type"])).toEqual(["ToolArgsInvalid"]);
  });
});

describe("tracing changes no call", () => {
  test("O1: without an SDK calls run, and an SDK that comes later is used", async () => {
    Sdk.unregister();
    const { run } = traced();
    expect(await run("a")).toBe("did a secret");
    sdk.register();
    await run("b");
    expect(sdk.spans().length).toBe(1);
    expect((await sdk.durations())[0]?.count).toBe(1);
  });

  test("O1: a tracer that throws fails nothing", async () => {
    const tracerProvider = {
      getTracer: () => {
        throw new Error("broken");
      },
    };
    const approval = new ScriptedPort(yes());
    expect(await traced({ confirm: true }, { approval }, { tracerProvider }).run()).toBe("did a secret");
    expect(approval.tokens.length).toBe(1);
    expect(sdk.spans()).toEqual([]);
  });

  test("O1: providers of its own are used instead of the global ones", async () => {
    const own = new Sdk();
    await traced({}, {}, { tracerProvider: own.tracerProvider, meterProvider: own.meterProvider }).run();
    expect([own.spans().length, sdk.spans().length]).toEqual([1, 0]);
    expect((await own.durations()).length).toBe(1);
    expect(trace.getTracerProvider()).toBeDefined();
  });

  test("O1, N1: a misspelt option is refused by name", () => {
    expect(() => new OpenTelemetryHook({ value: true } as never)).toThrow("value");
    expect(() => new OpenTelemetryHook({ values: "yes" } as never)).toThrow("values");
  });
});

describe("what nobody listens to", () => {
  test("O1: without an SDK nothing is opened for a call; with only metrics or only traces each works alone", async () => {
    Sdk.unregister();
    const hook = new OpenTelemetryHook();
    const seen: unknown[] = [];
    const spy = { beforeTool: (call: Parameters<OpenTelemetryHook["beforeTool"]>[0]) => hook.beforeTool(call) };
    const { executor } = stand([tool()], { hooks: [{ beforeTool: (call) => void seen.push(spy.beforeTool(call)) }] });
    await executor.run("act", secret);
    expect(seen).toEqual([undefined]);
    trace.setGlobalTracerProvider(sdk.tracerProvider);
    await executor.run("act", secret);
    expect(seen[1]).toBeDefined();
    Sdk.unregister();
    metrics.setGlobalMeterProvider(sdk.meterProvider);
    await executor.run("act", secret);
    expect(seen[2]).toBeDefined();
  });
});
