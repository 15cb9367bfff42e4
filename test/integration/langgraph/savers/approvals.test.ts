// Approvals over LangGraph's own checkpointers, open and encrypted: each step in an app of its own that remembers nothing of the
// step before, and nothing in the storage to read when it is encrypted.
import { HumanMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, defineTool, deny, isAgentAdapterError } from "agent-adapter";
import { encryptedSaver, isInvalidAnswer } from "agent-adapter/langgraph";
import {
  about,
  ai,
  asking,
  aTaskPerCall,
  call,
  counted,
  failure,
  one,
  Stand,
  table,
  type Durability,
  type StandOptions,
} from "../../../support/langgraph.js";
import { reportSkipped } from "../../../support/postgres.js";
import { forgetProcess } from "../../../support/process.js";
import { engines, type Storage } from "../../../support/savers.js";

const key = "a key for checkpointers, 32 bytes";
const all = engines();

afterEach(forgetProcess);
afterAll(async () => {
  reportSkipped(14, "approvals on PostgreSQL");
  for (const engine of all) await engine.stop();
});

const cases = all.flatMap((engine) => [
  { ...engine, title: `${engine.name}, open`, wrap: (saver: BaseCheckpointSaver) => saver },
  {
    ...engine,
    title: `${engine.name}, encrypted`,
    wrap: (saver: BaseCheckpointSaver): BaseCheckpointSaver => encryptedSaver(saver, { key }),
  },
]);

describe.each(cases)("$title", ({ open, wrap, title }) => {
  let storage: Storage;
  beforeEach(async () => {
    storage = await open();
  }, 60_000);
  afterEach(() => storage.close());

  function first(options: Omit<StandOptions, "saver">): Stand {
    return new Stand({ ...options, saver: wrap(storage.saver) });
  }

  /** The same app as another process would build it. */
  function elsewhere(stand: Stand, changes: Partial<StandOptions> = {}): Stand {
    forgetProcess();
    return stand.rebuild({ saver: wrap(storage.another()), ...changes });
  }

  it.each(["sync", "async", "exit"] as const)(
    "R7: pause, invalid answer, signed answer, second use, each in another process, %s",
    async (durability: Durability) => {
      const ran: string[] = [];
      const stand = first({ tools: () => [asking(ran, "send"), counted(ran, "look")], durability });
      const pending = one((await stand.start(call("a", 1, "look"), call("b", 2))).interrupts);
      const paused = await stand.app.getState(stand.config);

      const second = elsewhere(stand);
      const refused = await failure(second.resume({ [pending.id]: { type: "approve" } }));
      expect(isInvalidAnswer(refused)).toBe(true);

      const third = elsewhere(stand);
      const shown = await third.only();
      expect(shown.value.binding).toBe(pending.value.binding);
      const answer = third.sign(shown);
      const done = await third.resume({ [shown.id]: answer });
      expect(table(done.tools)).toEqual([
        ["a", "success", "look 1"],
        ["b", "success", "send 2"],
      ]);
      expect(ran.filter((name) => name === "send 2")).toHaveLength(1);

      const checkpoint = Reflect.get(paused.config, "configurable") as Record<string, unknown>;
      const again = elsewhere(stand, { configurable: checkpoint });
      const used = await failure(again.resume({ [shown.id]: answer }));
      expect(isAgentAdapterError(used, "ApprovalAlreadyDecided")).toBe(true);
      expect(ran.filter((name) => name === "send 2")).toHaveLength(1);
    },
    30_000,
  );

  it("R7: a use that failed is remembered by another process", async () => {
    const ran: string[] = [];
    const body = () => {
      throw new Error("the bank is closed");
    };
    const stand = first({ tools: () => [asking(ran, "send", { body })] });
    const pending = one((await stand.start(call("a", 1))).interrupts);
    const failed = await failure(elsewhere(stand).decide(pending));
    expect(isAgentAdapterError(failed, "ToolFailed")).toBe(true);
    const later = await failure(elsewhere(stand).again());
    expect(isAgentAdapterError(later, "ApprovalAlreadyDecided")).toBe(true);
    expect(ran).toEqual(["send 1"]);
  }, 30_000);

  it("R7: after a denial the tool never runs, in any process", async () => {
    const ran: string[] = [];
    const stand = first({ tools: () => [asking(ran, "send")] });
    const pending = one((await stand.start(call("a", 1))).interrupts);
    const denied = await elsewhere(stand).decide(pending, deny({ reason: "no" }));
    expect(table(denied.tools).map(([id, status]) => [id, status])).toEqual([["a", "error"]]);
    const history = await elsewhere(stand).history();
    expect(history.at(-1)?.content).toContain("ApprovalDenied");
    expect(ran).toEqual([]);
  }, 30_000);

  it("R7: two tasks wait side by side and are answered one after the other", async () => {
    const ran: string[] = [];
    const stand = first({ tools: () => [asking(ran, "send")], graph: aTaskPerCall });
    const { interrupts } = await stand.start(call("a", 1), call("b", 2));
    const [a, b] = [about(interrupts, "a"), about(interrupts, "b")];
    const second = await elsewhere(stand).decide(b);
    expect(second.interrupts.map(({ id }) => id)).toEqual([a.id]);
    const wrong = elsewhere(stand);
    const swapped = await failure(wrong.resume({ [a.id]: wrong.sign(b) }));
    expect(isInvalidAnswer(swapped)).toBe(true);
    await elsewhere(stand).decide(a);
    expect(ran).toEqual(["send 2", "send 1"]);
    const { tools } = await elsewhere(stand).again();
    expect(table(tools).toSorted(([left], [right]) => left.localeCompare(right))).toEqual([
      ["a", "success", "send 1"],
      ["b", "success", "send 2"],
    ]);
  }, 30_000);

  it("R7: what is kept can be read when it is open, and none of it when it is encrypted", async () => {
    const canaries = {
      said: "canarysaid",
      argument: "canaryargument",
      edited: "canaryedited",
      result: "canaryresult",
      approval: "canaryapproval",
      denial: "canarydenial",
      error: "canaryerror",
      resume: "canaryresume",
    };
    const send = defineTool({
      name: "send",
      description: "sends",
      inputSchema: z.object({ text: z.string() }),
      confirm: true,
      execute: ({ text }) => `${canaries.result} ${text}`,
    });
    const thread = `canaries-${title}`;
    const stand = first({ tools: () => [send], graph: aTaskPerCall, thread });
    const calls = ["a", "b"].map((id) => ({ name: "send", args: { text: canaries.argument }, id }));
    await stand.invoke({ messages: [new HumanMessage(canaries.said), ai(calls)] });
    const pending = await stand.pending();
    await failure(stand.resume({ [about(pending, "a").id]: canaries.resume }));
    const edit = approve({ editedArgs: { text: canaries.edited }, reason: canaries.approval });
    await stand.decide(about(pending, "a"), edit);
    const { messages } = await stand.decide(about(pending, "b"), deny({ reason: canaries.denial }));
    expect(messages.length).toBe(4);
    const failing = first({
      tools: () => [send],
      thread: `${thread}-2`,
      hooks: [{ beforeTool: () => Promise.reject(new Error(canaries.error)) }],
    });
    await failure(failing.start({ name: "send", args: { text: "x" }, id: "c" }));

    const kept = await storage.bytes();
    const found = Object.values(canaries).filter((canary) => kept.includes(canary));
    expect(found).toEqual(title.includes("open") ? Object.values(canaries) : []);
  }, 30_000);
});
