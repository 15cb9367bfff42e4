// A reviewer process and two workers on one PostgreSQL database: DATABASE_URL says where. Checks itself.

import { fileURLToPath } from "node:url";
import { openPostgres } from "agent-adapter/postgres";
import { Client, Pool } from "pg";
import { play } from "./support/store-roles.js";

const connectionString = process.env["DATABASE_URL"];
if (connectionString === undefined) {
  console.log("  skipped: set DATABASE_URL to a PostgreSQL database");
} else {
  const schema = process.argv[3] ?? `example_${process.pid}`;
  const pool = new Pool({ connectionString, max: 2 });
  pool.on("error", (error) => console.error("a connection was lost:", error.message));
  // Of its own: it hears of decisions, and no pooler stands before it.
  const listen = new Client({ connectionString });
  await listen.connect();
  await play(fileURLToPath(import.meta.url), () => openPostgres(pool, { schema, listen }), schema);
  if (process.argv[3] === undefined) await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
  await listen.end();
  await pool.end();
}
