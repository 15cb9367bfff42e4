// The snapshots of a thread's runs, taken out of the database and put back, as somebody could who writes to it. The table of approved
// fingerprints is no part of a thread: it stays as it is, like the claims of our own drivers.

import type { Client } from "@libsql/client";
import type { JsonValue } from "../../src/index.js";

const SELECT = `SELECT workflow_name, run_id, resourceId, json(snapshot) AS snapshot, createdAt, updatedAt
  FROM mastra_workflow_snapshot WHERE json(snapshot) LIKE ?`;
const DELETE = "DELETE FROM mastra_workflow_snapshot WHERE json(snapshot) LIKE ?";
const INSERT = `INSERT OR REPLACE INTO mastra_workflow_snapshot
  (workflow_name, run_id, resourceId, snapshot, createdAt, updatedAt) VALUES (?, ?, ?, jsonb(?), ?, ?)`;

const mentions = (thread: string) => `%"${thread}"%`;

export async function saveSnapshots(client: Client, thread: string): Promise<JsonValue> {
  const { rows } = await client.execute({ sql: SELECT, args: [mentions(thread)] });
  const runs = rows.map((row) => [
    row["workflow_name"],
    row["run_id"],
    row["resourceId"],
    row["snapshot"],
    row["createdAt"],
    row["updatedAt"],
  ]);
  return JSON.parse(JSON.stringify({ thread, runs }));
}

export async function loadSnapshots(client: Client, thread: string, saved: JsonValue): Promise<void> {
  // What saveSnapshots gave, or an attacker made of it.
  const { thread: from, runs } = saved as { readonly thread: string; readonly runs: readonly (readonly string[])[] };
  const moved = runs.map((run) =>
    run.map((value) => (value === null ? null : value.replaceAll(`"${from}"`, () => `"${thread}"`))),
  );
  await client.execute({ sql: DELETE, args: [mentions(thread)] });
  for (const args of moved) await client.execute({ sql: INSERT, args });
}
