// Both sides in turn, round by round, in one process: a machine that slows down does so for both, and a ratio is of neighbours.

import { median, spread, type Spread } from "./statistics.js";
import type { Effort } from "./effort.js";
import { timed, type Side } from "./side.js";

export interface Sides {
  readonly ours: Side;
  /** Nothing to compare with: then only ours is timed. */
  readonly peer?: Side;
  close?(): unknown;
}

export interface Comparison {
  /** Median milliseconds of one run. */
  readonly oursMs: number;
  readonly peerMs: number | null;
  /** Of the ratios of all rounds. */
  readonly ratio: Spread | null;
}

const MOST_RUNS = 2000;

export async function compare({ ours, peer }: Sides, effort: Effort): Promise<Comparison> {
  const oursInner = await warm(ours, effort);
  const peerInner = peer === undefined ? 0 : await warm(peer, effort);
  const samples: { readonly ours: number; readonly peer: number }[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    // Who goes first changes, so that going second is nobody's fate.
    const first = round % 2 === 0 ? await timed(ours, oursInner) : undefined;
    const other = peer === undefined ? Number.NaN : await timed(peer, peerInner);
    samples.push({ ours: first ?? (await timed(ours, oursInner)), peer: other });
  }
  return {
    oursMs: median(samples.map((sample) => sample.ours)),
    peerMs: peer === undefined ? null : median(samples.map((sample) => sample.peer)),
    ratio: peer === undefined ? null : spread(samples.map((sample) => sample.ours / sample.peer)),
  };
}

/** Run until it is warm; how many runs make a round. */
async function warm(side: Side, { warmMs, roundMs }: Effort): Promise<number> {
  if (warmMs === 0) return 1;
  let [spent, last] = [0, 0];
  let inner = 1;
  while (spent < warmMs) {
    last = await timed(side, inner);
    spent += last * inner;
    inner = Math.min(inner * 2, Math.max(1, Math.ceil(roundMs / last)), MOST_RUNS);
  }
  return Math.min(MOST_RUNS, Math.max(1, Math.round(roundMs / last)));
}
