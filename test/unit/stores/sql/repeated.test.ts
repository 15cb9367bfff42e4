// A statement whose answer was lost is sent again, although it was carried out. Here every statement is carried out twice and
// only the second answer comes back: the stores keep every promise of their contracts all the same.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { SqlApprovalStore } from "../../../../src/stores/sql/approval-store.js";
import { SqlClaimStore } from "../../../../src/stores/sql/claim-store.js";
import { SqlLedger } from "../../../../src/stores/sql/ledger.js";
import { migrate } from "../../../../src/stores/sql/migrations.js";
import { SqlResultCache } from "../../../../src/stores/sql/result-cache.js";
import type { SqlClient, SqlValue } from "../../../../src/stores/sql/sql-client.js";
import { connect } from "../../../../src/stores/sqlite/driver.js";
import { SqliteClient } from "../../../../src/stores/sqlite/sqlite-client.js";
import {
  approvalStoreContract,
  cacheContract,
  claimContract,
  ledgerContract,
  type ContractCase,
} from "../../../../src/testing/index.js";

const folder = mkdtempSync(join(tmpdir(), "aa-repeated-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** Sends everything twice. */
class Repeating implements SqlClient {
  readonly #client: SqlClient;
  constructor(client: SqlClient) {
    this.#client = client;
  }
  get dialect() {
    return this.#client.dialect;
  }
  async query(text: string, values?: readonly SqlValue[]) {
    await this.#client.query(text, values);
    return this.#client.query(text, values);
  }
  migrate(...args: Parameters<SqlClient["migrate"]>) {
    return this.#client.migrate(...args);
  }
}

async function repeating(): Promise<SqlClient> {
  const connection = await connect(join(folder, `${(files += 1)}.db`));
  connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = off");
  const client = new SqliteClient(connection, 1000);
  await migrate(client);
  await migrate(client);
  return new Repeating(client);
}

function keeps(cases: readonly ContractCase[]): void {
  test.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_name, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
}

describe("approvals", () => {
  keeps(approvalStoreContract(async (clock) => new SqlApprovalStore(await repeating(), { clock })));
});
describe("claims", () => {
  keeps(claimContract(async (clock) => new SqlClaimStore(await repeating(), clock)));
});
describe("ledger", () => {
  keeps(ledgerContract(async () => new SqlLedger(await repeating())));
});
describe("cache", () => {
  keeps(cacheContract(async (clock) => new SqlResultCache(await repeating(), clock)));
});
