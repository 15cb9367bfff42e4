// What stands around a call in a `createAgent` agent: other middleware, the caller, tools that are not ours. Properties proved:
// nothing of it retries, swallows or skips a pause; nothing runs outside the executor unless the program said so.
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent, createMiddleware, modelRetryMiddleware, toolRetryMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, defineTool, Executor, Registry, ToolUsageError, type AnyToolSpec } from "agent-adapter";
import { importLangChain, toolOutput } from "agent-adapter/langchain";
import { agentAdapterMiddleware } from "agent-adapter/langchain/agents";
import { hostedTools, isInvalidAnswer, LangGraphApproval, pendingApprovals, resume } from "agent-adapter/langgraph";
import { AgentStand, says, type AgentOptions } from "../../support/agents.js";
import { asking, call, counted, failure, KEY, one, table, thrownBy, turnOf } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";

/** An agent that calls `pay` once. */
function paying(ran: string[], more: Partial<AgentOptions> = {}): AgentStand {
  return new AgentStand({ tools: () => [asking(ran, "pay")], script: [says(call("c1", 1, "pay"))], ...more });
}

const BAD = {
  "a bare yes": "yes",
  "a bare decision": { approved: true },
  "what LangChain's own middleware takes": { decisions: [{ type: "approve" }] },
  nothing: null,
};

const loud = () => toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 1 });
/** Catches everything, as hand-written middleware does. */
const greedy = () =>
  createMiddleware({
    name: "greedy",
    wrapToolCall: async (request, handler) => {
      for (let attempt = 0; attempt < 3; attempt += 1) {
        try {
          return await handler(request);
        } catch {
          // Again.
        }
      }
      return new ToolMessage({ content: "gave up", tool_call_id: request.toolCall.id ?? "", status: "error" });
    },
  });

describe("L5: an invalid answer in an agent", () => {
  it.each(Object.entries(BAD))(
    "L5: %s asks again with the same id, as often as it comes, and never ends the call",
    async (_what, bad) => {
      const ran: string[] = [];
      const stand = paying(ran);
      const first = one((await stand.start()).interrupts);
      for (let round = 0; round < 3; round += 1) {
        const again = one((await stand.rebuild().resume({ [first.id]: bad })).interrupts);
        expect([again.id, again.value.binding]).toEqual([first.id, first.value.binding]);
      }
      expect(ran).toEqual([]);
      const done = await stand.resume({ [first.id]: stand.sign(first) });
      expect(table(done.tools)).toEqual([["c1", "success", "pay 1"]]);
      expect(ran).toEqual(["pay 1"]);
    },
  );

  it("L5: a good and a bad answer at once: the good one runs, the other is asked again", async () => {
    const ran: string[] = [];
    const tools = () => [asking(ran, "pay")];
    const stand = new AgentStand({ tools, script: [says(call("c1", 1, "pay"), call("c2", 2, "pay"))] });
    const [a, b] = (await stand.start()).interrupts;
    if (a === undefined || b === undefined) throw new Error("expected two requests");
    const again = await stand.resume({ [a.id]: stand.sign(a), [b.id]: stand.sign(a) });
    expect(one(again.interrupts)).toMatchObject({ id: b.id, value: { binding: b.value.binding } });
    await stand.resume({ [b.id]: stand.sign(b) });
    expect(ran).toEqual(["pay 1", "pay 2"]);
  });

  it("L5: the same for the tools of toolNode in an agent without the middleware", async () => {
    const ran: string[] = [];
    const registry = new Registry([asking(ran, "pay")]);
    const stand = paying(ran, { script: [] });
    const hosted = hostedTools(registry, { executor: new Executor(registry, { approval: stand.port }) });
    const bare = stand.rebuild({
      script: [says(call("c1", 1, "pay"))],
      agent: { middleware: [], tools: hosted.tools },
    });
    const first = one((await bare.start()).interrupts);
    const again = one((await bare.resume({ [first.id]: "yes" })).interrupts);
    expect(again.id).toBe(first.id);
    const done = await resume(bare.agent, approve(), bare.config);
    expect(done).toMatchObject({ messages: expect.arrayContaining([expect.objectContaining({ content: "pay 1" })]) });
    expect(ran).toEqual(["pay 1"]);
  });
});

