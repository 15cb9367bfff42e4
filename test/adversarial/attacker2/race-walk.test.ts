// Two resumes with one answer at once; one of them is aborted after n turns. One answer, one run, whoever is left.
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, Executor, Registry } from "agent-adapter";
import { Flow, resumeFlow, runFlow } from "agent-adapter/flow";
import { compileFlow, LangGraphApproval, runCompiled } from "agent-adapter/langgraph";
import { forgetProcess } from "../../support/process.js";

afterEach(forgetProcess);
const SECRET = "a secret of at least 32 bytes, for tests";
async function microtasks(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await Promise.resolve();
}

function make(listens: boolean) {
  const ran: string[] = [];
  const registry = new Registry();
  registry.tool({
    name: "pay",
    description: "P.",
    inputSchema: z.object({}),
    confirm: true,
    execute: async (_a, ctx) => {
      ran.push("pay");
      for (let n = 0; n < 5; n += 1) {
        await Promise.resolve();
        if (listens) ctx.signal.throwIfAborted();
      }
      return 1;
    },
  });
  registry.tool({
    name: "plain",
    description: "P.",
    inputSchema: z.object({}),
    execute: async () => {
      ran.push("plain");
      await microtasks(3);
      return 1;
    },
  });
  const flow = new Flow("f", { state: z.object({ n: z.number().default(0) }) })
    .node("a", async (_s, ctx) => {
      await ctx.run("plain", {});
      await ctx.run("pay", {});
      return { n: 1 };
    })
    .node(
      "g",
      () => {
        ran.push("g");
        return {};
      },
      { pause: () => ({ say: "g" }) },
    )
    .edge("a", "g")
    .end("g");
  return { ran, flow, executor: new Executor(registry, { secret: SECRET, approval: new LangGraphApproval() }) };
}

describe.each([false, true])("A5, A6, F5: the body listens: %s", (listens) => {
  it("local", async () => {
    const bad: string[] = [];
    for (let turn = 0; turn <= 120; turn += 1) {
      const { ran, flow, executor } = make(listens);
      const paused = await runFlow(flow, {}, { executor, runId: "r" });
      if (paused.status !== "paused") throw new Error("not paused");
      const stop = new AbortController();
      const both = Promise.allSettled([
        resumeFlow(flow, paused.checkpoint, approve(), { executor, signal: stop.signal }),
        resumeFlow(flow, paused.checkpoint, approve(), { executor }),
      ]);
      await microtasks(turn);
      stop.abort(new Error("stop"));
      const ends = await both;
      const pays = ran.filter((one) => one === "pay").length;
      if (pays > 1) bad.push(`${turn}: paid ${pays} times under one answer`);
      if (ran.filter((one) => one === "plain").length !== 1) bad.push(`${turn}: ${ran.join()}`);
      // Whoever paused at the gate passes it once.
      for (const end of ends)
        if (end.status === "fulfilled" && end.value.status === "paused")
          await resumeFlow(flow, end.value.checkpoint, approve(), { executor }).catch(() => undefined);
      if (ran.filter((one) => one === "g").length > 1) bad.push(`${turn}: behind the gate twice`);
      forgetProcess();
    }
    expect(bad).toEqual([]);
  });

  it("compiled", async () => {
    const bad: string[] = [];
    for (let turn = 0; turn <= 400; turn += 5) {
      const { ran, flow, executor } = make(listens);
      const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
      const T = { configurable: { thread_id: "t" } };
      const paused = await runCompiled(app, {}, T);
      if (paused.status !== "paused") throw new Error("not paused");
      const stop = new AbortController();
      const both = Promise.allSettled([
        runCompiled(app, approve(), { ...T, signal: stop.signal } as never),
        runCompiled(app, approve(), T),
      ]);
      await microtasks(turn);
      stop.abort(new Error("stop"));
      const ends = await both;
      const pays = ran.filter((one) => one === "pay").length;
      // The second may have been told of another question, and its decision have answered that.
      if (pays > 1)
        bad.push(
          `${turn}: paid ${pays} times: ${ends.map((end) => (end.status === "fulfilled" ? end.value.status : String(end.reason))).join(" | ")}`,
        );
      if (ran.filter((one) => one === "plain").length !== 1) bad.push(`${turn}: ${ran.join()}`);
      for (let tries = 0; tries < 4; tries += 1) {
        const result = await runCompiled(app, null, T).catch((error: unknown) => error);
        if ((result as { status?: string }).status === "done") break;
        await runCompiled(app, approve(), T).catch(() => undefined);
      }
      const end = await runCompiled(app, null, T).catch((error: unknown) => error);
      if ((end as { status?: string }).status !== "done") bad.push(`${turn}: does not go on: ${String(end)}`);
      if (ran.filter((one) => one === "g").length > 1) bad.push(`${turn}: behind the gate twice`);
      forgetProcess();
    }
    expect(bad).toEqual([]);
  });
});
