// The public surface of `agent-adapter/sqlite`.

export { openSqlite, type SqliteOptions } from "./open-sqlite.js";
export type { SqlStores } from "../sql/stores.js";
export type { WaitOptions } from "../sql/wait.js";
export type { Pruned, PruneOptions } from "../sql/prune.js";
