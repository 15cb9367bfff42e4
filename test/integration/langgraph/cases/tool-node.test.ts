// `toolNode` as a node: the inputs it takes, the ids a run has, what the model reads, and the host that calls it.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { Annotation, END, MemorySaver, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { createReactAgent, ToolNode } from "@langchain/langgraph/prebuilt";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  approve,
  currentContext,
  defineTool,
  deny,
  Executor,
  isAgentAdapterError,
  Registry,
  type AnyToolSpec,
} from "agent-adapter";
import { LangGraphApproval, toolNode } from "agent-adapter/langgraph";
import {
  ai,
  asking,
  call,
  counted,
  failure,
  one,
  Stand,
  table,
  text,
  turnOf,
  type App,
  type Call,
} from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

/** Says what it was told to say, one message after the other, and notes the tools it was given. */
class ScriptedModel extends BaseChatModel {
  readonly script: readonly (readonly Call[])[];
  readonly heard: string[][] = [];
  bound: readonly { name?: string }[] = [];
  #at = 0;

  constructor(script: readonly (readonly Call[])[]) {
    super({});
    this.script = script;
  }

  _llmType(): string {
    return "scripted";
  }

  override bindTools(tools: never): never {
    this.bound = tools;
    return this as never;
  }

  _generate(messages: BaseMessage[]): Promise<ChatResult> {
    this.heard.push(messages.map((message) => message.type));
    const calls = this.script[this.#at] ?? [];
    this.#at += 1;
    const message = calls.length === 0 ? new AIMessage("done") : ai(calls);
    return Promise.resolve({ generations: [{ text: "", message }] });
  }
}

describe("run ids (T1)", () => {
  const whoami = (seen: unknown[]): AnyToolSpec =>
    defineTool({
      name: "whoami",
      description: "d",
      inputSchema: z.object({}),
      execute: (_args, ctx) => {
        seen.push([ctx.runId, ctx.threadId, ctx.callId, currentContext()?.runId, currentContext()?.callId]);
        return "ok";
      },
    });

  it("T1: the run is the thread, unless the caller configured a run id", async () => {
    const seen: unknown[] = [];
    const stand = new Stand({ tools: () => [whoami(seen)], thread: "t-1" });
    await stand.start({ name: "whoami", args: {}, id: "c" });
    const named = new Stand({ tools: () => [whoami(seen)], thread: "t-2", configurable: { run_id: "r-2" } });
    await named.start({ name: "whoami", args: {}, id: "c" });
    const empty = new Stand({ tools: () => [whoami(seen)], thread: "t-3", configurable: { run_id: "" } });
    await empty.start({ name: "whoami", args: {}, id: "c" });
    expect(seen).toEqual([
      ["t-1", "t-1", "c", "t-1", "c"],
      ["r-2", "t-2", "c", "r-2", "c"],
      ["t-3", "t-3", "c", "t-3", "c"],
    ]);
    expect((await named.entries()).map(({ runId, threadId }) => [runId, threadId])).toEqual([["r-2", "t-2"]]);
  });

  it("T1: inside a run of the adapter it is that run, before anything that is configured", async () => {
    const seen: unknown[] = [];
    const stand = new Stand({ tools: () => [whoami(seen)], thread: "inner", configurable: { run_id: "configured" } });
    const outer = new Executor(
      new Registry([
        defineTool({
          name: "outer",
          description: "d",
          inputSchema: z.object({}),
          execute: async () => text(one((await stand.start({ name: "whoami", args: {}, id: "c" })).tools)),
        }),
      ]),
    );
    expect(await outer.run("outer", {}, { context: outer.context({ runId: "outer run" }) })).toBe("ok");
    expect(seen).toEqual([["outer run", "inner", "c", "outer run", "c"]]);
  });

  it("T1: the reviewer is shown run, thread and the visit of the node", async () => {
    const stand = new Stand({ tools: () => [asking([], "send")], thread: "t-9", configurable: { run_id: "r-9" } });
    const { request } = one((await stand.start(call("c", 1))).interrupts).value;
    expect(request).toMatchObject({ runId: "r-9", threadId: "t-9", callId: "c", generation: 0, requestedBy: null });
    expect(request.taskRun).toEqual(["t-9", expect.stringMatching(/^tools:[0-9a-f-]{36}$/)]);
  });

  it("T1: the idempotency key is the same over pauses and restarts, and another for another call", async () => {
    const keys: string[] = [];
    const tool = (): AnyToolSpec =>
      defineTool({
        name: "pay",
        description: "d",
        inputSchema: z.object({ n: z.number() }),
        execute: (_args, ctx) => {
          keys.push(ctx.idempotencyKey);
          if (keys.length === 1) throw new Error("crash");
          return "paid";
        },
      });
    const stand = new Stand({ tools: () => [tool()] });
    await failure(stand.start(call("c", 1, "pay")));
    forgetProcess();
    await stand.rebuild().again();
    await stand.start(call("c", 1, "pay"));
    expect(keys).toHaveLength(3);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[1]);
  });
});

