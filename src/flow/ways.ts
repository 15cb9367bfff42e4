// The ways between the nodes of a flow: edges, what routes may choose, and where a cap leads instead. Owns what can be reached.

import type { FlowDefinition } from "./definition.js";

export interface Way {
  readonly kind: "edge" | "route" | "else";
  readonly from: string;
  readonly to: string;
  readonly maxLoops: number | undefined;
}

export function waysOf({ edges, routes }: FlowDefinition): Way[] {
  const plain = edges.flatMap(({ from, to, options: { maxLoops, orElse } }): Way[] => [
    { kind: "edge", from, to, maxLoops },
    ...otherwise(from, orElse),
  ]);
  const chosen = routes.flatMap(({ from, targets, options: { maxLoops, orElse } }): Way[] => [
    ...targets.map((to): Way => ({ kind: "route", from, to, maxLoops: capOf(maxLoops, to) })),
    ...otherwise(from, orElse),
  ]);
  return [...plain, ...chosen];
}

function otherwise(from: string, to: string | undefined): Way[] {
  return to === undefined ? [] : [{ kind: "else", from, to, maxLoops: undefined }];
}

/** One cap for all targets of a route, or one per target. */
export function capOf(
  maxLoops: number | Readonly<Record<string, number | undefined>> | undefined,
  target: string,
): number | undefined {
  // What is no cap at all is found by whoever checks the flow.
  if (typeof maxLoops !== "object" || maxLoops === null) return maxLoops;
  return Object.hasOwn(maxLoops, target) ? maxLoops[target] : undefined;
}

/** What starts where. Looked for by each node of a long flow, it would grow with the square. */
export function byStart<From extends { readonly from: string }>(
  ways: readonly From[],
): ReadonlyMap<string, readonly From[]> {
  const found = new Map<string, From[]>();
  for (const way of ways) {
    const beside = found.get(way.from);
    if (beside === undefined) found.set(way.from, [way]);
    else beside.push(way);
  }
  return found;
}

/** Every node that can be reached from there, itself only through a loop. */
export function reachableFrom(ways: readonly Way[], start: string): ReadonlySet<string> {
  const onward = onwardOf(ways);
  const next = (name: string) => (onward.get(name) ?? []).map(({ to }) => to);
  const found = new Set(next(start));
  // A set is walked with what is added while it is walked.
  for (const name of found) for (const to of next(name)) found.add(to);
  return found;
}

const ONWARD = new WeakMap<readonly Way[], ReadonlyMap<string, readonly Way[]>>();

/** Made once per list, for a flow may have a thousand nodes. */
function onwardOf(ways: readonly Way[]): ReadonlyMap<string, readonly Way[]> {
  const known = ONWARD.get(ways);
  if (known !== undefined) return known;
  const onward = byStart(ways);
  ONWARD.set(ways, onward);
  return onward;
}

/** The loops that these ways make, each as its nodes: nodes that reach each other. */
export function loopsOf(names: readonly string[], ways: readonly Way[]): string[][] {
  const seen = new Set<string>();
  return afterLoops(names, ways).flatMap((name, _index, left) => {
    const reached = reachableFrom(ways, name);
    if (seen.has(name) || !reached.has(name)) return [];
    const loop = left.filter((other) => reached.has(other) && reachableFrom(ways, other).has(name));
    for (const member of loop) seen.add(member);
    return [loop];
  });
}

/** Nodes on loops and beyond them: what is left when nodes that no way leads to are taken away, again and again. */
function afterLoops(names: readonly string[], ways: readonly Way[]): string[] {
  const onward = onwardOf(ways);
  const entrances = new Map(names.map((name) => [name, 0]));
  for (const { to } of ways) entrances.set(to, (entrances.get(to) ?? 0) + 1);
  const free = names.filter((name) => entrances.get(name) === 0);
  // A list is walked with what is added while it is walked.
  for (const name of free) {
    for (const { to } of onward.get(name) ?? []) {
      const left = (entrances.get(to) ?? 0) - 1;
      entrances.set(to, left);
      if (left === 0) free.push(to);
    }
  }
  return names.filter((name) => (entrances.get(name) ?? 0) > 0);
}
