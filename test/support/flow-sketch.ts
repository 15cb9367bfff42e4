// Random flows as plain data: drawn here, built into a `Flow` by flow-build.ts, interpreted by flow-model.ts. Every sketch passes
// `validate()`: forward ways make every node reachable, and every way back has a cap.
import * as fc from "fast-check";

export type ToolName = "work" | "ask" | "flaky" | "askFlaky" | "once";
export type FieldName = "log" | "total" | "low" | "high" | "seen" | "bag" | "last" | "text" | "one";

export interface NodeSketch {
  readonly name: string;
  readonly kind: "code" | "call" | "map" | "join";
  /** What its written values are made of. */
  readonly weight: number;
  /** Of code and joins: the tools they call, and whether all at once. */
  readonly calls: readonly ToolName[];
  readonly together: boolean;
  /** Of code and joins. */
  readonly writes: readonly FieldName[];
  /** Of a call: its tool. */
  readonly tool: ToolName;
  /** Of a call or map. `list` has no rule: a map writes the whole list, a call never goes there. */
  readonly into: "log" | "last" | "text" | "one" | "list";
  /** Of code and joins: so often each visit throws, after its calls. */
  readonly failures: number;
  readonly retries: number;
  /** Turns of the event loop that code and tools of this node take. */
  readonly slow: number;
  readonly gate: boolean;
  /** The reviewer of the gate writes a note into the state. */
  readonly edits: boolean;
  /** The reviewer says no, at the gate and to tools, when `total % modulo` is this rest. */
  readonly denies: { readonly modulo: number; readonly rest: number } | null;
}

export interface EdgeSketch {
  readonly from: string;
  readonly to: string;
  readonly cap: number | null;
  readonly orElse: string | null;
}

export interface RouteSketch {
  readonly from: string;
  readonly targets: readonly string[];
  /** Which targets are chosen: bits of the mask at `total`, counted around. No bit: the branch ends. */
  readonly masks: readonly number[];
  /** One cap for all, or one by target. */
  readonly caps: number | Readonly<Record<string, number>> | null;
  readonly orElse: string | null;
}

export interface ItemSketch {
  readonly text: string;
  readonly how: "plain" | "ask" | "flaky";
}

export interface FlowSketch {
  readonly nodes: readonly NodeSketch[];
  readonly edges: readonly EdgeSketch[];
  readonly routes: readonly RouteSketch[];
  readonly ends: readonly string[];
  readonly input: { readonly total: number; readonly items: readonly ItemSketch[] };
  readonly maxSteps: number;
}

// Everything a name may be made of, names of fields, and names whose order differs between texts and numbers.
const NAMES = ["b", "a", "B", "10", "9", "-", "_x", "a-", "a_b", "end", "log", "total", "start", "x".repeat(64), "Z9"];
const FIELDS: readonly FieldName[] = [
  "log",
  "total",
  "text",
  "seen",
  "bag",
  "last",
  "low",
  "high",
  "log",
  "text",
  "one",
];
const TOOLS: readonly ToolName[] = ["work", "once", "ask", "flaky", "askFlaky"];

/** A number from 0 up to, without, `sides`; 0 is the simplest choice. */
type Dice = (sides: number) => number;

/** A random flow that is valid; shrinks towards few nodes that do nothing. */
export const randomFlow: fc.Arbitrary<FlowSketch> = fc
  .array(fc.nat(9999), { minLength: 150, maxLength: 150 })
  .map((numbers) => {
    let next = 0;
    return sketchOf((sides) => {
      next += 1;
      return (numbers[(next - 1) % numbers.length] ?? 0) % sides;
    });
  });

function sketchOf(dice: Dice): FlowSketch {
  const count = 1 + dice(7);
  const shift = dice(NAMES.length);
  // 4 and 15 have no common divisor: the names of a flow differ, and their order is not the order of the nodes.
  const names = Array.from({ length: count }, (_, index) => NAMES[(shift + index * 4) % NAMES.length] ?? "");
  const nodes = names.map((name, index) => nodeOf(dice, name, index));
  const { edges, routes } = waysOf(dice, names);
  const leading = new Set([...edges, ...routes].map(({ from }) => from));
  const items = Array.from({ length: dice(5) }, (_, index): ItemSketch => {
    const how = pick(dice, ["plain", "plain", "ask", "flaky"] as const);
    return { text: `i${index}`, how };
  });
  return {
    nodes,
    edges,
    routes,
    ends: names.filter((name) => !leading.has(name)),
    input: { total: dice(4), items },
    maxSteps: dice(8) === 1 ? 1 + dice(8) : 60,
  };
}

