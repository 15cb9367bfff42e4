// Every row of the table, in its order.

import type { Row } from "../row.js";
import { approvalRows } from "./approvals.js";
import { executorRows } from "./executor.js";
import { flowRows } from "./flows.js";
import { footprintRows } from "./footprint.js";
import { storeRows } from "./stores.js";
import { toolNodeRows } from "./tool-node.js";

const groups: readonly (readonly Row[])[] = [
  executorRows,
  toolNodeRows,
  approvalRows,
  flowRows,
  footprintRows,
  storeRows,
];
const all = groups.flat();

/** S1 to S10, then growth, then stores. */
export const rows: readonly Row[] = [
  ...all.filter(({ name }) => /^S\d/.test(name)).toSorted((a, b) => numberOf(a) - numberOf(b)),
  ...all.filter(({ name }) => !/^S\d/.test(name)),
];

function numberOf({ name }: Row): number {
  return Number.parseInt(name.slice(1), 10);
}

/** A row by its name, or all of a group: `S2` is `S2-1`, `S2-10` and `S2-100`; `growth`, `stores-sqlite`. */
export function rowsNamed(wanted: string): readonly Row[] {
  return rows.filter(({ name }) => name === wanted || name.startsWith(`${wanted}-`));
}