describe("inputs (T2)", () => {
  it("T2: a message array gives a message array", async () => {
    const ran: string[] = [];
    const shapes: unknown[] = [];
    const stand = new Stand({
      tools: () => [asking(ran, "send")],
      graph: (node, checkpointer) =>
        new StateGraph(MessagesAnnotation)
          .addNode("tools", async ({ messages }, config) => {
            const answers: unknown = await node.invoke(messages, config);
            shapes.push(Array.isArray(answers));
            return { messages: answers as BaseMessage[] };
          })
          .addEdge(START, "tools")
          .addEdge("tools", END)
          .compile({ checkpointer }) as unknown as App,
    });
    const end = await stand.decide(one((await stand.start(call("c", 1))).interrupts));
    expect(shapes).toEqual([true]);
    expect(table(end.tools)).toEqual([["c", "success", "send 1"]]);
  });

  it("T2: the one call of `lg_tool_call`, as createReactAgent and createAgent send it", async () => {
    const ran: string[] = [];
    const stand = new Stand({
      tools: () => [asking(ran, "send")],
      graph: (node, checkpointer) =>
        new StateGraph(MessagesAnnotation)
          .addNode("tools", node)
          .addConditionalEdges(START, (state) => {
            const calls = (state.messages.at(-1) as AIMessage).tool_calls ?? [];
            return calls.map((each) => new Send("tools", { ...state, lg_tool_call: each }));
          })
          .addEdge("tools", END)
          .compile({ checkpointer }) as unknown as App,
    });
    const { interrupts } = await stand.start(call("c1", 1), call("c2", 2));
    expect(interrupts.map(({ value }) => value.request.callId)).toEqual(["c1", "c2"]);
    const end = await stand.resume(Object.fromEntries(interrupts.map((each) => [each.id, stand.sign(each)])));
    expect(table(end.tools)).toEqual([
      ["c1", "success", "send 1"],
      ["c2", "success", "send 2"],
    ]);
    expect(ran.toSorted()).toEqual(["send 1", "send 2"]);
  });

  it("T2: messages under another state key", async () => {
    const ran: string[] = [];
    const State = Annotation.Root({ chat: MessagesAnnotation.spec.messages });
    const stand = new Stand({
      tools: () => [asking(ran, "send")],
      node: { messagesKey: "chat" },
      graph: (node, checkpointer) =>
        new StateGraph(State)
          .addNode("tools", node as never)
          .addEdge(START, "tools" as never)
          .addEdge("tools" as never, END)
          .compile({ checkpointer }) as unknown as App,
    });
    const paused = await stand.invoke({ chat: [ai([call("c", 1)])] });
    const end = await stand.decide(one(paused.interrupts));
    const { chat } = end.output as { chat: BaseMessage[] };
    expect(table(turnOf({ messages: chat }).tools)).toEqual([["c", "success", "send 1"]]);
  });

  it("T2: messages as plain objects", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [counted(ran, "rate")] });
    const message = { role: "assistant", content: "", tool_calls: [{ ...call("c", 1, "rate"), type: "tool_call" }] };
    expect(table((await stand.invoke({ messages: [message] })).tools)).toEqual([["c", "success", "rate 1"]]);
  });

  it("T2, B20: calls that are already answered are not run again", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send"), counted(ran, "rate")] });
    const messages = [
      ai([call("c1", 1, "rate"), call("c2", 2, "rate"), call("c3", 3)]),
      new ToolMessage({ content: "from elsewhere", tool_call_id: "c1" }),
      new ToolMessage({ content: "paid elsewhere", tool_call_id: "c3" }),
    ];
    const end = await stand.invoke({ messages });
    expect(ran).toEqual(["rate 2"]);
    expect(end.interrupts).toEqual([]);
    expect(end.tools.map((each) => each.tool_call_id)).toEqual(["c1", "c3", "c2"]);
  });

  it("T2, B20: a message after the one with the calls does not make them vanish; only the last one's calls run", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const messages = [ai([call("c0", 0)]), ai([call("c1", 1)]), new HumanMessage("wait")];
    const pending = one((await stand.invoke({ messages })).interrupts);
    expect(pending.value.request.callId).toBe("c1");
    const end = await stand.decide(pending);
    expect(ran).toEqual(["send 1"]);
    expect(table(end.tools)).toEqual([["c1", "success", "send 1"]]);
  });

  it("T2, N1: an input without messages, or without a message of the model, is a ToolUsageError; no calls, no messages", async () => {
    const stand = new Stand({ tools: () => [counted([], "rate")] });
    const error = await failure(stand.invoke({ messages: [new HumanMessage("hi")] }));
    expect(isAgentAdapterError(error, "ToolUsageError")).toBe(true);
    const other = new Stand({ tools: () => [counted([], "rate")], node: { messagesKey: "elsewhere" } });
    expect(isAgentAdapterError(await failure(other.start(call("c", 1))), "ToolUsageError")).toBe(true);
    const nothing = await new Stand({ tools: () => [counted([], "rate")] }).start();
    expect(nothing.tools).toEqual([]);
  });

  it("N1: options that do not exist, and tools of another registry, are refused at once", () => {
    const registry = new Registry([counted([], "rate")]);
    expect(() => toolNode(registry, { announce: true } as never)).toThrow('"announce"');
    const executor = new Executor(new Registry([counted([], "rate")]));
    expect(() => toolNode(registry, { executor })).toThrow("rate");
  });
});

