// LangChain's humanInTheLoopMiddleware in createAgent, on MemorySaver or SqliteSaver.
//   https://docs.langchain.com/oss/javascript/langchain/human-in-the-loop
//   https://docs.langchain.com/oss/javascript/langgraph/interrupts (a resume by interrupt id)

import { join } from "node:path";
import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { ChatResult } from "@langchain/core/outputs";
import { Command, MemorySaver } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { createAgent, humanInTheLoopMiddleware, tool, type HITLRequest } from "langchain";
import type { JsonObject, JsonValue } from "../../src/index.js";
import type {
  AttackSession,
  AttackTool,
  AttackWorld,
  ClientAnswer,
  MakeAttackDriver,
  PendingCall,
} from "../../src/testing/attacks/driver.js";
import { loadThread, saveThread } from "../../test/attack-kit/drivers/thread-rows.js";
import { argumentsOf, callsOf, LAST_WORD, messageFor } from "./script.js";

class ScriptedModel extends BaseChatModel {
  constructor() {
    super({});
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  override _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const calls = callsOf(messages.at(-1)?.content, HumanMessage.isInstance(messages.at(-1)));
    const tool_calls = calls.map(({ id, tool: name, args }) => ({ id, name, args, type: "tool_call" as const }));
    const message = new AIMessage({ content: calls.length === 0 ? LAST_WORD : "", tool_calls });
    return Promise.resolve({ generations: [{ message, text: LAST_WORD }] });
  }
}

function agentOf(tools: readonly AttackTool[], checkpointer: MemorySaver | SqliteSaver) {
  return createAgent({
    model: new ScriptedModel(),
    tools: tools.map((each) =>
      tool((args) => each.run(args), { name: each.name, description: each.description, schema: argumentsOf(each) }),
    ),
    middleware: [
      humanInTheLoopMiddleware({
        // Approve, edit and reject: what the documentation calls the default.
        interruptOn: Object.fromEntries(tools.map(({ name, asks }) => [name, asks])),
      }),
    ],
    checkpointer,
  });
}

const configOf = (thread: string) => ({ configurable: { thread_id: thread } });

function open({ tools, storage }: AttackWorld, kind: string): AttackSession {
  const checkpointer =
    kind === "sqlite" ? SqliteSaver.fromConnString(join(storage, "checkpoints.db")) : new MemorySaver();
  const agent = agentOf(tools, checkpointer);
  // The same class, of the root's install.
  const saver = checkpointer as unknown as Parameters<typeof saveThread>[0];
  return {
    async start(thread, calls, trick) {
      // What a client may send with a run: https://docs.langchain.com/langsmith/agent-server-api (context).
      const context = trick === undefined ? {} : { context: trick as object };
      await agent.invoke(
        { messages: [{ role: "user", content: messageFor(thread, calls) }] },
        { ...configOf(thread), ...context },
      );
    },
    async pending(thread) {
      const { tasks, config } = await agent.graph.getState(configOf(thread));
      const interrupts = tasks.flatMap((task) => task.interrupts);
      return interrupts.flatMap(({ id = "", value }) => waiting(id, value, config.configurable?.["checkpoint_id"]));
    },
    approve: async (shown, { edit, editTool = shown.tool } = {}) =>
      decided(shown, edit === undefined ? APPROVE : edited(editTool, edit)),
    deny: async (shown) => decided(shown, { type: "reject", message: "no" }),
    async answer(thread, answers, at) {
      const { configurable } = configOf(thread);
      const config = { configurable: at === undefined ? configurable : { ...configurable, checkpoint_id: at } };
      await agent.invoke(new Command({ resume: resumeOf(answers) }), config);
    },
    async goOn(thread) {
      await agent.invoke(null, configOf(thread));
    },
    forge: async (shown) => [
      decided(shown, APPROVE),
      decided(shown, edited(shown.tool, shown.args)),
      { decisions: [APPROVE] },
    ],
    save: (thread) => saveThread(saver, thread),
    load: (thread, saved) => loadThread(saver, thread, saved),
    close: async () => undefined,
  };
}

const APPROVE: JsonObject = { type: "approve" };

function edited(name: string, args: JsonObject): JsonObject {
  return { type: "edit", editedAction: { name, args } };
}

/** One interrupt shows all calls of the turn that wait, in order, and no call ids. */
function waiting(interrupt: string, value: HITLRequest, at: string): PendingCall[] {
  return value.actionRequests.map(({ name, args }, index) => ({
    id: `${interrupt}/${index}`,
    tool: name,
    args: args as PendingCall["args"],
    raw: { interrupt, index, request: JSON.parse(JSON.stringify(value)) },
    at,
  }));
}

/** What a client puts into `command.resume`: decisions by interrupt id, in the order of the calls, or whatever else it made up. */
function resumeOf(answers: readonly ClientAnswer[]): unknown {
  const decisions = answers.flatMap(({ answer }) => (isDecision(answer) ? [answer] : []));
  if (decisions.length < answers.length) return answers[0]?.answer;
  const resume: Record<string, { decisions: unknown[] }> = {};
  for (const { interrupt, decision } of decisions.toSorted((one, other) => one.index - other.index)) {
    (resume[interrupt] ??= { decisions: [] }).decisions.push(decision);
  }
  return resume;
}

/** The decision about one call: an interrupt asks about all calls of a turn, and takes their decisions in one list. */
type Decision = { readonly interrupt: string; readonly index: number; readonly decision: JsonObject };

function decided({ raw }: PendingCall, decision: JsonObject): JsonObject {
  // What waiting() made, or an attacker made of it.
  const { interrupt = "", index = 0 } = raw as JsonObject;
  return { interrupt, index, decision };
}

function isDecision(value: JsonValue): value is Decision {
  return typeof value === "object" && value !== null && "interrupt" in value && "index" in value && "decision" in value;
}

const NO_EXPIRY = "answers and requests have no time limit";
const IN_MEMORY = "MemorySaver keeps threads in the process; the documentation names it for testing and prototyping";

export const attackDriver: MakeAttackDriver = (saver) => ({
  name: `langchain humanInTheLoopMiddleware, ${saver === "sqlite" ? "SqliteSaver" : "MemorySaver"}`,
  lacks: {
    "one-by-one": "the decisions for all calls of a turn are sent in one list",
    "answer-expiry": NO_EXPIRY,
    "request-expiry": NO_EXPIRY,
    ...(saver === "sqlite" ? {} : { restart: IN_MEMORY, processes: IN_MEMORY }),
  },
  callerTricks: [{ interruptOn: { pay: false, wipe: false } }],
  open: async (world) => open(world, String(saver)),
});
