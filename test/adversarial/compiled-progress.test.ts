// What somebody who can write to the graph makes of its sealed progress: additions of another run of the same thread, nodes that
// nothing led to, steps with a node taken out. And what a caller may see of it.
import { Command, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { approve, deny, Executor, Registry } from "../../src/index.js";
import { Flow } from "../../src/flow/index.js";
import { compileFlow, LangGraphApproval, runCompiled } from "../../src/integrations/langgraph/index.js";
import { ProgressSeals } from "../../src/integrations/langgraph/compile-flow/progress.js";
import { definitionOf, KeyRing, planOf } from "../../src/spi.js";
import { forgetProcess } from "../support/process.js";

const SECRET = "a secret of at least 32 bytes, for tests";
const CANARY = "TOPSECRET-RESULT";
const T = { configurable: { thread_id: "t" } };

function licences() {
  const ran: string[] = [];
  const registry = new Registry();
  const issue = registry.tool({
    name: "issue",
    description: "issues a licence",
    inputSchema: z.object({ plan: z.string() }),
    confirm: true,
    oncePerRun: true,
    execute: ({ plan }) => {
      ran.push(plan);
      return { key: `${CANARY}-${ran.length}` };
    },
  });
  const flow = new Flow("licence", { state: z.object({ got: z.string().default("") }) })
    .node("one", () => ({}))
    .node("two", async (_, ctx) => void (await ctx.run(issue, { plan: "pro" }, { callId: "issue" })))
    .node("three", async (_, ctx) => ({
      got: (await ctx.run(issue, { plan: "pro" }, { callId: "again" })).key.length > 0 ? "yes" : "",
    }))
    .edge("one", "two")
    .edge("two", "three")
    .end("three");
  const app = (saver: MemorySaver) => {
    const executor = new Executor(registry, { secret: SECRET, approval: new LangGraphApproval() });
    return compileFlow(flow, { executor }).compile({ checkpointer: saver });
  };
  return { ran, app };
}

/** Every sealed text that was ever written under the reserved key. */
function additionsIn(saver: MemorySaver): string[] {
  const decoder = new TextDecoder();
  return Object.values(saver.writes).flatMap((rows) =>
    Object.values(rows).flatMap(([, channel, value]) =>
      channel === "aa_visits" ? [String(JSON.parse(decoder.decode(value)))] : [],
    ),
  );
}

describe("J3/compiled, C3: the sealed progress of a compiled flow", () => {
  test("what was added to one run of a thread is nothing to another one, however alike", async () => {
    const { ran, app } = licences();
    const saver = new MemorySaver();
    const first = app(saver);
    await runCompiled(first, {}, T);
    expect((await runCompiled(first, approve(), T)).status).toBe("done");
    const seen = additionsIn(saver);
    await saver.deleteThread("t");
    forgetProcess();
    const again = app(saver);
    const asked = await runCompiled(again, {}, T);
    expect([asked.status, asked.steps]).toEqual(["paused", 1]);
    for (const addition of seen)
      await again.invoke(new Command({ update: { aa_visits: addition } as never }), T).catch(() => undefined);
    const now = await runCompiled(again, null, T);
    expect([now.status, now.steps, ...ran]).toEqual(["paused", 1, "pro"]);
  });

  test("shows nothing of what is in it: no stream, no output key, no snapshot", async () => {
    const { app } = licences();
    const saver = new MemorySaver();
    const graph = app(saver);
    await runCompiled(graph, {}, T);
    await runCompiled(graph, approve(), T);
    const shown: unknown[] = [
      await graph.invoke(null, { ...T, outputKeys: ["aa_visits"] } as never).catch(String),
      (await graph.getState(T)).values,
      JSON.stringify(saver.storage),
    ];
    for (const streamMode of ["values", "updates", "tasks", "debug"] as const) {
      const config = { configurable: { thread_id: `s-${streamMode}` }, streamMode };
      for await (const chunk of await graph.stream({}, config)) shown.push(chunk);
    }
    expect(JSON.stringify(shown)).not.toContain(CANARY);
  });
});

test("J3/compiled, C3: a sealed addition does not open as the progress, nor a progress as an addition", async () => {
  const executor = new Executor(new Registry(), { secret: SECRET });
  const flow = new Flow("kinds", { state: z.object({ n: z.number().default(0) }) }).node("a", () => ({})).end("a");
  const saver = new MemorySaver();
  await runCompiled(compileFlow(flow, { executor }).compile({ checkpointer: saver }), {}, T);
  const [addition] = additionsIn(saver);
  const progress = (await saver.getTuple(T))?.checkpoint.channel_values["aa_visits"];
  // Another executor: what the first one sealed is not remembered with what is in it.
  const seals = new ProgressSeals(KeyRing.of(SECRET, "secret"), planOf(definitionOf(flow)));
  expect([typeof addition, typeof progress]).toEqual(["string", "string"]);
  expect([seals.openAddition(addition)?.after, seals.openProgress(progress).steps]).toEqual([null, 1]);
  expect(seals.openAddition(progress)).toBeUndefined();
  expect(() => seals.openProgress(addition)).toThrow(expect.objectContaining({ kind: "FlowError" }));
});

function pair() {
  const ran: string[] = [];
  const executor = new Executor(new Registry(), { secret: SECRET, approval: new LangGraphApproval() });
  const flow = new Flow("pair", { state: z.object({ eur: z.number() }) })
    .node("start", () => ({}))
    .node("a_pay", ({ eur }) => void ran.push(`paid ${eur}`))
    .node("b_check", () => void ran.push("checked"), { pause: ({ eur }) => ({ eur }) })
    .edge("start", "a_pay")
    .edge("start", "b_check")
    .end("a_pay")
    .end("b_check");
  return { ran, app: compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() }) };
}

describe("C3: the step behind a gate that was denied", () => {
  test.each([
    ["start", "a_pay"],
    ["b_check", "a_pay"],
    ["start", "b_check"],
  ])("nothing of it runs after updateState as %s and goto %s", async (asNode, goto) => {
    const { ran, app } = pair();
    await runCompiled(app, { eur: 5 }, T);
    expect((await runCompiled(app, deny(), T)).status).toBe("denied");
    await app.updateState(T, { eur: 9999 }, asNode).catch(() => undefined);
    for (const input of [new Command({ goto }), new Command({ goto, update: { eur: 777 } }), null])
      await app.invoke(input as never, T).catch(() => undefined);
    expect(ran).toEqual([]);
  });
});

test("C6: a breakpoint of the caller is not stepped over", async () => {
  const executor = new Executor(new Registry(), { secret: SECRET });
  const ran: string[] = [];
  const flow = new Flow("stops", { state: z.object({ n: z.number() }) })
    .node("x", () => void ran.push("x"))
    .node("y", () => void ran.push("y"))
    .edge("x", "y")
    .end("y");
  const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver(), interruptBefore: ["y"] });
  await expect(runCompiled(app, { n: 1 }, T)).rejects.toMatchObject({ kind: "ToolUsageError" });
  expect(ran).toEqual(["x"]);
  await app.invoke(null, T);
  expect(ran).toEqual(["x", "y"]);
});
