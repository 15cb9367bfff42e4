// The table, for a terminal and as Markdown. Every number in it is counted here; nothing is said that the columns do not show.

import type { AttackOutcome } from "../src/testing/attacks/attack-case.js";
import { ATTACK_CASES } from "../src/testing/attacks/attack-cases.js";
import type { Cell, Column } from "./measure.js";
import { partOf, PARTS, type Part } from "./part-of.js";

const SHORT: Readonly<Record<AttackOutcome, string>> = {
  refused: "refused",
  "ran once": "once",
  "not run": "not run",
  "ran twice": "TWICE",
  "ran forged": "FORGED",
  "thread lost": "LOST",
  "not applicable": "-",
  error: "ERROR",
};

const letterOf = (index: number) => String.fromCodePoint(65 + index);

export function titleOf({ stack, versions }: Column): string {
  return `${versions[0] ?? ""}, ${stack.variant}`;
}

function cellOf(column: Column, id: string): Cell | undefined {
  return column.cells.find((cell) => cell.case === id);
}

/** Cases that any column has, in the order of the kit. */
function casesOf(columns: readonly Column[]): readonly string[] {
  return ATTACK_CASES.map(({ id }) => id).filter((id) => columns.some((column) => cellOf(column, id) !== undefined));
}

const applies = ({ outcomes }: Cell) => !outcomes.includes("not applicable");

/** How many of the cases of one part that apply are as they should be. There is no sum over the parts: they are different things. */
function countsOf({ cells }: Column, part: Part): string {
  const ids = new Set(idsOf(part));
  const applicable = cells.filter((cell) => ids.has(cell.case) && applies(cell));
  return `${applicable.filter(({ ok }) => ok).length} of ${applicable.length}`;
}

function countLines(columns: readonly Column[]): (readonly [title: string, counts: readonly string[]])[] {
  // The parts that it has.
  const parts = Object.entries(PARTS) as [Part, string][];
  return parts.map(([part, title]) => [title, columns.map((column) => countsOf(column, part))]);
}

// ---- terminal

const padded = (text: string) => text.padEnd(10);

export function terminalTable(columns: readonly Column[], date: string): string {
  const width = Math.max(...casesOf(columns).map((id) => id.length));
  const legend = columns.map((column, index) => `${letterOf(index)}  ${titleOf(column)}${runBy(column)}`);
  const head = `${"".padEnd(width)}  ${columns.map((_, index) => padded(letterOf(index))).join("")}`;
  const lines = casesOf(columns).map((id) => {
    const shown = columns.map((column) => padded(shortOf(cellOf(column, id))));
    return `${id.padEnd(width)}  ${shown.join("")}`;
  });
  const counts = countLines(columns).map(
    ([title, counted]) => `${title.padEnd(width)}  ${counted.map(padded).join("")}`,
  );
  return [date, "", ...legend, "", head, ...lines, "", "as it should be, of the cases that apply", ...counts]
    .join("\n")
    .replaceAll(/ +$/gm, "");
}

function runBy({ node, unmeasured }: Column): string {
  return unmeasured === undefined ? `  (Node ${node})` : `  NOT MEASURED: ${unmeasured}`;
}

function shortOf(cell: Cell | undefined): string {
  return cell === undefined ? "" : cell.outcomes.map((outcome) => SHORT[outcome]).join("/");
}

// ---- Markdown

interface Facts {
  readonly date: string;
  readonly repeat: number;
  readonly machine: string;
}

