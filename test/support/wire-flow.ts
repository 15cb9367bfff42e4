// The flow of the checkpoints of wire format 1, and where a run of it stands at each of them.
import { z } from "zod";
import { Executor, Registry, type ClaimStore, type Secrets } from "agent-adapter";
import { Flow, map, Merge, join } from "agent-adapter/flow";
import { ManualClock } from "agent-adapter/testing";
import { asking, counted } from "./langgraph.js";

export const AT_MS = 1_790_000_000_000;

/** Never change it: its fingerprint is in the fixtures. */
export function wireFlow(ran: string[], fails: () => boolean = () => false) {
  return new Flow("wire-1", {
    state: {
      items: z.array(z.object({ n: z.number() })),
      rates: z.array(z.string()).default([]),
      receipt: z.string().default(""),
      rounds: z.number().default(0),
    },
    merge: { rates: Merge.append },
  })
    .node("rates", map("items", { tool: "rate", into: "rates" }))
    .node("notify", async (_state, ctx) => ({ rates: String(await ctx.run("log", { n: 1 }, { callId: "log" })) }))
    .node("send", async (_state, ctx) => {
      await ctx.run("rate", { n: 9 }, { callId: "rate" });
      return { receipt: String(await ctx.run("send", { n: 1 }, { callId: "send" })) };
    })
    .node("all", join())
    .node(
      "place",
      ({ receipt, rounds }) => {
        if (fails()) throw new TypeError("no route");
        ran.push(`place ${receipt}`);
        return { rounds: rounds + 1 };
      },
      { pause: ({ receipt, rounds }) => ({ receipt, rounds }) },
    )
    .node("over", () => ({}))
    .edge("rates", "notify")
    .edge("rates", "send")
    .edge("notify", "all")
    .edge("send", "all")
    .edge("all", "place")
    .route("place", ({ rounds }) => (rounds < 2 ? "place" : "over"), ["place", "over"], { maxLoops: { place: 3 } })
    .end("over");
}

export function wireExecutor(ran: string[], { secret, claims }: { secret: Secrets; claims?: ClaimStore }): Executor {
  const tools = [
    counted(ran, "rate", { effects: "read" }),
    counted(ran, "log", { oncePerRun: true }),
    asking(ran, "send"),
  ];
  const clock = new ManualClock(AT_MS);
  return new Executor(new Registry(tools), { secret, clock, ...(claims === undefined ? {} : { claims }) });
}
