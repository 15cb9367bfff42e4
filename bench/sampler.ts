// Paired timing: both sides in turn, A B A B, so that a drifting machine drifts for both. Owns nothing but the clockwork.

import { performance } from "node:perf_hooks";

/** One side of a comparison; `run` does the measured work once. */
export interface Side {
  readonly name: string;
  readonly run: () => Promise<unknown>;
}

export interface Pair {
  /** Median milliseconds of one run of ours. */
  readonly oursMs: number;
  readonly theirsMs: number;
  /** Median of the ratios, round by round. */
  readonly ratio: number;
}

interface PairOptions {
  readonly rounds: number;
  /** Runs per side and round; the time is divided by it. */
  readonly inner: number;
}

export async function pair(ours: Side, theirs: Side, { rounds, inner }: PairOptions): Promise<Pair> {
  await timed(ours, inner);
  await timed(theirs, inner);
  const samples: { readonly ours: number; readonly theirs: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    samples.push({ ours: await timed(ours, inner), theirs: await timed(theirs, inner) });
  }
  return {
    oursMs: median(samples.map((sample) => sample.ours)),
    theirsMs: median(samples.map((sample) => sample.theirs)),
    ratio: median(samples.map((sample) => sample.ours / sample.theirs)),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function timed(side: Side, inner: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < inner; i += 1) await side.run();
  return (performance.now() - start) / inner;
}
