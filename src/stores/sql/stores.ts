// The four stores of one database, and what belongs to them all.

import type { Clock, Ledger, ResultCache } from "../../index.js";
import { systemClock, type ClaimStore, type SignerOptions, type Signers } from "../../spi.js";
import { SqlApprovalStore } from "./approval-store.js";
import { SqlClaimStore } from "./claim-store.js";
import { SqlLedger, type SqlLedgerOptions } from "./ledger.js";
import { migrate } from "./migrations.js";
import { prune, type Pruned, type PruneOptions } from "./prune.js";
import { SqlResultCache } from "./result-cache.js";
import type { SqlClient } from "./sql-client.js";
import type { DecisionNews } from "./wait.js";

/** What both databases take. */
export interface StoreOptions extends SignerOptions {
  readonly clock?: Clock;
  readonly ledger?: SqlLedgerOptions;
}

/** Everything that outlives a process, on one database. */
export interface SqlStores {
  /** Requests and their decisions. */
  readonly approvals: SqlApprovalStore;
  /** Uses of answers. */
  readonly claims: ClaimStore;
  /** One entry per call. */
  readonly ledger: Ledger;
  /** Results of tools with `cache`, and first results of `oncePerRun` tools. */
  readonly cache: ResultCache;
  /**
   * Remove what nobody needs any more; run it now and then, from one process or several. `now` defaults to the clock.
   *
   * @throws ToolUsageError naming the option that cannot be used
   */
  prune(now?: number, options?: PruneOptions): Promise<Pruned>;
  /** Let go of what was opened here. Nothing can be called afterwards. */
  close(): Promise<void>;
}

interface Connection {
  readonly client: SqlClient;
  readonly news?: DecisionNews | undefined;
  readonly close: () => Promise<void>;
}

/** What was given of `StoreOptions`, taken out of the options of one database. */
interface Given {
  readonly clock: Clock | undefined;
  readonly ledger: SqlLedgerOptions | undefined;
  readonly signers: Signers | undefined;
}

/** Bring the tables up to date and give the stores; a connection that cannot be used is closed. */
export async function openStores(
  { client, news, close }: Connection,
  { clock = systemClock, ledger, signers }: Given,
): Promise<SqlStores> {
  try {
    await migrate(client);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    approvals: new SqlApprovalStore(client, { clock, news, signers }),
    claims: new SqlClaimStore(client, clock),
    ledger: new SqlLedger(client, ledger),
    cache: new SqlResultCache(client, clock),
    prune: (now = clock.now(), rules = {}) => prune(client, now, rules),
    close,
  };
}
