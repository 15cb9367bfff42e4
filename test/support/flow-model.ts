// What a sketch of a flow must come to, by the rules of docs/reference/flow-rules.md and nothing else: no promises, no pauses, no
// checkpoints, no code of the package. Small enough to be read as the specification.
import type { FieldName, FlowSketch, NodeSketch, RouteSketch, ToolName } from "./flow-sketch.js";

export interface SketchState {
  readonly log: readonly string[];
  readonly total: number;
  readonly low?: number;
  readonly high?: number;
  readonly seen: readonly string[];
  readonly bag: Readonly<Record<string, string>>;
  readonly last?: string;
  readonly text: string;
  readonly one?: string;
  readonly list: readonly string[];
  readonly note: string;
  readonly items: FlowSketch["input"]["items"];
}

/** `[tool, status, attempts, cost]`: who called it is not in it, for of two first calls of `once` either may be the first. */
export type Counted = readonly [tool: string, status: string, attempts: number, cost: number];

export interface Outcome {
  /** `loop`: FlowLoopExceeded. `conflict`: two writers of a field without a rule. */
  readonly status: "done" | "denied" | "loop" | "conflict";
  readonly state: SketchState;
  readonly steps: number;
  readonly visits: Readonly<Record<string, number>>;
  /** In alphabetical order. */
  readonly ledger: readonly Counted[];
}

/** Attempts that a call takes in all, failed ones and those of later runs of its node included. */
export const TOOL_FAILURES: Readonly<Record<ToolName, number>> = { work: 0, ask: 0, flaky: 2, askFlaky: 1, once: 0 };
export const TOOL_COSTS: Readonly<Record<ToolName | "each", number>> = {
  work: 1,
  ask: 2,
  flaky: 3,
  askFlaky: 4,
  once: 5,
  each: 1,
};

type Write = readonly [field: keyof SketchState, values: readonly unknown[]];

export const resultOf = (node: string, n: number, total: number): string => `${node}:${n}:${total}`;
export const says = ({ denies }: NodeSketch, total: number): "yes" | "no" =>
  denies !== null && total % denies.modulo === denies.rest ? "no" : "yes";
export const noteOf = (node: string, total: number): string => `${node} saw ${total}`;
export const chosenBy = ({ targets, masks }: RouteSketch, total: number): string[] => {
  const mask = masks[total % masks.length] ?? 0;
  return targets.filter((_, index) => (mask & (2 ** index)) !== 0);
};
export const join = (current: string | undefined, writes: readonly string[]): string =>
  `${current ?? ""}[${writes.join(",")}]`;

/** What code writes: it shows which state it saw. */
export function written(node: NodeSketch, visit: number, state: SketchState): Partial<Record<FieldName, unknown>> {
  const label = `${node.name}#${visit}`;
  const values: Record<FieldName, unknown> = {
    log: `${label}@${state.total}${state.note}${state.log.length}`,
    total: node.weight,
    low: 10 - node.weight - visit,
    high: node.weight + visit,
    seen: [`w${node.weight}`, "same"],
    bag: { [`w${node.weight % 3}`]: label },
    last: label,
    text: label,
    one: label,
  };
  return Object.fromEntries(node.writes.map((field) => [field, values[field]]));
}

class Stop extends Error {
  readonly status: Outcome["status"];
  constructor(status: Outcome["status"]) {
    super(status);
    this.status = status;
  }
}

/** Interpret the sketch. */
export function predict(sketch: FlowSketch): Outcome {
  const { nodes, input, maxSteps } = sketch;
  const nodeNamed = (name: string) => nodes.find((node) => node.name === name) as NodeSketch;
  const isJoin = (name: string) => nodeNamed(name).kind === "join";
  const ledger: Counted[] = [];
  const visits: Record<string, number> = {};
  let counts: Record<string, number> = {};
  let state: SketchState = { log: [], seen: [], bag: {}, text: "", list: [], note: "", ...input };
  let steps = 0;
  let reached = new Set([nodes[0]?.name ?? ""]);
  const end = (status: Outcome["status"]): Outcome => ({
    status,
    state,
    steps,
    visits,
    ledger: ledger.toSorted(byText),
  });

  for (;;) {
    // Joins wait until nothing else is ready, and then for joins that can still reach them.
    const others = [...reached].filter((name) => !isJoin(name));
    const now = (others.length > 0 ? others : firstJoins(sketch, [...reached])).toSorted();
    if (now.length === 0) return end("done");
    if (steps >= maxSteps) return end("loop");
    try {
      let seen = state;
      for (const node of now.map(nodeNamed).filter(({ gate }) => gate)) {
        const yes = says(node, seen.total) === "yes";
        ledger.push([node.name, yes ? "ok" : "denied", 0, 0]);
        if (!yes) throw new Stop("denied");
        if (node.edits) seen = { ...seen, note: noteOf(node.name, seen.total) };
      }
      const ends = now.map((name) => visit(sketch, nodeNamed(name), { state: seen, visits, counts, ledger }));
      if (ends.some((one) => one.failed === "loop")) throw new Stop("loop");
      if (ends.some((one) => one.failed === "denied")) throw new Stop("denied");
      const next = merge(
        seen,
        now.map((name, index) => [name, ends[index]?.writes ?? []] as const),
      );
      state = next;
      for (const one of ends) counts = { ...counts, ...one.counts };
      for (const name of now) visits[name] = (visits[name] ?? 0) + 1;
      reached = new Set([...[...reached].filter((name) => !now.includes(name)), ...ends.flatMap(({ goto }) => goto)]);
      steps += 1;
    } catch (error) {
      if (error instanceof Stop) return end(error.status);
      throw error;
    }
  }
}

interface Seen {
  readonly state: SketchState;
  readonly visits: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
  readonly ledger: Counted[];
}

