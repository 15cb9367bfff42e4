// Properties proved: a deadline belongs to an attempt, aborts the body with the ToolTimeout the caller gets, is retried only
// when that is harmless, and is gone when the attempt is over. What a late body does is in late-bodies.test.ts.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, isAgentAdapterError, ToolTimeout, type ToolContext } from "../../../src/index.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { failure, gate, kindOf, pending, ScriptedPort, stand, turns, yes } from "./stand.js";
import { never, to, tool, unhandledRejections } from "./tools.js";

const unhandled = unhandledRejections();

describe("a deadline", () => {
  test("E4: aborts the body's signal with the ToolTimeout that the caller gets", async () => {
    const clock = new ManualClock();
    let signal: AbortSignal | undefined;
    const slow = tool({
      timeoutMs: 50,
      execute: (_args, ctx) => {
        ({ signal } = ctx);
        return never();
      },
    });
    const { executor, entry } = stand([slow], { clock });
    const run = failure(executor.run(slow, to, { callId: "c" }));
    await turns();
    clock.advance(49);
    await turns();
    expect(signal?.aborted).toBe(false);
    clock.advance(1);
    const error = await run;
    expect(error).toBeInstanceOf(ToolTimeout);
    expect(error).toMatchObject({ kind: "ToolTimeout", modelVisible: false, tool: "act", callId: "c" });
    expect(signal?.reason).toBe(error);
    expect(await entry()).toMatchObject({ status: "timeout", errorKind: "ToolTimeout", attempts: 1, durationMs: 50 });
    expect(clock.sleeping).toBe(0);
  });

  test("E2/limits, N1: says how long, of which tool, and nothing of the arguments", async () => {
    const slow = tool({ timeoutMs: 5, execute: never });
    const { executor } = stand([slow]);
    const error = await failure(executor.run(slow, { to: "a secret" }));
    expect(isAgentAdapterError(error) && error.message).toBe("act took longer than 5 ms");
  });

  test("E4: leaves no timer behind a call that ends in time, whichever way", async () => {
    const clock = new ManualClock();
    const ends = ["returns", "throws", "throws at once"];
    const tools = ends.map((end, index) =>
      tool({
        name: `t${index}`,
        timeoutMs: 1000,
        execute: () => {
          if (end === "throws at once") throw new Error("x");
          return end === "throws" ? Promise.reject(new Error("x")) : Promise.resolve("r");
        },
      }),
    );
    const { executor } = stand(tools, { clock });
    await Promise.allSettled(tools.map((one) => executor.run(one, to)));
    expect(clock.sleeping).toBe(0);
  });

  test("E4: counts the check of the result, too", async () => {
    const clock = new ManualClock();
    const outputSchema = z.string().refine(() => never());
    const checked = defineTool({
      name: "checked",
      description: "d",
      inputSchema: z.object({ to: z.string() }),
      outputSchema,
      timeoutMs: 10,
      execute: () => "r",
    });
    const { executor } = stand([checked], { clock });
    const kind = kindOf(executor.run(checked, to));
    await turns();
    clock.advance(10);
    expect(await kind).toBe("ToolTimeout");
  });

  test("E4: never counts the time before the body: hooks, the queue of a batch, a human", async () => {
    const clock = new ManualClock();
    const asked = gate();
    const port = new ScriptedPort(async () => {
      clock.advance(60_000);
      await asked.wait;
      return yes();
    });
    const gated = tool({ confirm: true, timeoutMs: 10 });
    const unsafe = tool({ name: "unsafe", timeoutMs: 10, execute: () => clock.advance(9) });
    const slowHook = { beforeTool: () => clock.advance(1000) };
    const { executor, entries } = stand([gated, unsafe], { clock, approval: port, hooks: [slowHook] });
    const many = executor.runMany(["act", "unsafe", "unsafe", "unsafe"].map((name) => ({ tool: name, args: to })));
    await turns();
    clock.advance(60_000);
    asked.open();
    expect((await many).map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => "fulfilled"));
    expect((await entries()).map(({ tool: name, durationMs }) => [name, durationMs])).toEqual([
      ["act", 0],
      ["unsafe", 9],
      ["unsafe", 9],
      ["unsafe", 9],
    ]);
  });

  test("E4: starts anew after a pause", async () => {
    const clock = new ManualClock();
    const gated = tool({ confirm: true, timeoutMs: 10 });
    const { executor, again } = stand([gated], { clock, approval: new ScriptedPort(pending, yes()) });
    expect(await kindOf(executor.run(gated, to, { context: again() }))).toBe("ApprovalPending");
    expect(clock.sleeping).toBe(0);
    clock.advance(10_000);
    expect(await executor.run(gated, to, { context: again() })).toBe("did ana");
  });

  test("E4, B37: the longest one that is allowed does not fire at once", async () => {
    const waits = tool({ timeoutMs: 2 ** 31 - 1, execute: () => turns() });
    const { executor, entry } = stand([waits]);
    await executor.run(waits, to);
    expect(await entry()).toMatchObject({ status: "ok" });
  });
});

