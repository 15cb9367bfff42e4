// Opening a SQLite file: options, libraries, files that cannot be used, files that are busy.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openSqlite } from "../../../../src/stores/sqlite/index.js";
import { connect } from "../../../../src/stores/sqlite/driver.js";
import { request } from "../../../support/store-races.js";

const folder = mkdtempSync(join(tmpdir(), "aa-open-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("A11/sqlite: openSqlite", () => {
  test(
    "without a library says what to install",
    { skip: process.getBuiltinModule("node:sqlite") !== undefined },
    async () => {
      await expect(connect(join(folder, "x.db"), "node:sqlite")).rejects.toThrow(/npm install libsql/);
    },
  );

  test.each([
    ["an unknown option", { sync: "full" }],
    ["synchronous", { synchronous: "off" }],
    ["busyTimeoutMs", { busyTimeoutMs: -1 }],
  ])("a wrong option is refused by name: %s", async (_name, options) => {
    // A caller without types may pass anything.
    const opening = openSqlite(join(folder, "options.db"), options as never);
    await expect(opening).rejects.toMatchObject({
      kind: "ToolUsageError",
      message: expect.stringContaining(Object.keys(options)[0] ?? ""),
    });
  });

  test("a file that is no database, and a folder that is not there, are StoreUnavailable", async () => {
    writeFileSync(join(folder, "text.db"), "this is not a database, and it is long enough to be looked at".repeat(100));
    await expect(openSqlite(join(folder, "text.db"))).rejects.toMatchObject({ kind: "StoreUnavailable" });
    await expect(openSqlite(join(folder, "none", "x.db"))).rejects.toMatchObject({ kind: "StoreUnavailable" });
  });

  test("tables of a newer release are refused and left alone", async () => {
    const path = join(folder, "newer.db");
    await (await openSqlite(path)).close();
    const connection = await connect(path);
    connection.exec("INSERT INTO agent_adapter_versions (version) VALUES (99)");
    await expect(openSqlite(path)).rejects.toThrow(/version 99/);
    connection.close();
  });

  test("tables of somebody else in the same file stay", async () => {
    const path = join(folder, "shared.db");
    const theirs = await connect(path);
    theirs.exec("CREATE TABLE approvals (x text); INSERT INTO approvals VALUES ('theirs')");
    const stores = await openSqlite(path);
    await stores.approvals.create(request(1));
    expect(theirs.all("SELECT x FROM approvals", [])).toEqual([{ x: "theirs" }]);
    theirs.close();
    await stores.close();
  });

  test("a file that another one keeps busy is waited for, then StoreUnavailable, and the event loop goes on", async () => {
    const path = join(folder, "busy.db");
    const stores = await openSqlite(path, { busyTimeoutMs: 400 });
    const other = await connect(path);
    other.exec("BEGIN IMMEDIATE");
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 5);
    await expect(stores.approvals.create(request(1))).rejects.toMatchObject({ kind: "StoreUnavailable" });
    expect(ticks).toBeGreaterThan(2);
    const created = stores.approvals.create(request(1));
    setTimeout(() => other.exec("COMMIT"), 100);
    expect((await created).status).toBe("pending");
    clearInterval(timer);
    other.close();
    await stores.close();
  });

  test("a closed store is StoreUnavailable, and closing twice does no harm", async () => {
    const stores = await openSqlite(join(folder, "closed.db"));
    await stores.close();
    await stores.close();
    await expect(stores.approvals.list()).rejects.toMatchObject({ kind: "StoreUnavailable" });
  });
});