describe("B14: retry middleware", () => {
  const stacks: readonly [string, Partial<AgentOptions>][] = [
    ["toolRetryMiddleware outside ours", { around: [loud()] }],
    ["toolRetryMiddleware inside ours", { within: [loud()] }],
    ["toolRetryMiddleware that never retries outside ours", { around: [toolRetryMiddleware({ maxRetries: 0 })] }],
    ["modelRetryMiddleware outside ours", { around: [modelRetryMiddleware({ initialDelayMs: 1 })] }],
    ["modelRetryMiddleware inside ours", { within: [modelRetryMiddleware({ initialDelayMs: 1 })] }],
    ["hand-written middleware that catches everything", { around: [greedy()] }],
    ["all of them", { around: [greedy(), loud()], within: [modelRetryMiddleware()] }],
  ];
  it.each(stacks)(
    "B14, E3, I2: %s: a pause is asked once, an answer that is none asks again, and the tool runs once",
    async (_what, more) => {
      const ran: string[] = [];
      let asked = 0;
      const confirm = () => {
        asked += 1;
        return true;
      };
      const stand = paying(ran, { ...more, tools: () => [asking(ran, "pay", { confirm })] });
      const first = one((await stand.start()).interrupts);
      expect(asked).toBe(1);
      const again = one((await stand.resume({ [first.id]: "yes" })).interrupts);
      expect(again.id).toBe(first.id);
      const done = await stand.resume({ [first.id]: stand.sign(first) });
      expect(table(done.tools)).toEqual([["c1", "success", "pay 1"]]);
      expect([asked, ran]).toEqual([1, ["pay 1"]]);
      expect((await stand.entries()).map(({ status, attempts }) => [status, attempts])).toEqual([["ok", 1]]);
    },
  );

  it("B14: a model that fails is tried again, and the pause after it is not", async () => {
    const ran: string[] = [];
    const script = [new Error("overloaded"), says(call("c1", 1, "pay"))];
    const stand = paying(ran, { script, around: [modelRetryMiddleware({ maxRetries: 2, initialDelayMs: 1 })] });
    const paused = await stand.start();
    expect(paused.interrupts).toHaveLength(1);
    expect(stand.model.seen).toHaveLength(2);
  });

  it("T3, I2: what is not for the model reaches the program as it is, whatever stands around; siblings are kept", async () => {
    const ran: string[] = [];
    const body = () => {
      throw new TypeError("the bank is closed");
    };
    const tools = () => [asking(ran, "pay", { body }), counted(ran, "rate", { effects: "read" })];
    const script = [says(call("c1", 1, "pay"), call("c2", 2, "rate"))];
    const stand = new AgentStand({ tools, script, around: [greedy(), loud()] });
    const first = one((await stand.start()).interrupts);
    const answers = { [first.id]: stand.sign(first) };
    expect(await failure(stand.resume(answers))).toMatchObject({
      kind: "ToolFailed",
      cause: { message: "the bank is closed" },
    });
    expect(await failure(stand.resume(answers))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(ran).toEqual(["rate 2", "pay 1"]);
  });

  it("L6, N1: middleware that keeps the result of a pause cannot show it in another thread, nor again in its own", async () => {
    const kept = new Map<string, ToolMessage | Command>();
    const keeping = createMiddleware({
      name: "keeping",
      wrapToolCall: async (request, handler) => {
        const key = JSON.stringify([request.toolCall.name, request.toolCall.args]);
        const known = kept.get(key) ?? (await handler(request));
        kept.set(key, known);
        return known;
      },
    });
    const ran: string[] = [];
    const ana = paying(ran, { around: [keeping] });
    const first = one((await ana.start()).interrupts);
    const refused = { kind: "ToolUsageError", message: expect.stringContaining("kept the result") };
    expect(await failure(paying(ran, { around: [keeping] }).start())).toMatchObject(refused);
    expect(await failure(ana.resume({ [first.id]: ana.sign(first) }))).toMatchObject(refused);
    expect(ran).toEqual([]);
  });

  it("L6: middleware that unpacks the result of a pause to make one of its own raises the pause", async () => {
    const unpacking = createMiddleware({
      name: "unpacking",
      wrapToolCall: async (request, handler) => {
        const result = await handler(request);
        return ToolMessage.isInstance(result) ? result : new Command({ update: result.update ?? [] });
      },
    });
    const ran: string[] = [];
    expect((await paying(ran, { around: [unpacking] }).start()).interrupts).toHaveLength(1);
  });
});

describe("I2: where an agent runs", () => {
  it("L1, I2: a stream shows the pause as any other, also with retries around", async () => {
    const stand = paying([], { around: [greedy()] });
    const chunks: unknown[] = [];
    const stream = await stand.agent.stream(
      { messages: [{ role: "user", content: "go" }] },
      { ...stand.config, streamMode: "updates" },
    );
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.at(-1)).toMatchObject({ __interrupt__: [{ value: { request: { tool: "pay" } } }] });
  });

  it("I2, R5, L5: as a node of a parent graph it is answered through the parent", async () => {
    const ran: string[] = [];
    const stand = paying(ran, { agent: { checkpointer: undefined }, around: [greedy()] });
    const app = new StateGraph(MessagesAnnotation)
      .addNode("agent", (stand.agent as unknown as { graph: never }).graph)
      .addEdge(START, "agent")
      .compile({ checkpointer: stand.options.saver });
    await app.invoke({ messages: [new HumanMessage("go")] }, stand.config);
    const pending = one(await pendingApprovals(app, stand.config));
    const again = turnOf(await app.invoke(new Command({ resume: { [pending.id]: "yes" } }), stand.config));
    expect(one(again.interrupts).id).toBe(pending.id);
    const done = turnOf(await resume(app, approve({ by: "ana" }), stand.config));
    expect(table(done.tools)).toEqual([["c1", "success", "pay 1"]]);
    expect(ran).toEqual(["pay 1"]);
  });

  it.each(["sync", "async", "exit"])("I2: durability %s: paused, refused, answered, once", async (durability) => {
    const ran: string[] = [];
    const stand = paying(ran);
    const first = one((await stand.start({ durability })).interrupts);
    forgetProcess();
    const again = one((await stand.rebuild().resume({ [first.id]: "yes" }, { durability })).interrupts);
    forgetProcess();
    const done = await stand.rebuild().resume({ [again.id]: stand.sign(again) }, { durability });
    expect(table(done.tools)).toEqual([["c1", "success", "pay 1"]]);
    expect(ran).toEqual(["pay 1"]);
  });

  it("E6, I2: an abort while the tool runs reaches the caller, and the outcome is asked again as unknown", async () => {
    const ran: string[] = [];
    const stop = new AbortController();
    const reason = new Error("enough");
    const body = () => {
      stop.abort(reason);
      throw reason;
    };
    const stand = paying(ran, { tools: () => [asking(ran, "pay", { body })], around: [greedy()] });
    const first = one((await stand.start()).interrupts);
    await failure(stand.resume({ [first.id]: stand.sign(first) }, { signal: stop.signal }));
    const asked = one((await stand.rebuild({ tools: () => [asking(ran, "pay")] }).invoke(null)).interrupts);
    expect(asked.value.request).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    expect(ran).toEqual(["pay 1"]);
  });
});

