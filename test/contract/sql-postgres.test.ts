// The stores in PostgreSQL keep every promise of their contracts; the second handle is a second pool. Each case finds empty tables.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgres, type PostgresOptions, type SqlStores } from "../../src/stores/postgres/index.js";
import {
  approvalStoreContract,
  cacheContract,
  claimContract,
  ledgerContract,
  type ContractCase,
} from "../../src/testing/index.js";
import type { Clock } from "../../src/index.js";
import { poolOf, reportSkipped, startPostgres, whyNoPostgres, type PostgresServer } from "../support/postgres.js";

let server: PostgresServer | undefined;
let pools: ReturnType<typeof poolOf>[] = [];
const run = `c${process.pid}`;
let schemas = 0;
let counted = 0;

beforeAll(async () => {
  if (whyNoPostgres() !== undefined) return;
  const started = await startPostgres();
  server = started;
  pools = [poolOf(started.url), poolOf(started.url)];
}, 60_000);

afterAll(async () => {
  for (let n = 1; n <= schemas; n += 1) await pools[0]?.query(`DROP SCHEMA IF EXISTS "${run}_${n}" CASCADE`);
  for (const pool of pools) await pool.end();
  await server?.stop();
}, 60_000);

const handles = new WeakMap<object, { readonly options: PostgresOptions; readonly stores: SqlStores }>();

/** How a contract opens one of the four stores. */
function opening<K extends "approvals" | "claims" | "ledger" | "cache">(part: K, ledger = {}) {
  const open = async (which: number, options: PostgresOptions): Promise<SqlStores[K]> => {
    const pool = pools[which];
    if (pool === undefined) throw new Error("there is no server");
    const stores = await openPostgres(pool, options);
    handles.set(stores[part], { options, stores });
    return stores[part];
  };
  schemas += 1;
  const schema = `${run}_${schemas}`;
  return {
    make: async (clock: Clock) => {
      const store = await open(0, { clock, ledger, schema });
      // One statement with all of them; making tables takes a hundred times as long.
      const tables = ["approvals", "claims", "ledger", "results"];
      await pools[0]?.query(tables.map((table) => `DELETE FROM "${schema}".${table}`).join("; "));
      return store;
    },
    again: {
      reopen: (store: object) => open(1, handles.get(store)?.options ?? {}),
      close: (store: object) => handles.get(store)?.stores.close(),
    },
  };
}

function keeps(cases: readonly ContractCase[]): void {
  counted += cases.length;
  test.skipIf(whyNoPostgres() !== undefined).each(cases.map((each) => [each.name, each.run] as const))(
    "%s",
    async (_name, runCase) => {
      await expect(runCase()).resolves.toBeUndefined();
    },
  );
}

describe("A11/postgres, A8, B50, B51, B59: approvals in PostgreSQL", () => {
  const { make, again } = opening("approvals");
  keeps(approvalStoreContract(make, again));
});

describe("A11/postgres, A5: claims in PostgreSQL", () => {
  const { make, again } = opening("claims");
  keeps(claimContract(make, again));
});

describe("A11/postgres, E1: the ledger in PostgreSQL", () => {
  const { make, again } = opening("ledger");
  keeps(ledgerContract(make, again));
});

describe("A11/postgres, E1: the ledger in PostgreSQL that keeps arguments", () => {
  const { make, again } = opening("ledger", { arguments: true });
  keeps(ledgerContract(make, { ...again, keepsArguments: true }));
});

describe("A11/postgres, E7: the cache in PostgreSQL", () => {
  const { make, again } = opening("cache");
  keeps(cacheContract(make, again));
  // The last suite: all cases are counted by now.
  reportSkipped(counted, "stores in PostgreSQL");
});
