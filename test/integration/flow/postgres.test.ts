// Local flows whose parts run in several OS processes on one PostgreSQL database.
import { afterAll, beforeAll, describe } from "vitest";
import { openPostgres } from "agent-adapter/postgres";
import type { SqlStores } from "agent-adapter/sqlite";
import type { Child } from "../../support/child.js";
import { flowProcessCases } from "../../support/flow-process-cases.js";
import { FlowProcesses } from "../../support/flow-processes.js";
import { poolOf, reportSkipped, startPostgres, whyNoPostgres, type PostgresServer } from "../../support/postgres.js";

const missing = whyNoPostgres();
const TESTS = 12;
const schema = `flows_${process.pid}`;
let server: PostgresServer;
let pool: ReturnType<typeof poolOf>;
let processes: FlowProcesses;
let workers: readonly [Child, Child];
let stores: SqlStores;

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres();
  pool = poolOf(server.url);
  stores = await openPostgres(pool, { schema });
  processes = new FlowProcesses({ place: server.url, schema });
  workers = await Promise.all([processes.start(), processes.start()]);
});
afterAll(async () => {
  if (missing !== undefined) return;
  await processes.stop();
  await stores.close();
  await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
  await server.stop();
});

describe.skipIf(missing !== undefined)("PostgreSQL", () => {
  flowProcessCases("PostgreSQL", () => ({ processes, workers, stores }));
});
reportSkipped(TESTS, "local flows on PostgreSQL");
