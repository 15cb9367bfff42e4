// Every structural fault of a flow, found at once. Owns the rules a flow must keep before it may run.

import { countOption } from "../options.js";
import { executionOptions } from "../tools/execution-options.js";
import { compileValue, fieldSchemas } from "../tools/schema.js";
import type { RetryPolicy } from "../tools/spec.js";
import type { AnyWork, FlowDefinition } from "./definition.js";
import type { MergeRule } from "./merge.js";
import { nameFault } from "./names.js";
import type { Field, Fields } from "./state.js";
import { capOf, reachableFrom, waysOf } from "./ways.js";

/** What is wrong, one sentence each: node, edge or field named, values never. */
export function faultsOf(flow: FlowDefinition): string[] {
  const structural = [
    ...nameFaults(flow),
    ...fieldFaults(flow),
    ...nodeFaults(flow),
    ...wayFaults(flow),
    ...endFaults(flow),
  ];
  // Reachability means something only for ways that lead somewhere.
  return structural.length > 0 ? structural : [...reachFaults(flow), ...loopFaults(flow)];
}

function nameFaults({ name, nodes }: FlowDefinition): string[] {
  const flow = nameFault(name);
  const seen = new Set<string>();
  const faults = nodes.flatMap((node) => {
    const fault = nameFault(node.name);
    if (fault !== undefined) return [`a node name ${fault}`];
    if (seen.has(node.name)) return [`node "${node.name}" is there twice`];
    seen.add(node.name);
    return [];
  });
  return flow === undefined ? faults : [`the flow's name ${flow}`, ...faults];
}

function fieldFaults({ state, merge }: FlowDefinition): string[] {
  const fields = fieldSchemas(state);
  const known = new Set(fields.map(([name]) => name));
  return [
    ...(fields.length === 0 ? ["the state has no fields: give a z.object, or a schema per field"] : []),
    ...fields.flatMap(([name, schema]) => {
      const fault = nameFault(name);
      if (fault !== undefined) return [`a state field ${fault}`];
      return compileValue(schema) === undefined ? [`field "${name}" has no schema`] : [];
    }),
    ...Object.entries(merge).flatMap(([name, rule]) => {
      if (rule === undefined) return [];
      if (!known.has(name)) return [`merge names "${name}", which is no field of the state`];
      return ruleOf(rule) === undefined ? [`field "${name}": its merge rule is none of Merge's`] : [];
    }),
  ];
}

function nodeFaults({ nodes, state }: FlowDefinition): string[] {
  const fields = new Set(fieldSchemas(state).map(([name]) => name));
  if (nodes.length === 0) return ["there is no node"];
  return nodes.flatMap(({ name, work, options }) => [
    ...workFaults(name, work, fields),
    ...optionFaults(name, options),
  ]);
}

function workFaults(name: string, work: AnyWork, fields: ReadonlySet<string>): string[] {
  if (typeof work === "function") return [];
  const given: unknown = work;
  const kind: unknown = typeof given === "object" && given !== null ? Reflect.get(given, "kind") : undefined;
  if (kind !== "call" && kind !== "map" && kind !== "join")
    return [`node "${name}" is neither a function nor made by call(), map() or join()`];
  if (work.kind === "join") return [];
  const into = fields.has(work.into)
    ? []
    : [`node "${name}" writes into "${work.into}", which is no field of the state`];
  const over =
    work.kind === "call" || fields.has(work.overName)
      ? []
      : [`node "${name}" maps over "${work.overName}", which is no field of the state`];
  return [...into, ...over];
}

const NODE_OPTIONS: ReadonlySet<string> = new Set(["pause", "timeoutMs", "retries"]);

function optionFaults(name: string, options: FlowDefinition["nodes"][number]["options"]): string[] {
  const unknown = Object.keys(options).find((option) => !NODE_OPTIONS.has(option));
  if (unknown !== undefined) return [`node "${name}" has no option ${JSON.stringify(unknown)}`];
  if (options.pause !== undefined && typeof options.pause !== "function")
    return [`node "${name}": pause must be a function that gives what the reviewer sees`];
  try {
    settleNode(name, options);
    return [];
  } catch (error) {
    return [`node "${name}": ${messageOf(error)}`];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^tool "[^"]*": /, "") : "an option cannot be used";
}

