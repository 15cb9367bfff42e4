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
  // region: open
  const pool = new Pool({ connectionString, max: 2 });
  pool.on("error", (error) => console.error("a connection was lost:", error.message));
  const listen = new Client({ connectionString }); // of its own, without a pooler before it: hears of decisions at once
  await listen.connect();
  const open = () => openPostgres(pool, { schema, listen });
  // endregion
  await play(fileURLToPath(import.meta.url), open, schema);
  if (process.argv[3] === undefined) await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
  await listen.end();
  await pool.end();
}
