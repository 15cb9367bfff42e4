// `SqlClient` on PostgreSQL, through anything that has `query(text, values)`. Owns repeating what a lost connection or a
// conflict stopped. Holds no connection and no session: a pooler may give every statement to another one.

import { StoreUnavailable } from "../../index.js";
import { systemClock } from "../../spi.js";
import { postgresDialect, type Migration, type SqlClient, type SqlRow, type SqlValue } from "../sql/sql-client.js";
import { isAlreadyThere, mayPass } from "./failures.js";

/** A `Pool` or a `Client` of `pg`, or anything with the same method. */
export interface PostgresPool {
  /** Runs one statement, with values for `$1`, `$2` and so on. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Between attempts: long enough together for a server that restarts. */
const PAUSES_MS = [20, 100, 400, 1000, 2000];

export class PostgresClient implements SqlClient {
  readonly dialect: ReturnType<typeof postgresDialect>;
  readonly #pool: PostgresPool;
  readonly #schema: string;
  #isOpen = true;

  constructor(pool: PostgresPool, schema: string) {
    this.#pool = pool;
    this.#schema = schema;
    this.dialect = postgresDialect(schema);
  }

  query(text: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return this.#insist(async () => {
      const { rows } = await this.#pool.query(text, [...values]);
      return rows.map(rowOf);
    }, mayPass);
  }

  async migrate(migrations: readonly Migration[]): Promise<number> {
    const known = migrations.at(-1)?.version ?? 0;
    // Looking first: a role that may not make tables can use tables that are there.
    const version = await this.#version();
    if (version >= known) return version;
    const all = this.#script(migrations);
    await this.#insist(
      () => this.#pool.query(all),
      (error) => mayPass(error) || isAlreadyThere(error),
    );
    return this.#version();
  }

  close(): void {
    this.#isOpen = false;
  }

  async #version(): Promise<number> {
    const versions = this.dialect.table("versions");
    const [there] = await this.query("SELECT to_regclass($1) IS NOT NULL AS found", [versions]);
    if (there?.["found"] !== true) return 0;
    const [row] = await this.query(`SELECT COALESCE(max(version), 0) AS version FROM ${versions}`);
    return Number(row?.["version"]);
  }

  /** One statement: all of it happens or none, on whatever connection, while nobody else holds the lock. */
  #script(migrations: readonly Migration[]): string {
    const versions = this.dialect.table("versions");
    const steps = migrations.map(({ version, statements }) => {
      const all = [...statements(this.dialect), `INSERT INTO ${versions} (version) VALUES (${version})`];
      return `IF NOT EXISTS (SELECT FROM ${versions} WHERE version = ${version}) THEN\n${all.join(";\n")};\nEND IF;`;
    });
    return `DO $migrate$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('agent-adapter/migrate/${this.#schema}', 0));
      IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '${this.#schema}') THEN
        CREATE SCHEMA "${this.#schema}";
      END IF;
      CREATE TABLE IF NOT EXISTS ${versions} (version integer PRIMARY KEY);
      ${steps.join("\n")}
    END $migrate$`;
  }

  async #insist<T>(attempt: () => Promise<T>, isWorthRepeating: (error: unknown) => boolean): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      if (!this.#isOpen) throw new StoreUnavailable("the PostgreSQL store was closed");
      try {
        return await attempt();
      } catch (cause) {
        const pauseMs = isWorthRepeating(cause) ? PAUSES_MS[failures] : undefined;
        if (pauseMs === undefined) throw new StoreUnavailable("PostgreSQL did not carry out a statement", { cause });
        await systemClock.sleep(pauseMs, NEVER);
      }
    }
  }
}

const NEVER = new AbortController().signal;

function rowOf(row: unknown): SqlRow {
  if (typeof row === "object" && row !== null) return { ...row };
  throw new StoreUnavailable("the PostgreSQL client gave rows that are not objects by column name");
}
