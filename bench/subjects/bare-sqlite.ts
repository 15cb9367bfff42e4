// Bare transactions on SQLite: one prepared statement each, on the library and with the settings that the stores use.

import { existsSync } from "node:fs";

/** The three changes of an approval need these two. */
export interface Bare {
  insert(id: string, body: string): Promise<void>;
  update(id: string, status: string): Promise<void>;
}

interface Statement {
  run(...values: string[]): unknown;
}

type Database = new (path: string) => { exec(text: string): unknown; prepare(text: string): Statement };

const BUSY_TIMEOUT_MS = 60_000;

export async function bareSqlite(path: string): Promise<Bare> {
  const Database = await library();
  if (!existsSync(path)) throw new Error("the stores make the file first");
  const database = new Database(path);
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = full");
  database.exec("CREATE TABLE IF NOT EXISTS bare (id TEXT PRIMARY KEY, body TEXT NOT NULL, status TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO bare (id, body, status) VALUES (?, ?, 'pending')");
  const update = database.prepare("UPDATE bare SET status = ? WHERE id = ?");
  return {
    insert: (id, body) => Promise.resolve(void insert.run(id, body)),
    update: (id, status) => Promise.resolve(void update.run(status, id)),
  };
}

/** `node:sqlite` where the runtime has it, else libsql: as the stores choose. */
async function library(): Promise<Database> {
  const get: unknown = Reflect.get(process, "getBuiltinModule");
  const builtin: unknown = typeof get === "function" ? Reflect.apply(get, process, ["node:sqlite"]) : undefined;
  const found = builtin ?? (await import("libsql"));
  const name = builtin === undefined ? "default" : "DatabaseSync";
  // Both document these methods.
  return Reflect.get(found as object, name) as Database;
}
