// What is wrong with the ways between the nodes of a flow: names, caps, options. What they lead to together is validate.ts.

import { countOption } from "../options.js";
import type { FlowDefinition } from "./definition.js";
import { shown } from "./names.js";
import { capOf, waysOf } from "./ways.js";

export function wayFaults(flow: FlowDefinition): string[] {
  const known = new Set(flow.nodes.map(({ name }) => name));
  const missing = (what: string, name: string | undefined): string[] =>
    name === undefined || known.has(name) ? [] : [`${what} names ${shown(name)}, which is no node`];
  const edges = flow.edges.flatMap(({ from, to, options }) => {
    const what = `edge ${shown(from)} -> ${shown(to)}`;
    return [
      ...missing(what, from),
      ...missing(what, to),
      ...missing(`${what}: orElse`, options.orElse),
      ...unknownOptions(what, options),
      ...capFaults(what, options.maxLoops),
    ];
  });
  const routes = flow.routes.flatMap(({ from, choose, targets, options }) => {
    const what = `route from ${shown(from)}`;
    const caps: readonly unknown[] = targets.map((target) => capOf(options.maxLoops, target));
    return [
      ...missing(what, from),
      ...(targets.length === 0 ? [`${what} has no targets`] : []),
      ...(typeof choose === "function" ? [] : [`${what}: what chooses must be a function`]),
      ...targets.flatMap((target) => missing(what, target)),
      ...missing(`${what}: orElse`, options.orElse),
      ...unknownOptions(what, options),
      ...caps.flatMap((cap) => capFaults(what, cap)),
      ...strayCaps(what, targets, options.maxLoops),
    ];
  });
  const starts = flow.starts.flatMap((name) => missing("start", name));
  const ends = flow.ends.flatMap((name) => missing("end", name));
  return [...new Set([...edges, ...routes, ...doubleCaps(flow), ...starts, ...ends])];
}

function unknownOptions(what: string, options: object): string[] {
  return Object.keys(options)
    .filter((option) => option !== "maxLoops" && option !== "orElse")
    .map((option) => `${what} has no option ${shown(option)}`);
}

function capFaults(what: string, maxLoops: unknown): string[] {
  if (maxLoops === undefined) return [];
  try {
    countOption(what, "maxLoops", maxLoops);
    return [];
  } catch {
    return [`${what}: maxLoops must be a whole number above 0`];
  }
}

function strayCaps(what: string, targets: readonly string[], maxLoops: unknown): string[] {
  if (typeof maxLoops !== "object" || maxLoops === null) return [];
  return Object.keys(maxLoops)
    .filter((target) => !targets.includes(target))
    .map((target) => `${what}: maxLoops names ${shown(target)}, which is no target of it`);
}

/** A cap counts the way between two nodes, so there is one way between them that says it. */
function doubleCaps(flow: FlowDefinition): string[] {
  const ways = new Map<string, { count: number; isCapped: boolean }>();
  for (const { kind, from, to, maxLoops } of waysOf(flow)) {
    if (kind === "else") continue;
    const key = `${shown(from)} -> ${shown(to)}`;
    const way = ways.get(key) ?? { count: 0, isCapped: false };
    ways.set(key, { count: way.count + 1, isCapped: way.isCapped || maxLoops !== undefined });
  }
  return [...ways].flatMap(([key, { count, isCapped }]) =>
    count > 1 && isCapped ? [`the way ${key} is there ${count} times, and has a cap: say it once`] : [],
  );
}
