// A process is killed while an approved tool runs. What the next one sees, and how it goes on. Each step is an OS process of its
// own on one SQLite file; a child plays the step it was started for. Checks itself.

import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { approve, Executor, isAgentAdapterError, Registry } from "agent-adapter";
import { LangGraphApproval, pendingApprovals, resume, toolNode } from "agent-adapter/langgraph";
import { z } from "zod";
import { finish, heading, tried } from "./support/page.js";

const [step, folder = mkdtempSync(join(tmpdir(), "crash-"))] = process.argv.slice(2);
const bank = join(folder, "bank.txt"); // what the bank really did
const config = { configurable: { thread_id: "invoice-7" } };

function program(unknownAfterMs: number | undefined) {
  const registry = new Registry();
  registry.tool({
    name: "pay",
    description: "Pay an invoice.",
    inputSchema: z.object({ invoice: z.string() }),
    confirm: true,
    effects: "destructive",
    execute: ({ invoice }, { idempotencyKey }) => {
      // A bank that deduplicates: the same key is the same payment.
      const before = existsSync(bank) ? readFileSync(bank, "utf8") : "";
      if (!before.includes(idempotencyKey)) appendFileSync(bank, `${idempotencyKey} ${invoice}\n`);
      if (step === "approve") process.kill(process.pid, "SIGKILL"); // the power goes out just now
      return `paid ${invoice}`;
    },
  });
  const key = "16 bytes or more from your secret store";
  const port = new LangGraphApproval({ key, ...(unknownAfterMs === undefined ? {} : { unknownAfterMs }) });
  return new StateGraph(MessagesAnnotation)
    .addNode("tools", toolNode(registry, { executor: new Executor(registry, { approval: port }) }))
    .addEdge(START, "tools")
    .compile({ checkpointer: SqliteSaver.fromConnString(join(folder, "checkpoints.db")) });
}
type App = ReturnType<typeof program>;

async function ask(app: App): Promise<string> {
  const call = { id: "call-1", name: "pay", args: { invoice: "7" } };
  await app.invoke({ messages: [new AIMessage({ content: "", tool_calls: [call] })] }, config);
  return look(app);
}

// region: look
/** What stands on the thread, in words. */
async function look(app: App): Promise<string> {
  const [pending] = await pendingApprovals(app, config);
  if (pending === undefined) return "nothing waits";
  if (pending.status === "used") return "used: an answer was taken, and its run has not come back";
  const { previousAttempt, generation } = pending.request;
  return previousAttempt === null ? "waits" : `waits, generation ${generation}: outcome ${previousAttempt.outcome}`;
}

/** Go on without an answer: always safe, whatever happened before. */
async function goOn(app: App): Promise<string> {
  try {
    await resume(app, null, config);
  } catch (error) {
    if (!isAgentAdapterError(error)) throw error;
    return error.kind;
  }
  return look(app);
}
// endregion

const STEPS: Readonly<Record<string, () => Promise<string>>> = {
  ask: () => ask(program(undefined)),
  approve: async () => JSON.stringify(await resume(program(undefined), approve({ by: "ana" }), config)),
  look: () => look(program(undefined)),
  "go on": () => goOn(program(undefined)),
  "go on later": () => goOn(program(1)), // as if the five minutes were over
  "approve again": async () => {
    const { messages } = await resume(program(1), approve({ by: "ana" }), config);
    return messages.at(-1)?.text ?? "";
  },
};

/** The step in a process of its own: what it said, or what ended it. */
function inAProcess(name: string): string {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), name, folder];
  const { stdout, stderr, signal, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (signal !== null) return `ended by ${signal}`;
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

if (step === undefined) {
  heading("Killed while an approved tool ran");
  tried("1. the graph asks", inAProcess("ask"), "waits");
  tried("2. ana approves", inAProcess("approve"), "ended by SIGKILL");
  tried("3. what stands there", inAProcess("look"), "used: an answer was taken, and its run has not come back");
  tried("4. go on, at once", inAProcess("go on"), "ApprovalAlreadyDecided");
  tried("5. go on, five minutes later", inAProcess("go on later"), "waits, generation 1: outcome unknown");
  tried("6. ana looked, and approves", inAProcess("approve again"), "paid 7");
  tried("what the bank did", `${readFileSync(bank, "utf8").trim().split("\n").length} payment`, "1 payment");
  finish();
  rmSync(folder, { recursive: true, force: true });
} else console.log(await STEPS[step]?.());
