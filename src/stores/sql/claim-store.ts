// `SqlClaimStore`: used answers in a table. A claim is one INSERT that may lose; nothing is read before it.

import { ApprovalAlreadyDecided, type Clock } from "../../index.js";
import { assertClaim, systemClock, useDigest, type ClaimStore } from "../../spi.js";
import type { SqlClient } from "./sql-client.js";
import { keyOf } from "./text.js";

/** A `ClaimStore` without a cap: what it keeps is bounded by the disk and by pruning. */
export class SqlClaimStore implements ClaimStore {
  readonly #client: SqlClient;
  readonly #clock: Clock;

  constructor(client: SqlClient, clock: Clock = systemClock) {
    this.#client = client;
    this.#clock = clock;
  }

  async claim(binding: string, token: string, guardUntil: number): Promise<void> {
    assertClaim(binding, token, guardUntil);
    const key = keyOf(binding);
    const claims = this.#client.dialect.table("claims");
    const won = await this.#client.query(
      `INSERT INTO ${claims} AS kept (binding_key, token, guard_until, claimed_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (binding_key) DO UPDATE SET guard_until =
         CASE WHEN excluded.guard_until > kept.guard_until THEN excluded.guard_until ELSE kept.guard_until END
       WHERE kept.token = excluded.token RETURNING binding_key`,
      [key, useDigest(key, token), guardUntil, this.#clock.now()],
    );
    if (won.length === 0) throw new ApprovalAlreadyDecided("this approval was used before");
  }
}
