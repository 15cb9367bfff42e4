// Two resumes with one answer at once; one of them is aborted after n turns. One answer, one run, whoever is left.
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, Executor, Registry } from "agent-adapter";
import { Flow, resumeFlow, runFlow } from "agent-adapter/flow";
import { compileFlow, LangGraphApproval, runCompiled } from "agent-adapter/langgraph";
import { forgetProcess } from "../../support/process.js";
import { ended, turns, walk } from "./turns.js";

afterEach(forgetProcess);
const SECRET = "a secret of at least 32 bytes, for tests";

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
      await turns(3);
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

const T = { configurable: { thread_id: "t" } };

/** Twice what one answer and one gate allow. */
function tooOften(ran: readonly string[]): string[] {
  const times = (name: string) => ran.filter((one) => one === name).length;
  const bad: string[] = [];
  if (times("pay") > 1) bad.push(`paid ${times("pay")} times under one answer`);
  if (times("plain") !== 1) bad.push(`plain ran ${times("plain")} times`);
  if (times("g") > 1) bad.push("behind the gate twice");
  return bad;
}

describe.each([false, true])(
  "A5, A6, F5: two resumes with one answer, one of them aborted; the body listens: %s",
  (listens) => {
    it("local: one of them uses it", async () => {
      const bad = await walk(120, 5, async (turn) => {
        const { ran, flow, executor } = make(listens);
        const paused = await runFlow(flow, {}, { executor, runId: "r" });
        if (paused.status !== "paused") throw new Error("not paused");
        const stop = new AbortController();
        const both = Promise.allSettled([
          resumeFlow(flow, paused.checkpoint, approve(), { executor, signal: stop.signal }),
          resumeFlow(flow, paused.checkpoint, approve(), { executor }),
        ]);
        await turns(turn);
        stop.abort(new Error("stop"));
        // Whoever paused at the gate passes it once.
        for (const end of await both)
          if (end.status === "fulfilled" && end.value.status === "paused")
            await ended(resumeFlow(flow, end.value.checkpoint, approve(), { executor }));
        forgetProcess();
        return tooOften(ran);
      });
      expect(bad).toEqual([]);
    });

    it("compiled: one of them uses it, and the thread goes on", async () => {
      const bad = await walk(400, 29, async (turn) => {
        const { ran, flow, executor } = make(listens);
        const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
        await runCompiled(app, {}, T);
        const stop = new AbortController();
        const both = Promise.allSettled([
          runCompiled(app, approve(), { ...T, signal: stop.signal } as never),
          runCompiled(app, approve(), T),
        ]);
        await turns(turn);
        stop.abort(new Error("stop"));
        await both;
        const early = ran.filter((one) => one === "pay").length > 1 ? ["paid twice under one answer"] : [];
        const status = async () => Reflect.get(Object(await ended(runCompiled(app, null, T))), "status") as unknown;
        for (let tries = 0; tries < 4 && (await status()) !== "done"; tries += 1)
          await ended(runCompiled(app, approve(), T));
        const end = await status();
        forgetProcess();
        return [...early, ...tooOften(ran), ...(end === "done" ? [] : [`does not go on: ${String(end)}`])];
      });
      expect(bad).toEqual([]);
    });
  },
);
