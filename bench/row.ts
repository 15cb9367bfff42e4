// What a row of the table is: a comparison, a comparison at several sizes, or a figure that is taken in a way of its own.

import type { Sides } from "./measure/compare.js";
import type { Effort } from "./measure/effort.js";
import type { Grown } from "./measure/grow.js";
import type { Spread } from "./measure/statistics.js";

interface Head {
  readonly name: string;
  readonly what: string;
  /** What it is measured against. */
  readonly peer: string | null;
}

/** Ours against a peer. `goal`: the highest ratio that is good enough. */
export interface PairRow extends Head {
  readonly kind: "pair";
  readonly goal: number | null;
  open(): Sides | Promise<Sides>;
}

/** The same at several sizes; the goal is that the time is linear in them. */
export interface GrowthRow extends Head {
  readonly kind: "growth";
  /** What is counted. */
  readonly unit: string;
  readonly sizes: readonly number[];
  open(size: number): Sides | Promise<Sides>;
}

/** What a row of its own kind found. Growth fills what is left out. */
export interface Figure {
  readonly ours?: string;
  readonly peer?: string;
  readonly ratio?: Spread;
  readonly met?: boolean;
  readonly grown?: Grown;
  readonly note?: string;
}

export interface FigureRow extends Head {
  readonly kind: "figure";
  readonly goal: string | null;
  readonly unit?: string;
  measure(effort: Effort): Promise<Figure>;
}

export type Row = PairRow | GrowthRow | FigureRow;
