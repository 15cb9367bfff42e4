// What models really send: missing and repeated ids, invented tools, broken arguments, hostile keys, odd numbers. Every
// call is answered once, nothing runs on repaired input, nobody's prototype changes.
import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, defineTool, deny, isAgentAdapterError } from "agent-adapter";
import {
  ai,
  asking,
  call,
  counted,
  one,
  Stand,
  table,
  text,
  type App,
  type Call,
  thrownBy,
} from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";

afterEach(forgetProcess);

const kinds = (messages: Parameters<typeof text>[0][]) =>
  messages.map((message) => {
    try {
      const content = JSON.parse(text(message)) as { error?: { kind?: string } };
      return content.error?.kind ?? "result";
    } catch {
      return "result";
    }
  });

describe("call ids (B28)", () => {
  it("B28, T2: of two calls with one id the first counts; the other is answered with an error, runs and asks nothing", async () => {
    for (const name of ["send", "rate"]) {
      const ran: string[] = [];
      const stand = new Stand({ tools: () => [asking(ran, "send"), counted(ran, "rate")] });
      let turn = await stand.start(call("d", 1, name), call("d", 2, name));
      expect(turn.interrupts.map(({ value }) => value.request.arguments)).toEqual(name === "send" ? [{ n: 1 }] : []);
      if (name === "send") turn = await stand.decide(one(turn.interrupts));
      expect(turn.interrupts).toEqual([]);
      expect(ran).toEqual([`${name} 1`]);
      expect(turn.tools.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
        ["d", "success"],
        ["d", "error"],
      ]);
      expect(kinds([...turn.tools])).toEqual(["result", "ToolError"]);
    }
  });

  it("B28: two calls with one id and the same arguments are two calls all the same", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const turn = await stand.decide(one((await stand.start(call("d", 1), call("d", 1))).interrupts));
    expect(ran).toEqual(["send 1"]);
    expect(kinds([...turn.tools])).toEqual(["result", "ToolError"]);
  });

  const missing: Readonly<Record<string, Partial<Call>>> = {
    "no id": {},
    "an empty id": { id: "" },
    "the id null": { id: null },
    "the id undefined": { id: undefined },
  };
  for (const [name, id] of Object.entries(missing)) {
    it(`B28, T1, T2: two calls with ${name} get ids of namespace and index, stable over resumes and restarts`, async () => {
      const ran: string[] = [];
      const stand = new Stand({ tools: () => [asking(ran, "send")] });
      const started = await stand.start(
        { name: "send", args: { n: 1 }, ...id },
        { name: "send", args: { n: 1 }, ...id },
      );
      const first = one(started.interrupts);
      const [, namespace] = first.value.request.taskRun;
      expect(namespace).toMatch(/^tools:/);
      expect(first.value.request.callId).toBe(`${namespace}:0`);
      const before = one((await stand.history()).filter((message) => AIMessage.isInstance(message)));
      forgetProcess();
      expect(one((await stand.rebuild().again()).interrupts).value.binding).toBe(first.value.binding);
      const second = one((await stand.rebuild().decide(first)).interrupts);
      expect(second.value.request.callId).toBe(`${namespace}:1`);
      expect(second.value.binding).not.toBe(first.value.binding);
      forgetProcess();
      const end = await stand.rebuild().decide(second);
      expect(ran).toEqual(["send 1", "send 1"]);
      expect(table(end.tools)).toEqual([
        [`${namespace}:0`, "success", "send 1"],
        [`${namespace}:1`, "success", "send 1"],
      ]);
      // Providers refuse a pair without ids: the message comes back under its own id, with the ids filled in.
      const after = one(end.messages.filter((message) => AIMessage.isInstance(message)));
      expect(after.id).toBe(before.id);
      expect(after.tool_calls?.map((each) => each.id)).toEqual([`${namespace}:0`, `${namespace}:1`]);
      expect(end.messages.map((message) => message.type)).toEqual(["ai", "tool", "tool"]);
    });
  }

  it("B28, T2: only the missing id is filled in, everything else of the message stays", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [counted(ran, "rate")] });
    const message = ai([call("mine", 1, "rate"), { name: "rate", args: { n: 2 } }], {
      content: "thinking",
      id: "m1",
      name: "planner",
      additional_kwargs: { a: 1 },
      response_metadata: { model: "x" },
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    });
    const end = await stand.invoke({ messages: [message] });
    const after = one(end.messages.filter((each) => AIMessage.isInstance(each)));
    expect(after).toMatchObject({
      content: "thinking",
      id: "m1",
      name: "planner",
      additional_kwargs: { a: 1 },
      response_metadata: { model: "x" },
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    });
    expect(after.tool_calls?.map((each) => each.id)).toEqual(["mine", expect.stringMatching(/:1$/)]);
    expect(end.tools.map((each) => each.tool_call_id)).toEqual(after.tool_calls?.map((each) => each.id));
  });

  it("B28: a message whose calls all have ids is not returned again", async () => {
    const ran: string[] = [];
    const stand = new Stand({
      tools: () => [counted(ran, "rate")],
      graph: (node, checkpointer) =>
        new StateGraph(MessagesAnnotation)
          .addNode("tools", async (state, config) => {
            const update = (await node.invoke(state, config)) as { messages: { type: string }[] };
            ran.push(...update.messages.map((message) => message.type));
            return update as never;
          })
          .addEdge(START, "tools")
          .addEdge("tools", END)
          .compile({ checkpointer }) as unknown as App,
    });
    await stand.start(call("c", 1, "rate"));
    expect(ran).toEqual(["rate 1", "tool"]);
  });
});

