// The tables, as numbered steps. A step that was released is never changed: a new one comes after it, and the fixture of
// every older version must open (test/integration/sqlite).
//   columns that end in `_key` are texts as `keyOf` of text.ts writes them: what is looked up
//   columns of JSON hold every text as it was; nothing is read back from a `_key`
//   times are milliseconds since the epoch, as doubles: exact, and a number in every driver

import { ToolUsageError } from "../../index.js";
import type { Migration, SqlClient, SqlDialect } from "./sql-client.js";

const MIGRATIONS: readonly Migration[] = [{ version: 1, statements: firstTables }];

/** @throws ToolUsageError when a newer release made the tables; StoreUnavailable when they cannot be made */
export async function migrate(client: SqlClient): Promise<void> {
  const known = MIGRATIONS.at(-1)?.version ?? 0;
  const version = await client.migrate(MIGRATIONS);
  if (version <= known) return;
  throw new ToolUsageError(
    `the tables are of version ${version}, and this release of agent-adapter knows ${known}: update it`,
  );
}

function firstTables(dialect: SqlDialect): readonly string[] {
  const { integer, real, sequence } = dialect;
  const [approvals, claims] = [dialect.table("approvals"), dialect.table("claims")];
  const [ledger, results] = [dialect.table("ledger"), dialect.table("results")];
  const index = (name: string, on: string) => `CREATE INDEX ${dialect.index(name)} ON ${on}`;
  return [
    // over_at: from when on pruning may count; null while the record waits or holds an unspent decision.
    `CREATE TABLE ${approvals} (
      seq ${sequence}, id text NOT NULL UNIQUE, status text NOT NULL, run_key text NOT NULL, thread_key text,
      request text NOT NULL, decision text, decided_at ${real}, decided_under text, used_by text, used_at ${real},
      superseded_by text, created_at ${real} NOT NULL, over_at ${real})`,
    index("approvals_by_status", `${approvals} (status, seq)`),
    index("approvals_by_run", `${approvals} (run_key, seq)`),
    index("approvals_by_thread", `${approvals} (thread_key, seq)`),
    index("approvals_by_end", `${approvals} (over_at)`),
    `CREATE TABLE ${claims} (
      binding_key text PRIMARY KEY, token text NOT NULL, guard_until ${real} NOT NULL, claimed_at ${real} NOT NULL)`,
    index("claims_by_end", `${claims} (guard_until)`),
    // ends: the ids of the closings that were counted, so that one that comes twice counts once.
    `CREATE TABLE ${ledger} (
      seq ${sequence}, id_key text NOT NULL UNIQUE, run_key text NOT NULL, thread_key text, tool_key text NOT NULL,
      names text NOT NULL, arguments text, status text NOT NULL, error_kind text, attempts ${integer} NOT NULL,
      duration_ms ${real} NOT NULL, cost ${real} NOT NULL, binding text, decided_by text, edit_digest text, edit text,
      started_at ${real} NOT NULL, ends text NOT NULL)`,
    index("ledger_by_run", `${ledger} (run_key, seq)`),
    index("ledger_by_thread", `${ledger} (thread_key, seq)`),
    index("ledger_by_start", `${ledger} (started_at)`),
    `CREATE TABLE ${results} (result_key text PRIMARY KEY, value text NOT NULL, expires_at ${real})`,
    index("results_by_end", `${results} (expires_at)`),
  ];
}
