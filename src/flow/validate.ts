// Every structural fault of a flow, found at once. Owns the rules a flow must keep before it may run.

import { checkConcurrency } from "../async/limit.js";
import { executionOptions } from "../tools/execution-options.js";
import { compileValue, fieldSchemas } from "../tools/schema.js";
import type { RetryPolicy } from "../tools/spec.js";
import type { AnyWork, FlowDefinition } from "./definition.js";
import type { MergeRule } from "./merge.js";
import { nameFault, shown } from "./names.js";
import type { MapNode } from "./nodes.js";
import type { Field, Fields } from "./state.js";
import { wayFaults } from "./way-faults.js";
import { loopsOf, reachableFrom, waysOf } from "./ways.js";

/** What is wrong, all of it, one sentence each: node, edge or field named, values never. */
export function faultsOf(flow: FlowDefinition): string[] {
  return [
    ...nameFaults(flow),
    ...fieldFaults(flow),
    ...nodeFaults(flow),
    ...wayFaults(flow),
    ...endFaults(flow),
    ...reachFaults(flow),
    ...loopFaults(flow),
  ];
}

function nameFaults({ name, nodes }: FlowDefinition): string[] {
  const flow = nameFault(name);
  const seen = new Set<string>();
  const faults = nodes.flatMap((node) => {
    const fault = nameFault(node.name);
    if (seen.has(node.name)) return [`node ${shown(node.name)} is there twice`];
    seen.add(node.name);
    return fault === undefined ? [] : [`a node name ${fault}`];
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
      return compileValue(schema) === undefined ? [`field ${shown(name)} has no schema`] : [];
    }),
    ...Object.entries(merge).flatMap(([name, rule]) => {
      if (rule === undefined) return [];
      if (!known.has(name)) return [`merge names ${shown(name)}, which is no field of the state`];
      return ruleOf(rule) === undefined ? [`field ${shown(name)}: its merge rule is none of Merge's`] : [];
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
  const what = `node ${shown(name)}`;
  if (kind !== "call" && kind !== "map" && kind !== "join")
    return [`${what} is neither a function nor made by call(), map() or join()`];
  if (work.kind === "join")
    return work.run === undefined || isFunction(work.run) ? [] : [`${what}: join() takes a function`];
  const into = fields.has(work.into) ? [] : [`${what} writes into ${shown(work.into)}, which is no field of the state`];
  return work.kind === "call" ? into : [...into, ...mapFaults(what, work, fields)];
}

function mapFaults(
  what: string,
  { overName, concurrency }: MapNode<never, never>,
  fields: ReadonlySet<string>,
): string[] {
  return [
    ...(fields.has(overName) ? [] : [`${what} maps over ${shown(overName)}, which is no field of the state`]),
    ...faultOf(what, () => checkConcurrency(concurrency ?? Number.POSITIVE_INFINITY)),
  ];
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

const NODE_OPTIONS: ReadonlySet<string> = new Set(["pause", "timeoutMs", "retries"]);

function optionFaults(name: string, options: FlowDefinition["nodes"][number]["options"]): string[] {
  const what = `node ${shown(name)}`;
  const unknown = Object.keys(options).find((option) => !NODE_OPTIONS.has(option));
  return [
    ...(unknown === undefined ? [] : [`${what} has no option ${shown(unknown)}`]),
    ...(options.pause === undefined || isFunction(options.pause)
      ? []
      : [`${what}: pause must be a function that gives what the reviewer sees`]),
    ...faultOf(what, () => settleNode(name, options)),
  ];
}

/** What an option's own check says, under the name of the node. */
function faultOf(what: string, check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/^tool "[^"]*": /, "") : "an option cannot be used";
    return [`${what}: ${message}`];
  }
}

/** Timeout and retries of a node, as those of a tool. @throws ToolUsageError */
export function settleNode(
  name: string,
  { timeoutMs, retries }: FlowDefinition["nodes"][number]["options"],
): { readonly timeoutMs: number | undefined; readonly retry: RetryPolicy } {
  const settled = executionOptions(name, { timeoutMs, retries }, { effects: "write", confirm: false });
  return { timeoutMs: settled.timeoutMs, retry: settled.retry };
}

function endFaults({ nodes, edges, routes, ends, starts }: FlowDefinition): string[] {
  const leading = new Set([...edges, ...routes].map(({ from }) => from));
  return [
    ...(ends.length === 0 ? ["there is no end: say .end(node)"] : []),
    ...(new Set(starts).size > 1 ? ["there are several starts"] : []),
    ...ends.flatMap((name) => (leading.has(name) ? [`node ${shown(name)} is an end, and a way leads on from it`] : [])),
    ...nodes.flatMap(({ name }) =>
      leading.has(name) || ends.includes(name)
        ? []
        : [`node ${shown(name)} leads nowhere: give it an edge, or say .end(${shown(name)})`],
    ),
  ];
}

function reachFaults(flow: FlowDefinition): string[] {
  const [first] = flow.nodes;
  const start = flow.starts[0] ?? first?.name ?? "";
  // From a start that is not there nothing can be reached; that it is not there says enough.
  if (!flow.nodes.some(({ name }) => name === start)) return [];
  const reached = reachableFrom(waysOf(flow), start);
  return [...new Set(flow.nodes.map(({ name }) => name))].flatMap((name) =>
    name === start || reached.has(name) ? [] : [`node ${shown(name)} cannot be reached`],
  );
}

/** A loop without a cap might never end. */
function loopFaults(flow: FlowDefinition): string[] {
  const names = [...new Set(flow.nodes.map(({ name }) => name))];
  const known = new Set(names);
  const uncapped = waysOf(flow).filter(
    ({ from, to, maxLoops }) => maxLoops === undefined && known.has(from) && known.has(to),
  );
  return loopsOf(names, uncapped).map((loop) => `a loop over ${loop.map(shown).join(", ")} has no way with maxLoops`);
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
