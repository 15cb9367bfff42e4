// The command line of `npm run bench`. Owns what may be said, and what is answered to anything else.

import { parseArgs } from "node:util";
import type { EffortName } from "./measure/effort.js";
import type { Row } from "./row.js";
import { rows, rowsNamed } from "./rows/all.js";

export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface BenchArguments {
  readonly rows: readonly Row[];
  readonly effort: EffortName;
  readonly json: boolean;
  readonly profile: boolean;
  readonly write: boolean;
  readonly list: boolean;
}

export const USAGE = `npm run bench -- [options]
  --row NAME   only this row, or all of a group (S2, growth, stores-sqlite); may be given several times
  --list       the names of all rows
  --quick      fewer and shorter rounds
  --smoke      one round of the smallest sizes: does every row run? its figures mean nothing
  --json       figures for machines on standard output
  --profile    a CPU profile of each side of each row, and the functions with most self time
  --write      put the tables into docs/performance.md (all rows)`;

/** @throws UsageError */
export function parse(given: readonly string[]): BenchArguments {
  const values = read(given);
  const wanted = values.row ?? [];
  const unknown = wanted.filter((name) => rowsNamed(name).length === 0);
  if (unknown.length > 0) {
    throw new UsageError(`no row ${unknown.join(", ")}; there are ${rows.map(({ name }) => name).join(", ")}`);
  }
  if (values.quick && values.smoke) throw new UsageError("--quick or --smoke, not both");
  if (values.write && (values.smoke || wanted.length > 0)) {
    throw new UsageError("--write wants all rows and real rounds: a page of parts would mislead");
  }
  const names = new Set(wanted.flatMap((name) => rowsNamed(name).map((row) => row.name)));
  return {
    ...values,
    rows: wanted.length === 0 ? rows : rows.filter(({ name }) => names.has(name)),
    effort: effortOf(values),
  };
}

function effortOf({ quick, smoke }: { readonly quick: boolean; readonly smoke: boolean }): EffortName {
  if (smoke) return "smoke";
  return quick ? "quick" : "full";
}

function read(given: readonly string[]) {
  const flag = { type: "boolean", default: false } as const;
  const options = { json: flag, profile: flag, write: flag, list: flag, quick: flag, smoke: flag };
  try {
    const { values } = parseArgs({
      args: [...given],
      options: { ...options, row: { type: "string", multiple: true } },
      strict: true,
      allowPositionals: false,
    });
    return values;
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : "cannot be read", { cause });
  }
}
