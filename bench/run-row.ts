// A process that measures rows: one, so that what others compiled, cached or left on the heap is not its business, or a few that
// only have to run. Started by run.ts, to which it sends each result.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { EFFORTS, type EffortName } from "./measure/effort.js";
import { compare, type Sides } from "./measure/compare.js";
import { grow } from "./measure/grow.js";
import { keepRunning, profiled, type ProfileSummary } from "./measure/profile.js";
import { figureResult, growthResult, pairResult, type Result } from "./result.js";
import type { Row } from "./row.js";
import { rows } from "./rows/all.js";

/** What run.ts orders, as this process's one argument. */
export interface RowOrder {
  readonly rows: readonly string[];
  readonly effort: EffortName;
  /** A folder for CPU profiles. */
  readonly profiles: string | null;
}

export interface RowReport {
  readonly result: Result;
  readonly profiles: readonly ProfileSummary[];
}

const PROFILED_MS = 3000;

async function measure(row: Row, effort: EffortName): Promise<Result> {
  const work = EFFORTS[effort];
  if (row.kind === "figure") return figureResult(row, await row.measure(work));
  if (row.kind === "growth") return growthResult(row, await grow(row.sizes, (size) => row.open(size), work));
  const sides = await row.open();
  const result = pairResult(row, await compare(sides, work));
  await sides.close?.();
  return result;
}

async function profile(row: Row, { effort, profiles }: RowOrder): Promise<readonly ProfileSummary[]> {
  if (profiles === null) return [];
  mkdirSync(profiles, { recursive: true });
  const file = (side: string) => join(profiles, `${row.name}.${side}.cpuprofile`);
  if (row.kind === "figure") return [await profiled(file("both"), () => row.measure(EFFORTS[effort]))];
  const sides: Sides = row.kind === "pair" ? await row.open() : await row.open(row.sizes.at(-1) ?? 1);
  const ms = effort === "smoke" ? 0 : PROFILED_MS;
  const found = [await profiled(file("ours"), () => keepRunning(() => sides.ours.prepare(), ms))];
  const { peer } = sides;
  if (peer !== undefined) found.push(await profiled(file("peer"), () => keepRunning(() => peer.prepare(), ms)));
  await sides.close?.();
  return found;
}

async function main(): Promise<void> {
  // The loader turns source maps on, which makes every error dearer than it is for users.
  process.setSourceMapsEnabled(false);
  const order = JSON.parse(process.argv[2] ?? "null") as RowOrder;
  for (const row of rows.filter(({ name }) => order.rows.includes(name))) {
    const result = await measure(row, order.effort);
    const profiles = await profile(row, order);
    const report: RowReport = { result: { ...result, profiles: profiles.map(({ path }) => path) }, profiles };
    await new Promise((resolve) => process.send?.(report, resolve));
  }
  process.exit();
}

await main();
