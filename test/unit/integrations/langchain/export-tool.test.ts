// Properties proved: an exported tool is a LangChain tool whose every call runs through the executor; in a foreign tool node it
// gives the message that ours would give.
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { isStructuredTool, tool } from "@langchain/core/tools";
import { Command } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  approve,
  CallbackApproval,
  deny,
  DeferredApproval,
  defineTool,
  Executor,
  isAgentAdapterError,
  MemoryApprovalStore,
  Registry,
  ToolError,
  type ApprovalDecision,
  type ExecutorOptions,
} from "../../../../src/index.js";
import { exportTool, importLangChain, INTEGRATION, toolOutput } from "../../../../src/integrations/langchain/index.js";
import { failure, kindOf } from "../../executor/stand.js";

const ran: string[] = [];
const pay = (more: object = {}) =>
  defineTool({
    name: "pay",
    description: "Pays.",
    inputSchema: z.object({ to: z.string(), amount: z.number().default(1) }),
    execute: ({ to, amount }) => `paid ${to} ${amount} (${ran.push(`${to} ${amount}`)})`,
    ...more,
  });

function exported(spec = pay(), options: ExecutorOptions = {}) {
  ran.length = 0;
  const executor = new Executor(new Registry([spec]), options);
  return { executor, langchainTool: exportTool(spec, executor) };
}

const decide = (decision: ApprovalDecision) => ({ approval: new CallbackApproval(() => decision) });
const toolCall = (args: object, id = "c1") => ({ type: "tool_call" as const, id, name: "pay", args: { ...args } });

describe("exporting", () => {
  test("I1/export: gives a StructuredTool with the name, description and input of the spec", () => {
    const { langchainTool } = exported();
    expect(isStructuredTool(langchainTool)).toBe(true);
    expect(langchainTool).toMatchObject({
      name: "pay",
      description: "Pays.",
      returnDirect: false,
      schema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
    });
  });

  test("I1/export: the INTEGRATION object offers it, and knows the ids of a call under the current config", async () => {
    expect(INTEGRATION.name).toBe("langchain");
    await expect(INTEGRATION.exportTool(pay()).invoke({ to: "ana" })).resolves.toMatch(/^paid ana 1/);
    expect(INTEGRATION.bindContext({ id: "c1" })).toEqual({ runId: undefined, threadId: undefined, callId: "c1" });
    const inside = RunnableLambda.from(() => INTEGRATION.bindContext({}));
    await expect(inside.invoke(0, { configurable: { thread_id: "t", run_id: "r" } })).resolves.toEqual({
      runId: "r",
      threadId: "t",
      callId: undefined,
    });
    await expect(inside.invoke(0, { configurable: { thread_id: "t" } })).resolves.toMatchObject({ runId: "t" });
  });

  test("I1/export, N1: a spec that the executor does not have is refused", () => {
    expect(() => exportTool(pay(), new Executor(new Registry([pay()])))).toThrow("pay is not registered");
  });

  test("I1/export: returnDirect of an imported tool is kept", () => {
    const direct = tool(() => "x", { name: "pay", description: "Pays.", schema: z.object({}), returnDirect: true });
    const [spec] = importLangChain(new Registry(), [direct]);
    expect(spec && exportTool(spec)).toMatchObject({ returnDirect: true });
  });
});

describe("running", () => {
  test("I1/export: plain arguments give the result, and the call is in the ledger under its run", async () => {
    const { executor, langchainTool } = exported();
    await expect(langchainTool.invoke({ to: "ana" }, { configurable: { run_id: "r" } })).resolves.toBe(
      "paid ana 1 (1)",
    );
    expect(await executor.ledger.entries()).toMatchObject([{ tool: "pay", status: "ok", runId: "r" }]);
  });

  test("I1/export: a result with an artifact gives its content, or a message that has both", async () => {
    const { langchainTool } = exported(pay({ execute: () => toolOutput("two", [1, 2]) }));
    await expect(langchainTool.invoke({ to: "ana" })).resolves.toBe("two");
    await expect(langchainTool.invoke(toolCall({ to: "ana" }))).resolves.toMatchObject({
      content: "two",
      artifact: [1, 2],
    });
  });

  test("I1/export, T3: with a tool call the model reads its errors, and the program gets the others", async () => {
    const visible = exported(pay({ execute: () => Promise.reject(new ToolError("no funds")) }));
    const message: unknown = await visible.langchainTool.invoke(toolCall({ to: "ana" }));
    expect(message).toMatchObject({
      tool_call_id: "c1",
      status: "error",
      content: '{"error":{"kind":"ToolError","message":"no funds"}}',
    });
    expect(await kindOf(visible.langchainTool.invoke({ to: "ana" }))).toBe("ToolError");
    const hidden = exported(pay({ execute: () => Promise.reject(new Error("s3cret")) }));
    expect(await kindOf(hidden.langchainTool.invoke(toolCall({ to: "ana" })))).toBe("ToolFailed");
    expect(await kindOf(hidden.langchainTool.invoke({ to: "ana" }))).toBe("ToolFailed");
  });

  test("I1/export: the same call id in one run gives the first result again", async () => {
    const { langchainTool } = exported();
    const config = { configurable: { thread_id: "t" } };
    const first: unknown = await langchainTool.invoke(toolCall({ to: "ana" }), config);
    const again: unknown = await langchainTool.invoke(toolCall({ to: "ana" }), config);
    expect([first, again].map((each) => (each as ToolMessage).content)).toEqual(["paid ana 1 (1)", "paid ana 1 (1)"]);
    await langchainTool.invoke(toolCall({ to: "ana" }), { configurable: { thread_id: "another" } });
    expect(ran).toHaveLength(2);
  });

  test("I1/export, E6: the signal of the config aborts the call", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const execute = (_args: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")));
        stop.abort(reason);
      });
    const { langchainTool } = exported(pay({ execute }));
    expect(await failure(langchainTool.invoke({ to: "ana" }, { signal: stop.signal }))).toBe(reason);
  });

  test("I1/export: a tool of ours that calls an exported one is one run", async () => {
    const { executor, langchainTool } = exported();
    const outer = defineTool({
      name: "outer",
      description: "Calls.",
      inputSchema: z.object({}),
      execute: async (): Promise<unknown> => langchainTool.invoke({ to: "ana" }),
    });
    executor.registry.add(outer);
    await executor.run(outer, {}, { context: executor.context({ runId: "r" }) });
    const entries = (await executor.ledger.entries()).map(({ tool: name, runId }) => `${name} ${runId}`);
    expect(entries.toSorted()).toEqual(["outer r", "pay r"]);
  });
});

