// Numbers out of samples: median and range, a straight line, and how fast something grows.

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** t = fixed + perUnit * n, in milliseconds. */
export interface Line {
  readonly fixed: number;
  readonly perUnit: number;
  /** The share of the variance that the line explains. */
  readonly r2: number;
}

/** A size and the milliseconds of the processor it took. */
export interface Sample {
  readonly n: number;
  readonly ms: number;
}

export interface Growth {
  readonly line: Line;
  /** Of t ~ n^exponent, over the upper half of the sizes: fixed costs hide growth among the small ones. */
  readonly exponent: number;
}

/** A larger exponent is called not linear. Linear work measures 0.9 to 1.1 here; n^1.2 is a fourth more for each factor of three. */
export const LINEAR_EXPONENT = 1.15;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper;
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

export function growthOf(samples: readonly Sample[]): Growth {
  const sorted = samples.toSorted((a, b) => a.n - b.n);
  const upper = sorted.slice(-Math.max(2, Math.ceil(sorted.length / 2)));
  const logs = upper.map(({ n, ms }) => ({ n: Math.log(n), ms: Math.log(ms) }));
  return { line: lineThrough(sorted), exponent: lineThrough(logs).perUnit };
}

/** Least squares. */
export function lineThrough(samples: readonly Sample[]): Line {
  const mean = (pick: (sample: Sample) => number) => samples.reduce((sum, one) => sum + pick(one), 0) / samples.length;
  const [meanN, meanMs] = [mean(({ n }) => n), mean(({ ms }) => ms)];
  const variance = mean(({ n }) => (n - meanN) ** 2);
  const perUnit = variance === 0 ? 0 : mean(({ n, ms }) => (n - meanN) * (ms - meanMs)) / variance;
  const fixed = meanMs - perUnit * meanN;
  const total = mean(({ ms }) => (ms - meanMs) ** 2);
  const left = mean(({ n, ms }) => (ms - fixed - perUnit * n) ** 2);
  return { fixed, perUnit, r2: total === 0 ? 1 : 1 - left / total };
}
