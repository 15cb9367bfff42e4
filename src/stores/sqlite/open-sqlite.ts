// `openSqlite`: one file, several processes. Owns the settings of a connection.

import { isAgentAdapterError, StoreUnavailable, ToolUsageError } from "../../index.js";
import { refuseUnknown, signersOf } from "../../spi.js";
import { openStores, type SqlStores, type StoreOptions } from "../sql/stores.js";
import { connect, type SqliteConnection } from "./driver.js";
import { BLOCKING_MS, SqliteClient } from "./sqlite-client.js";

/** How the file is written, and what stores are told. */
export interface SqliteOptions extends StoreOptions {
  /**
   * `"full"`: what was acknowledged survives a loss of power; every change waits for the disk. `"normal"`: it survives the end of
   * the process in any way, and the newest changes may be missing after a loss of power. Default `"full"`.
   */
  readonly synchronous?: "normal" | "full";
  /** Milliseconds to wait while other processes write; then `StoreUnavailable`. Default 10 000. */
  readonly busyTimeoutMs?: number;
}

const BUSY_TIMEOUT_MS = 10_000;

/**
 * Open, or make, the stores in a SQLite file. Every process on the machine may open the same file; not over a network.
 *
 * @throws ToolUsageError when an option cannot be used, there is no SQLite library, or a newer release made the tables
 * @throws StoreUnavailable when the file cannot be used
 * @example
 * const { approvals, ledger, cache } = await openSqlite("approvals.db");
 * const executor = new Executor(registry, { approval: new DeferredApproval(approvals), ledger, cache, secret });
 */
export async function openSqlite(path: string, options: SqliteOptions = {}): Promise<SqlStores> {
  const {
    synchronous = "full",
    busyTimeoutMs = BUSY_TIMEOUT_MS,
    clock,
    ledger,
    key: _key,
    approvers: _approvers,
    ...rest
  } = options;
  refuseUnknown("openSqlite", rest);
  const signers = signersOf("openSqlite", options);
  if (typeof path !== "string" || path === "") throw new ToolUsageError("openSqlite: the path is a text");
  if (synchronous !== "normal" && synchronous !== "full") {
    throw new ToolUsageError('openSqlite: synchronous is "normal" or "full"');
  }
  if (!(Number.isSafeInteger(busyTimeoutMs) && busyTimeoutMs >= 0)) {
    throw new ToolUsageError("openSqlite: busyTimeoutMs must be a whole number of milliseconds");
  }
  const connection = await open(path);
  const client = new SqliteClient(connection, busyTimeoutMs);
  await settle(client, connection, synchronous);
  return openStores({ client, close: () => client.close() }, { clock, ledger, signers });
}

async function open(path: string): Promise<SqliteConnection> {
  try {
    return await connect(path);
  } catch (cause) {
    if (isAgentAdapterError(cause)) throw cause;
    throw new StoreUnavailable("the SQLite file cannot be opened", { cause });
  }
}

async function settle(client: SqliteClient, connection: SqliteConnection, synchronous: string): Promise<void> {
  try {
    // Switching to WAL fails at once while another process does it: SQLite's own waiting does not cover it.
    await client.whenFree(() => {
      connection.exec(`PRAGMA busy_timeout = ${BLOCKING_MS}`);
      connection.exec("PRAGMA journal_mode = WAL");
      connection.exec(`PRAGMA synchronous = ${synchronous}`);
    });
  } catch (error) {
    await client.close();
    throw error;
  }
}
