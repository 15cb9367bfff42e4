// Rows of docs/guide/life-of-an-approval.md in which something around the ask is wrong: nested asks, raw interrupts, sealed
// state that is gone, savers that lose writes, LangGraph's retry policy. Nothing runs that was not approved, and what can go on goes on.

import { tool } from "@langchain/core/tools";
import { interrupt, MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { importLangChain } from "agent-adapter/langchain";
import { aiMessage, ended, only, requestOf, Rig, toolMessages, type Ask, type Step } from "./rig.js";

const PROCESSES = [
  ["in the same process", (rig: Rig) => rig.redeploy()],
  ["in a new process", (rig: Rig) => rig.newProcess()],
] as const;

describe("a nested call that needs a human", () => {
  it("A6: inside an approved tool body it is a ToolUsageError before anybody is asked; nothing nested runs", async () => {
    const rig = new Rig({
      body: (callId, ctx) => (callId === "a1" ? ctx.run("pay", { n: "nested" }) : "nested ran"),
    });
    const ask = await rig.asked();
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("ToolUsageError");
    expect(rig.ran).toEqual(["a1"]);
    expect(await rig.ledger.entries()).toHaveLength(2);
    // The outer answer is spent; the thread says so and is not wedged in a question nobody can see.
    expect(ended(await rig.nothing())).toBe("ApprovalAlreadyDecided");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: inside a plain tool body, too", async () => {
    const rig = new Rig({ body: (callId, ctx) => (callId === "p1" ? ctx.run("pay", { n: "nested" }) : callId) });
    expect(ended(await rig.start(["p1"]))).toBe("ToolUsageError");
    expect(rig.ran).toEqual(["p1"]);
    expect(await rig.pending()).toEqual([]);
  });
});

const question = tool(() => `heard ${String(interrupt("what colour?"))}`, {
  name: "question",
  description: "Asks the user something.",
  schema: z.object({ n: z.string() }),
});

describe.each(PROCESSES)("a raw interrupt() in an imported LangChain tool %s", (_where, next) => {
  const extraTools = (registry: Parameters<typeof importLangChain>[0]) => {
    importLangChain(registry, [question], { effects: "read" });
  };

  it("I1/import, A6: alone in its node it works as in LangGraph", async () => {
    const rig = new Rig({ extraTools });
    const { asks } = await rig.start(["question:q1"]);
    expect(asks.map(({ value }) => value)).toEqual(["what colour?"]);
    const [ask] = asks;
    if (ask === undefined) throw new Error("no question");
    const end = await next(rig).byId(ask, "green");
    expect(toolMessages(end)["question:q1"]).toEqual({ status: "success", content: "heard green" });
  });

  it("I1/import, A6: alone in its node it takes a plain resume", async () => {
    const rig = new Rig({ extraTools });
    await rig.start(["question:q1"]);
    const end = await next(rig).plain("green");
    expect(toolMessages(end)["question:q1"]).toEqual({ status: "success", content: "heard green" });
  });

  it("A6: beside an approval in one node it is a ToolUsageError before a human is asked to approve", async () => {
    const rig = new Rig({ extraTools });
    const { asks } = await rig.start(["question:q1", "a1"]);
    const [ask] = asks;
    if (ask === undefined) throw new Error("no question");
    expect(ask.value).toBe("what colour?");
    expect(ended(await next(rig).byId(ask, "green"))).toBe("ToolUsageError");
    expect(rig.ran).toEqual([]);
  });

  it("A6: a signed answer given to a raw question approves nothing", async () => {
    const rig = new Rig({ extraTools });
    const other = new Rig();
    const shown = await other.asked(["a1"]);
    const { asks } = await rig.start(["question:q1", "a1"]);
    expect(ended(await next(rig).byId(asks[0] ?? { id: "" }, other.answer(shown)))).toBe("ToolUsageError");
    expect(rig.ran).toEqual([]);
  });
});

/** Change the stored rows of the checkpointer, as somebody with access to its database could. */
function tamper(rig: Rig, channel: string, edit: (text: string) => string): () => void {
  const before: [Record<string, unknown>, string, unknown][] = [];
  for (const rows of Object.values(rig.saver.writes)) {
    for (const [key, row] of Object.entries(rows)) {
      if (row[1] !== channel) continue;
      before.push([rows, key, row]);
      const changed = new TextEncoder().encode(edit(new TextDecoder().decode(row[2])));
      rows[key] = [row[0], row[1], changed, row[3] ?? ""] as never;
    }
  }
  expect(before).not.toEqual([]);
  return () => {
    for (const [rows, key, row] of before) rows[key] = row;
  };
}

const SEAL = /"aa_state":"[^"]*"/;