export function markdown(columns: readonly Column[], { date, repeat, machine }: Facts): string {
  const runs =
    repeat === 1
      ? "Each case was run once."
      : `Each case was run ${repeat} times; two outcomes in a cell were both seen.`;
  return [
    `Measured on ${date} on ${machine}. ${runs}`,
    "",
    ...columns.map(
      (column, index) => `- **${letterOf(index)}**: ${titleOf(column)}. ${column.stack.options}${nodeOf(column)}`,
    ),
    "",
    line(["case", ...columns.map((_, index) => letterOf(index))]),
    line(["---", ...columns.map(() => "---")]),
    ...casesOf(columns).map((id) => line([`\`${id}\``, ...columns.map((column) => longOf(cellOf(column, id)))])),
    "",
    "### How many are as they should be",
    "",
    "Of the cases that apply, by what an attacker needs. There is no sum.",
    "",
    line(["", ...columns.map((_, index) => letterOf(index))]),
    line(["---", ...columns.map(() => "---")]),
    ...countLines(columns).map(([title, counted]) => line([title, ...counted])),
    "",
    ...partLines(),
    "",
    "### What each case does",
    "",
    ...casesOf(columns).map(caseLine),
    "",
    "### Not as the case expects",
    "",
    ...columns.flatMap((column, index) => deviations(column, letterOf(index))),
    "### Not applicable, and why",
    "",
    ...columns.flatMap((column, index) => reasons(column, letterOf(index))),
  ].join("\n");
}

function nodeOf({ node, unmeasured, versions, stack }: Column): string {
  const others = versions.slice(1);
  const used = others.length === 0 ? "" : ` With ${others.join(", ")}.`;
  const links = stack.docs.map((url, index) => `[documentation${index === 0 ? "" : ` ${index + 1}`}](${url})`);
  const said = links.join(", ");
  const run = unmeasured === undefined ? ` Node ${node}.` : ` **Not measured**: ${unmeasured}.`;
  return `${used}${run}${said === "" ? "" : ` (${said})`}`;
}

function longOf(cell: Cell | undefined): string {
  if (cell === undefined) return "";
  const words = cell.outcomes.map((outcome) => (outcome === "not applicable" ? "n/a" : outcome)).join(" / ");
  return cell.ok ? words : `**${words}**`;
}

function caseLine(id: string): string {
  const attack = ATTACK_CASES.find((each) => each.id === id);
  if (attack === undefined) throw new Error(`no case ${id}`);
  const also = attack.alsoRight === undefined ? "" : `, or ${attack.alsoRight}`;
  return `- \`${id}\`: ${attack.title}. Expected: ${attack.expected}${also}.`;
}

function idsOf(part: Part): readonly string[] {
  return ATTACK_CASES.filter((attack) => partOf(attack) === part).map(({ id }) => id);
}

function listOf(part: Part): string {
  return idsOf(part)
    .map((id) => `\`${id}\``)
    .join(", ");
}

/** Which cases count where, but for the part with the most of them. */
function partLines(): string[] {
  return [
    `- ${PARTS.none}: accidents, retries, races, restarts, old answers to new questions, tools that changed: all that are not below`,
    `- ${PARTS.endpoint}: ${listOf("endpoint")}`,
    `- ${PARTS.storage}: ${listOf("storage")}`,
  ];
}

function deviations(column: Column, letter: string): string[] {
  const wrong = column.cells.filter(({ ok }) => !ok);
  if (wrong.length === 0) return [];
  const lines = wrong.map((cell) => `- \`${cell.case}\`: ${cell.outcomes.join(" / ")}. ${oneLine(cell.detail)}`);
  return [`**${letter}**, ${titleOf(column)}:`, "", ...lines, ""];
}

function reasons(column: Column, letter: string): string[] {
  const grouped = new Map<string, string[]>();
  for (const cell of column.cells.filter((each) => !applies(each))) {
    const reason = oneLine(cell.detail);
    grouped.set(reason, [...(grouped.get(reason) ?? []), cell.case]);
  }
  return [...grouped].map(
    ([reason, cases]) => `- **${letter}**: ${reason} (${cases.map((id) => `\`${id}\``).join(", ")})`,
  );
}

const LONGEST = 200;

/** What a stack said, without line ends, without what Markdown would read, and without ids that change from run to run. */
function oneLine(text: string): string {
  const ids = text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>").replaceAll(/aitxt-\w+/g, "<id>");
  const plain = ids.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}...` : plain;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
