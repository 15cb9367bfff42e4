// What a checkpoint is bound to: the shape of the flow. Functions cannot be compared: a flow whose functions changed but whose
// shape did not resumes.

import { digest } from "../crypto/digest.js";
import { fieldSchemas } from "../tools/schema.js";
import type { AnyWork, FlowDefinition } from "./definition.js";

/** Hex digest over names, fields, rules, ways and caps. */
export function fingerprintOf(flow: FlowDefinition): string {
  const { name, state, merge, nodes, edges, routes, starts, ends } = flow;
  return digest("agent-adapter/flow/v1", {
    name,
    fields: fieldSchemas(state).map(([field]) => [field, ruleName(merge[field])]),
    nodes: nodes.map((node) => [node.name, workShape(node.work), node.options.pause !== undefined]),
    edges: edges.map(({ from, to, options }) => [from, to, options.maxLoops ?? null, options.orElse ?? null]),
    routes: routes.map(({ from, targets, options }) => [
      from,
      [...targets],
      typeof options.maxLoops === "object" ? { ...options.maxLoops } : (options.maxLoops ?? null),
      options.orElse ?? null,
    ]),
    start: starts[0] ?? null,
    ends: [...ends].toSorted(),
  });
}

function ruleName(rule: unknown): string | null {
  if (typeof rule === "function" && Object.hasOwn(rule, "kind")) return String(Reflect.get(rule, "kind"));
  const named = typeof rule === "object" && rule !== null && "name" in rule ? rule.name : null;
  return typeof named === "string" ? named : null;
}

function workShape(work: AnyWork): readonly (string | null)[] {
  if (typeof work === "function") return ["function"];
  switch (work.kind) {
    case "call":
      return ["call", work.tool, work.into];
    case "map":
      return ["map", work.overName, work.tool, work.into];
    case "join":
      return ["join"];
  }
}
