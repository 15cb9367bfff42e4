// Lays out what a demo found, and counts what was not expected. Knows nothing about approvals.

const LABEL_WIDTH = 34;
const coloured = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
const paint = (code: number) => (text: string) => (coloured ? `\u001B[${code}m${text}\u001B[0m` : text);
const bold = paint(1);
const red = paint(31);

let surprises = 0;

export function heading(text: string): void {
  console.log(`\n${bold(text)}`);
}

/** A label and one or more lines beside it. */
export function line(label: string, ...values: readonly string[]): void {
  values.forEach((value, index) => console.log(`  ${(index === 0 ? label : "").padEnd(LABEL_WIDTH)}${value}`));
}

/** What was tried, what came of it, and a loud mark when that is not what should have. */
export function tried(label: string, found: string, expected: string): void {
  if (found === expected) return line(label, found);
  surprises += 1;
  line(label, `${red(found)}   UNEXPECTED, it should be: ${expected}`);
}

export function table(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = header.map((name, at) => Math.max(name.length, ...rows.map((row) => (row[at] ?? "").length)));
  const text = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
  console.log(`  ${bold(text(header).trimEnd())}`);
  for (const row of rows) console.log(`  ${text(row).trimEnd()}`);
}

/** The last line, and the exit code: 1 when anything was not as expected. */
export function finish(): void {
  console.log("");
  if (surprises === 0) {
    console.log("Everything above was tried just now and came out as it should.");
    return;
  }
  console.log(red(`${surprises} UNEXPECTED, see above.`));
  process.exitCode = 1;
}
