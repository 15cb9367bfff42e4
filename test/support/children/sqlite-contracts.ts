// Runs every contract on SQLite with whatever library this runtime has, and prints which one and what was broken.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../../src/stores/sqlite/driver.js";
import { openSqlite, type SqlStores } from "../../../src/stores/sqlite/index.js";
import {
  approvalStoreContract,
  cacheContract,
  claimContract,
  ledgerContract,
  type ContractCase,
} from "../../../src/testing/index.js";

const folder = mkdtempSync(join(tmpdir(), "aa-contracts-"));
let files = 0;
const open = (clock: Parameters<Parameters<typeof cacheContract>[0]>[0]): Promise<SqlStores> =>
  openSqlite(join(folder, `${(files += 1)}.db`), { clock, synchronous: "normal", ledger: { arguments: true } });

const cases: ContractCase[] = [
  ...approvalStoreContract(async (clock) => (await open(clock)).approvals),
  ...claimContract(async (clock) => (await open(clock)).claims),
  ...ledgerContract(async (clock) => (await open(clock)).ledger, { keepsArguments: true }),
  ...cacheContract(async (clock) => (await open(clock)).cache),
];

const broken: string[] = [];
for (const { name, run } of cases) await run().catch((error: unknown) => broken.push(`${name}: ${String(error)}`));
const { library } = await connect(join(folder, "library.db"));
console.log(JSON.stringify({ library, cases: cases.length, broken }));
rmSync(folder, { recursive: true, force: true });
process.exit();
