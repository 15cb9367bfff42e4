// What a checkpoint keeps, and what it lets go: rules that said yes, answers of steps that are over, call ids of one's own.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { approve, Executor, Registry } from "../../../src/index.js";
import { Flow, resumeFlow, runFlow, type FlowResult } from "../../../src/flow/index.js";
import { forgetProcess } from "../../support/process.js";

const SECRET = "a secret of at least 32 bytes, for tests";

function shop(confirm: (n: number) => boolean) {
  const ran: string[] = [];
  const registry = new Registry();
  const pay = registry.tool({
    name: "pay",
    description: "pays",
    inputSchema: z.object({ n: z.number() }),
    confirm: ({ n }) => confirm(n),
    execute: ({ n }) => {
      ran.push(`pay ${n}`);
      return n;
    },
  });
  return { ran, pay, executor: new Executor(registry, { secret: SECRET }) };
}

function pausedAt<State>(result: FlowResult<State>): Extract<FlowResult<State>, { status: "paused" }> {
  if (result.status !== "paused") throw new Error(`it is ${result.status}`);
  return result;
}

describe("F5: a checkpoint", () => {
  test("A6, F5: a rule that said yes to a call behind another one stays a yes in the next process", async () => {
    let asks = true;
    const { ran, pay, executor } = shop(() => asks);
    const flow = new Flow("two", { state: z.object({ n: z.number() }) })
      .node("both", async (_, { run }) => {
        await Promise.all([run(pay, { n: 1 }, { callId: "a" }), run(pay, { n: 2 }, { callId: "b" })]);
      })
      .end("both");
    const first = pausedAt(await runFlow(flow, { n: 0 }, { executor }));
    forgetProcess();
    asks = false;
    const second = await resumeFlow(flow, first.checkpoint, approve(), { executor });
    expect(ran).toEqual(["pay 1"]);
    expect(pausedAt(second).pending.request.arguments).toEqual({ n: 2 });
  });

  test("F5: does not grow with the answers of steps that are over", async () => {
    const { pay, executor } = shop(() => true);
    const flow = new Flow("laps", { state: z.object({ n: z.number() }) })
      .node("lap", async ({ n }, { run }) => ({ n: await run(pay, { n: n + 1 }, { callId: "a" }) }))
      .node("out", () => ({}))
      .route("lap", ({ n }) => (n < 30 ? "lap" : "out"), ["lap", "out"], { maxLoops: { lap: 100 } })
      .end("out");
    let result = pausedAt(await runFlow(flow, { n: 10 }, { executor }));
    const sizes: number[] = [];
    for (let lap = 0; lap < 19; lap += 1) {
      result = pausedAt(await resumeFlow(flow, result.checkpoint, approve(), { executor }));
      sizes.push(result.checkpoint.length);
    }
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(100);
  });

  test("F7, A5: a call of one's own may be called gate where there is none, and is not asked about again", async () => {
    const { ran, pay, executor } = shop(() => true);
    const flow = new Flow("own", { state: z.object({ n: z.number() }) })
      .node("both", async (_, { run }) => {
        await run(pay, { n: 1 }, { callId: "gate" });
        await run(pay, { n: 2 }, { callId: "second" });
      })
      .end("both");
    const first = pausedAt(await runFlow(flow, { n: 0 }, { executor }));
    forgetProcess();
    const second = pausedAt(await resumeFlow(flow, first.checkpoint, approve(), { executor }));
    forgetProcess();
    const again = pausedAt(await resumeFlow(flow, second.checkpoint, null, { executor }));
    forgetProcess();
    const done = await resumeFlow(flow, again.checkpoint, approve(), { executor });
    expect([done.status, ...ran]).toEqual(["done", "pay 1", "pay 2"]);
  });

  test("F6: the call id of a gate is not given to a call behind it", async () => {
    const { ran, pay, executor } = shop(() => false);
    const flow = new Flow("gated", { state: z.object({ n: z.number() }) })
      .node("x", async (_, { run }) => void (await run(pay, { n: 1 }, { callId: "gate" })), { pause: () => ({}) })
      .end("x");
    const asked = pausedAt(await runFlow(flow, { n: 0 }, { executor }));
    await expect(resumeFlow(flow, asked.checkpoint, approve(), { executor })).rejects.toThrow(
      /node "x".*call id "gate"/,
    );
    expect(ran).toEqual([]);
  });
});

describe("N1: what cannot be meant is refused by name, before anything runs", () => {
  const { pay, executor } = shop(() => false);
  const flow = new Flow("n1", { state: z.object({ n: z.number() }) })
    .node("x", async (_, { run }) => void (await run(pay, { n: 1 })))
    .end("x");

  test.each([
    ["new Flow", () => new Flow("f", { state: z.object({ n: z.number() }), mrege: {} } as never), /mrege/],
    ["new Flow without options", () => new (Flow as never as { new (name: string): unknown })("f"), /options/],
    ["runFlow without options", () => runFlow(flow, { n: 0 }, undefined as never), /options/],
    ["a signal that is none", () => runFlow(flow, { n: 0 }, { executor, signal: 5 as never }), /signal/],
    ["an onStep that is none", () => runFlow(flow, { n: 0 }, { executor, onStep: 5 as never }), /onStep/],
    ["an empty run id", () => runFlow(flow, { n: 0 }, { executor, runId: "" }), /runId/],
  ])("N1: %s", async (_, attempt, message) => {
    await expect((async () => attempt())()).rejects.toThrow(message);
  });
});
