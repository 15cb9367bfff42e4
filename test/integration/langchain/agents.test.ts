// Agents of LangChain's `createAgent` with `agentAdapterMiddleware`. Properties proved: every call runs through the executor
// and gets one message; requests of parallel calls wait together; whatever a human decided, each tool runs once.
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { approve, deny, type AnyToolSpec, type ApprovalDecision } from "agent-adapter";
import { resume } from "agent-adapter/langgraph";
import { AgentStand, says, type AgentOptions } from "../../support/agents.js";
import { forgetProcess } from "../../support/process.js";
import { about, asking, call, counted, one, table, type Turn } from "../../support/langgraph.js";

const EDITED = { n: 20 };
const DECISIONS: Readonly<Record<string, ApprovalDecision>> = {
  approve: approve({ by: "ana" }),
  deny: deny({ by: "ben", reason: "no" }),
  edit: approve({ by: "ana", editedArgs: EDITED }),
};

/** Three tools, one reply that calls all of them: two need a human. */
function three(ran: string[], more: Partial<AgentOptions> = {}): AgentStand {
  const tools = (): AnyToolSpec[] => [
    asking(ran, "pay"),
    asking(ran, "send"),
    counted(ran, "rate", { effects: "read" }),
  ];
  const script = [says(call("c1", 1, "pay"), call("c2", 2, "send"), call("c3", 3, "rate")), new AIMessage("All done.")];
  return new AgentStand({ tools, script, ...more });
}

const ids = (turn: Turn) => turn.interrupts.map(({ value }) => value.request.callId).toSorted();

