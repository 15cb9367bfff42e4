// Code that does not wait for its calls: what it starts after its visit was left is in nothing that was kept, and would run again
// at the next attempt. It does not start.
import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, Executor, Registry } from "agent-adapter";
import { checkpointOf, Flow, resumeFlow, runFlow, type FlowContext } from "agent-adapter/flow";
import { compileFlow, LangGraphApproval, oneUse, resume, runCompiled } from "agent-adapter/langgraph";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

/** Opened from outside: the order of things does not hang on the clock. */
function latch() {
  const events = new EventTarget();
  const opened = new Promise<void>((resolve) => {
    events.addEventListener("open", () => resolve(), { once: true });
  });
  return { opened, open: () => void events.dispatchEvent(new Event("open")) };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A tool that pays, one that asks, and one whose body waits for a latch and pays then. */
function desk() {
  const paid: string[] = [];
  const inside = latch();
  const build = () => {
    const registry = new Registry();
    const inputSchema = z.object({});
    const pay = () => paid.push("paid");
    registry.tool({ name: "pay", description: "Pays.", inputSchema, execute: pay });
    registry.tool({ name: "ask", description: "Asks.", inputSchema, confirm: true, execute: () => 1 });
    const execute = async () => {
      await inside.opened;
      return executor.run("pay", {});
    };
    registry.tool({ name: "slow", description: "Pays later.", inputSchema, execute });
    const executor = new Executor(registry, {
      secret: "the secret of a desk, 32 bytes ok",
      approval: new LangGraphApproval(),
    });
    return executor;
  };
  return { build, paid, inside };
}

/** The calls of the attempt that is left, and of the next one: the first waits until it is told that the visit is over. */
function askAndPay(late: readonly ReturnType<typeof latch>[], errors: unknown[]) {
  let attempt = 0;
  return async (run: (tool: string, args: object) => Promise<unknown>): Promise<void> => {
    const gate = late[attempt++];
    const payLater = async () => {
      await gate?.opened;
      await run("pay", {});
    };
    const later = payLater();
    later.catch((error: unknown) => errors.push(error));
    await Promise.all([run("ask", {}), later]);
  };
}

const over = { kind: "ToolUsageError", message: "this visit is over: wait for your calls" };
const r = z.number().default(0);
const flowOf = (work: (run: FlowContext["run"]) => Promise<unknown>) =>
  new Flow("f", { state: z.object({ r }) })
    .node("n", async (_state, ctx) => {
      await work(ctx.run);
      return { r: 1 };
    })
    .end("n");

describe("a call that starts after the pause of its visit", () => {
  it("F7, J2: of a local flow is refused before it runs; the next attempt makes it, once", async () => {
    const { build, paid } = desk();
    const [gate, errors] = [latch(), [] as unknown[]];
    const flow = flowOf(askAndPay([gate], errors));
    const paused = await runFlow(flow, {}, { executor: build() });
    gate.open();
    await settled();
    expect(errors).toMatchObject([over]);
    expect(paid).toEqual([]);
    forgetProcess();
    if (paused.status !== "paused") throw new Error("it did not pause");
    expect(await resumeFlow(flow, paused.checkpoint, approve(), { executor: build() })).toMatchObject({
      status: "done",
    });
    expect(paid).toEqual(["paid"]);
  });

  it("F7, J4/tasks: of a compiled flow is refused before it runs; the next attempt makes it, once", async () => {
    const { build, paid } = desk();
    const [gate, errors, checkpointer] = [latch(), [] as unknown[], new MemorySaver()];
    const flow = flowOf(askAndPay([gate], errors));
    const app = () => compileFlow(flow, { executor: build() }).compile({ checkpointer });
    const thread = { configurable: { thread_id: "t" } };
    expect(await runCompiled(app(), {}, thread)).toMatchObject({ status: "paused" });
    gate.open();
    await settled();
    expect(errors).toMatchObject([over]);
    expect(paid).toEqual([]);
    forgetProcess();
    expect(await runCompiled(app(), approve(), thread)).toMatchObject({ status: "done" });
    expect(paid).toEqual(["paid"]);
  });

  it("R4, J4/tasks: of a node of one's own is refused before it runs; the next attempt makes it, once", async () => {
    const { build, paid } = desk();
    const [gate, errors, checkpointer] = [latch(), [] as unknown[], new MemorySaver()];
    const work = askAndPay([gate], errors);
    const app = () => {
      const executor = build();
      const node = oneUse(
        async () => {
          await work((tool, args) => executor.run(tool, args, { callId: tool }));
          return { r: 1 };
        },
        { executor },
      );
      const graph = new StateGraph(Annotation.Root({ r: Annotation<number> })).addNode("n", node);
      return graph.addEdge(START, "n").addEdge("n", END).compile({ checkpointer });
    };
    const thread = { configurable: { thread_id: "t" } };
    await app().invoke({}, thread);
    gate.open();
    await settled();
    expect(errors).toMatchObject([over]);
    expect(paid).toEqual([]);
    forgetProcess();
    expect(await resume(app(), approve(), thread)).toMatchObject({ r: 1 });
    expect(paid).toEqual(["paid"]);
  });
});

it("F7: a call that starts after its visit failed is refused, and so is a batch", async () => {
  const { build, paid } = desk();
  const [gate, errors] = [latch(), [] as unknown[]];
  let attempt = 0;
  const executor = build();
  const flow = flowOf(async (run) => {
    if (attempt++ > 0) return run("pay", {});
    const late = async (call: () => Promise<unknown>) => {
      await gate.opened;
      await call().catch((error: unknown) => errors.push(error));
    };
    void late(() => run("pay", {}));
    void late(() => executor.runMany([{ tool: "pay", args: {} }]));
    throw new Error("mine");
  });
  const error: unknown = await runFlow(flow, {}, { executor }).catch((thrown: unknown) => thrown);
  gate.open();
  await settled();
  expect(errors).toMatchObject([over, over]);
  expect(paid).toEqual([]);
  forgetProcess();
  await resumeFlow(flow, checkpointOf(error) ?? "", null, { executor: build() });
  expect(paid).toEqual(["paid"]);
});

describe("what started in time", () => {
  it("F7: a call whose body calls another is waited for, with what it calls", async () => {
    const { build, paid, inside } = desk();
    const flow = flowOf((run) => {
      setTimeout(inside.open, 5);
      return Promise.all([run("ask", {}), run("slow", {})]);
    });
    expect(await runFlow(flow, {}, { executor: build() })).toMatchObject({ status: "paused" });
    expect(paid).toEqual(["paid"]);
  });

  it("R4: a body that outlives the attempt of its node may still call; the node's code may not", async () => {
    const { build, paid, inside } = desk();
    const [gate, ends] = [latch(), [] as unknown[]];
    const executor = build();
    const node = oneUse(
      () => {
        void executor.run("slow", {}).then((value) => ends.push(value));
        void gate.opened.then(() => executor.run("pay", {})).catch((error: unknown) => ends.push(error));
        return { r: 1 };
      },
      { executor },
    );
    const graph = new StateGraph(Annotation.Root({ r: Annotation<number> })).addNode("n", node);
    const app = graph.addEdge(START, "n").addEdge("n", END).compile({ checkpointer: new MemorySaver() });
    await app.invoke({}, { configurable: { thread_id: "t" } });
    gate.open();
    await settled();
    inside.open();
    await settled();
    expect(ends).toMatchObject([over, 1]);
    expect(paid).toEqual(["paid"]);
  });

  it("R4: nodes of ours that one node calls, one after the other or at once, end together", async () => {
    const { build, paid } = desk();
    const executor = build();
    const first = latch();
    const payer = oneUse(
      async (wait: boolean) => {
        if (wait) await first.opened;
        await executor.run("pay", {});
        return {};
      },
      { executor },
    );
    const graph = new StateGraph(Annotation.Root({ r: Annotation<number> })).addNode("n", async (_state, config) => {
      const slow = payer(true, config);
      await payer(false, config);
      await payer(false, config);
      first.open();
      await slow;
      await payer(false, config);
      return { r: 1 };
    });
    const app = graph.addEdge(START, "n").addEdge("n", END).compile({ checkpointer: new MemorySaver() });
    await app.invoke({}, { configurable: { thread_id: "t" } });
    expect(paid).toHaveLength(4);
  });

  it("E6: a plain program has no end: its calls run whenever they are made", async () => {
    const { build, paid, inside } = desk();
    const executor = build();
    const context = executor.context({ runId: "r" });
    inside.open();
    await executor.run("slow", {}, { context });
    await settled();
    await executor.run("pay", {}, { context });
    expect(paid).toHaveLength(2);
  });
});
