// `SqlClient` on one SQLite file. Owns waiting for other processes that write: shortly inside SQLite, which stops this
// process, then outside it.

import { StoreUnavailable } from "../../index.js";
import { systemClock } from "../../spi.js";
import { sqliteDialect, type Migration, type SqlClient, type SqlRow, type SqlValue } from "../sql/sql-client.js";
import type { SqliteConnection } from "./driver.js";

/** How long one statement may stop the process while another one writes. */
export const BLOCKING_MS = 50;
const FIRST_PAUSE_MS = 2;
const PAUSE_MS = 50;

export class SqliteClient implements SqlClient {
  readonly dialect = sqliteDialect;
  readonly #connection: SqliteConnection;
  readonly #busyTimeoutMs: number;
  #isOpen = true;

  constructor(connection: SqliteConnection, busyTimeoutMs: number) {
    this.#connection = connection;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  query(text: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    const positional = positionsOf(text, values);
    return this.whenFree(() => this.#connection.all(positional.text, positional.values));
  }

  migrate(migrations: readonly Migration[]): Promise<number> {
    return this.whenFree(() => this.#migrate(migrations));
  }

  /** Run it, again and again while another process has the file, for as long as it may wait. @throws StoreUnavailable */
  async whenFree<T>(work: () => T): Promise<T> {
    const until = systemClock.now() + this.#busyTimeoutMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS)) {
      if (!this.#isOpen) throw new StoreUnavailable("the SQLite store was closed");
      try {
        return work();
      } catch (cause) {
        if (!isBusy(cause)) throw new StoreUnavailable("the SQLite file cannot be used", { cause });
        if (systemClock.now() >= until)
          throw new StoreUnavailable("other processes keep the SQLite file busy", { cause });
      }
      await systemClock.sleep(pauseMs, NEVER);
    }
  }

  close(): Promise<void> {
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#connection.close();
    }
    return Promise.resolve();
  }

  /** Nothing waits in between: no other statement of this process comes into the transaction. */
  #migrate(migrations: readonly Migration[]): number {
    const versions = this.dialect.table("versions");
    this.#connection.exec("BEGIN IMMEDIATE");
    try {
      this.#connection.exec(`CREATE TABLE IF NOT EXISTS ${versions} (version INTEGER PRIMARY KEY)`);
      const [row] = this.#connection.all(`SELECT COALESCE(max(version), 0) AS version FROM ${versions}`, []);
      let version = Number(row?.["version"]);
      for (const migration of migrations.filter((each) => each.version > version)) {
        for (const statement of migration.statements(this.dialect)) this.#connection.exec(statement);
        this.#connection.exec(`INSERT INTO ${versions} (version) VALUES (${migration.version})`);
        version = migration.version;
      }
      this.#connection.exec("COMMIT");
      return version;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #rollBack(): void {
    try {
      this.#connection.exec("ROLLBACK");
    } catch {
      // Some failures have rolled back already; the first error is the one to tell.
    }
  }
}

const NEVER = new AbortController().signal;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string" && /^SQLITE_(BUSY|LOCKED)/.test(error.code)) return true;
  // node:sqlite: the low byte of the extended code is the kind of error.
  const code = "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
}

interface Positional {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Both libraries bind by position and disagree about numbered places: `$2 $1 $2` is `? ? ?` with three values. */
function positionsOf(text: string, values: readonly SqlValue[]): Positional {
  const bound: SqlValue[] = [];
  const positional = text.replaceAll(/\$(\d+)/g, (_, place: string) => {
    bound.push(values[Number(place) - 1] ?? null);
    return "?";
  });
  return { text: positional, values: bound };
}