describe("edits told to the model (T2)", () => {
  it("T2, A7: the content says what ran, unless told not to; the metadata says it always", async () => {
    for (const announceEdits of [undefined, true, false]) {
      const ran: string[] = [];
      const stand = new Stand({
        tools: () => [asking(ran, "send"), asking(ran, "other")],
        node: announceEdits === undefined ? {} : { announceEdits },
      });
      const first = one((await stand.start(call("c", 1), call("d", 5, "other"))).interrupts);
      const second = one((await stand.decide(first, approve({ editedArgs: { n: 2 } }))).interrupts);
      forgetProcess();
      // Also when the edited call is replayed by another process.
      const end = await stand.rebuild().decide(second);
      const [edited, plain] = end.tools;
      const note = '[A reviewer changed the arguments of this call to {"n":2}]\n';
      expect(edited?.content).toBe(announceEdits === false ? "send 2" : `${note}send 2`);
      expect(edited?.metadata).toEqual({ agentAdapter: { arguments: { n: 2 } } });
      expect(plain?.content).toBe("other 5");
      expect(plain?.metadata).toBeUndefined();
      expect(ran).toEqual(["send 2", "other 5"]);
    }
  });

  it("A7: an edit to the same arguments is an edit all the same, and runs once", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    await stand.decide(one((await stand.start(call("c", 1))).interrupts), approve({ editedArgs: { n: 1 } }));
    expect(ran).toEqual(["send 1"]);
  });
});

describe("results as the model reads them (T4)", () => {
  const results: Readonly<Record<string, [result: unknown, content: string]>> = {
    "a text": ["as it is\n", "as it is\n"],
    "an empty text": ["", ""],
    "a text that looks like JSON": ['{"a":1}', '{"a":1}'],
    zero: [0, "0"],
    false: [false, "false"],
    null: [null, "null"],
    undefined: [undefined, "null"],
    "an object": [{ b: 1, a: [null, "x"] }, '{"b":1,"a":[null,"x"]}'],
    "an array": [[], "[]"],
    "an emoji": ["😀", "😀"],
  };
  for (const [name, [result, content]] of Object.entries(results)) {
    for (const confirm of [false, true]) {
      it(`T4/text, J2: ${name} of ${confirm ? "an approved" : "a plain"} call, also when it is replayed`, async () => {
        const ran: string[] = [];
        const stand = new Stand({
          tools: () => [counted(ran, "rate", { confirm, body: () => result }), asking(ran, "send")],
        });
        let turn = await stand.start(call("c1", 1, "rate"), call("c2", 2));
        if (confirm) turn = await stand.decide(one(turn.interrupts));
        if (confirm) forgetProcess();
        const end = await stand.rebuild().decide(one(turn.interrupts));
        expect(ran).toEqual(["rate 1", "send 2"]);
        // A replay gives an object's members in canonical order.
        const read = end.tools.map(text)[0] ?? "";
        expect(name === "an object" ? JSON.parse(read) : read).toEqual(name === "an object" ? result : content);
        expect(end.tools[0]?.status).toBe("success");
      });
    }
  }

  it("T4/text: members keep their order when the result was not replayed", async () => {
    const stand = new Stand({ tools: () => [counted([], "rate", { body: () => ({ b: 1, a: 2 }) })] });
    expect((await stand.start(call("c", 1, "rate"))).tools.map(text)).toEqual(['{"b":1,"a":2}']);
  });

  it("T4/text, N1: a result that cannot be written as JSON is a ToolUsageError", async () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    for (const result of [circular, 5n]) {
      const stand = new Stand({ tools: () => [counted([], "rate", { body: () => result })] });
      const error = await failure(stand.start(call("c", 1, "rate")));
      expect(isAgentAdapterError(error, "ToolUsageError")).toBe(true);
    }
  });
});

