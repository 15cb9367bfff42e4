// One side of a comparison, and one timed round of it. Owns the clockwork; knows nothing of what is compared.

import { performance } from "node:perf_hooks";

export type Run = () => unknown;

/** What is prepared is not timed; what it gives is. */
export interface Side {
  prepare(): Run | Promise<Run>;
}

/** A side that has nothing to prepare. */
export function always(run: Run): Side {
  return { prepare: () => run };
}

/** Milliseconds of one run, as the mean of `inner` runs in a row. What the other side left behind is collected first. */
export async function timed(side: Side, inner: number): Promise<number> {
  const runs: Run[] = [];
  for (let n = 0; n < inner; n += 1) runs.push(await side.prepare());
  globalThis.gc?.();
  const start = performance.now();
  for (const run of runs) await run();
  return (performance.now() - start) / inner;
}
