// Bare transactions on PostgreSQL: one statement each, committed by itself, on one connection.

import type { Pool } from "pg";
import type { Bare } from "./bare-sqlite.js";

export async function barePostgres(pool: Pool): Promise<Bare> {
  // Several processes make it at once.
  await pool.query("SELECT pg_advisory_lock(4711)");
  await pool.query("CREATE TABLE IF NOT EXISTS bare (id TEXT PRIMARY KEY, body TEXT NOT NULL, status TEXT NOT NULL)");
  await pool.query("SELECT pg_advisory_unlock(4711)");
  const run = async (text: string, values: readonly string[]) => void (await pool.query(text, [...values]));
  return {
    insert: (id, body) => run("INSERT INTO bare (id, body, status) VALUES ($1, $2, 'pending')", [id, body]),
    update: (id, status) => run("UPDATE bare SET status = $1 WHERE id = $2", [status, id]),
  };
}