function nodeOf(dice: Dice, name: string, index: number): NodeSketch {
  const kinds = ["code", "code", "code", "call", "map", ...(index < 2 ? [] : (["join", "join"] as const))] as const;
  const many = <Value>(most: number, values: readonly Value[]) =>
    Array.from({ length: dice(most + 1) }, () => pick(dice, values));
  const tool = pick(dice, TOOLS);
  const kind = pick(dice, kinds);
  return {
    name,
    kind,
    weight: 1 + dice(4),
    calls: many(2, TOOLS),
    together: dice(3) === 1,
    writes: [...new Set(many(4, FIELDS))],
    tool,
    into: pick(dice, kind === "map" ? (["log", "list", "text"] as const) : (["log", "last", "text", "one"] as const)),
    failures: dice(4) === 1 ? 1 + dice(2) : 0,
    retries: dice(3),
    slow: dice(4),
    gate: dice(5) === 1,
    edits: dice(2) === 1,
    denies: dice(16) === 1 ? { modulo: 2 + dice(2), rest: dice(2) } : null,
  };
}

interface Link {
  readonly from: number;
  readonly to: number;
  readonly routed: boolean;
}

function waysOf(dice: Dice, names: readonly string[]): Pick<FlowSketch, "edges" | "routes"> {
  const count = names.length;
  const links: Link[] = [];
  const link = (from: number, to: number, routed: boolean) => {
    // One way from one node to another: caps are counted by pair.
    if (!links.some((other) => other.from === from && other.to === to)) links.push({ from, to, routed });
  };
  for (let to = 1; to < count; to += 1) link(dice(to), to, dice(3) === 1);
  for (let extra = count === 1 ? 0 : dice(count); extra > 0; extra -= 1) {
    const from = dice(count - 1);
    link(from, from + 1 + dice(count - 1 - from), dice(3) === 1);
  }
  for (let back = count === 1 ? 0 : dice(3); back > 0; back -= 1) {
    const from = dice(count - 1);
    link(from, dice(from + 1), dice(2) === 1);
  }
  return {
    edges: links.filter(({ routed }) => !routed).map((found) => edgeOf(dice, names, found)),
    routes: [...new Set(links.filter(({ routed }) => routed).map(({ from }) => from))].map((from) =>
      routeOf(dice, names, {
        from,
        to: links.filter((found) => found.routed && found.from === from).map(({ to }) => to),
      }),
    ),
  };
}

const nameAt = (names: readonly string[], index: number) => names[index] ?? "";

/** A node further on: from there no uncapped way leads back. */
function further(dice: Dice, names: readonly string[], from: number): string | null {
  return dice(4) === 3 ? null : nameAt(names, from + 1 + dice(names.length - 1 - from));
}

function edgeOf(dice: Dice, names: readonly string[], { from, to }: Link): EdgeSketch {
  const capped = to <= from || dice(6) === 1;
  return {
    from: nameAt(names, from),
    to: nameAt(names, to),
    cap: capped ? 1 + dice(3) : null,
    orElse: capped ? further(dice, names, from) : null,
  };
}

function routeOf(
  dice: Dice,
  names: readonly string[],
  { from, to }: { readonly from: number; readonly to: readonly number[] },
): RouteSketch {
  const targets = to.map((index) => nameAt(names, index));
  const masks = Array.from({ length: 1 + dice(4) }, () => dice(2 ** targets.length));
  const capped = to.filter((index) => index <= from || dice(4) === 1);
  const caps = Object.fromEntries(capped.map((index) => [nameAt(names, index), 1 + dice(3)]));
  return {
    from: nameAt(names, from),
    targets,
    masks,
    caps: capped.length === 0 ? null : dice(2) === 1 ? 1 + dice(3) : caps,
    orElse: capped.length === 0 ? null : further(dice, names, from),
  };
}

function pick<Value>(dice: Dice, values: readonly [Value, ...Value[]] | readonly Value[]): Value {
  const value = values[dice(values.length)];
  if (value === undefined) throw new Error("nothing to choose from");
  return value;
}
