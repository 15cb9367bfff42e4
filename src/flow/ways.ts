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
  if (typeof maxLoops !== "object") return maxLoops;
  return Object.hasOwn(maxLoops, target) ? maxLoops[target] : undefined;
}

/** Every node that can be reached from there, itself only through a loop. */
export function reachableFrom(ways: readonly Way[], start: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (name: string) => {
    for (const { from, to } of ways) if (from === name) found.add(to);
  };
  visit(start);
  // A set is walked with what is added while it is walked.
  for (const name of found) visit(name);
  return found;
}
