// Both sides in turn, round by round, in one process: a machine that slows down does so for both, and a ratio is of neighbours.

import { median, spread, type Spread } from "./statistics.js";
import type { Effort } from "./effort.js";
import { timed, type Side, type Timing } from "./side.js";

export interface Sides {
  readonly ours: Side;
  /** Nothing to compare with: then only ours is timed. */
  readonly peer?: Side;
  close?(): unknown;
}

export interface Comparison {
  readonly ours: Timing;
  readonly peer: Timing | null;
  /** Of the ratios of all rounds, by the clock. */
  readonly ratio: Spread | null;
  /** The same of processor time. */
  readonly cpuRatio: Spread | null;
}

const MOST_RUNS = 2000;
/** Of something that takes this long a few rounds say enough. */
const SLOW_MS = 1000;
const SLOW_ROUNDS = 3;

interface Round {
  readonly ours: Timing;
  readonly peer: Timing | null;
}

export async function compare(sides: Sides, effort: Effort): Promise<Comparison> {
  const all = await rounds(sides, effort);
  const pairs = all.flatMap(({ ours, peer }) => (peer === null ? [] : [{ ours, peer }]));
  const ratios = (of: keyof Timing) =>
    pairs.length === 0 ? null : spread(pairs.map((pair) => pair.ours[of] / pair.peer[of]));
  return {
    ours: medianOf(all.map((round) => round.ours)),
    peer: pairs.length === 0 ? null : medianOf(pairs.map((round) => round.peer)),
    ratio: ratios("ms"),
    cpuRatio: ratios("cpuMs"),
  };
}

async function rounds({ ours, peer }: Sides, effort: Effort): Promise<readonly Round[]> {
  const warmOurs = await warm(ours, effort);
  const warmPeer = peer === undefined ? { ms: 0, inner: 0 } : await warm(peer, effort);
  const isSlow = warmOurs.ms > SLOW_MS || warmPeer.ms > SLOW_MS;
  const all: Round[] = [];
  while (all.length < (isSlow ? Math.min(SLOW_ROUNDS, effort.rounds) : effort.rounds)) {
    // Who goes first changes, so that going second is nobody's fate.
    const first = all.length % 2 === 0 ? await timed(ours, warmOurs.inner) : undefined;
    const other = peer === undefined ? null : await timed(peer, warmPeer.inner);
    all.push({ ours: first ?? (await timed(ours, warmOurs.inner)), peer: other });
  }
  return all;
}

export function medianOf(timings: readonly Timing[]): Timing {
  return { ms: median(timings.map(({ ms }) => ms)), cpuMs: median(timings.map(({ cpuMs }) => cpuMs)) };
}

/** Run until it is warm; how long a run takes then, and how many make a round. */
async function warm(side: Side, { warmMs, roundMs }: Effort): Promise<{ readonly ms: number; readonly inner: number }> {
  if (warmMs === 0) return { ms: 0, inner: 1 };
  let [spent, last, inner] = [0, 0, 1];
  while (spent < warmMs) {
    last = (await timed(side, inner)).cpuMs;
    spent += last * inner;
    inner = Math.min(inner * 2, Math.max(1, Math.ceil(roundMs / last)), MOST_RUNS);
  }
  return { ms: last, inner: Math.min(MOST_RUNS, Math.max(1, Math.round(roundMs / last))) };
}