describe("tool names (B29)", () => {
  const names: Readonly<Record<string, unknown>> = {
    "an invented one": "nope",
    undefined,
    null: null,
    "an empty one": "",
    "one of 10 000 characters": "x".repeat(10_000),
    "one of 10 000 emoji": "😀".repeat(10_000),
    "one with control characters": "a\u0000\u001b[31m\n\u202eb",
    "half a surrogate": "\ud83d",
    constructor: "constructor",
    toString: "toString",
    "a number": 7,
    "an object": {},
  };
  for (const [name, invented] of [...Object.entries(names), ["__proto__", "__proto__"] as const]) {
    it(`B29, T2, T3: ${name} is told to the model in a bounded message; siblings run and ask as ever`, async () => {
      const ran: string[] = [];
      const stand = new Stand({ tools: () => [asking(ran, "send"), counted(ran, "rate")] });
      const paused = await stand.start(
        { name: invented as string, args: { secret: "s3cret" }, id: "u" },
        call("p", 1, "rate"),
        call("c", 2),
      );
      const end = await stand.decide(one(paused.interrupts));
      expect(ran).toEqual(["rate 1", "send 2"]);
      expect(end.tools.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
        ["u", "error"],
        ["p", "success"],
        ["c", "success"],
      ]);
      const message = end.tools[0];
      if (message === undefined) throw new Error("no message");
      const content = JSON.parse(text(message)) as unknown;
      expect(content).toEqual({ error: { kind: "ToolNotFound", message: expect.any(String) as string } });
      expect(text(message).length).toBeLessThan(300);
      expect(text(message)).not.toContain("s3cret");
      expect(message.name?.length ?? 0).toBeLessThanOrEqual(128);
      expect((await stand.entries()).map(({ status, errorKind }) => [status, errorKind])).toContainEqual([
        "failed",
        "ToolNotFound",
      ]);
    });
  }
});

