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

/** Milliseconds of one run: on the clock, and of the processor, which other programs of the machine do not lengthen. */
export interface Timing {
  readonly ms: number;
  /** All threads of this process: the garbage collector's, too. */
  readonly cpuMs: number;
}

/** Start measuring; call what it gives to stop. */
export function startTiming(): () => Timing {
  const before = process.cpuUsage();
  const start = performance.now();
  return () => {
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(before);
    return { ms, cpuMs: (user + system) / 1000 };
  };
}

/** The mean of `inner` runs in a row. What the other side left behind is collected first. */
export async function timed(side: Side, inner: number): Promise<Timing> {
  const runs: Run[] = [];
  for (let n = 0; n < inner; n += 1) runs.push(await side.prepare());
  globalThis.gc?.();
  const stop = startTiming();
  for (const run of runs) await run();
  const { ms, cpuMs } = stop();
  return { ms: ms / inner, cpuMs: cpuMs / inner };
}
