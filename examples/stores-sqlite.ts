// A reviewer process and two workers on one SQLite file. Checks itself.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSqlite } from "agent-adapter/sqlite";
import { play } from "./support/store-roles.js";

const given = process.argv[3];
const folder = given ?? mkdtempSync(join(tmpdir(), "approvals-"));

function open() {
  const path = join(folder, "approvals.db");
  // region: open
  return openSqlite(path); // node:sqlite, or `npm install libsql` on Node before 22.13
  // endregion
}
await play(fileURLToPath(import.meta.url), open, folder);
if (given === undefined) rmSync(folder, { recursive: true, force: true });