interface Visited {
  readonly writes: readonly Write[];
  readonly goto: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly failed?: "loop" | "denied";
}

function visit(sketch: FlowSketch, node: NodeSketch, { state, visits, counts, ledger }: Seen): Visited {
  const nothing = { writes: [], goto: [], counts: {} };
  const refused = says(node, state.total) === "no";
  const call = (tool: ToolName) => {
    const asks = tool === "ask" || tool === "askFlaky";
    if (asks && refused) throw new Stop("denied");
    const isAgain = tool === "once" && ledger.some(([name]) => name === "once");
    const attempts = TOOL_FAILURES[tool] + 1;
    ledger.push(isAgain ? [tool, "cached", 0, 0] : [tool, "ok", attempts, attempts * TOOL_COSTS[tool]]);
  };
  let writes: Write[];
  try {
    if (node.kind === "call") {
      call(node.tool);
      writes = [[node.into, [node.tool === "once" ? "once" : resultOf(node.name, 0, state.total)]]];
    } else if (node.kind === "map") {
      for (const { how } of state.items) {
        if (how === "ask" && refused) throw new Stop("denied");
        ledger.push(["each", "ok", how === "flaky" ? 3 : 1, how === "flaky" ? 3 : 1]);
      }
      const results = state.items.map(({ text }, index) => `${text}${resultOf(node.name, index, state.total)}`);
      writes = [[node.into, node.into === "list" ? [results] : results]];
    } else {
      for (const tool of node.calls) call(tool);
      const values = written(node, (visits[node.name] ?? 0) + 1, state);
      writes = node.writes.map((field) => [field, [values[field]]]);
    }
  } catch (error) {
    if (error instanceof Stop) return { ...nothing, failed: "denied" };
    throw error;
  }
  const onward = leave(sketch, node, { total: merge(state, [[node.name, writes]]).total, counts });
  return onward === undefined ? { ...nothing, failed: "loop" } : { writes, ...onward };
}

/** Which way on; `undefined` over a cap without another way. */
function leave(
  { edges, routes }: FlowSketch,
  { name }: NodeSketch,
  { total, counts }: { readonly total: number; readonly counts: Readonly<Record<string, number>> },
): Pick<Visited, "goto" | "counts"> | undefined {
  const ways = [
    ...edges.filter(({ from }) => from === name),
    ...routes
      .filter(({ from }) => from === name)
      .flatMap((route) => {
        const { caps, orElse } = route;
        const cap = (to: string) => (typeof caps === "number" ? caps : (caps?.[to] ?? null));
        return chosenBy(route, total).map((to) => ({ to, cap: cap(to), orElse }));
      }),
  ];
  const goto: string[] = [];
  const changed: Record<string, number> = {};
  for (const { to, cap, orElse } of ways) {
    const taken = counts[`${name}>${to}`] ?? 0;
    if (cap === null || taken < cap) goto.push(to);
    else if (orElse === null) return undefined;
    else goto.push(orElse);
    if (cap !== null && taken < cap) changed[`${name}>${to}`] = taken + 1;
  }
  return { goto, counts: changed };
}

/** Joins that no other waiting join can still reach; of those that reach each other, the first by name. */
function firstJoins(sketch: FlowSketch, joins: readonly string[]): string[] {
  const reaches = (from: string, to: string) => reachedFrom(sketch, from).has(to);
  return joins.filter((join) =>
    joins.every((other) => other === join || !reaches(other, join) || (reaches(join, other) && join < other)),
  );
}

function reachedFrom({ edges, routes }: FlowSketch, start: string): Set<string> {
  const found = new Set<string>();
  const walk = (name: string) => {
    const targets = [
      ...edges.filter(({ from }) => from === name).flatMap(({ to, orElse }) => [to, orElse]),
      ...routes.filter(({ from }) => from === name).flatMap(({ targets: all, orElse }) => [...all, orElse]),
    ];
    for (const to of targets) {
      if (to === null || found.has(to)) continue;
      found.add(to);
      walk(to);
    }
  };
  walk(start);
  return found;
}

/** All writes of a step, in the order of the names. */
function merge(state: SketchState, step: readonly (readonly [node: string, writes: readonly Write[]])[]): SketchState {
  const next: Record<string, unknown> = { ...state };
  const writersOf = new Map<string, number>();
  for (const [, writes] of step.toSorted(byName)) {
    for (const [field, values] of writes) {
      writersOf.set(field, (writersOf.get(field) ?? 0) + 1);
      for (const value of values) next[field] = added(field, next[field], value);
    }
  }
  if (["one", "list"].some((field) => (writersOf.get(field) ?? 0) > 1)) throw new Stop("conflict");
  // `text` sees all writes at once.
  const texts = step
    .toSorted(byName)
    .flatMap(([, writes]) => writes.flatMap(([to, all]) => (to === "text" ? all : [])));
  if (texts.length > 0) next["text"] = join(state.text, texts as string[]);
  return next as unknown as SketchState;
}

function added(field: keyof SketchState, current: unknown, value: unknown): unknown {
  switch (field) {
    case "log":
      return [...(current as string[]), value];
    case "total":
      return (current as number) + (value as number);
    case "low":
      return Math.min((current as number | undefined) ?? Infinity, value as number);
    case "high":
      return Math.max((current as number | undefined) ?? -Infinity, value as number);
    case "seen":
      return [...new Set([...(current as string[]), ...(value as string[])])];
    case "bag":
      return { ...(current as object), ...(value as object) };
    default:
      return value;
  }
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : a > b ? 1 : 0;
const byText = (a: readonly unknown[], b: readonly unknown[]): number => {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  return one < other ? -1 : one > other ? 1 : 0;
};
