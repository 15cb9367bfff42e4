// What a SQLite file keeps between versions and processes, which indexes answer, what pruning leaves, and values that
// databases lose.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { approve } from "../../../src/index.js";
import { openSqlite, type SqlStores } from "../../../src/stores/sqlite/index.js";
import { connect } from "../../../src/stores/sqlite/driver.js";
import { ManualClock } from "../../../src/testing/index.js";
import { checksPruning, keepsHostileValues, opensVersion1, usesIndexes } from "../../support/store-checks.js";

const folder = mkdtempSync(join(tmpdir(), "aa-sqlite-it-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const path = () => join(folder, `${(files += 1)}.db`);
const fixture = new URL("fixtures/version-1.sql", import.meta.url);

async function withStores(check: (stores: SqlStores) => Promise<void>): Promise<void> {
  const stores = await openSqlite(path(), { ledger: { arguments: true }, synchronous: "normal" });
  await check(stores);
  await stores.close();
}

describe("SQLite", () => {
  test("W1/tables: a file of version 1 opens, and every record in it goes on", async () => {
    const file = path();
    const connection = await connect(file);
    connection.exec(readFileSync(fixture, "utf8"));
    connection.close();
    const stores = await openSqlite(file);
    await opensVersion1(stores);
    await stores.close();
  });

  test("A11/prune: pruning leaves what still guards or waits", async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const stores = await openSqlite(path(), { clock, synchronous: "normal" });
    await checksPruning(stores, clock);
    await stores.close();
  });

  test("A11/sqlite, B25, B48, B51: hostile values come back unchanged or are refused before anything is written", () =>
    withStores(keepsHostileValues));

  test("A11/sqlite: list by status, run and thread, consume, claim and prune use indexes", async () => {
    const file = path();
    const stores = await openSqlite(file);
    const connection = await connect(file);
    await usesIndexes(async (text) => {
      const plan = connection.all(`EXPLAIN QUERY PLAN ${text}`, []);
      return plan.map(({ detail }) => String(detail)).join("\n");
    }, "agent_adapter_");
    connection.close();
    await stores.close();
  });

  test("A11/wait: a worker goes on as soon as a reviewer on another connection decided", async () => {
    const file = path();
    const [worker, reviewer] = [await openSqlite(file), await openSqlite(file)];
    const { request } = await import("../../support/store-races.js");
    const { id } = await worker.approvals.create(request(1));
    const waiting = worker.approvals.waitForDecision(id, { timeoutMs: 10_000 });
    setTimeout(() => void reviewer.approvals.decide(id, approve({ by: "ana" })), 50);
    expect((await waiting).decidedBy).toBe("ana");
    await worker.close();
    await reviewer.close();
  });
});
