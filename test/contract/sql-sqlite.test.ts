// The stores in a SQLite file keep every promise of their contracts; the second handle is a second connection to the file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openSqlite, type SqlStores, type SqliteOptions } from "../../src/stores/sqlite/index.js";
import {
  approvalStoreContract,
  cacheContract,
  claimContract,
  ledgerContract,
  type ContractCase,
} from "../../src/testing/index.js";
import type { Clock } from "../../src/index.js";

const folder = mkdtempSync(join(tmpdir(), "aa-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

interface Handle {
  readonly path: string;
  readonly options: SqliteOptions;
  readonly stores: SqlStores;
}

const handles = new WeakMap<object, Handle>();

/** How a contract opens one of the four stores. */
function opening<K extends "approvals" | "claims" | "ledger" | "cache">(part: K, ledger = {}) {
  const open = async (path: string, options: SqliteOptions): Promise<SqlStores[K]> => {
    const stores = await openSqlite(path, options);
    handles.set(stores[part], { path, options, stores });
    return stores[part];
  };
  const handleOf = (store: object): Handle => {
    const handle = handles.get(store);
    if (handle === undefined) throw new Error("not one of these stores");
    return handle;
  };
  files += 1;
  let cases = 0;
  const prefix = `${part}-${files}`;
  return {
    make: (clock: Clock) =>
      open(join(folder, `${prefix}-${(cases += 1)}.db`), { clock, ledger, synchronous: "normal" }),
    again: {
      reopen: (store: object) => open(handleOf(store).path, handleOf(store).options),
      close: (store: object) => handleOf(store).stores.close(),
    },
  };
}

function keeps(cases: readonly ContractCase[]): void {
  test.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_name, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
}

describe("A11/sqlite, A8, B50, B51, B59: approvals in SQLite", () => {
  const { make, again } = opening("approvals");
  keeps(approvalStoreContract(make, again));
});

describe("A11/sqlite, A5: claims in SQLite", () => {
  const { make, again } = opening("claims");
  keeps(claimContract(make, again));
});

describe("A11/sqlite, E1: the ledger in SQLite", () => {
  const { make, again } = opening("ledger");
  keeps(ledgerContract(make, again));
});

describe("A11/sqlite, E1: the ledger in SQLite that keeps arguments", () => {
  const { make, again } = opening("ledger", { arguments: true });
  keeps(ledgerContract(make, { ...again, keepsArguments: true }));
});

describe("A11/sqlite, E7: the cache in SQLite", () => {
  const { make, again } = opening("cache");
  keeps(cacheContract(make, again));
});