describe("after a timeout", () => {
  test.each([
    ["retried when a repeat is harmless", true, 3],
    ["not retried when the first body may still be at work", false, 1],
  ])("E4, E5: a call is %s", async (_what, idempotent, attempts) => {
    const signals: AbortSignal[] = [];
    const slow = tool({
      idempotent,
      timeoutMs: 3,
      retries: { maxAttempts: 3, initialDelayMs: 0 },
      execute: (_args, ctx: ToolContext) => {
        signals.push(ctx.signal);
        return never();
      },
    });
    const { executor, entry } = stand([slow]);
    expect(await kindOf(executor.run(slow, to))).toBe("ToolTimeout");
    expect(signals.map(({ aborted }) => aborted)).toEqual(Array.from({ length: attempts }, () => true));
    expect(await entry()).toMatchObject({ status: "timeout", attempts });
  });

  test("E4: reads are harmless to repeat unless they say otherwise", async () => {
    let runs = 0;
    const slow = tool({
      effects: "read",
      timeoutMs: 3,
      retries: { maxAttempts: 2, initialDelayMs: 0 },
      execute: () => {
        runs += 1;
        return runs === 1 ? never() : "second";
      },
    });
    const { executor } = stand([slow]);
    expect(await executor.run(slow, to)).toBe("second");
  });

  test("E4: a plain call runs again when its run is run again; an approved one has spent its answer", async () => {
    let runs = 0;
    const bodies = {
      timeoutMs: 3,
      execute: () => {
        runs += 1;
        return runs <= 2 ? never() : "later";
      },
    };
    const plain = tool({ name: "plain", ...bodies });
    const gated = tool({ name: "gated", confirm: true, ...bodies });
    const { executor, again } = stand([plain, gated], { approval: new ScriptedPort(yes(), yes()) });
    expect(await kindOf(executor.run(plain, to, { context: again() }))).toBe("ToolTimeout");
    expect(await kindOf(executor.run(gated, to, { context: again() }))).toBe("ToolTimeout");
    expect(await executor.run(plain, to, { context: again() })).toBe("later");
    expect(await kindOf(executor.run(gated, to, { context: again() }))).toBe("ApprovalAlreadyDecided");
    expect(runs).toBe(3);
  });

  test("E4: whatever a body throws when it sees the abort, the timeout is what happened", async () => {
    const listens = tool({
      timeoutMs: 3,
      execute: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new TypeError("half way")));
        }),
    });
    const { executor } = stand([listens]);
    expect(await kindOf(executor.run(listens, to))).toBe("ToolTimeout");
  });
});

test("E4: none of this left a rejection unhandled", async () => {
  await turns();
  expect(unhandled).toEqual([]);
});
