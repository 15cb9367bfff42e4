// `openPostgres`: the stores on a pool that the application owns.

import { ToolUsageError } from "../../index.js";
import { refuseUnknown, signersOf } from "../../spi.js";
import { openStores, type SqlStores, type StoreOptions } from "../sql/stores.js";
import { listen, type ListenClient, type Listening } from "./listen.js";
import { PostgresClient, type PostgresPool } from "./postgres-client.js";

/** Where the tables are, and what stores are told. */
export interface PostgresOptions extends StoreOptions {
  /** Where the tables are; made when it is missing. Letters, digits and `_`. Default `"agent_adapter"`. */
  readonly schema?: string;
  /**
   * A connected client that nobody else uses and that no pooler stands before: `waitForDecision` then hears of decisions at once,
   * and looks now and then when it is lost. Default: it looks.
   */
  readonly listen?: ListenClient;
}

const SCHEMA = /^[A-Za-z_][A-Za-z0-9_]{0,47}$/;

/**
 * Open, or make, the stores in a PostgreSQL database. The pool stays yours: `close()` does not end it. Give it an `error`
 * listener, as `pg` asks, or a lost idle connection ends the process.
 *
 * @throws ToolUsageError when an option cannot be used or a newer release made the tables
 * @throws StoreUnavailable when the database cannot be used
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const { approvals, claims, ledger } = await openPostgres(pool);
 */
export async function openPostgres(pool: PostgresPool, options: PostgresOptions = {}): Promise<SqlStores> {
  const {
    schema = "agent_adapter",
    listen: listenClient,
    clock,
    ledger,
    key: _key,
    approvers: _approvers,
    ...rest
  } = options;
  refuseUnknown("openPostgres", rest);
  const signers = signersOf("openPostgres", options);
  if (typeof schema !== "string" || !SCHEMA.test(schema)) {
    throw new ToolUsageError("openPostgres: schema is a name of letters, digits and _, 48 at most");
  }
  const client = new PostgresClient(pool, schema);
  let listening: Listening | undefined;
  const close = async () => {
    client.close();
    await listening?.stop();
  };
  listening = listenClient === undefined ? undefined : await listen(listenClient, schema);
  return openStores({ client, news: listening, close }, { clock, ledger, signers });
}
