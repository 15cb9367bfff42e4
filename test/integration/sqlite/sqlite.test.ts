// What a SQLite file keeps between versions and processes, which indexes answer, what pruning leaves, and values that
// databases lose.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { approve } from "../../../src/index.js";
import { openSqlite } from "../../../src/stores/sqlite/index.js";
import { connect } from "../../../src/stores/sqlite/driver.js";
import { ManualClock } from "../../../src/testing/index.js";
import {
  checksPruning,
  fillVersion1,
  keepsHostileValues,
  opensVersion1,
  usesIndexes,
} from "../../support/store-checks.js";
import { request } from "../../support/store-races.js";

const folder = mkdtempSync(join(tmpdir(), "aa-sqlite-it-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const path = () => join(folder, `${(files += 1)}.db`);
const fixture = new URL("fixtures/version-1.sql", import.meta.url);

describe("SQLite", () => {
  test("W1/tables: a file of version 1 opens, and every record in it goes on", async () => {
    const file = path();
    const connection = await connect(file);
    connection.exec(readFileSync(fixture, "utf8"));
    connection.close();
    const stores = await openSqlite(file);
    await expect(opensVersion1(stores)).resolves.toBeUndefined();
    await stores.close();
  });

  test("W1/tables: what is written now reads like version 1", async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const stores = await openSqlite(path(), { clock, synchronous: "normal" });
    await fillVersion1(stores, clock);
    await expect(opensVersion1(stores)).resolves.toBeUndefined();
    await stores.close();
  });

  test("A11/prune: pruning leaves what still guards or waits", async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const stores = await openSqlite(path(), { clock, synchronous: "normal" });
    await expect(checksPruning(stores, clock)).resolves.toBeUndefined();
    await stores.close();
  });

  test("A11/sqlite, B25, B48, B51: hostile values come back unchanged or are refused before anything is written", async () => {
    const stores = await openSqlite(path(), { ledger: { arguments: true }, synchronous: "normal" });
    await expect(keepsHostileValues(stores)).resolves.toBeUndefined();
    await stores.close();
  });

  test("A11/sqlite: list by status, run and thread, consume, claim and prune use indexes", async () => {
    const file = path();
    const stores = await openSqlite(file);
    const connection = await connect(file);
    const explain = async (text: string) => {
      const plan = connection.all(`EXPLAIN QUERY PLAN ${text}`, []);
      return plan.map(({ detail }) => String(detail)).join("\n");
    };
    await expect(usesIndexes(explain, "agent_adapter_")).resolves.toBeUndefined();
    connection.close();
    await stores.close();
  });

  test("A11/wait: a worker goes on as soon as a reviewer on another connection decided", async () => {
    const file = path();
    const [worker, reviewer] = [await openSqlite(file), await openSqlite(file)];
    const { id } = await worker.approvals.create(request(1));
    const waiting = worker.approvals.waitForDecision(id, { timeoutMs: 10_000 });
    setTimeout(() => void reviewer.approvals.decide(id, approve({ by: "ana" })), 50);
    expect((await waiting).decidedBy).toBe("ana");
    await worker.close();
    await reviewer.close();
  });
});
