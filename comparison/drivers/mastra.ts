// Mastra: requireApproval on the tool, LibSQL storage, and memory to find what waits. With "bound": also what its documentation
// calls binding an approval to the exact tool arguments, kept in durable storage and consumed once.
//   https://mastra.ai/docs/agents/human-in-the-loop

import { join } from "node:path";
import { createClient, type Client } from "@libsql/client";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import type { MastraModelConfig } from "@mastra/core/llm";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { Memory } from "@mastra/memory";
import type { JsonValue } from "../../src/index.js";
import type {
  AttackSession,
  AttackTool,
  AttackWorld,
  MakeAttackDriver,
  PendingCall,
} from "../../src/testing/attacks/driver.js";
import { ApprovedOnce } from "./mastra-approved-once.js";
import { loadSnapshots, saveSnapshots } from "./mastra-snapshots.js";
import { argumentsOf, messageFor } from "./script.js";
import { scriptedLanguageModel } from "./scripted-language-model.js";

const RESOURCE = "customer";

interface Built {
  readonly agent: Agent;
  readonly approved: ApprovedOnce | undefined;
  /** The storage's own file. */
  readonly database: Client;
}

async function build({ tools, storage }: AttackWorld, isBound: boolean): Promise<Built> {
  const url = `file:${join(storage, "mastra.db")}`;
  const database = createClient({ url });
  await database.execute("PRAGMA busy_timeout = 5000");
  const approved = isBound ? await ApprovedOnce.open(database) : undefined;
  const agent = new Agent({
    id: "payer",
    name: "payer",
    instructions: "Pay what is asked for.",
    // A model of the AI SDK, as the documentation passes them; its type here wants a stream of doGenerate.
    model: scriptedLanguageModel() as unknown as MastraModelConfig,
    tools: Object.fromEntries(tools.map((each) => [each.name, toolOf(each)])),
    memory: new Memory(),
    ...(approved === undefined ? {} : { hooks: { beforeToolCall: approved.hook(tools) } }),
  });
  const store = new LibSQLStore({ id: "storage", url });
  const mastra = new Mastra({ agents: { payer: agent }, storage: store, logger: false });
  await store.init();
  return { agent: mastra.getAgent("payer"), approved, database };
}

function toolOf(each: AttackTool) {
  return createTool({
    id: each.name,
    description: each.description,
    inputSchema: argumentsOf(each),
    requireApproval: each.asks,
    execute: (args) => each.run(args),
  });
}

/** The body of a decision: what approveToolCall and declineToolCall take, in one. */
interface Body {
  readonly approved: boolean;
  readonly runId: string;
  readonly toolCallId: string;
  /** What the reviewer was shown; for the documented binding. */
  readonly reviewed: { readonly toolName: string; readonly args: JsonValue };
}

async function open(world: AttackWorld, isBound: boolean): Promise<AttackSession> {
  const { agent, approved, database } = await build(world, isBound);
  return {
    async start(thread, calls, trick) {
      const body = typeof trick === "object" ? trick : {};
      await agent.generate(messageFor(thread, calls), { ...body, memory: { thread, resource: RESOURCE } });
    },
    async pending(thread) {
      const { runs } = await agent.listSuspendedRuns({ threadId: thread, resourceId: RESOURCE });
      return runs.flatMap(({ runId, toolCalls }) => toolCalls.map((call) => waiting(runId, call)));
    },
    approve: async (shown) => bodyOf(shown, true),
    deny: async (shown) => bodyOf(shown, false),
    async answer(thread, answers) {
      for (const { answer } of answers) await decide({ agent, approved, thread }, answer);
    },
    // A run that waits is found again by listSuspendedRuns; for others the documentation has no step.
    goOn: async () => undefined,
    save: (thread) => saveSnapshots(database, thread),
    load: (thread, saved) => loadSnapshots(database, thread, saved),
    forge: async (shown) => [bodyOf(shown, true)],
    close: async () => database.close(),
  };
}

interface SuspendedCall {
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly args?: unknown;
}

function waiting(runId: string, { toolCallId = "", toolName = "", args }: SuspendedCall): PendingCall {
  const raw = JSON.parse(JSON.stringify({ runId, toolCallId, toolName, args }));
  return { id: toolCallId, tool: toolName, args: raw.args, raw };
}

function bodyOf({ raw }: PendingCall, approved: boolean): JsonValue {
  // What waiting() made, or an attacker made of it.
  const { runId = "", toolCallId = "", toolName = "", args = {} } = raw as Record<string, JsonValue>;
  return { approved, runId, toolCallId, reviewed: { toolName, args } };
}

async function decide(
  { agent, approved, thread }: Pick<Built, "agent" | "approved"> & { readonly thread: string },
  answer: JsonValue,
): Promise<void> {
  if (!isBody(answer)) throw new Error("400: the body is no decision");
  const { runId, toolCallId, reviewed } = answer;
  // As in "Resuming after a restart": the runs that wait in this conversation.
  const { runs } = await agent.listSuspendedRuns({ threadId: thread, resourceId: RESOURCE });
  if (!runs.some((run) => run.runId === runId)) throw new Error("404: no such run waits in this conversation");
  if (!answer.approved) {
    await agent.declineToolCallGenerate({ runId, toolCallId });
    return;
  }
  const requestContext = await approved?.add({ runId, toolCallId, ...reviewed });
  await agent.approveToolCallGenerate({ runId, toolCallId, ...(requestContext && { requestContext }) });
}

function isBody(value: JsonValue): value is JsonValue & Body {
  return typeof value === "object" && value !== null && "runId" in value && "approved" in value;
}

const NO_EXPIRY = "answers and requests have no time limit";
const ONE_ASKS = "of the calls of one turn that need an approval, one asks at a time";
const NO_EDIT = "a reviewer approves or declines; the arguments of the call cannot be changed";

export const attackDriver: MakeAttackDriver = (binding) => ({
  name: `@mastra/core, LibSQL storage${binding === "bound" ? ", documented binding of arguments" : ""}`,
  lacks: {
    several: ONE_ASKS,
    "one-by-one": ONE_ASKS,
    edit: NO_EDIT,
    "edit-tool": NO_EDIT,
    "answer-expiry": NO_EXPIRY,
    "request-expiry": NO_EXPIRY,
    history: "a decision names a run, and not a point of it",
  },
  callerTricks: [{ requireToolApproval: false }],
  open: (world) => open(world, binding === "bound"),
});