describe("I2: callers", () => {
  it("I2, G4: nothing in `context` or `configurable` switches a gate off or answers it", async () => {
    const ran: string[] = [];
    const open = {
      pay: false,
      confirm: false,
      policy: { pay: false },
      interruptOn: { pay: false },
      unmanaged: ["pay"],
    };
    const configurable = {
      ...open,
      aa_resume: "yes",
      registry: new Registry(),
      executor: null,
      __pregel_resuming: true,
    };
    const stand = paying(ran);
    const turn = await stand.start({ context: open, configurable });
    expect(turn.interrupts).toHaveLength(1);
    const again = await stand.resume({ [one(turn.interrupts).id]: "yes" }, { context: open, configurable });
    expect(again.interrupts).toHaveLength(1);
    expect(ran).toEqual([]);
  });

  it("I2, N1: a misspelt option, a name that is registered, and a tool that LangChain would never run are refused at once", () => {
    const registry = new Registry([asking([], "pay")]);
    const given = (more: object) => thrownBy(() => agentAdapterMiddleware({ registry, ...more }));
    expect(given({ unmanagd: [] })).toMatchObject({
      kind: "ToolUsageError",
      message: expect.stringContaining('agentAdapterMiddleware: there is no option "unmanagd"'),
    });
    expect(given({ unmanaged: ["pay"] })).toMatchObject({
      kind: "ToolUsageError",
      message: expect.stringContaining('"pay"'),
    });
    expect(given({ maxResultChars: 0 })).toMatchObject({ message: expect.stringContaining("maxResultChars") });
    expect(given({ executor: new Executor(new Registry()) })).toMatchObject({
      message: expect.stringContaining("pay is not registered"),
    });
    expect(given({ registry: new Registry([counted([], "extract-all")]) })).toMatchObject({
      message: expect.stringContaining("extract-all"),
    });
  });
});

