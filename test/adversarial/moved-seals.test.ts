// Sealed texts that a process remembers: moved to another thread, tenant or namespace they open nothing, remembered or not.
import { END, MemorySaver, START, StateGraph, Annotation } from "@langchain/langgraph";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { approve, Executor, Registry } from "agent-adapter";
import { Flow } from "agent-adapter/flow";
import { compileFlow, LangGraphApproval, resume, runCompiled } from "agent-adapter/langgraph";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

const SECRET = "a secret of at least 32 bytes, for tests";
const OTHER = "another secret of 32 bytes, for tests!!";
/** A seal does not open, or opens to a progress of somewhere else. */
const REFUSED = /progress|seal|checkpoint/i;
const at = (thread: string) => ({ configurable: { thread_id: thread } });

function shop(secret: string) {
  const ran: string[] = [];
  const registry = new Registry();
  registry.tool({
    name: "pay",
    description: "Pays.",
    inputSchema: z.object({}),
    confirm: true,
    execute: () => ran.push("pay"),
  });
  const flow = new Flow("f", { state: z.object({ n: z.number().default(0) }) })
    .node("a", () => ({ n: 1 }))
    .node("b", async (_s, ctx) => void (await ctx.run("pay", {}, { callId: "p" })))
    .node("c", () => {
      ran.push("c");
      return { n: 3 };
    })
    .edge("a", "b")
    .edge("b", "c")
    .end("c");
  const executor = new Executor(registry, { secret, approval: new LangGraphApproval() });
  return {
    flow,
    executor,
    ran,
    compile: (saver: MemorySaver) => compileFlow(flow, { executor }).compile({ checkpointer: saver }),
  };
}

interface Kept {
  channel_values: Record<string, unknown>;
}

/** Whoever can write to the checkpointer changes the newest checkpoint of a thread. */
async function change(
  saver: MemorySaver,
  thread: string,
  edit: (values: Record<string, unknown>) => void,
): Promise<void> {
  const tuple = await saver.getTuple(at(thread));
  if (tuple === undefined) throw new Error("no checkpoint");
  const { checkpoint_id } = tuple.config.configurable as { checkpoint_id: string };
  const row = saver.storage[thread]?.[""]?.[checkpoint_id];
  if (row === undefined) throw new Error("no row");
  const kept = JSON.parse(new TextDecoder().decode(row[0])) as Kept;
  edit(kept.channel_values);
  row[0] = new TextEncoder().encode(JSON.stringify(kept));
}

async function progressOf(saver: MemorySaver, thread: string): Promise<unknown> {
  const tuple = await saver.getTuple(at(thread));
  return tuple?.checkpoint.channel_values["aa_visits"];
}

describe("J3, C3: a sealed progress that this process remembers", () => {
  test("of another thread runs nothing", async () => {
    const saver = new MemorySaver();
    const { ran, compile } = shop(SECRET);
    const app = compile(saver);
    await runCompiled(app, {}, at("one"));
    expect((await runCompiled(app, approve(), at("one"))).status).toBe("done");
    ran.length = 0;
    expect((await runCompiled(app, {}, at("two"))).status).toBe("paused");
    const moved = await progressOf(saver, "one");
    expect(typeof moved).toBe("string");
    await change(saver, "two", (values) => (values["aa_visits"] = moved));
    await expect(app.invoke(null as never, at("two") as never)).rejects.toThrow(REFUSED);
    await expect(runCompiled(app, approve(), at("two"))).rejects.toThrow(REFUSED);
    expect(ran).toEqual([]);
  });

  test("of another tenant with the same flow, thread and saver runs nothing", async () => {
    const saver = new MemorySaver();
    const [mine, theirs] = [shop(SECRET), shop(OTHER)];
    await runCompiled(mine.compile(saver), {}, at("t"));
    const app = theirs.compile(saver);
    await expect(runCompiled(app, approve(), at("t"))).rejects.toThrow(REFUSED);
    await expect(app.invoke(null as never, at("t") as never)).rejects.toThrow(REFUSED);
    expect([mine.ran, theirs.ran]).toEqual([[], []]);
  });

  test("an addition of another thread, or of this thread's earlier step, adds nothing", async () => {
    const saver = new MemorySaver();
    const { ran, compile } = shop(SECRET);
    const app = compile(saver);
    await runCompiled(app, {}, at("one"));
    await runCompiled(app, approve(), at("one"));
    const decoder = new TextDecoder();
    const additions = Object.values(saver.writes).flatMap((rows) =>
      Object.values(rows).flatMap(([, channel, value]) =>
        channel === "aa_visits" ? [String(JSON.parse(decoder.decode(value)))] : [],
      ),
    );
    expect(additions.length).toBeGreaterThan(2);
    await runCompiled(app, {}, at("two"));
    ran.length = 0;
    for (const addition of additions) {
      for (const node of ["a", "b", "c"])
        await app
          .updateState(at("two") as never, { aa_visits: addition } as never, node as never)
          .catch(() => undefined);
    }
    await app.invoke(null as never, at("two") as never).catch(() => undefined);
    expect(ran).toEqual([]);
  });
});

describe("C5: a compiled flow twice in one parent", () => {
  test("the texts of one are not the other's, and both pay once", async () => {
    const saver = new MemorySaver();
    const { ran, flow, executor } = shop(SECRET);
    const sub = compileFlow(flow, { executor }).compile();
    const State = Annotation.Root({ n: Annotation<number>({ reducer: (_a, b) => b, default: () => 0 }) });
    const app = new StateGraph(State)
      .addNode("left", sub as never)
      .addNode("right", sub as never)
      .addEdge(START, "left" as never)
      .addEdge(START, "right" as never)
      .addEdge("left" as never, END)
      .addEdge("right" as never, END)
      .compile({ checkpointer: saver });
    await app.invoke({} as never, at("t"));
    const state = await app.getState(at("t"), { subgraphs: true });
    const interrupts = state.tasks.flatMap((task) => task.interrupts);
    expect(interrupts.length).toBe(2);
    const answers = Object.fromEntries(interrupts.map(({ id }) => [String(id), approve()]));
    await resume(app as never, answers as never, at("t"), { executor });
    expect(ran.toSorted()).toEqual(["c", "c", "pay", "pay"]);
  });
});
