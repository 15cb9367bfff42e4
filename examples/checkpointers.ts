// Is a checkpointer good enough for approvals, and one whose rows nobody can read. Checks itself.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { encryptedSaver } from "agent-adapter/langgraph";
import { assertSaver, checkSaver } from "agent-adapter/testing";
import { finish, heading, line, tried } from "./support/page.js";

const folder = mkdtempSync(join(tmpdir(), "checkpointers-"));
const checkpointKey = "encrypts the checkpointer: 32 random bytes";

heading("What it promises");
const checkpointer = SqliteSaver.fromConnString(join(folder, "checked.db"));
// region: check
const findings = await checkSaver(checkpointer); // [{ name, ok, detail }, ...]
await assertSaver(checkpointer); // or: throws a ToolUsageError that names it and what it breaks
// endregion
for (const { name, ok } of findings) line(ok ? "kept" : "BROKEN", name);

heading("Encrypted");
const graph = new StateGraph(MessagesAnnotation)
  .addNode("greet", () => ({ messages: [new AIMessage("Hello, Ana.")] }))
  .addEdge(START, "greet");
// region: encrypted
const sqlite = SqliteSaver.fromConnString(join(folder, "checkpoints.db"));
const app = graph.compile({ checkpointer: encryptedSaver(sqlite, { key: checkpointKey }) });
// endregion
const config = { configurable: { thread_id: "thread-1" } };
await app.invoke({ messages: [new HumanMessage("I am Ana.")] }, config);
const rows = JSON.stringify([
  sqlite.db.prepare("SELECT * FROM checkpoints").all(),
  sqlite.db.prepare("SELECT * FROM writes").all(),
]);
tried("the name in the file", String(rows.includes("Ana")), "false");
tried("the thread's id in the file", String(rows.includes("thread-1")), "true");
const state = await app.getState(config);
tried("the name for whoever has the key", String(JSON.stringify(state.values).includes("Ana")), "true");

if (findings.some(({ ok }) => !ok)) throw new Error("a promise is broken");
finish();
rmSync(folder, { recursive: true, force: true });
