// A compiled flow as LangGraph's users handle it: updates by hand, breakpoints, forks, conditional edges, duplicated rows, replays.
import { Command, MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { approve, deny, Executor, Registry } from "agent-adapter";
import { Flow } from "agent-adapter/flow";
import { compileFlow, LangGraphApproval, runCompiled } from "agent-adapter/langgraph";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);
const SECRET = "a secret of at least 32 bytes, for tests";
const T = { configurable: { thread_id: "t" } };

function wide() {
  const ran: string[] = [];
  const registry = new Registry();
  registry.tool({
    name: "pay",
    description: "P.",
    inputSchema: z.object({ k: z.string() }),
    confirm: true,
    execute: ({ k }) => {
      ran.push(`pay-${k}`);
      return 1;
    },
  });
  registry.tool({
    name: "plain",
    description: "P.",
    inputSchema: z.object({ k: z.string() }),
    execute: ({ k }) => {
      ran.push(`plain-${k}`);
      return 1;
    },
  });
  const flow = new Flow("wide", { state: z.object({ n: z.number().default(0) }) })
    .node("s", () => ({}))
    .node("a", async (_s, ctx) => void (await ctx.run("plain", { k: "a" })))
    .node("b", async (_s, ctx) => void (await ctx.run("pay", { k: "b" })))
    .node("c", async (_s, ctx) => void (await ctx.run("pay", { k: "c" })))
    .node("z", async (_s, ctx) => {
      await ctx.run("plain", { k: "z" });
      return { n: 9 };
    })
    .edge("s", "a")
    .edge("s", "b")
    .edge("s", "c")
    .edge("a", "z")
    .edge("b", "z")
    .edge("c", "z")
    .end("z");
  const executor = new Executor(registry, { secret: SECRET, approval: new LangGraphApproval() });
  return {
    ran,
    flow,
    executor,
    app: (saver: MemorySaver) => compileFlow(flow, { executor }).compile({ checkpointer: saver }),
  };
}

type Rows = Record<string, [string, string, Uint8Array]>;

describe("C3, C4: whoever can write rows beside a paused step", () => {
  test.each(["copied under the waiting task", "copied under a new task", "without its progress"])(
    "a finished sibling's rows %s run no call that was not approved, and none twice",
    async (how) => {
      const { ran, app } = wide();
      const saver = new MemorySaver();
      const graph = app(saver);
      const paused = await runCompiled(graph, {}, T);
      expect([paused.status, ran]).toEqual(["paused", ["plain-a"]]);
      for (const rows of Object.values(saver.writes) as Rows[]) {
        const own = Object.entries(rows).filter(
          ([, [, channel]]) => channel === "aa_visits" || channel.startsWith("branch:to:z"),
        );
        if (!own.some(([, [, channel]]) => channel.startsWith("branch:to:z"))) continue;
        const waiting = Object.values(rows).find(([, channel]) => channel === "__interrupt__")?.[0] ?? "nobody";
        const target = how === "copied under a new task" ? "00000000-0000-5000-8000-000000000000" : waiting;
        own.forEach(([, [, channel, value]], index) => {
          if (how === "without its progress" && channel === "aa_visits") return;
          rows[`${target},${50 + index}`] = [target, channel, value];
        });
      }
      forgetProcess();
      const again = app(saver);
      for (let tries = 0; tries < 3; tries += 1) {
        await again.invoke(null as never, T as never).catch(() => undefined);
        await runCompiled(again, null, T).catch(() => undefined);
      }
      expect(ran.filter((one) => one.startsWith("pay"))).toEqual([]);
      expect(ran.filter((one) => one === "plain-a").length).toBe(1);
    },
  );
});

describe("C3, L4: updates and forks by hand", () => {
  test("updateState as any node, with any value, runs no unapproved call", async () => {
    const { ran, app } = wide();
    const graph = app(new MemorySaver());
    await runCompiled(graph, {}, T);
    for (const node of ["a", "b", "c", "s", "z"]) {
      for (const values of [undefined, null, {}, { n: 5 }, { aa_visits: "x" }])
        await graph.updateState(T as never, values as never, node as never).catch(() => undefined);
      await graph.invoke(null as never, T as never).catch(() => undefined);
    }
    await graph
      .invoke(new Command({ goto: "z" as never, update: { n: 3 } as never }) as never, T as never)
      .catch(() => undefined);
    await graph.invoke(new Command({ resume: { approved: true } }) as never, T as never).catch(() => undefined);
    expect(ran.filter((one) => one.startsWith("pay"))).toEqual([]);
  });

  test("a fork asks anew, and the old answers do not fit it", async () => {
    const { ran, app } = wide();
    const saver = new MemorySaver();
    const graph = app(saver);
    const paused = await runCompiled(graph, {}, T);
    if (paused.status !== "paused") throw new Error("not paused");
    const binding = paused.pendings.map((one) => one.binding);
    const answers = Object.fromEntries(binding.map((one) => [one, approve()]));
    const done = await runCompiled(graph, answers as never, T);
    expect([done.status, ran.toSorted().join()]).toEqual(["done", "pay-b,pay-c,plain-a,plain-z"]);
    for await (const past of graph.getStateHistory(T as never)) {
      await graph.invoke(null as never, past.config as never).catch(() => undefined);
    }
    expect(ran.filter((one) => one.startsWith("pay")).toSorted()).toEqual(["pay-b", "pay-c"]);
  });

  test("T2, F3: a denial beside an approval, both orders: the approved call runs once", async () => {
    for (const first of [0, 1]) {
      const { ran, app } = wide();
      const graph = app(new MemorySaver());
      const paused = await runCompiled(graph, {}, T);
      if (paused.status !== "paused") throw new Error("not paused");
      const names = paused.pendings.map((one) => one.binding);
      const result = await runCompiled(
        graph,
        { [names[first] ?? ""]: approve(), [names[1 - first] ?? ""]: deny() } as never,
        T,
      );
      expect(result.status).toBe("denied");
      for (let tries = 0; tries < 3; tries += 1) await graph.invoke(null as never, T as never).catch(() => undefined);
      expect(ran.filter((one) => one.startsWith("pay")).length).toBe(1);
      forgetProcess();
    }
  });
});

describe("C2: ways that a user adds to a compiled flow, with LangGraph's own means", () => {
  const small = () => {
    const seen: string[] = [];
    const flow = new Flow("small", { state: z.object({ n: z.number().default(0) }) })
      .node("a", () => ({ n: 1 }))
      .end("a");
    const graph = compileFlow(flow, { executor: new Executor(new Registry(), { secret: SECRET }) });
    graph.addNode(
      "audit" as never,
      (() => {
        seen.push("audit");
        return {};
      }) as never,
    );
    return { seen, graph };
  };

  test("a conditional edge from a node of the flow is taken", async () => {
    const { seen, graph } = small();
    graph.addConditionalEdges("a" as never, (() => "audit") as never, ["audit"] as never);
    await graph.compile({ checkpointer: new MemorySaver() }).invoke({} as never, T as never);
    expect(seen).toEqual(["audit"]);
  });

  test("a plain edge from a node of the flow is taken", async () => {
    const { seen, graph } = small();
    graph.addEdge("a" as never, "audit" as never);
    await graph.compile({ checkpointer: new MemorySaver() }).invoke({} as never, T as never);
    expect(seen).toEqual(["audit"]);
  });
});