describe("arguments that are none (B31)", () => {
  const broken = { id: "i1", name: "send", args: '{"amount": 5, "token": "s3cret', error: "bad JSON" };

  it("B31, T2: invalid_tool_calls are answered with an error, the valid call runs", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send"), counted(ran, "rate")] });
    const end = await stand.invoke({ messages: [ai([call("c1", 1, "rate")], { invalid_tool_calls: [broken] })] });
    expect(ran).toEqual(["rate 1"]);
    expect(end.interrupts).toEqual([]);
    expect(end.tools.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
      ["c1", "success"],
      ["i1", "error"],
    ]);
    expect(kinds([...end.tools])).toEqual(["result", "ToolArgsInvalid"]);
    expect(JSON.stringify(end.tools)).not.toContain("s3cret");
  });

  it("B31, T2: a message with nothing but invalid calls is answered too, also without ids", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const { id: _id, ...nameless } = broken;
    const end = await stand.invoke({ messages: [ai([], { invalid_tool_calls: [broken, nameless] })] });
    expect(kinds([...end.tools])).toEqual(["ToolArgsInvalid", "ToolArgsInvalid"]);
    expect(end.tools.map((each) => each.tool_call_id)).toEqual(["i1", expect.stringMatching(/:1$/)]);
    const after = one(end.messages.filter((each) => AIMessage.isInstance(each)));
    expect(after.invalid_tool_calls?.map((each) => each.id)).toEqual(end.tools.map((each) => each.tool_call_id));
  });

  const values: Readonly<Record<string, Partial<Call>>> = {
    "a JSON text": { args: '{"n":1}' },
    "a broken text": { args: '{"n":1' },
    "an array": { args: [1] },
    null: { args: null },
    "a number": { args: 5 },
    true: { args: true },
    undefined: { args: undefined },
  };
  for (const [name, args] of Object.entries(values)) {
    it(`B31, G3: ${name} as arguments is ToolArgsInvalid, never an empty object`, async () => {
      const ran: string[] = [];
      const lenient = defineTool({
        name: "lenient",
        description: "takes anything",
        inputSchema: z.object({ n: z.number().optional() }),
        confirm: true,
        execute: () => ran.push("lenient"),
      });
      const stand = new Stand({ tools: () => [lenient] });
      const end = await stand.start({ name: "lenient", id: "c", args: {}, ...args });
      expect(end.interrupts).toEqual([]);
      expect(ran).toEqual([]);
      expect(kinds([...end.tools])).toEqual(["ToolArgsInvalid"]);
      expect(end.tools.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([["c", "error"]]);
    });
  }

  it("B31, G3: a call without arguments at all is ToolArgsInvalid", async () => {
    const ran: string[] = [];
    const stand = new Stand({ tools: () => [asking(ran, "send")] });
    const end = await stand.start({ name: "send", id: "c" } as Call);
    expect(kinds([...end.tools])).toEqual(["ToolArgsInvalid"]);
    expect(ran).toEqual([]);
  });
});

