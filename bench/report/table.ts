// Results as text: for a terminal, and as Markdown.

import { medianText, ratioText, time, type Result } from "../result.js";
import type { Setting } from "./machine.js";

export const COLUMNS = [
  "row",
  "what",
  "ours",
  "peer",
  "ratio: median (min to max)",
  "cpu",
  "goal",
  "met",
  "growth",
] as const;

function cells(result: Result): string[] {
  const what = result.note === "" ? result.what : `${result.what} (${result.note})`;
  const against = result.against === null || result.peer === "" ? result.peer : `${result.peer}: ${result.against}`;
  const cpu = result.cpuRatio === null ? "" : medianText(result.cpuRatio);
  return [result.row, what, result.ours, against, ratioText(result.ratio), cpu, result.goal, result.met, result.fit];
}

/** One line as a row is done: a long run that is stopped has said what it found. */
export function shortText(result: Result): string {
  const [row = "", , ours = "", , ratio = "", cpu = "", , met = "", fit = ""] = cells(result);
  const parts = [`ours ${ours}`, `peer ${result.peer}`, `ratio ${ratio}`, `cpu ${cpu}`, `met ${met}`, fit];
  return `${row}: ${parts.filter((part) => part !== "" && !part.endsWith(" ")).join("; ")}`;
}

export function terminalTable(results: readonly Result[]): string {
  return aligned([[...COLUMNS], ...results.map(cells)]);
}

export function markdownTable(results: readonly Result[]): string {
  return markdown([[...COLUMNS], ...results.map(cells)]);
}

/** What each size took of the processor, of all rows that have sizes. */
export function markdownPoints(results: readonly Result[]): string {
  const lines = results.flatMap(({ row, unit, grown }) =>
    grown === null
      ? []
      : [
          [
            row,
            unit ?? "",
            grown.points.map(({ n, ours }) => `${n}: ${time(ours.cpuMs)}`).join("<br>"),
            grown.points.map(({ n, peer }) => (peer === null ? "" : `${n}: ${time(peer.cpuMs)}`)).join("<br>"),
          ],
        ],
  );
  return markdown([["row", "n counts", "ours", "peer"], ...lines]);
}

export function settingText({ date, machine, load, commit, measured, effort, versions }: Setting): string {
  const named = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const code = measured === "dist" ? "the built package (dist)" : "the sources (src), through a loader";
  return [
    `${date}; ${machine}; load before: ${load}`,
    `measured: ${commit}, ${code}, ${effort} rounds`,
    named.join(", "),
  ].join("\n");
}

function aligned(lines: readonly (readonly string[])[]): string {
  const [head = []] = lines;
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const text = (line: readonly string[]) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [text(head), rule, ...lines.slice(1).map(text)].join("\n");
}

function markdown(lines: readonly (readonly string[])[]): string {
  const [head = [], ...rest] = lines;
  const text = (line: readonly string[]) => `| ${line.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [text(head), `|${head.map(() => "---").join("|")}|`, ...rest.map(text)].join("\n");
}
