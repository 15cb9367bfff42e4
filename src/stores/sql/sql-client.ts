// `SqlClient`: the two things the stores need of a database, and the one place that knows how SQLite and PostgreSQL differ.
// Owns no driver and no connection.
//   Q1  every statement is whole by itself: no transaction of several statements, no session state, so a pooler may sit between
//   Q2  every statement may be sent again after a lost connection: doing it twice is doing it once

/** What a statement may carry. */
export type SqlValue = string | number | null;

/** One row by column name. Numbers of 64 bits may come as text: read them with `rows.ts`. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A database, through whatever driver. Failures that no repetition helped come as `StoreUnavailable`. */
export interface SqlClient {
  readonly dialect: SqlDialect;
  /** One statement with `$1`, `$2`, ... and the rows it gives; a change gives a row for every row it changed. */
  query(text: string, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Apply every migration that is missing, all or none, while nobody else does. Gives the version the tables then have. */
  migrate(migrations: readonly Migration[]): Promise<number>;
}

/** One step of the tables' history. */
export interface Migration {
  readonly version: number;
  readonly statements: (dialect: SqlDialect) => readonly string[];
}

/** Where the engines differ. */
export interface SqlDialect {
  readonly name: "sqlite" | "postgres";
  /** A table of ours, as statements name it. */
  table(name: TableName): string;
  /** An index of ours, as `CREATE INDEX` names it. */
  index(name: string): string;
  /** A column that numbers rows in the order in which they came. */
  readonly sequence: string;
  readonly integer: string;
  readonly real: string;
  /** A change of one approval as a statement that gives a row when it was made, and tells whoever listens for this id. */
  announced(update: string): string;
}

export type TableName = "versions" | "approvals" | "claims" | "ledger" | "results";

/** SQLite files are often shared with tables of somebody else. */
const PREFIX = "agent_adapter_";

export const sqliteDialect: SqlDialect = {
  name: "sqlite",
  table: (name) => `${PREFIX}${name}`,
  index: (name) => `${PREFIX}${name}`,
  // AUTOINCREMENT: the number of a pruned row never comes back, so that pages stay in order.
  sequence: "INTEGER PRIMARY KEY AUTOINCREMENT",
  integer: "INTEGER",
  real: "REAL",
  announced: (update) => `${update} RETURNING id`,
};

/** @param schema a name that was checked: it is written between quotes */
export function postgresDialect(schema: string): SqlDialect {
  return {
    name: "postgres",
    table: (name) => `"${schema}".${name}`,
    index: (name) => name,
    sequence: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    integer: "bigint",
    real: "double precision",
    announced: (update) =>
      `WITH changed AS (${update} RETURNING id) SELECT id, pg_notify('${channelOf(schema)}', id) FROM changed`,
  };
}

/** Where PostgreSQL tells about decisions. One a schema; payloads are ids of approvals. */
export function channelOf(schema: string): string {
  return `agent_adapter_${schema}`.slice(0, 63);
}
