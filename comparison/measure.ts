// Runs the attack kit on one stack, as often as asked, in a process of the Node that the stack needs. Judges nothing: the kit does.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { AttackOutcome } from "../src/testing/attacks/attack-case.js";
import { ATTACK_CASES } from "../src/testing/attacks/attack-cases.js";
import type { AttackRow } from "../src/testing/attacks/run-attacks.js";
import { findNode, manifestOf, neededNode, variableFor } from "./find-node.js";
import type { Stack } from "./stacks.js";

/** One case on one stack: every outcome that was seen, in most runs one. */
export interface Cell {
  readonly case: string;
  readonly outcomes: readonly AttackOutcome[];
  /** Each of them is right: the kit says so. */
  readonly ok: boolean;
  readonly detail: string;
}

export interface Column {
  readonly stack: Stack;
  /** The packages with their versions, the measured one first. */
  readonly versions: readonly string[];
  readonly node: string;
  readonly cells: readonly Cell[];
  /** Why there is nothing to show. */
  readonly unmeasured?: string;
}

interface MeasureOptions {
  readonly repeat: number;
  readonly onRow: (row: AttackRow) => void;
}

export async function measure(stack: Stack, { repeat, onRow }: MeasureOptions): Promise<Column> {
  const versions = stack.packages.map((name) => `${name} ${manifestOf(name, stack).version}`);
  const found = findNode(stack);
  if (found === undefined) {
    const unmeasured = `needs Node ${neededNode(stack).join(" and ")}, none found: run "npm run node", or set ${variableFor(stack)}`;
    return { stack, versions, node: "", cells: [], unmeasured };
  }
  const base = { stack, versions, node: found.version };
  try {
    const rows: AttackRow[] = [];
    for (let run = 0; run < repeat; run += 1) rows.push(...(await runOnce(stack, found.path, onRow)));
    const unmeasured = whyUnmeasured(rows);
    return unmeasured === undefined ? { ...base, cells: cellsOf(rows) } : { ...base, cells: [], unmeasured };
  } catch (error) {
    return { ...base, cells: [], unmeasured: error instanceof Error ? error.message : String(error) };
  }
}

/** A driver that cannot do the honest thing says nothing about the stack. */
function whyUnmeasured(rows: readonly AttackRow[]): string | undefined {
  const honest = rows.find((row) => row.case === "honest/approve");
  if (honest?.outcome === "ran once") return undefined;
  return `the driver fails at honest/approve: ${honest?.detail ?? "no row"}`;
}

function cellsOf(rows: readonly AttackRow[]): Cell[] {
  // In the order of the kit, not in the order in which they were over.
  const byCase = new Map<string, AttackRow[]>(ATTACK_CASES.map(({ id }) => [id, []]));
  for (const row of rows) byCase.set(row.case, [...(byCase.get(row.case) ?? []), row]);
  const seen = [...byCase].filter(([, of]) => of.length > 0);
  return seen.map(([id, of]) => ({
    case: id,
    outcomes: [...new Set(of.map(({ outcome }) => outcome))],
    ok: of.every(({ ok }) => ok),
    detail: of.find(({ ok }) => !ok)?.detail ?? of[0]?.detail ?? "",
  }));
}

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

function runOnce(stack: Stack, node: string, onRow: (row: AttackRow) => void): Promise<AttackRow[]> {
  const loader = ["--no-warnings", "--conditions=agent-adapter-source", "--import", import.meta.resolve("tsx")];
  const args = [...loader, at("run-stack.ts"), at(stack.driver), JSON.stringify(stack.settings)];
  const child = spawn(node, args, { stdio: ["ignore", "pipe", "inherit"] });
  const rows: AttackRow[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    // run-stack.ts prints nothing else; what a stack prints is not for us.
    if (!line.startsWith('{"driver":')) return;
    const row = JSON.parse(line) as AttackRow;
    rows.push(row);
    onRow(row);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(rows);
      else reject(new Error(`the run ended with ${code}, after ${rows.length} cases`));
    });
  });
}
