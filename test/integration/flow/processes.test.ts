// Local flows whose parts run in several OS processes on one SQLite file.
import { afterAll, beforeAll } from "vitest";
import { openSqlite, type SqlStores } from "agent-adapter/sqlite";
import type { Child } from "../../support/child.js";
import { flowProcessCases } from "../../support/flow-process-cases.js";
import { FlowProcesses } from "../../support/flow-processes.js";

const processes = new FlowProcesses();
let workers: readonly [Child, Child];
let stores: SqlStores;

beforeAll(async () => {
  stores = await openSqlite(processes.file, { synchronous: "normal" });
  workers = await Promise.all([processes.start(), processes.start()]);
});
afterAll(async () => {
  await stores.close();
  await processes.stop();
});

flowProcessCases("SQLite", () => ({ processes, workers, stores }));