describe("I2: tools that are not the registry's", () => {
  const stray = (ran: string[], name = "wipe") =>
    tool(({ n }) => `${name} ${String(ran.push(`${name} ${n}`))}`, {
      name,
      description: "Not ours.",
      schema: z.object({ n: z.number() }),
    });

  const hiding = createMiddleware({
    name: "hiding",
    wrapModelCall: (request, handler) =>
      handler({ ...request, tools: request.tools.filter((given) => !("name" in given && given["name"] === "wipe")) }),
  });

  it.each<[string, string, Partial<AgentOptions>]>([
    ["one that the agent has beside the registry", "wipe", {}],
    ["the same with retries around the model", "wipe", { around: [modelRetryMiddleware({ initialDelayMs: 1 })] }],
    ["a second tool of a registered name", "pay", {}],
  ])("I2: %s is refused by name before the model is called", async (_what, name, more) => {
    const ran: string[] = [];
    const stand = paying(ran, { ...more, script: [says(call("c1", 1, name))], agent: { tools: [stray(ran, name)] } });
    expect(await failure(stand.start())).toMatchObject({ kind: "ToolUsageError", tool: name });
    expect([ran, stand.model.seen]).toEqual([[], []]);
  });

  it("I2: one that the model was not shown is refused when it is called, also with retries around", async () => {
    const ran: string[] = [];
    const script = [says(call("c1", 1, "wipe"))];
    const stand = paying(ran, { script, agent: { tools: [stray(ran)] }, around: [greedy(), hiding] });
    expect(await failure(stand.start())).toMatchObject({ kind: "ToolUsageError", tool: "wipe" });
    expect(stand.model.seen).toHaveLength(1);
    expect(ran).toEqual([]);
  });

  it("I2: `unmanaged` lets a named one run as LangChain runs it, without a ledger entry", async () => {
    const ran: string[] = [];
    const script = [says(call("c1", 1, "wipe"), call("c2", 2, "pay"))];
    const stand = paying(ran, { script, agent: { tools: [stray(ran)] }, middleware: { unmanaged: ["wipe"] } });
    const turn = await stand.start();
    expect(turn.interrupts).toHaveLength(1);
    expect(ran).toEqual(["wipe 1"]);
    expect((await stand.entries()).map(({ tool: name }) => name)).toEqual(["pay"]);
  });

  it("T3, I2: a tool nobody has, arguments that do not fit, and a denial are messages for the model", async () => {
    const ran: string[] = [];
    const script = [says({ name: "nope", args: {}, id: "c1" }, { name: "pay", args: { n: "many" }, id: "c2" })];
    const { tools } = await paying(ran, { script }).start();
    expect(tools.map((message) => [message.tool_call_id, message.status, kindIn(message)])).toEqual([
      ["c1", "error", "ToolNotFound"],
      ["c2", "error", "ToolArgsInvalid"],
    ]);
  });
});

describe("I2: what the model says and reads", () => {
  it("I2: the model is shown the registry's tools, and only those", async () => {
    const stand = paying([]);
    await stand.start();
    expect(stand.model.shown).toMatchObject([{ name: "pay" }]);
  });

  it("T1, T2, I2: calls without an id or with the same id get ids of their own in the reply, and one message each", async () => {
    const ran: string[] = [];
    const rate = () => [counted(ran, "rate", { effects: "read" })];
    const script = [says({ name: "rate", args: { n: 1 } }, call("c", 2, "rate"), call("c", 3, "rate"))];
    const stand = new AgentStand({ tools: rate, script });
    const { tools, messages } = await stand.start();
    const reply = one(
      messages.filter((message) => AIMessage.isInstance(message) && (message.tool_calls ?? []).length > 0),
    );
    const ids = (reply as AIMessage).tool_calls?.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(3);
    expect(ids).toEqual([expect.stringMatching(/^call-/), "c", expect.stringMatching(/^call-/)]);
    expect(tools.map((message) => [message.tool_call_id, message.content])).toEqual([
      [ids[0], "rate 1"],
      [ids[1], "rate 2"],
      [ids[2], "rate 3"],
    ]);
  });

  it("I2, T4: edits are announced unless told otherwise, artifacts pass, large results are cut", async () => {
    const ran: string[] = [];
    const tools = (): AnyToolSpec[] => [
      asking(ran, "pay"),
      counted(ran, "find", { effects: "read", body: () => toolOutput("x".repeat(50), { rows: 7 }) }),
    ];
    const script = [says(call("c1", 1, "pay"), call("c2", 2, "find"))];
    const stand = new AgentStand({ tools, script, middleware: { announceEdits: false, maxResultChars: 10 } });
    const paused = one((await stand.start()).interrupts);
    const { tools: told } = await stand.resume({ [paused.id]: stand.sign(paused, approve({ editedArgs: { n: 9 } })) });
    expect(told[0]).toMatchObject({ content: "pay 9", metadata: { agentAdapter: { arguments: { n: 9 } } } });
    expect(told[1]).toMatchObject({ artifact: { rows: 7 }, content: expect.stringContaining("40 of 50") });
  });
});

