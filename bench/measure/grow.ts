// The same comparison at several sizes, and how both sides grow.

import { compare, type Comparison, type Sides } from "./compare.js";
import { perSize, type Effort } from "./effort.js";
import { growthOf, type Growth } from "./statistics.js";

/** What one size took. */
export interface Point extends Comparison {
  readonly n: number;
}

export interface Grown {
  readonly points: readonly Point[];
  /** Of processor time. */
  readonly ours: Growth;
  readonly peer: Growth | null;
}

export async function grow(
  sizes: readonly number[],
  open: (size: number) => Sides | Promise<Sides>,
  effort: Effort,
): Promise<Grown> {
  const points: Point[] = [];
  for (const n of sizes.slice(0, effort.sizes)) {
    const sides = await open(n);
    points.push({ n, ...(await compare(sides, perSize(effort))) });
    await sides.close?.();
  }
  return grown(points);
}

export function grown(points: readonly Point[]): Grown {
  const peers = points.flatMap(({ n, peer }) => (peer === null ? [] : [{ n, ms: peer.cpuMs }]));
  return {
    points,
    ours: growthOf(points.map(({ n, ours }) => ({ n, ms: ours.cpuMs }))),
    peer: peers.length < points.length ? null : growthOf(peers),
  };
}