describe("A6, J3/ask-record: sealed state that does not open: FlowError, nothing runs, and it works again when it is back", () => {
  async function expectClosed(rig: Rig, ask: Ask): Promise<void> {
    const answer = rig.answer(ask);
    const steps: readonly (() => Promise<Step>)[] = [
      () => rig.nothing(),
      () => rig.byId(ask, answer),
      () => rig.plain(answer),
      () => rig.byId(ask, "yes"),
    ];
    for (const step of steps) expect(ended(await step())).toBe("FlowError");
    expect(rig.ran).toEqual([]);
  }

  async function expectOpen(rig: Rig, ask: Ask): Promise<void> {
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  }

  it.each([
    ["missing", (text: string) => text.replace(/,?"aa_state":"[^"]*"/, "")],
    ["empty", (text: string) => text.replace(SEAL, '"aa_state":""')],
    ["not text", (text: string) => text.replace(SEAL, '"aa_state":{}')],
    ["truncated", (text: string) => text.replace(/("aa_state":"[^"]{40})[^"]*"/, '$1"')],
    [
      "changed in one character",
      (text: string) => text.replace(/("aa_state":"[^"]{60})(.)/, (_all, a, b) => a + (b === "A" ? "B" : "A")),
    ],
  ])("aa_state %s", async (_what, edit) => {
    for (const [, next] of PROCESSES) {
      const rig = new Rig();
      const ask = await rig.asked();
      const restore = tamper(rig, "__interrupt__", edit);
      await expectClosed(next(rig), ask);
      restore();
      await expectOpen(next(rig), ask);
      expect(rig.ran).toEqual(["a1"]);
    }
  });

  it("aa_state swapped for the one of another thread", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    const other = await rig.asked(["a1"], { thread: "u" });
    const restore = tamper(rig, "__interrupt__", (text) => text.replace(SEAL, `"aa_state":"${other.value.aa_state}"`));
    await expectClosed(rig.newProcess(), ask);
    restore();
    await expectOpen(rig.newProcess(), ask);
    expect(rig.ran).toEqual(["a1"]);
  });

  it("its key is not there, and comes back", async () => {
    const rig = new Rig({ key: "the answer key stays the same, 32" });
    const ask = await rig.asked();
    const { secret } = rig.is;
    await expectClosed(rig.newProcess({ secret: "another root secret, long enough!" }), ask);
    await expectClosed(
      rig.newProcess({ secret: ["another root secret, long enough!", "and a third one, also long enough"] }),
      ask,
    );
    await expectOpen(rig.newProcess({ secret: ["another root secret, long enough!", String(secret)] }), ask);
    expect(rig.ran).toEqual(["a1"]);
  });

  it("the displayed request is changed in the checkpointer: whoever signs refuses it, and what is sealed is what runs", async () => {
    const rig = new Rig();
    const ask = await rig.asked();
    tamper(rig, "__interrupt__", (text) => text.replace('"n":"a1"', '"n":"a 9999"'));
    const [shown] = await rig.pending();
    if (shown === undefined) throw new Error("nothing pending");
    expect(requestOf(shown).arguments).toEqual({ n: "a 9999" });
    expect(() => rig.answer(shown)).toThrow("binding does not match");
    await expectOpen(rig.newProcess(), ask);
  });

  it("a mark that was changed, truncated, or taken from another task run", async () => {
    for (const edit of [(text: string) => `"${text.slice(20)}`, (text: string) => text.replace(/.{3}"$/, 'AAA"')]) {
      const rig = new Rig();
      const ask = await rig.asked(["a1", "a2"]);
      const second = only(await rig.byId(ask, rig.answer(ask)));
      const restore = tamper(rig, "aa:spent", edit);
      expect(ended(await rig.newProcess().nothing())).toBe("FlowError");
      expect(ended(await rig.newProcess().byId(second, rig.answer(second)))).toBe("FlowError");
      restore();
      expect(ended(await rig.newProcess().byId(second, rig.answer(second)))).toBe("done");
      expect(rig.ran).toEqual(["a1", "a2"]);
    }
  });

  it("an outcome that was changed", async () => {
    const rig = new Rig();
    const ask = await rig.asked(["a1", "a2"]);
    const second = only(await rig.byId(ask, rig.answer(ask)));
    tamper(rig, "aa:done", (text) => text.replace(/.{3}"$/, 'AAA"'));
    expect(ended(await rig.newProcess().byId(second, rig.answer(second)))).toBe("FlowError");
    expect(rig.ran).toEqual(["a1"]);
  });
});

/** Keeps LangGraph's own writes and drops ours. */
class ForgetfulSaver extends MemorySaver {
  override async putWrites(...[config, writes, taskId]: Parameters<MemorySaver["putWrites"]>): Promise<void> {
    if (!taskId.startsWith("aa:")) await super.putWrites(config, writes, taskId);
  }
}

describe("a checkpointer that drops private writes", () => {
  it("A6: nothing runs: FlowError before the tool", async () => {
    const rig = new Rig();
    rig.saver = new ForgetfulSaver();
    rig.redeploy();
    const ask = await rig.asked();
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("FlowError");
    expect(rig.ran).toEqual([]);
  });
});

describe("LangGraph's retryPolicy on the node", () => {
  const nodeOptions = { retryPolicy: { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false } };

  it.each(PROCESSES)(
    "A6, L2: an invalid answer by id stays invalid after all attempts, then a good one is used %s",
    async (_where, next) => {
      const rig = new Rig({ nodeOptions });
      const ask = await rig.asked();
      expect(ended(await next(rig).byId(ask, "yes"))).toBe("invalid");
      expect(rig.ran).toEqual([]);
      expect(only(await next(rig).nothing()).value.binding).toBe(ask.value.binding);
      expect(ended(await next(rig).byId(ask, rig.answer(ask)))).toBe("done");
      expect(rig.ran).toEqual(["a1"]);
    },
  );

  it.each(PROCESSES)(
    "A6, L2: an invalid plain answer never runs anything; the same request waits %s",
    async (_where, next) => {
      const rig = new Rig({ nodeOptions });
      const ask = await rig.asked();
      const step = await next(rig).plain("yes");
      expect(["invalid", "asks a1.0"]).toContain(ended(step));
      expect(rig.ran).toEqual([]);
      expect(only(await next(rig).nothing()).value.binding).toBe(ask.value.binding);
      expect(ended(await next(rig).plain(rig.answer(ask)))).toBe("done");
      expect(rig.ran).toEqual(["a1"]);
    },
  );

  it.each([
    ["by id", (rig: Rig, ask: Ask) => rig.byId(ask, rig.answer(ask))],
    ["plain", (rig: Rig, ask: Ask) => rig.plain(rig.answer(ask))],
  ] as const)(
    "A6: a failure before the claim inside the attempts: the answer %s is used by a later attempt, once",
    async (_how, deliver) => {
      let failures = 0;
      const beforeTool = () => {
        if (failures <= 0) return;
        failures -= 1;
        throw new Error("the budget service is down");
      };
      const rig = new Rig({ nodeOptions, hooks: [{ beforeTool }] });
      const ask = await rig.asked();
      failures = 2;
      expect(ended(await deliver(rig, ask))).toBe("done");
      expect(rig.ran).toEqual(["a1"]);
    },
  );

  it("A6: a failure before the claim in every attempt keeps the answer for `null`", async () => {
    let broken = false;
    const beforeTool = () => {
      if (broken) throw new Error("the budget service is down");
    };
    const rig = new Rig({ nodeOptions, hooks: [{ beforeTool }] });
    const ask = await rig.asked();
    broken = true;
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("Error: the budget service is down");
    broken = false;
    expect(ended(await rig.nothing())).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6, E5: the body fails after the use: no attempt runs it again", async () => {
    const rig = new Rig({
      nodeOptions,
      body: () => {
        throw new Error("gateway 500");
      },
    });
    const ask = await rig.asked();
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("ApprovalAlreadyDecided");
    expect(rig.ran).toEqual(["a1"]);
    expect(ended(await rig.nothing())).toBe("ApprovalAlreadyDecided");
    expect(rig.ran).toEqual(["a1"]);
  });

  it("A6: code after the approved call fails once: the next attempt replays it", async () => {
    let failures = 1;
    const afterTool = () => {
      if (failures-- > 0) throw new Error("after");
    };
    const rig = new Rig({ nodeOptions, hooks: [{ afterTool }] });
    const ask = await rig.asked();
    expect(ended(await rig.byId(ask, rig.answer(ask)))).toBe("done");
    expect(rig.ran).toEqual(["a1"]);
  });
});

describe("the same call id with other raw arguments in one task run", () => {
  it("A6: is a ToolUsageError; the answer is not used for it", async () => {
    const rig = new Rig();
    const first = aiMessage(["a1"]);
    first.id = "m1";
    const { asks } = await rig.step({ messages: [first] });
    const [ask] = asks;
    if (ask === undefined) throw new Error("no ask");
    const changed = aiMessage(["a1"]);
    changed.id = "m1";
    if (changed.tool_calls?.[0] !== undefined) changed.tool_calls[0].args = { n: "9999" };
    for (const [, next] of PROCESSES) {
      const step = await next(rig).byMap({ [ask.id]: rig.answer(ask) }, { update: { messages: [changed] } });
      expect(ended(step)).toBe("ToolUsageError");
      expect(rig.ran).toEqual([]);
    }
  });
});

describe("a graph without a checkpointer", () => {
  it("A6: a call that needs a human is a ToolUsageError that says what is missing", async () => {
    const rig = new Rig();
    Object.assign(rig, { saver: undefined });
    rig.redeploy();
    const step = await rig.start();
    expect(ended(step)).toBe("ToolUsageError");
    expect(String(step.error)).toContain("checkpointer");
    expect(rig.ran).toEqual([]);
  });
});