describe("I1: imported LangChain tools in an agent", () => {
  const importing =
    (langchainTool: ReturnType<typeof tool>, options: object = {}) =>
    () => {
      const registry = new Registry();
      return importLangChain(registry, [langchainTool as never], options);
    };
  const fields = { name: "pay", description: "Pays.", schema: z.object({ n: z.number() }) };

  it("I1: returnDirect ends the agent with the tool's result, also after an approval", async () => {
    const direct = tool(({ n }) => `paid ${n}`, { ...fields, returnDirect: true });
    const stand = new AgentStand({
      tools: importing(direct as never, { confirm: true }),
      script: [says(call("c1", 1, "pay"))],
    });
    const paused = one((await stand.start()).interrupts);
    const done = await stand.resume({ [paused.id]: stand.sign(paused) });
    expect(done.messages.at(-1)).toMatchObject({ content: "paid 1", tool_call_id: "c1" });
    expect(stand.model.seen).toHaveLength(1);
  });

  it("I1, L5: a tool that interrupts itself pauses the agent, and its own invalid resume asks again", async () => {
    const ran: number[] = [];
    const self = tool(({ n }) => {
      interrupt({ really: n }, { responseSchema: z.literal("yes") } as never);
      ran.push(n);
      return `paid ${n}`;
    }, fields);
    const stand = new AgentStand({
      tools: importing(self as never),
      script: [says(call("c1", 1, "pay"))],
      around: [greedy()],
    });
    const paused = one((await stand.start()).interrupts);
    expect(paused.value).toEqual({ really: 1 });
    const again = one((await stand.resume({ [paused.id]: "no" })).interrupts);
    expect(again.id).toBe(paused.id);
    const done = await stand.resume({ [paused.id]: "yes" });
    expect(table(done.tools)).toEqual([["c1", "success", "paid 1"]]);
    expect(ran).toEqual([1]);
  });

  it("I1: content and artifact arrive apart", async () => {
    const offers = tool(() => ["two offers", [{ price: 1 }]], { ...fields, responseFormat: "content_and_artifact" });
    const stand = new AgentStand({ tools: importing(offers as never), script: [says(call("c1", 1, "pay"))] });
    expect(one((await stand.start()).tools)).toMatchObject({ content: "two offers", artifact: [{ price: 1 }] });
  });
});

describe("hostedTools", () => {
  it("I2: outside a graph a call is not answered: the result throws where it would be taken in", async () => {
    const hosted = hostedTools(new Registry([counted([], "rate", { effects: "read" })]));
    const result = await hosted.answer({ name: "rate", args: { n: 1 }, id: "c" });
    expect(thrownBy(() => (result as Command).update)).toMatchObject({ kind: "ToolUsageError" });
    const raised = new ToolUsageError("mine");
    expect(thrownBy(() => hosted.raise(raised).update)).toBe(raised);
  });

  it("E12, I2: without an executor the registry's shared one asks, and resume finds it", async () => {
    const ran: string[] = [];
    const registry = new Registry([
      defineTool({
        name: "pay",
        description: "Pays.",
        inputSchema: z.object({ n: z.number() }),
        confirm: true,
        execute: ({ n }) => `paid ${ran.push(String(n))}`,
      }),
    ]);
    const stand = paying(ran, { script: [] });
    const agent = createAgent({
      model: stand.rebuild({ script: [says(call("c1", 1, "pay"))] }).model,
      middleware: [agentAdapterMiddleware({ registry })],
      checkpointer: stand.options.saver,
    });
    await agent.invoke({ messages: [{ role: "user", content: "go" }] }, stand.config);
    const refused = await failure(
      resume(
        agent,
        new LangGraphApproval({ key: KEY }).resumeValue(
          one((await stand.pending()).map(({ interrupt: raw }) => raw)),
          approve(),
        ),
        stand.config,
      ),
    );
    expect(isInvalidAnswer(refused)).toBe(false);
    expect(refused).toMatchObject({ kind: "ToolUsageError" });
    await resume(agent, approve({ by: "ana" }), stand.config);
    expect(ran).toEqual(["1"]);
  });
});

function kindIn({ content }: ToolMessage): unknown {
  return typeof content === "string" ? (JSON.parse(content) as { error: { kind: string } }).error.kind : undefined;
}
