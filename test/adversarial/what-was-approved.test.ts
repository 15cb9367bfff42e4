// What a human approved is what runs, for whom it was asked, whatever code between the question and the tool writes on what it
// is shown.
import { Command, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  approve,
  currentContext,
  DeferredApproval,
  defineTool,
  Executor,
  MemoryApprovalStore,
  Registry,
  type Hook,
} from "agent-adapter";
import { LangGraphApproval, toolNode } from "agent-adapter/langgraph";
import { ai, asking, call, failure, interruptsOf, KEY, one, Stand, table } from "../support/langgraph.js";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

describe("arguments that somebody writes on", () => {
  it("G3, A2: a hook that writes on the arguments of an answered call changes nothing and leaves the thread usable", async () => {
    const ran: string[] = [];
    let written = 0;
    const hook: Partial<Hook> = {
      beforeTool({ arguments: args }) {
        if (Reflect.set(Object(args), "n", 9999)) written += 1;
      },
    };
    const stand = new Stand({ tools: () => [asking(ran, "send")], hooks: [hook] });
    const pending = one((await stand.start(call("c", 1))).interrupts);

    const { tools } = await stand.decide(pending);

    expect(table(tools)).toEqual([["c", "success", "send 1"]]);
    expect(ran).toEqual(["send 1"]);
    expect(written).toBe(0);
  });

  it("G3, A2: the attempts of an approved call run on the same arguments, whatever a body writes on them", async () => {
    const seen: unknown[] = [];
    const pay = defineTool({
      name: "pay",
      description: "pays",
      inputSchema: z.object({ n: z.number() }),
      confirm: true,
      retries: { maxAttempts: 2, initialDelayMs: 1, jitter: false },
      execute: (args) => {
        seen.push({ ...args });
        Reflect.set(args, "n", 9999);
        if (seen.length === 1) throw new Error("the bank is busy");
        return "paid";
      },
    });
    const stand = new Stand({ tools: () => [pay] });
    const pending = one((await stand.start(call("c", 1, "pay"))).interrupts);

    await stand.decide(pending);

    expect(seen).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it("A2: a hook that masks the request it is told about changes neither the question nor what runs", async () => {
    const ran: string[] = [];
    const store = new MemoryApprovalStore();
    const masks: Partial<Hook> = {
      onApproval(_call, event) {
        if (event.state === "asked") Reflect.set(event.request, "arguments", { n: 0 });
      },
    };
    const executor = new Executor(new Registry([asking(ran, "send")]), {
      approval: new DeferredApproval(store),
      secret: KEY,
      hooks: [masks],
    });
    const options = { context: executor.context({ runId: "r" }), callId: "c" };
    expect(await failure(executor.run("send", { n: 5 }, options))).toMatchObject({ kind: "ApprovalPending" });
    const record = one(await store.list());
    expect(record.request.arguments).toEqual({ n: 5 });
    await store.decide(record.id, approve());

    expect(await executor.run("send", { n: 5 }, options)).toBe("send 5");
    expect(ran).toEqual(["send 5"]);
  });
});

describe("somebody else resumes", () => {
  it("A2: an approved call acts for whoever the reviewer saw, not for whoever resumes the thread", async () => {
    const seen: unknown[] = [];
    const note = (where: string, principal: string | undefined) => seen.push([where, principal]);
    const inner = defineTool({
      name: "inner",
      description: "runs inside",
      inputSchema: z.object({}),
      execute: (_args, ctx) => note("nested", ctx.principal),
    });
    const pay = defineTool({
      name: "pay",
      description: "pays",
      inputSchema: z.object({ n: z.number() }),
      confirm: true,
      execute: async (_args, ctx) => {
        note("body", ctx.principal);
        note("current", currentContext()?.principal);
        await ctx.run("inner", {});
        return "paid";
      },
    });
    const registry = new Registry([pay, inner]);
    const port = new LangGraphApproval({ key: KEY });
    const hooks = [
      {
        beforeTool: ({ tool, context }: { tool: string; context: { principal: string | undefined } }) => {
          if (tool === "pay") note("hook", context.principal);
        },
      },
    ];
    const executor = new Executor(registry, {
      approval: port,
      hooks,
      principal: (source) => String(Reflect.get(Object(source), "user")),
    });
    const app = new StateGraph(MessagesAnnotation)
      .addNode("tools", toolNode(registry, { executor }))
      .addEdge(START, "tools")
      .compile({ checkpointer: new MemorySaver() });
    const as = (user: string) => ({ configurable: { thread_id: "t", user } });
    const pending = one(interruptsOf(await app.invoke({ messages: [ai([call("c", 1, "pay")])] }, as("bob"))));
    expect(pending.value.request.requestedBy).toBe("bob");

    await app.invoke(new Command({ resume: { [pending.id]: port.resumeValue(pending, approve()) } }), as("admin"));

    expect(seen).toEqual([
      ["hook", "bob"],
      ["hook", "bob"],
      ["body", "bob"],
      ["current", "bob"],
      ["nested", "bob"],
    ]);
    expect((await executor.ledger.entries()).find(({ tool }) => tool === "pay")?.principal).toBe("bob");
  });
});
