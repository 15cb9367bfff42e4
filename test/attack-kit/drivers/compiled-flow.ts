// A flow, compiled to a graph: two nodes of one step that call tools.
import { z } from "zod";
import { isAgentAdapterError } from "agent-adapter";
import { Flow, Merge, type FlowContext } from "agent-adapter/flow";
import { compileFlow, runCompiled, type GraphApp } from "agent-adapter/langgraph";
import type { MakeAttackDriver } from "agent-adapter/testing";
import { apart, graphDriver } from "./graph-session.js";

const Call = z.object({
  id: z.string(),
  tool: z.string(),
  args: z.object({ to: z.string(), amount: z.number(), ref: z.string() }),
});
const state = z.object({ calls: z.array(Call), done: z.array(z.string()).default([]) });
type Calls = readonly z.infer<typeof Call>[];

async function work(calls: Calls, ctx: FlowContext): Promise<string[]> {
  const done: string[] = [];
  for (const { id, tool, args } of calls) {
    try {
      done.push(String(await ctx.run(tool, args, { callId: id })));
    } catch (error) {
      if (!isAgentAdapterError(error) || !error.modelVisible) throw error;
      done.push(error.kind);
    }
  }
  return done;
}

export const attackDriver: MakeAttackDriver = (settings) =>
  graphDriver({ what: "compileFlow", settings }, (parts) => {
    const flow = new Flow("kit", { state, merge: { done: Merge.append } })
      .node("begin", () => ({}))
      .node("left", async ({ calls }, ctx) => ({ done: await work(apart(calls)[0] ?? [], ctx) }))
      .node("right", async ({ calls }, ctx) => ({ done: await work(apart(calls).slice(1).flat(), ctx) }))
      .edge("begin", "left")
      .edge("begin", "right")
      .end("left")
      .end("right");
    const app = compileFlow(flow, { executor: parts.executor }).compile({ checkpointer: parts.saver });
    return {
      // What the session uses of it every app has.
      app: app as unknown as GraphApp<unknown>,
      start: (calls, config) => runCompiled(app, { calls } as never, config),
      send: (command, config) => runCompiled(app, command, config),
    };
  });
