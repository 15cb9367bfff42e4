// `npm run bench`: the speed table, ours against the real peers. Each row in a process of its own, one after the other.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parse, USAGE, UsageError, type BenchArguments } from "./arguments.js";
import { setting, type Setting } from "./report/machine.js";
import { writePage } from "./report/page.js";
import { profileText } from "./report/profiles.js";
import { markdownPoints, markdownTable, settingText, shortText, terminalTable } from "./report/table.js";
import type { Result } from "./result.js";
import type { Row } from "./row.js";
import type { RowOrder, RowReport } from "./run-row.js";
import { rows } from "./rows/all.js";

const worker = fileURLToPath(new URL("run-row.ts", import.meta.url));
const profilesFolder = fileURLToPath(new URL("../.tmp/bench", import.meta.url));

/** Rows that share a process: each has its own, unless they only have to run. */
function groupsOf({ rows: wanted, effort }: BenchArguments): readonly (readonly Row[])[] {
  return effort === "smoke" ? [wanted] : wanted.map((row) => [row]);
}

/** Hears of each row as it is done. */
function measureIn(group: readonly Row[], given: BenchArguments, hear: (report: RowReport) => void): Promise<void> {
  const names = group.map(({ name }) => name);
  const order: RowOrder = { rows: names, effort: given.effort, profiles: given.profile ? profilesFolder : null };
  const child = fork(worker, [JSON.stringify(order)], { execArgv: ["--expose-gc", ...process.execArgv] });
  child.on("message", hear);
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${names.join(", ")}: ended with ${code}`));
    });
  });
}

async function measureAll(given: BenchArguments): Promise<Result[]> {
  const results: Result[] = [];
  let start = performance.now();
  const hear = ({ result, profiles }: RowReport) => {
    results.push(result);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    start = performance.now();
    process.stderr.write(`${results.length}/${given.rows.length} ${shortText(result)} (${seconds} s)\n`);
    for (const profile of profiles) process.stderr.write(`${profileText(profile)}\n`);
  };
  for (const group of groupsOf(given)) {
    await measureIn(group, given, hear).catch((error: unknown) => {
      // The others are still worth measuring.
      process.stderr.write(`${String(error)}\n`);
      process.exitCode = 1;
    });
  }
  return results;
}

function tell(where: Setting, results: readonly Result[], given: BenchArguments): void {
  if (given.json) console.log(JSON.stringify({ ...where, rows: results }, null, 2));
  else console.log(`${settingText(where)}\n\n${terminalTable(results)}`);
  if (!given.write) return;
  const machine = ["```text", settingText(where), "```"].join("\n");
  writePage({ setting: machine, table: markdownTable(results), points: markdownPoints(results) });
}

try {
  const given = parse(process.argv.slice(2));
  if (given.list) console.log(rows.map(({ name, what }) => `${name}  ${what}`).join("\n"));
  else tell(setting(given.effort), await measureAll(given), given);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.name}: ${error.message}\n\n${USAGE}\n`);
  process.exitCode = 2;
}
