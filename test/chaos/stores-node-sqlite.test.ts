// The contracts on `node:sqlite`, which the runtime of these tests does not have: on a newer one that npx fetches, or not at all.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const script = fileURLToPath(new URL("../support/children/sqlite-contracts.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));
const newer = ["-y", "node@22"];

const reason = await run("npx", [...newer, "--version"], { cwd: root, timeout: 120_000 }).then(
  () => undefined,
  () => "npx could not fetch a newer Node",
);
if (reason !== undefined) console.log(`skipped 1 test (node:sqlite): ${reason}`);

test.skipIf(reason !== undefined)("A11/sqlite: node:sqlite keeps every contract", async () => {
  const flags = ["--no-warnings", "--import", "tsx", "--conditions=agent-adapter-source"];
  const { stdout } = await run("npx", [...newer, ...flags, script], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  const { library, cases, broken } = JSON.parse(stdout) as { library: string; cases: number; broken: string[] };
  console.log(`${library}: ${cases} cases`);
  expect(broken).toEqual([]);
  expect([library, cases > 80]).toEqual(["node:sqlite", true]);
});
