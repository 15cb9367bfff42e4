// The SQLite library of this machine: `node:sqlite` where the runtime has it, else `libsql`. Owns how they differ.

import { ToolUsageError } from "../../index.js";
import type { SqlRow, SqlValue } from "../sql/sql-client.js";

/** One open file. Everything is synchronous, and fails by throwing what the library throws. */
export interface SqliteConnection {
  readonly library: SqliteLibrary;
  /** Several statements that give nothing. */
  exec(text: string): void;
  /** One statement with `?` for every value. */
  all(text: string, values: readonly SqlValue[]): readonly SqlRow[];
  close(): void;
}

export type SqliteLibrary = "node:sqlite" | "libsql";

interface Database {
  exec(text: string): void;
  prepare(text: string): Statement;
  close(): void;
}

interface Statement {
  all(...values: unknown[]): SqlRow[];
}

type DatabaseClass = new (path: string) => Database;

/** Open a file with the first library that is there. @throws ToolUsageError when there is none */
export async function connect(path: string, only?: SqliteLibrary): Promise<SqliteConnection> {
  const builtin = only === "libsql" ? undefined : nodeSqlite();
  if (builtin !== undefined) return connection("node:sqlite", new builtin(path));
  const installed = only === "node:sqlite" ? undefined : await libsql();
  if (installed !== undefined) return connection("libsql", new installed(path));
  throw new ToolUsageError(
    "there is no SQLite here: this version of Node has no node:sqlite, so install libsql (npm install libsql)",
  );
}

function connection(library: SqliteLibrary, database: Database): SqliteConnection {
  const statements = new Map<string, Statement>();
  const prepared = (text: string): Statement => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const made = database.prepare(text);
    // The stores have a few dozen texts; lists are made of filters.
    statements.set(text, made);
    return made;
  };
  return {
    library,
    exec: (text) => {
      database.exec(text);
    },
    // libsql takes a single null for an object with names, node:sqlite takes no array.
    all: (text, values) => (library === "libsql" ? prepared(text).all(values) : prepared(text).all(...values)),
    close: () => {
      statements.clear();
      database.close();
    },
  };
}

function nodeSqlite(): DatabaseClass | undefined {
  // Answers undefined where there is no such module, without throwing; older runtimes do not have the function either.
  const get: unknown = Reflect.get(process, "getBuiltinModule");
  const found: unknown = typeof get === "function" ? Reflect.apply(get, process, ["node:sqlite"]) : undefined;
  return classIn(found, "DatabaseSync");
}

async function libsql(): Promise<DatabaseClass | undefined> {
  try {
    return classIn(await import("libsql"), "default");
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw new ToolUsageError("libsql is installed but does not start on this machine", { cause });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}

function classIn(module: unknown, name: string): DatabaseClass | undefined {
  if (typeof module !== "object" || module === null) return undefined;
  const found: unknown = Reflect.get(module, name);
  // The two libraries were looked up by name; both document these methods.
  return typeof found === "function" ? (found as DatabaseClass) : undefined;
}
