// `npm run compare`: measures every stack, prints the table, and writes it into docs/comparison.md.
//   --only <id>    columns of this stack only, such as ai, mastra:bound; may be given more than once; writes nothing
//   --repeat <n>   run everything so often; a cell shows each outcome that was seen
//   --json         the columns as JSON on standard output; writes nothing
//   --no-write     leave docs/comparison.md as it is

import { readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, platform } from "node:os";
import { parseArgs } from "node:util";
import { measure, type Column } from "./measure.js";
import { markdown, terminalTable, titleOf } from "./report.js";
import { STACKS } from "./stacks.js";

const DOCUMENT = new URL("../docs/comparison.md", import.meta.url);
const [BEGIN, END] = ["<!-- comparison: begin, written by `npm run compare` -->", "<!-- comparison: end -->"];

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    repeat: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
    "no-write": { type: "boolean", default: false },
  },
});

const { only } = values;
const chosen = STACKS.filter(({ id }) => only?.some((name) => id === name || id.startsWith(`${name}:`)) ?? true);
if (chosen.length === 0) throw new Error(`--only takes one of ${STACKS.map(({ id }) => id).join(", ")}`);
const repeat = Math.max(1, Number.parseInt(values.repeat, 10));

const columns: Column[] = [];
for (const stack of chosen) {
  let count = 0;
  const column = await measure(stack, { repeat, onRow: () => (count += 1) });
  columns.push(column);
  process.stderr.write(`${titleOf(column)}: ${column.unmeasured ?? `${count} cases, Node ${column.node}`}\n`);
}

const date = new Date().toISOString().slice(0, 10);
if (values.json) process.stdout.write(`${JSON.stringify({ date, repeat, columns }, null, 2)}\n`);
else process.stdout.write(`\n${terminalTable(columns, date)}\n`);

const failed = columns.filter(
  ({ unmeasured, cells }) => unmeasured !== undefined || cells.some(({ outcomes }) => outcomes.includes("error")),
);
if (!values.json && only === undefined && !values["no-write"] && failed.length === 0) write();
for (const column of failed) {
  process.stderr.write(
    `not measured as a whole: ${titleOf(column)}${column.unmeasured === undefined ? "" : `: ${column.unmeasured}`}\n`,
  );
}
if (failed.length > 0) process.exitCode = 1;

/** Between the marks only. */
function write(): void {
  const text = readFileSync(DOCUMENT, "utf8");
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from === -1 || to < from) throw new Error("docs/comparison.md has lost its marks");
  const machine = `${platform()} ${arch()}, ${cpus().length} cores`;
  const made = markdown(columns, { date, repeat, machine });
  writeFileSync(DOCUMENT, `${text.slice(0, from)}${BEGIN}\n\n${made}\n\n${text.slice(to)}`);
  process.stderr.write("written: docs/comparison.md\n");
}
