// A flow that is aborted at any point goes on where it was: no body of it runs twice, and none is left out.
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, Executor, Registry } from "agent-adapter";
import { checkpointOf, Flow, resumeFlow, runFlow } from "agent-adapter/flow";
import { compileFlow, LangGraphApproval, runCompiled } from "agent-adapter/langgraph";
import { forgetProcess } from "../../support/process.js";
import { ended, quiet, turns, walk } from "./turns.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";
const T = { configurable: { thread_id: "t" } };

describe("F3, F7, C4: a flow aborted after n turns goes on where it was", () => {
  const make = () => {
    const ran: string[] = [];
    const registry = new Registry();
    const body = (name: string) => async () => {
      ran.push(name);
      await turns(3);
      return 1;
    };
    registry.tool({
      name: "plain",
      description: "P.",
      inputSchema: z.object({ k: z.string() }),
      execute: ({ k }) => body(`plain-${k}`)(),
    });
    registry.tool({ name: "pay", description: "P.", inputSchema: z.object({}), confirm: true, execute: body("pay") });
    const flow = new Flow("f", { state: z.object({ n: z.number().default(0) }) })
      .node("a", async (_s, ctx) => {
        await ctx.run("plain", { k: "a" });
        return {};
      })
      .node("b", async (_s, ctx) => {
        await ctx.run("plain", { k: "b" });
        await ctx.run("pay", {});
        await ctx.run("plain", { k: "c" });
        return { n: 1 };
      })
      .node(
        "c",
        async (_s, ctx) => {
          await ctx.run("plain", { k: "d" });
          return {};
        },
        { pause: (state) => ({ n: state.n }) },
      )
      .edge("a", "b")
      .edge("b", "c")
      .end("c");
    return { ran, flow, executor: new Executor(registry, { secret: SECRET, approval: new LangGraphApproval() }) };
  };
  const want = "pay,plain-a,plain-b,plain-c,plain-d";

  /** Runs that flow, as its caller: with a signal at most once, and again after each error. */
  interface Caller {
    readonly begin: (signal: AbortSignal | undefined) => Promise<unknown>;
    readonly answer: (signal: AbortSignal | undefined) => Promise<unknown>;
    readonly again: () => Promise<unknown>;
  }

  /** Aborts the run of that phase after so many turns; gives the last status, or the error that stayed. */
  async function play({ begin, answer, again }: Caller, phase: number, turn: number): Promise<string> {
    let status = "";
    for (let part = 0; part < 5 && status !== "done"; part += 1) {
      const stop = new AbortController();
      const signal = part === phase ? stop.signal : undefined;
      const running = ended(part === 0 ? begin(signal) : answer(signal));
      await turns(turn);
      stop.abort(new Error("stop"));
      let result = await running;
      for (let tries = 0; tries < 4 && result instanceof Error; tries += 1) {
        await quiet();
        result = await ended(again());
      }
      if (result instanceof Error) return String(result);
      // What ran without an error is a result.
      ({ status } = result as { status: string });
    }
    return status;
  }

  function local(flow: ReturnType<typeof make>["flow"], executor: Executor): Caller {
    let checkpoint: string | undefined;
    const keep = async (running: ReturnType<typeof runFlow>) => {
      try {
        const result = await running;
        if (result.status === "paused") checkpoint = result.checkpoint;
        return result;
      } catch (error) {
        checkpoint = checkpointOf(error) ?? checkpoint;
        throw error;
      }
    };
    const begin = (signal?: AbortSignal) =>
      keep(runFlow(flow, {}, { executor, runId: "r", ...(signal === undefined ? {} : { signal }) }));
    return {
      begin,
      answer: (signal) =>
        keep(resumeFlow(flow, checkpoint ?? "", approve(), { executor, ...(signal === undefined ? {} : { signal }) })),
      again: () => (checkpoint === undefined ? begin() : keep(resumeFlow(flow, checkpoint, null, { executor }))),
    };
  }

  function compiled(flow: ReturnType<typeof make>["flow"], executor: Executor): Caller {
    const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
    const run = (input: unknown, signal?: AbortSignal) =>
      runCompiled(app, input as never, (signal === undefined ? T : { ...T, signal }) as never);
    return {
      begin: (signal) => run({}, signal),
      answer: (signal) => run(approve(), signal),
      again: async () => {
        const { config } = await app.getState(T);
        return run(config.configurable?.["checkpoint_id"] === undefined ? {} : null);
      },
    };
  }

  it.each([
    { where: "local", caller: local, last: 150, step: 11 },
    { where: "compiled", caller: compiled, last: 400, step: 41 },
  ])("in each of its three runs, $where", async ({ caller, last, step }) => {
    const bad = await walk(last, step, async (turn) => {
      const wrong: string[] = [];
      for (const phase of [0, 1, 2]) {
        const { ran, flow, executor } = make();
        const end = await play(caller(flow, executor), phase, turn);
        if (`${end} ${ran.toSorted().join()}` !== `done ${want}`) wrong.push(`run ${phase}: ${end} ${ran.join()}`);
        forgetProcess();
      }
      return wrong;
    });
    expect(bad).toEqual([]);
  });
});