describe("approving", () => {
  const asks = { confirm: true };

  test("I1/export, A7: a port that decides at once is asked; an edit is told to the model, a denial too", async () => {
    const edited = exported(pay(asks), decide(approve({ editedArgs: { to: "bob", amount: 2 } })));
    await expect(edited.langchainTool.invoke(toolCall({ to: "ana" }))).resolves.toMatchObject({
      content: '[A reviewer changed the arguments of this call to {"to":"bob","amount":2}]\npaid bob 2 (1)',
    });
    const denied = exported(pay(asks), decide(deny({ reason: "no" })));
    await expect(denied.langchainTool.invoke(toolCall({ to: "ana" }))).resolves.toMatchObject({ status: "error" });
    expect(ran).toEqual([]);
  });

  test("I1/export, A8: a store decides between two invocations of the same call", async () => {
    const store = new MemoryApprovalStore();
    const { langchainTool } = exported(pay(asks), {
      approval: new DeferredApproval(store),
      secret: "16 bytes or more",
    });
    const again = () => langchainTool.invoke(toolCall({ to: "ana" }), { configurable: { thread_id: "t" } });
    expect(await kindOf(again())).toBe("ApprovalPending");
    const [waiting] = await store.list({ status: "pending" });
    if (waiting === undefined) throw new Error("nothing waits");
    await store.decide(waiting.id, approve({ by: "ana" }));
    await expect(again()).resolves.toMatchObject({ content: "paid ana 1 (1)" });
    expect(ran).toHaveLength(1);
  });

  test("I1/export: without a port a tool that asks runs nothing", async () => {
    ran.length = 0;
    const error = await failure(exportTool(pay(asks)).invoke(toolCall({ to: "ana" })));
    expect(isAgentAdapterError(error, "ToolUsageError")).toBe(true);
    expect(ran).toEqual([]);
  });
});

test("I1/export: LangGraph's own ToolNode gives one message per call", async () => {
  const { langchainTool } = exported(pay({ confirm: ({ to }: { to: string }) => to === "ben" }), decide(deny()));
  const node = new ToolNode([langchainTool]);
  const said = new AIMessage({ content: "", tool_calls: [toolCall({ to: "ana" }), toolCall({ to: "ben" }, "c2")] });
  const { messages } = (await node.invoke({ messages: [said] })) as { messages: ToolMessage[] };
  expect(messages.map((message) => [message.tool_call_id, message.status])).toEqual([
    ["c1", "success"],
    ["c2", "error"],
  ]);
});

describe("importing tools that make their own messages", () => {
  const making = (result: unknown) => {
    const made = tool(() => result as string, { name: "pay", description: "Pays.", schema: z.object({}) });
    const registry = new Registry();
    importLangChain(registry, [made]);
    return new Executor(registry).run("pay", {});
  };

  test("I1/export: a ToolMessage is taken apart, and one that says error is an error for the model", async () => {
    const fields = { tool_call_id: "x", content: "done" };
    await expect(making(new ToolMessage(fields))).resolves.toBe("done");
    await expect(making(new ToolMessage({ ...fields, artifact: 7 }))).resolves.toMatchObject({
      content: "done",
      artifact: 7,
    });
    expect(await failure(making(new ToolMessage({ ...fields, status: "error" })))).toMatchObject({
      kind: "ToolError",
      message: "done",
    });
  });

  test("I1/export, N1: a Command is refused: its state update would be lost in silence", async () => {
    const error = await failure(making(new Command({ update: { secret: 1 } })));
    expect(error).toMatchObject({ kind: "ToolUsageError", tool: "pay" });
  });
});
