// OpenAI Agents SDK: needsApproval, and RunState serialized between the pause and the answer. The documentation names two places
// for the serialized state: "in a database, or along with your request". Both are measured.
//   https://openai.github.io/openai-agents-js/guides/human-in-the-loop/

import {
  Agent,
  Runner,
  RunState,
  tool,
  Usage,
  type AgentInputItem,
  type Model,
  type ModelRequest,
} from "@openai/agents";
import type { JsonValue } from "../../src/index.js";
import type { AttackSession, AttackTool, AttackWorld, MakeAttackDriver } from "../../src/testing/attacks/driver.js";
import { argumentsOf, callsOf, LAST_WORD, messageFor } from "./script.js";
import { ThreadFiles } from "./thread-files.js";

const model: Model = {
  getResponse: async ({ input }: ModelRequest) => {
    const last = typeof input === "string" ? { role: "user", content: input } : input.at(-1);
    const text = last !== undefined && "role" in last && last.role === "user" ? last.content : undefined;
    const calls = callsOf(text, true);
    const said = { type: "output_text" as const, text: LAST_WORD };
    const asked = calls.map((call) => ({
      type: "function_call" as const,
      callId: call.id,
      name: call.tool,
      status: "completed" as const,
      arguments: JSON.stringify(call.args),
    }));
    const answered = {
      type: "message" as const,
      role: "assistant" as const,
      status: "completed" as const,
      content: [said],
    };
    return { usage: new Usage(), output: calls.length === 0 ? [answered] : asked };
  },
  getStreamedResponse: () => {
    throw new Error("not streamed");
  },
};

function agentOf(tools: readonly AttackTool[]) {
  return new Agent({
    name: "payer",
    instructions: "Pay what is asked for.",
    model,
    tools: tools.map((each) =>
      tool({
        name: each.name,
        description: each.description,
        parameters: argumentsOf(each),
        needsApproval: each.asks,
        execute: (args) => each.run(args),
      }),
    ),
  });
}

function open({ tools, storage }: AttackWorld, isHeldByClient: boolean): AttackSession {
  const agent = agentOf(tools);
  const runner = new Runner({ tracingDisabled: true });
  const states = new ThreadFiles<string>(storage);
  const stateOf = (serialized: string) => RunState.fromString<unknown, typeof agent>(agent, serialized);
  return {
    async start(thread, calls) {
      const before = states.read(thread);
      const history: AgentInputItem[] = before === undefined ? [] : (await stateOf(before)).history;
      const result = await runner.run(agent, [...history, { role: "user", content: messageFor(thread, calls) }]);
      states.write(thread, result.state.toString());
    },
    async pending(thread) {
      const serialized = states.read(thread);
      if (serialized === undefined) return [];
      return (await stateOf(serialized)).getInterruptions().map(({ rawItem, name }) => ({
        id: "callId" in rawItem ? rawItem.callId : "",
        tool: name ?? "",
        args: JSON.parse(("arguments" in rawItem && rawItem.arguments) || "{}"),
        raw: JSON.parse(JSON.stringify(rawItem)),
        ...(isHeldByClient ? { at: serialized } : {}),
      }));
    },
    approve: async ({ id }) => ({ callId: id, approved: true }),
    deny: async ({ id }) => ({ callId: id, approved: false }),
    async answer(thread, answers, at) {
      const state = await stateOf(typeof at === "string" ? at : (states.read(thread) ?? ""));
      for (const { answer } of answers) decide(state, answer);
      const result = await runner.run(agent, state);
      states.write(thread, result.state.toString());
    },
    // The state is as it was at the pause: the documentation has no other step.
    goOn: async () => undefined,
    save: async (thread) => JSON.parse(states.read(thread) ?? "null"),
    load: async (thread, saved) => states.write(thread, JSON.stringify(saved)),
    forge: async ({ id }) => [{ callId: id, approved: true }],
    close: async () => undefined,
  };
}

/** The SDK has no wire format for a decision; this endpoint takes `{ callId, approved }`. */
function decide(state: RunState<unknown, Agent>, answer: JsonValue): void {
  if (!isDecision(answer)) throw new Error("400: the body is no decision");
  const item = state.getInterruptions().find(({ rawItem }) => "callId" in rawItem && rawItem.callId === answer.callId);
  if (item === undefined) throw new Error(`404: no call ${answer.callId} waits`);
  if (answer.approved) state.approve(item);
  else state.reject(item);
}

function isDecision(value: JsonValue): value is { readonly callId: string; readonly approved: boolean } {
  if (typeof value !== "object" || value === null || !("callId" in value && "approved" in value)) return false;
  return typeof value["callId"] === "string" && typeof value["approved"] === "boolean";
}

const NO_EXPIRY = "answers and requests have no time limit";
const NO_EDIT = "a reviewer approves or rejects; the arguments cannot be changed";
const LAST_STATE = "the server keeps only the last state of a thread";

export const attackDriver: MakeAttackDriver = (holder) => ({
  name: `@openai/agents, RunState kept by the ${holder === "client" ? "client" : "server"}`,
  lacks: {
    edit: NO_EDIT,
    "edit-tool": NO_EDIT,
    "answer-expiry": NO_EXPIRY,
    "request-expiry": NO_EXPIRY,
    ...(holder === "client" ? {} : { history: LAST_STATE }),
  },
  open: async (world) => open(world, holder === "client"),
});
