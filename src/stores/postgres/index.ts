// The public surface of `agent-adapter/postgres`.

export { openPostgres, type PostgresOptions } from "./open-postgres.js";
export type { PostgresPool } from "./postgres-client.js";
export type { ListenClient } from "./listen.js";
export type { SqlStores } from "../sql/stores.js";
export type { WaitOptions } from "../sql/wait.js";
export type { Pruned, PruneOptions } from "../sql/prune.js";
