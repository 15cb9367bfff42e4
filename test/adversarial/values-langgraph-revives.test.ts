// `{ lc: 1 | 2 }` in arguments, payloads, edits and inputs: LangGraph's serializer reads it as an object of its own. Refused before
// it is shown or kept, so that it is in nobody's way.
import { Annotation, END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, deny, DeferredApproval, Executor, MemoryApprovalStore, Registry } from "agent-adapter";
import { Flow } from "agent-adapter/flow";
import {
  compileFlow,
  LangGraphApproval,
  oneUse,
  pendingApprovals,
  resume,
  runCompiled,
  toolNode,
} from "agent-adapter/langgraph";
import { ai, editInterrupts, failure, KEY } from "../support/langgraph.js";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

const values = {
  "lc 1": { lc: 1, type: "not_implemented", id: ["x"] },
  "lc 2, undefined": { lc: 2, type: "undefined", id: ["undefined"] },
  "lc 2, a set": { lc: 2, type: "constructor", id: ["Set"], method: null, args: [[1, 2]] },
};

function stand() {
  const ran: unknown[] = [];
  const registry = new Registry();
  const pay = registry.tool({
    name: "pay",
    description: "pays",
    inputSchema: z.object({ memo: z.any() }),
    confirm: true,
    execute: ({ memo }) => ran.push(memo),
  });
  const executor = new Executor(registry, { secret: KEY, approval: new LangGraphApproval() });
  return { ran, registry, pay, executor, config: { configurable: { thread_id: "t" } } };
}

const state = { memo: z.any().default(null), paid: z.number().default(0) };

describe.each(Object.entries(values))("%s", (_name, memo) => {
  it("B21, N1: in a model's call is refused to the model, and the call beside it is asked about", async () => {
    const { registry, executor, config, ran } = stand();
    const app = new StateGraph(MessagesAnnotation)
      .addNode("tools", toolNode(registry, { executor }))
      .addEdge(START, "tools")
      .addEdge("tools", END)
      .compile({ checkpointer: new MemorySaver() });
    const calls = [
      { id: "bad", name: "pay", args: { memo: { deep: [memo] } } },
      { id: "good", name: "pay", args: { memo: "rent" } },
    ];
    await app.invoke({ messages: [ai(calls)] }, config);
    expect((await pendingApprovals(app, config)).map(({ request }) => request.callId)).toEqual(["good"]);
    let { messages } = await resume(app, approve(), config);
    // The model's own message is in LangGraph's hands: a re-run may be given another reading of it, which is another question.
    for (const { binding } of await pendingApprovals(app, config))
      ({ messages } = await resume(app, { [binding]: deny() }, config));
    expect(messages.slice(1)).toMatchObject([
      { tool_call_id: "bad", status: "error" },
      { tool_call_id: "good", status: "success" },
    ]);
    expect(ran).toEqual(["rent"]);
  });

  it("B21, N1: in a node's call is ToolArgsInvalid, and nothing waits", async () => {
    const { pay, executor, config, ran } = stand();
    const node = oneUse(async () => ({ paid: await executor.run(pay, { memo }, { callId: "p" }) }), { executor });
    const app = new StateGraph(Annotation.Root({ paid: Annotation<number> }))
      .addNode("n", node)
      .addEdge(START, "n")
      .compile({ checkpointer: new MemorySaver() });
    expect(await failure(app.invoke({}, config))).toMatchObject({ kind: "ToolArgsInvalid" });
    expect(await pendingApprovals(app, config)).toEqual([]);
    expect(ran).toEqual([]);
  });

  it("B21, N1: in what a gate shows is a FlowError of that gate", async () => {
    const { executor, config } = stand();
    const flow = new Flow("f", { state: z.object(state) }).node("n", () => ({}), { pause: () => ({ memo }) }).end("n");
    const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
    const error = await failure(runCompiled(app, {}, config));
    expect(error).toMatchObject({ kind: "FlowError", message: expect.stringContaining('gate "n"') });
  });

  it("B21, N1: in the input of a compiled flow is a FlowError that names the field, and nothing is kept", async () => {
    const { executor, config } = stand();
    const flow = new Flow("f", { state: z.object(state) }).node("n", () => ({ paid: 1 })).end("n");
    const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
    const refusal = { kind: "FlowError", message: expect.stringContaining('"memo"') };
    expect(await failure(runCompiled(app, { memo }, config))).toMatchObject(refusal);
    expect(await failure(app.invoke({ memo }, config))).toMatchObject(refusal);
    expect(await runCompiled(app, {}, config)).toMatchObject({ status: "done", state: { paid: 1 } });
  });

  it("B21, G1: in the edit of a gate is refused before anything is used, and the gate can still be answered", async () => {
    const { executor, config, ran, registry } = stand();
    const note = registry.tool({
      name: "note",
      description: "notes",
      inputSchema: z.object({}),
      execute: () => ran.push("note"),
    });
    const flow = new Flow("f", { state: z.object(state) })
      .node("n", async (_state, ctx) => ({ paid: await ctx.run(note, {}) }), { pause: () => ({ see: "x" }) })
      .end("n");
    const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
    await runCompiled(app, {}, config);
    const edit = approve({ editedArgs: { memo } });
    expect(await failure(runCompiled(app, edit, config))).toMatchObject({ kind: "ToolArgsInvalid" });
    expect(ran).toEqual([]);
    expect(await runCompiled(app, approve(), config)).toMatchObject({ status: "done", state: { paid: 1 } });
    expect(ran).toEqual(["note"]);
  });

  it("B21, G1: in an edit that a store decided asks at the gate anew", async () => {
    const { config } = stand();
    const store = new MemoryApprovalStore();
    const executor = new Executor(new Registry(), { secret: KEY, approval: new DeferredApproval(store) });
    const flow = new Flow("f", { state: z.object(state) })
      .node("n", () => ({ paid: 1 }), { pause: () => ({ see: "x" }) })
      .end("n");
    const app = compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
    await runCompiled(app, {}, config);
    const [first] = await store.list();
    await store.decide(first?.id ?? "", approve({ editedArgs: { memo } }));
    expect(await runCompiled(app, null, config)).toMatchObject({ status: "paused" });
    const [second] = await store.list({ status: "pending" });
    await store.decide(second?.id ?? "", approve({ editedArgs: { memo: "rent" } }));
    expect(await runCompiled(app, null, config)).toMatchObject({ status: "done", state: { memo: "rent", paid: 1 } });
  });
});

it("N1: a stored request that somebody wrote on is not in the way of the one beside it", async () => {
  const { pay, executor, config, ran } = stand();
  const node = (memo: string) =>
    oneUse(async () => ({ [memo]: await executor.run(pay, { memo }, { callId: memo }) }), { executor });
  const saver = new MemorySaver();
  const app = new StateGraph(Annotation.Root({ a: Annotation<number>, b: Annotation<number> }))
    .addNode("one", node("a"))
    .addNode("two", node("b"))
    .addEdge(START, "one")
    .addEdge(START, "two")
    .compile({ checkpointer: saver });
  await app.invoke({}, config);
  editInterrupts(saver, (value) =>
    JSON.stringify(value).includes('"callId":"a"') ? { ...value, binding: "x" } : value,
  );
  expect((await pendingApprovals(app, config)).map(({ request }) => request.callId)).toEqual(["b"]);
  await resume(app, approve(), config).catch(() => undefined);
  expect(ran).toEqual(["b"]);
  editInterrupts(saver, (value) => ({ ...value, binding: "x" }));
  await expect(failure(pendingApprovals(app, config))).resolves.toMatchObject({ kind: "ToolUsageError" });
});
