// How much is measured: rounds, how long each takes, and which sizes. Data only.

export interface Effort {
  readonly rounds: number;
  /** A round of one side takes about as long as this, with as many runs as fit; 0: one run. */
  readonly roundMs: number;
  /** Each side runs this long before anything counts. */
  readonly warmMs: number;
  /** Only so many of the smallest sizes of a row. */
  readonly sizes: number;
  /** Of the things that a row counts (paused tasks, approvals of a store): this share. */
  readonly share: number;
  /** At most so many approvals in one node. */
  readonly approvals: number;
  /** At most so many processes on one database. */
  readonly processes: number;
}

const ALL = Number.POSITIVE_INFINITY;

export const EFFORTS = {
  full: { rounds: 15, roundMs: 50, warmMs: 500, sizes: ALL, share: 1, approvals: ALL, processes: ALL },
  quick: { rounds: 5, roundMs: 20, warmMs: 100, sizes: ALL, share: 0.2, approvals: ALL, processes: ALL },
  /** Does every row run? Its figures mean nothing. */
  smoke: { rounds: 1, roundMs: 0, warmMs: 0, sizes: 2, share: 0.002, approvals: 5, processes: 2 },
} as const satisfies Readonly<Record<string, Effort>>;

export type EffortName = keyof typeof EFFORTS;

/** Rows with many sizes measure each of them a shorter time. */
export function perSize(effort: Effort): Effort {
  return { ...effort, rounds: Math.ceil(effort.rounds / 2), roundMs: effort.roundMs / 2, warmMs: effort.warmMs / 4 };
}