describe("keys that reach for prototypes (B32)", () => {
  const open = (ran: unknown[], confirm: boolean) =>
    defineTool({
      name: "open",
      description: "takes any object",
      inputSchema: z.looseObject({ k: z.number().optional() }),
      confirm,
      execute: (args) => {
        ran.push(args);
        return "ran";
      },
    });
  const hostile: Readonly<Record<string, string>> = {
    "at the top": '{"__proto__":{"admin":true},"k":1}',
    deeper: '{"k":1,"inner":{"list":[{"__proto__":{"admin":true}}]}}',
  };
  for (const [name, json] of Object.entries(hostile)) {
    it(`B32, G3: __proto__ ${name} is refused before anybody sees it`, async () => {
      for (const confirm of [true, false]) {
        const ran: unknown[] = [];
        const stand = new Stand({ tools: () => [open(ran, confirm)] });
        const end = await stand.start({ name: "open", id: "c", args: JSON.parse(json) });
        expect(end.interrupts).toEqual([]);
        expect(ran).toEqual([]);
        expect(kinds([...end.tools])).toEqual(["ToolArgsInvalid"]);
        expect(({} as { admin?: unknown }).admin).toBeUndefined();
      }
    });
  }

  it("B32, G3: constructor.prototype is data like any other, for reviewer and body", async () => {
    const ran: unknown[] = [];
    const stand = new Stand({ tools: () => [open(ran, true)] });
    const args = JSON.parse('{"k":1,"constructor":{"prototype":{"admin":true}}}') as unknown;
    const pending = one((await stand.start({ name: "open", id: "c", args })).interrupts);
    expect(pending.value.request.arguments).toEqual(args);
    forgetProcess();
    await stand.rebuild().decide(pending);
    expect(ran).toEqual([args]);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  it("B32, A7: nor can an edit bring it in", async () => {
    const ran: unknown[] = [];
    const stand = new Stand({ tools: () => [open(ran, true)] });
    const pending = one((await stand.start({ name: "open", id: "c", args: { k: 1 } })).interrupts);
    const editedArgs = JSON.parse('{"__proto__":{"admin":true},"k":2}') as { k: number };
    const thrown = thrownBy(() => stand.sign(pending, approve({ editedArgs })));
    expect(isAgentAdapterError(thrown, "ToolArgsInvalid")).toBe(true);
    expect(ran).toEqual([]);
  });

  it("B32, T4/text: a result with such a key is written into the message, and the thread can be reloaded", async () => {
    const result = JSON.parse('{"__proto__":{"admin":true},"k":1}') as unknown;
    for (const confirm of [false, true]) {
      const ran: string[] = [];
      const stand = new Stand({ tools: () => [counted(ran, "send", { confirm, body: () => result })] });
      let end = await stand.start(call("c", 1), call("c2", 2));
      while (end.interrupts.length > 0) {
        forgetProcess();
        end = await stand.rebuild().decide(one(end.interrupts));
      }
      expect(end.tools.map(text)).toEqual(Array(2).fill('{"__proto__":{"admin":true},"k":1}'));
      expect((await stand.rebuild().history()).slice(1).map(text)).toEqual(end.tools.map(text));
      expect(({} as { admin?: unknown }).admin).toBeUndefined();
    }
  });
});

describe("numbers on their way (B25)", () => {
  const number = (ran: unknown[]) =>
    defineTool({
      name: "pay",
      description: "pay",
      inputSchema: z.object({ n: z.any() }),
      confirm: true,
      execute: ({ n }) => {
        ran.push(n);
        return "paid";
      },
    });

  it("B25, A1: 1, 1.0 and 1e0 have one digest, -0 is 0; 1 and '1', null and nothing differ", async () => {
    const digestOf = async (json: string) => {
      const stand = new Stand({ tools: () => [number([])] });
      await stand.start({ name: "pay", id: "c", args: JSON.parse(json) });
      return one(await stand.entries()).argumentsDigest;
    };
    const ones = await Promise.all(['{"n":1}', '{"n":1.0}', '{"n":1e0}', '{"n":10e-1}'].map(digestOf));
    expect(new Set(ones).size).toBe(1);
    const zeros = await Promise.all(['{"n":0}', '{"n":-0}', '{"n":-0.0}'].map(digestOf));
    expect(new Set(zeros).size).toBe(1);
    const all = await Promise.all(
      ['{"n":1}', '{"n":"1"}', '{"n":true}', '{"n":null}', "{}", '{"n":[1]}'].map(digestOf),
    );
    expect(new Set(all).size).toBe(6);
  });

  for (const n of [0, -0, 1, 1.5, -1.25, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 2 ** 53 - 1, 0.1 + 0.2]) {
    it(`B25, A1: ${Object.is(n, -0) ? "-0" : n} survives pause, checkpoint, restart and resume`, async () => {
      const ran: unknown[] = [];
      const stand = new Stand({ tools: () => [number(ran)] });
      await stand.start({ name: "pay", id: "c", args: { n } });
      forgetProcess();
      const later = stand.rebuild();
      const pending = await later.only();
      expect(pending.value.request.arguments).toEqual({ n: n + 0 });
      await later.decide(JSON.parse(JSON.stringify(pending)));
      expect(ran).toEqual([n + 0]);
    });
  }

  const refused: Readonly<Record<string, unknown>> = {
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    "a BigInt": 5n,
    "a Date": new Date(0),
    "undefined in an array": [1, undefined],
    "a hole in an array": Array(1),
    "a Map": new Map(),
    "a function": () => 1,
    "a symbol": Symbol("s"),
    "half a surrogate": "\ud83d",
  };
  for (const [name, n] of Object.entries(refused)) {
    it(`B25, A1, G3: ${name} is ToolArgsInvalid, never silently something else`, async () => {
      const ran: unknown[] = [];
      // Without a checkpointer: LangGraph itself cannot save some of these.
      const stand = new Stand({
        tools: () => [number(ran)],
        graph: (node) =>
          new StateGraph(MessagesAnnotation)
            .addNode("tools", node)
            .addEdge(START, "tools")
            .addEdge("tools", END)
            .compile() as unknown as App,
      });
      const end = await stand.start({ name: "pay", id: "c", args: { n } });
      expect(kinds([...end.tools])).toEqual(["ToolArgsInvalid"]);
      expect(ran).toEqual([]);
    });
  }

  it("B25: a denial of an odd number is a denial", async () => {
    const ran: unknown[] = [];
    const stand = new Stand({ tools: () => [number(ran)] });
    const pending = one((await stand.start({ name: "pay", id: "c", args: { n: -0 } })).interrupts);
    expect(kinds([...(await stand.decide(pending, deny())).tools])).toEqual(["ApprovalDenied"]);
    expect(ran).toEqual([]);
  });
});