describe("B16, I2: one reply with three calls, two of which need a human", () => {
  it("I2, L1: the plain one runs, both requests surface together, and each is answered by its id", async () => {
    const ran: string[] = [];
    const stand = three(ran);
    const paused = await stand.start();
    expect(ran).toEqual(["rate 3"]);
    expect(ids(paused)).toEqual(["c1", "c2"]);
    const partly = await stand.resume({
      [about(paused.interrupts, "c2").id]: stand.sign(about(paused.interrupts, "c2")),
    });
    expect(ids(partly)).toEqual(["c1"]);
    expect(ran).toEqual(["rate 3", "send 2"]);
    const done = await stand.resume({ [one(partly.interrupts).id]: stand.sign(one(partly.interrupts)) });
    expect(done.interrupts).toEqual([]);
    expect(ran).toEqual(["rate 3", "send 2", "pay 1"]);
    expect(table(done.tools)).toEqual([
      ["c1", "success", "pay 1"],
      ["c2", "success", "send 2"],
      ["c3", "success", "rate 3"],
    ]);
    expect(done.messages.at(-1)?.text).toBe("All done.");
  });

  const pairs = Object.keys(DECISIONS).flatMap((a) => Object.keys(DECISIONS).map((b) => [a, b] as const));
  it.each(pairs)(
    "B16, I2, T2: %s one and %s the other, app rebuilt in between: one message per call, every tool once",
    async (first, second) => {
      const ran: string[] = [];
      const before = three(ran);
      const paused = await before.start();
      const said = paused.messages.find((message) => AIMessage.isInstance(message));
      const decisions = { c1: DECISIONS[first], c2: DECISIONS[second] };
      // In the order that is not that of the calls, each answer in a program of its own.
      for (const callId of ["c2", "c1"] as const) {
        forgetProcess();
        const after = before.rebuild({ script: callId === "c1" ? [new AIMessage("All done.")] : [] });
        const pending = one((await after.pending()).filter(({ request }) => request.callId === callId));
        await resume(after.agent, { [pending.id]: decisions[callId] ?? deny() }, after.config);
      }
      const after = before.rebuild();
      const { messages } = (await stateOf(after)).values;
      const tools = messages.filter((message) => ToolMessage.isInstance(message));
      const told = (name: string, n: number, how: string) =>
        ({
          approve: ["success", `${name} ${n}`],
          deny: ["error", '{"error":{"kind":"ApprovalDenied","message":"a reviewer denied this call: no"}}'],
          edit: ["success", `[A reviewer changed the arguments of this call to {"n":20}]\n${name} 20`],
        })[how] ?? [];
      expect(table(tools)).toEqual([
        ["c1", ...told("pay", 1, first)],
        ["c2", ...told("send", 2, second)],
        ["c3", "success", "rate 3"],
      ]);
      const runs = [
        "rate 3",
        ...(second === "deny" ? [] : [`send ${second === "edit" ? 20 : 2}`]),
        ...(first === "deny" ? [] : [`pay ${first === "edit" ? 20 : 1}`]),
      ];
      expect(ran).toEqual(runs);
      const calls = messages.filter(
        (message) => AIMessage.isInstance(message) && (message.tool_calls ?? []).length > 0,
      );
      expect(one(calls).toDict()).toEqual(said?.toDict());
      expect(messages.at(-1)?.text).toBe("All done.");
      const entries = (await after.entries()).map(({ callId, status }) => `${callId} ${status}`);
      const ended = (how: string) => (how === "deny" ? "denied" : "ok");
      expect(entries.toSorted()).toEqual([`c1 ${ended(first)}`, `c2 ${ended(second)}`, "c3 ok"]);
    },
  );

  it("B16, I2: both answered at once, and the same answers again run nothing", async () => {
    const ran: string[] = [];
    const stand = three(ran);
    const paused = await stand.start();
    const answers = Object.fromEntries(paused.interrupts.map((pending) => [pending.id, stand.sign(pending)]));
    const done = await stand.resume(answers);
    expect(done.tools).toHaveLength(3);
    expect(ran.toSorted()).toEqual(["pay 1", "rate 3", "send 2"]);
    await stand.resume(answers);
    expect(ran).toHaveLength(3);
  });

  it("A5, I2: ten callers with the same answers run every tool once", async () => {
    const ran: string[] = [];
    const stand = three(ran);
    const paused = await stand.start();
    const answers = Object.fromEntries(paused.interrupts.map((pending) => [pending.id, stand.sign(pending)]));
    await Promise.allSettled(Array.from({ length: 10 }, () => stand.resume(answers)));
    expect(ran.toSorted()).toEqual(["pay 1", "rate 3", "send 2"]);
  });

  it("I2, R5: pendingApprovals and resume work on the agent and find its executor", async () => {
    const ran: string[] = [];
    const stand = three(ran);
    await stand.start();
    const pending = await stand.pending();
    expect(pending.map(({ node, status, request }) => [node, status, request.tool, request.arguments])).toEqual([
      ["tools", "waiting", "pay", { n: 1 }],
      ["tools", "waiting", "send", { n: 2 }],
    ]);
    const answers = Object.fromEntries(pending.map(({ binding }) => [binding, approve({ by: "ana" })]));
    await resume(stand.agent, answers, stand.config);
    expect(ran.toSorted()).toEqual(["pay 1", "rate 3", "send 2"]);
    expect(await stand.pending()).toEqual([]);
  });

  it("I2: an agent whose calls share one node (version v1) asks one at a time and runs each once", async () => {
    const ran: string[] = [];
    const stand = three(ran, { agent: { version: "v1" } });
    let turn = await stand.start();
    const shown: string[] = [];
    for (let rounds = 0; turn.interrupts.length > 0 && rounds < 4; rounds += 1) {
      const pending = one(turn.interrupts);
      shown.push(pending.value.request.callId);
      turn = await stand.resume({ [pending.id]: stand.sign(pending) });
    }
    expect(shown.toSorted()).toEqual(["c1", "c2"]);
    expect(ran.toSorted()).toEqual(["pay 1", "rate 3", "send 2"]);
    expect(turn.tools.map((message) => message.tool_call_id)).toEqual(["c1", "c2", "c3"]);
  });
});

async function stateOf(stand: AgentStand) {
  const state = await stand.agent.getState(stand.config as never);
  return state as { readonly values: { readonly messages: readonly (AIMessage | ToolMessage)[] } };
}
