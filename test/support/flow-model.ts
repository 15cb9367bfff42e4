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
  /** A node of the last step is denied beside one over its cap: when that one waits for an answer, too, whoever is first decides. */
  readonly orDenied: boolean;
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
export const joined = (current: string | undefined, writes: readonly string[]): string =>
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

interface Run {
  readonly sketch: FlowSketch;
  readonly ledger: Counted[];
  readonly visits: Record<string, number>;
  readonly counts: Record<string, number>;
  state: SketchState;
  steps: number;
  /** Nodes that some way has led to and that have not run since. */
  reached: readonly string[];
  orDenied: boolean;
}

/** Interpret the sketch. */
export function predict(sketch: FlowSketch): Outcome {
  const { nodes, input, maxSteps } = sketch;
  const run: Run = {
    sketch,
    ledger: [],
    visits: {},
    counts: {},
    state: { log: [], seen: [], bag: {}, text: "", list: [], note: "", ...input },
    steps: 0,
    reached: nodes.slice(0, 1).map(({ name }) => name),
    orDenied: false,
  };
  for (;;) {
    const now = nextStep(run);
    const status = now.length === 0 ? "done" : run.steps >= maxSteps ? "loop" : takeStep(run, now);
    const { state, steps, visits, ledger } = run;
    if (status !== undefined)
      return { status, state, steps, visits, ledger: ledger.toSorted(byText), orDenied: run.orDenied };
  }
}

/** Joins wait until nothing else is ready, and then for joins that can still reach them; of two that reach each other the first runs. */
function nextStep({ sketch, reached }: Run): NodeSketch[] {
  const ready = sketch.nodes
    .filter(({ name }) => reached.includes(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const others = ready.filter(({ kind }) => kind !== "join");
  const reaches = (from: string, to: string) => from !== to && reachedFrom(sketch, from).has(to);
  const isFree = (name: string) =>
    ready.every((other) => !reaches(other.name, name) || (reaches(name, other.name) && name < other.name));
  return others.length > 0 ? others : ready.filter(({ name }) => isFree(name));
}

/** How the run ends in this step; `undefined`: it goes on. */
function takeStep(run: Run, now: readonly NodeSketch[]): Outcome["status"] | undefined {
  const seen = passGates(run, now);
  if (seen === undefined) return "denied";
  const ends = now.map((node) => visitOf(run, node, seen));
  run.orDenied = ends.includes("loop") && ends.includes("denied");
  if (ends.includes("loop")) return "loop";
  if (ends.includes("denied")) return "denied";
  const visited = ends.filter((one) => typeof one === "object");
  const next = merge(
    seen,
    visited.map(({ writes }) => writes),
  );
  if (next === undefined) return "conflict";
  const names = now.map(({ name }) => name);
  run.state = next;
  run.steps += 1;
  run.reached = [...run.reached.filter((name) => !names.includes(name)), ...visited.flatMap(({ goto }) => goto)];
  for (const { counts } of visited) Object.assign(run.counts, counts);
  for (const name of names) run.visits[name] = (run.visits[name] ?? 0) + 1;
  return undefined;
}

/** The state that the step sees, with the notes of reviewers; `undefined` when one said no. */
function passGates({ ledger, state }: Run, now: readonly NodeSketch[]): SketchState | undefined {
  let note = state.note;
  for (const node of now.filter(({ gate }) => gate)) {
    const yes = says(node, state.total) === "yes";
    ledger.push([node.name, yes ? "ok" : "denied", 0, 0]);
    if (!yes) return undefined;
    if (node.edits) note = noteOf(node.name, state.total);
  }
  return { ...state, note };
}

interface Visited {
  readonly writes: readonly Write[];
  readonly goto: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

function visitOf(run: Run, node: NodeSketch, state: SketchState): Visited | "loop" | "denied" {
  const asked = callsOf(node, state).filter(({ asks }) => asks);
  if (asked.length > 0 && says(node, state.total) === "no") return "denied";
  for (const { tool, attempts } of callsOf(node, state)) {
    const isAgain = tool === "once" && run.ledger.some(([name]) => name === "once");
    run.ledger.push(isAgain ? [tool, "cached", 0, 0] : [tool, "ok", attempts, attempts * TOOL_COSTS[tool]]);
  }
  const writes = writesOf(node, (run.visits[node.name] ?? 0) + 1, state);
  // A route sees the writes of its own node; one node alone is never two writers.
  const { total } = merge(state, [writes]) ?? state;
  const onward = leave(run.sketch, node, { total, counts: run.counts });
  return onward === undefined ? "loop" : { writes, ...onward };
}

interface Call {
  readonly tool: ToolName | "each";
  readonly attempts: number;
  readonly asks: boolean;
}

function callsOf({ kind, tool, calls }: NodeSketch, { items }: SketchState): Call[] {
  if (kind === "map")
    return items.map(({ how }) => ({ tool: "each", attempts: how === "flaky" ? 3 : 1, asks: how === "ask" }));
  return (kind === "call" ? [tool] : calls).map((name) => ({
    tool: name,
    attempts: TOOL_FAILURES[name] + 1,
    asks: name === "ask" || name === "askFlaky",
  }));
}

function writesOf(node: NodeSketch, visit: number, state: SketchState): Write[] {
  const { name, kind, tool, into } = node;
  if (kind === "call") return [[into, [tool === "once" ? "once" : resultOf(name, 0, state.total)]]];
  if (kind === "map") {
    const results = state.items.map(({ text }, index) => `${text}${resultOf(name, index, state.total)}`);
    return [[into, into === "list" ? [results] : results]];
  }
  const values = written(node, visit, state);
  return node.writes.map((field) => [field, [values[field]]]);
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

/** All writes of a step, given in the order of the names of its nodes; `undefined` when a field without a rule has two writers. */
function merge(state: SketchState, step: readonly (readonly Write[])[]): SketchState | undefined {
  const writes = step.flat();
  const writers = (field: string) => writes.filter(([to]) => to === field).length;
  if (writers("one") > 1 || writers("list") > 1) return undefined;
  const next: Record<string, unknown> = { ...state };
  for (const [field, values] of writes) for (const value of values) next[field] = added(field, next[field], value);
  // `text` sees all writes at once.
  const texts = writes.flatMap(([to, values]) => (to === "text" ? values : []));
  if (texts.length > 0) next["text"] = joined(state.text, texts as string[]);
  // Every field of it was written as one of its own.
  return next as unknown as SketchState;
}

const RULES: Partial<Record<keyof SketchState, (current: never, value: never) => unknown>> = {
  log: (current: readonly string[], value: string) => [...current, value],
  total: (current: number, value: number) => current + value,
  low: (current: number | undefined, value: number) => Math.min(current ?? Number.POSITIVE_INFINITY, value),
  high: (current: number | undefined, value: number) => Math.max(current ?? Number.NEGATIVE_INFINITY, value),
  seen: (current: readonly string[], value: readonly string[]) => [...new Set([...current, ...value])],
  bag: (current: object, value: object) => ({ ...current, ...value }),
};

function added(field: keyof SketchState, current: unknown, value: unknown): unknown {
  const rule = RULES[field];
  return rule === undefined ? value : rule(current as never, value as never);
}

const byText = (a: readonly unknown[], b: readonly unknown[]): number => {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  return one < other ? -1 : one > other ? 1 : 0;
};