/** Timeout and retries of a node, as those of a tool. @throws ToolUsageError */
export function settleNode(
  name: string,
  { timeoutMs, retries }: FlowDefinition["nodes"][number]["options"],
): { readonly timeoutMs: number | undefined; readonly retry: RetryPolicy } {
  const settled = executionOptions(name, { timeoutMs, retries }, { effects: "write", confirm: false });
  return { timeoutMs: settled.timeoutMs, retry: settled.retry };
}

function wayFaults(flow: FlowDefinition): string[] {
  const known = new Set(flow.nodes.map(({ name }) => name));
  const missing = (what: string, name: string | undefined): string[] =>
    name === undefined || known.has(name) ? [] : [`${what} names ${JSON.stringify(name)}, which is no node`];
  const edges = flow.edges.flatMap(({ from, to, options }) => {
    const what = `edge "${from}" -> "${to}"`;
    return [
      ...missing(what, from),
      ...missing(what, to),
      ...missing(`${what}: orElse`, options.orElse),
      ...unknownOptions(what, options),
      ...capFaults(what, options.maxLoops),
    ];
  });
  const routes = flow.routes.flatMap(({ from, choose, targets, options }) => {
    const what = `route from "${from}"`;
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
  return [
    ...new Set([
      ...edges,
      ...routes,
      ...flow.starts.flatMap((name) => missing("start", name)),
      ...flow.ends.flatMap((name) => missing("end", name)),
    ]),
  ];
}

function unknownOptions(what: string, options: object): string[] {
  const unknown = Object.keys(options).find((option) => option !== "maxLoops" && option !== "orElse");
  return unknown === undefined ? [] : [`${what} has no option ${JSON.stringify(unknown)}`];
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
  const stray = Object.keys(maxLoops).find((target) => !targets.includes(target));
  return stray === undefined
    ? []
    : [`${what}: maxLoops names ${JSON.stringify(stray.slice(0, 80))}, which is no target of it`];
}

function endFaults({ nodes, edges, routes, ends, starts }: FlowDefinition): string[] {
  const leading = new Set([...edges, ...routes].map(({ from }) => from));
  return [
    ...(ends.length === 0 ? ["there is no end: say .end(node)"] : []),
    ...(new Set(starts).size > 1 ? ["there are several starts"] : []),
    ...ends.flatMap((name) => (leading.has(name) ? [`node "${name}" is an end, and a way leads on from it`] : [])),
    ...nodes.flatMap(({ name }) =>
      leading.has(name) || ends.includes(name)
        ? []
        : [`node "${name}" leads nowhere: give it an edge, or say .end("${name}")`],
    ),
  ];
}

function reachFaults(flow: FlowDefinition): string[] {
  const start = flow.starts[0] ?? flow.nodes[0]?.name ?? "";
  const reached = reachableFrom(waysOf(flow), start);
  return flow.nodes.flatMap(({ name }) =>
    name === start || reached.has(name) ? [] : [`node "${name}" cannot be reached`],
  );
}

/** A loop needs a way that is capped: what is left when nodes without an uncapped way in (or out) are taken away. */
function loopFaults(flow: FlowDefinition): string[] {
  const ways = waysOf(flow).filter(({ maxLoops }) => maxLoops === undefined);
  let left = new Set(flow.nodes.map(({ name }) => name));
  for (;;) {
    const inside = ways.filter(({ from, to }) => left.has(from) && left.has(to));
    const next = new Set(
      [...left].filter((name) => inside.some(({ from }) => from === name) && inside.some(({ to }) => to === name)),
    );
    if (next.size === left.size) break;
    left = next;
  }
  if (left.size === 0) return [];
  return [`a loop over ${[...left].map((name) => `"${name}"`).join(", ")} has no way with maxLoops`];
}

/** The rule, made when it is one that is made per field. */
function ruleOf(given: unknown): MergeRule<never, never> | undefined {
  const rule: unknown = typeof given === "function" && Object.hasOwn(given, "kind") ? given() : given;
  const fits =
    typeof rule === "object" && rule !== null && "apply" in rule && typeof rule.apply === "function" && "name" in rule;
  // It has a rule's two members; the builder's types say that it is one of this field.
  return fits ? (rule as MergeRule<never, never>) : undefined;
}

/** The fields of a flow without faults. */
export function settleFields({ state, merge }: FlowDefinition): Fields {
  const fields = fieldSchemas(state).flatMap(([name, schema]): [string, Field][] => {
    const compiled = compileValue(schema);
    const rule = Object.hasOwn(merge, name) ? ruleOf(merge[name]) : undefined;
    return compiled === undefined ? [] : [[name, { name, schema: compiled, rule }]];
  });
  return new Map(fields);
}
