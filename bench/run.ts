// `npm run bench`: the speed table, ours against the real peers. Each row in a process of its own, one after the other.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parse, USAGE, UsageError, type BenchArguments } from "./arguments.js";
import { setting, type Setting } from "./report/machine.js";
import { writePage } from "./report/page.js";
import { profileText } from "./report/profiles.js";
import { markdownPoints, markdownTable, settingText, terminalTable } from "./report/table.js";
import type { Result } from "./result.js";
import type { Row } from "./row.js";
import type { RowOrder, RowReport } from "./run-row.js";
import { rows } from "./rows/all.js";

const worker = fileURLToPath(new URL("run-row.ts", import.meta.url));
const profilesFolder = fileURLToPath(new URL("../.bench", import.meta.url));

function measured(row: Row, { effort, profile }: BenchArguments): Promise<RowReport> {
  const order: RowOrder = { row: row.name, effort, profiles: profile ? profilesFolder : null };
  const child = fork(worker, [JSON.stringify(order)], { execArgv: ["--expose-gc", ...process.execArgv] });
  return new Promise((resolve, reject) => {
    child.once("message", (report: RowReport) => {
      child.off("exit", failed);
      child.once("exit", () => resolve(report));
    });
    const failed = (code: number | null) => reject(new Error(`row ${row.name} ended with ${code}`));
    child.once("exit", failed);
  });
}

async function measureAll(given: BenchArguments): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, row] of given.rows.entries()) {
    const start = performance.now();
    const { result, profiles } = await measured(row, given);
    results.push(result);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    process.stderr.write(`${index + 1}/${given.rows.length} ${row.name} ${result.met} (${seconds} s)\n`);
    for (const profile of profiles) process.stderr.write(`${profileText(profile)}\n`);
  }
  return results;
}

function tell(where: Setting, results: readonly Result[], given: BenchArguments): void {
  if (given.json) console.log(JSON.stringify({ ...where, effort: given.effort, rows: results }, null, 2));
  else console.log(`${settingText(where)}\n\n${terminalTable(results)}`);
  if (!given.write) return;
  const machine = ["```text", settingText(where), "```"].join("\n");
  writePage({ setting: machine, table: markdownTable(results), points: markdownPoints(results) });
}

try {
  const given = parse(process.argv.slice(2));
  if (given.list) console.log(rows.map(({ name, what }) => `${name}  ${what}`).join("\n"));
  else tell(setting(), await measureAll(given), given);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.name}: ${error.message}\n\n${USAGE}\n`);
  process.exitCode = 2;
}
