// Retention. Owns what may be forgotten and when.
//   R1  a claim stays until every answer it guards has expired, plus the skew of clocks
//   R2  a request that waits stays until it has expired; a decision that nobody has used stays for ever
//   R3  what is over stays as long as it was told to, at least as long as an answer is good by default
//   R4  the ledger stays, unless somebody says how long

import { ToolUsageError } from "../../index.js";
import { CLOCK_SKEW_MS, refuseUnknown } from "../../spi.js";
import type { SqlClient, TableName } from "./sql-client.js";

/** How long things stay. */
export interface PruneOptions {
  /**
   * Milliseconds for which used, expired and superseded approvals stay; a call whose record is gone is asked again. Default 30
   * days, at least one.
   */
  readonly keepApprovalsMs?: number;
  /** Milliseconds for which ledger entries stay after their start. Default: for ever. */
  readonly keepLedgerMs?: number;
}

/** How many rows went. */
export interface Pruned {
  /** Approvals that were over. */
  readonly approvals: number;
  /** Claims whose answers have expired. */
  readonly claims: number;
  /** Entries older than was asked for. */
  readonly ledger: number;
  /** Cached results that ran out. */
  readonly results: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const KEEP_APPROVALS_MS = 30 * DAY_MS;
/** Rows a statement: SQLite stops the process, and PostgreSQL holds locks, for as long as one runs. */
const BATCH = 500;

interface Rule {
  readonly table: TableName;
  readonly key: string;
  /** A column of times; rows before the limit go. Null never goes. */
  readonly column: string;
}

/** @throws ToolUsageError naming what cannot be used; StoreUnavailable, with some of the rows gone */
export async function prune(client: SqlClient, now: number, options: PruneOptions = {}): Promise<Pruned> {
  const { keepApprovalsMs = KEEP_APPROVALS_MS, keepLedgerMs = Number.POSITIVE_INFINITY, ...rest } = options;
  refuseUnknown("prune", rest);
  if (!Number.isFinite(now)) throw new ToolUsageError("prune: now is a time in milliseconds");
  if (!(keepApprovalsMs >= DAY_MS)) throw new ToolUsageError("prune: keepApprovalsMs must be a day or more");
  if (!(keepLedgerMs >= 0)) throw new ToolUsageError("prune: keepLedgerMs must be 0 or more");
  const before = (rule: Rule, limit: number) => removeBefore(client, rule, limit);
  return {
    approvals: await before(
      { table: "approvals", key: "id", column: "over_at" },
      now - CLOCK_SKEW_MS - keepApprovalsMs,
    ),
    claims: await before({ table: "claims", key: "binding_key", column: "guard_until" }, now - CLOCK_SKEW_MS),
    ledger: await before({ table: "ledger", key: "id_key", column: "started_at" }, now - keepLedgerMs),
    results: await before({ table: "results", key: "result_key", column: "expires_at" }, now),
  };
}

async function removeBefore(client: SqlClient, { table, key, column }: Rule, limit: number): Promise<number> {
  if (!Number.isFinite(limit)) return 0;
  const name = client.dialect.table(table);
  let removed = 0;
  for (;;) {
    // The condition stands twice: a row that was extended meanwhile stays.
    const gone = await client.query(
      `DELETE FROM ${name} WHERE ${column} < $1 AND ${key} IN
         (SELECT ${key} FROM ${name} WHERE ${column} < $1 ORDER BY ${column} LIMIT ${BATCH}) RETURNING ${key}`,
      [limit],
    );
    removed += gone.length;
    if (gone.length < BATCH) return removed;
  }
}
