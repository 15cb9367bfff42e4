// `SqlResultCache`: results in a table. What has expired is not given back; pruning removes it.

import type { Clock, ResultCache } from "../../index.js";
import { systemClock } from "../../spi.js";
import { numberOrNullIn, textIn } from "./rows.js";
import type { SqlClient } from "./sql-client.js";
import { fromColumn, keyOf, toColumn } from "./text.js";

export class SqlResultCache implements ResultCache {
  readonly #client: SqlClient;
  readonly #clock: Clock;

  constructor(client: SqlClient, clock: Clock = systemClock) {
    this.#client = client;
    this.#clock = clock;
  }

  async get(key: string): Promise<string | undefined> {
    const results = this.#client.dialect.table("results");
    const [row] = await this.#client.query(`SELECT value, expires_at FROM ${results} WHERE result_key = $1`, [
      keyOf(key),
    ]);
    if (row === undefined) return undefined;
    const expiresAt = numberOrNullIn(row, "expires_at");
    if (expiresAt !== null && !(this.#clock.now() < expiresAt)) return undefined;
    return fromColumn(textIn(row, "value"));
  }

  async set(key: string, json: string, expiresAt: number | undefined): Promise<void> {
    const results = this.#client.dialect.table("results");
    // A time that is none is over: kept as 0.
    const until = expiresAt === undefined || expiresAt === Number.POSITIVE_INFINITY ? null : endOf(expiresAt);
    await this.#client.query(
      `INSERT INTO ${results} (result_key, value, expires_at) VALUES ($1, $2, $3)
       ON CONFLICT (result_key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at RETURNING result_key`,
      [keyOf(key), toColumn(json), until],
    );
  }
}

function endOf(expiresAt: number): number {
  return Number.isFinite(expiresAt) ? expiresAt : 0;
}