describe("inside createReactAgent (T2)", () => {
  for (const version of ["v1", "v2"] as const) {
    it(`T2, L1: the ${version} agent asks, runs once, reads the results and goes on`, async () => {
      const ran: string[] = [];
      const model = new ScriptedModel([[call("c1", 1), call("c2", 2, "rate")], [call("c3", 3)], []]);
      const stand = new Stand({
        tools: () => [asking(ran, "send"), counted(ran, "rate")],
        graph: (node, checkpointer) =>
          createReactAgent({ llm: model, tools: node, checkpointer, version }) as unknown as App,
      });
      const first = one((await stand.invoke({ messages: [new HumanMessage("go")] })).interrupts);
      expect(ran).toEqual(["rate 2"]);
      const second = one((await stand.decide(first)).interrupts);
      expect(second.value.request.callId).toBe("c3");
      const end = await stand.decide(second, deny({ reason: "enough" }));
      expect(ran).toEqual(["rate 2", "send 1"]);
      expect(end.messages.map((message) => message.type)).toEqual(["human", "ai", "tool", "tool", "ai", "tool", "ai"]);
      expect(end.tools.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
        ["c1", "success"],
        ["c2", "success"],
        ["c3", "error"],
      ]);
      expect(model.bound.map(({ name }) => name)).toEqual(["send", "rate"]);
    });
  }

  it("T2: the node is a ToolNode, and its `.tools` are LangChain tools with the tool's own schema", () => {
    const node = toolNode(new Registry([counted([], "rate")]));
    expect(node).toBeInstanceOf(ToolNode);
    expect(node.tools.map((tool) => tool.name)).toEqual(["rate"]);
    expect(one(node.tools)).toMatchObject({ schema: { type: "object", properties: { n: { type: "number" } } } });
  });
});

describe("without an executor (E12)", () => {
  it("E12/default: the registry's one shared executor asks under the key of this process", async () => {
    const ran: string[] = [];
    const registry = new Registry([asking(ran, "send")]);
    const graph = (saver: MemorySaver) =>
      new StateGraph(MessagesAnnotation)
        .addNode("tools", toolNode(registry))
        .addEdge(START, "tools")
        .addEdge("tools", END)
        .compile({ checkpointer: saver });
    const saver = new MemorySaver();
    const config = { configurable: { thread_id: "e12" } };
    const pending = one(turnOf(await graph(saver).invoke({ messages: [ai([call("c", 1)])] }, config)).interrupts);
    const { Command } = await import("@langchain/langgraph");
    const foreign = new LangGraphApproval({ key: "some other secret, 32 bytes long" }).resumeValue(pending, approve());
    await failure(graph(saver).invoke(new Command({ resume: { [pending.id]: foreign } }), config));
    expect(ran).toEqual([]);
    const answer = new LangGraphApproval().resumeValue(pending, approve());
    expect(answer.keyId).toBe("process");
    const end = turnOf(await graph(saver).invoke(new Command({ resume: { [pending.id]: answer } }), config));
    expect(ran).toEqual(["send 1"]);
    expect(table(end.tools)).toEqual([["c", "success", "send 1"]]);
  });

  it("N1: an executor without a port, or a graph without a checkpointer, cannot ask: ToolUsageError, nothing runs", async () => {
    const ran: string[] = [];
    const registry = new Registry([asking(ran, "send")]);
    const portless = new StateGraph(MessagesAnnotation)
      .addNode("tools", toolNode(registry, { executor: new Executor(registry) }))
      .addEdge(START, "tools")
      .addEdge("tools", END)
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "n1" } };
    const noPort = await failure(portless.invoke({ messages: [ai([call("c", 1)])] }, config));
    expect(isAgentAdapterError(noPort, "ToolUsageError")).toBe(true);
    const stand = new Stand({
      tools: () => [asking(ran, "send")],
      graph: (node) =>
        new StateGraph(MessagesAnnotation)
          .addNode("tools", node)
          .addEdge(START, "tools")
          .addEdge("tools", END)
          .compile() as unknown as App,
    });
    expect(isAgentAdapterError(await failure(stand.start(call("c", 1))), "ToolUsageError")).toBe(true);
    expect(ran).toEqual([]);
  });
});
