// Rows of a run, as a table for people. Decides nothing.

import { ATTACK_CASES } from "./attack-cases.js";
import type { AttackRow } from "./run-attacks.js";

const SHORT: Readonly<Record<AttackRow["outcome"], string>> = {
  refused: "refused",
  "ran once": "ran once",
  "not run": "not run",
  "ran twice": "RAN TWICE",
  "ran forged": "RAN FORGED",
  "thread lost": "THREAD LOST",
  "not applicable": "-",
  error: "ERROR",
};

/**
 * A Markdown table with a line for each case and a column for each driver, a line that counts, and everything that is not as it should
 * be, or does not apply, with its reason.
 *
 * @example console.log(formatAttackTable(await runAttacks([{ module: "/app/attack-driver.js" }])));
 */
export function formatAttackTable(rows: readonly AttackRow[]): string {
  const drivers = [...new Set(rows.map(({ driver }) => driver))];
  const ids = [...new Set(rows.map((row) => row.case))];
  const cell = (id: string, driver: string) => {
    const row = rows.find((each) => each.case === id && each.driver === driver);
    return row === undefined ? "" : SHORT[row.outcome];
  };
  const table = [
    line(["case", ...drivers]),
    line(["---", ...drivers.map(() => "---")]),
    ...ids.map((id) => line([id, ...drivers.map((driver) => cell(id, driver))])),
    line(["as it should be", ...drivers.map((driver) => counted(rows, driver))]),
  ];
  return [...table, ...remarks("Not as it should be", rows, ({ ok }) => !ok), ...notApplicable(rows)].join("\n");
}

function counted(rows: readonly AttackRow[], driver: string): string {
  const applicable = rows.filter((row) => row.driver === driver && row.outcome !== "not applicable");
  return `${applicable.filter(({ ok }) => ok).length} of ${applicable.length}`;
}

function remarks(title: string, rows: readonly AttackRow[], isMeant: (row: AttackRow) => boolean): string[] {
  const meant = rows.filter(isMeant);
  if (meant.length === 0) return [];
  const lines = meant.map(
    (row) => `- ${row.driver}: ${row.case}: ${row.outcome} (${textOf(row)}). ${oneLine(row.detail)}`,
  );
  return ["", `${title}:`, "", ...lines];
}

/** Grouped: one reason usually serves many cases. */
function notApplicable(rows: readonly AttackRow[]): string[] {
  const reasons = new Map<string, string[]>();
  for (const row of rows.filter(({ outcome }) => outcome === "not applicable")) {
    const reason = `${row.driver}: ${oneLine(row.detail)}`;
    reasons.set(reason, [...(reasons.get(reason) ?? []), row.case]);
  }
  if (reasons.size === 0) return [];
  return ["", "Not applicable:", "", ...[...reasons].map(([reason, cases]) => `- ${reason} (${cases.join(", ")})`)];
}

function textOf(row: AttackRow): string {
  const attack = ATTACK_CASES.find(({ id }) => id === row.case);
  return attack === undefined ? row.title : `${row.title}: ${attack.why}`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
