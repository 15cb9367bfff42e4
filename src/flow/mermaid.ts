// A flow as a Mermaid flowchart: shapes say what a node is, labels say what is called and how often a way may be taken.

import type { FlowDefinition } from "./definition.js";
import { waysOf, type Way } from "./ways.js";

type Node = FlowDefinition["nodes"][number];

export function mermaidOf(flow: FlowDefinition): string {
  const ids = new Map(flow.nodes.map(({ name }, index) => [name, `n${index}`]));
  const id = (name: string) => ids.get(name) ?? "missing";
  const start = flow.starts[0] ?? flow.nodes[0]?.name;
  return [
    "flowchart TD",
    "  start([start])",
    ...flow.nodes.map((node) => `  ${id(node.name)}${shapeOf(node)}`),
    ...flow.nodes.flatMap(({ name, options }) =>
      options.pause === undefined ? [] : [`  ${id(name)}g{{"a human approves"}} --> ${id(name)}`],
    ),
    ...(start === undefined ? [] : [`  start --> ${entrance(flow, start, id)}`]),
    ...waysOf(flow).map((way) => {
      const label = labelOf(way);
      const arrow = way.kind === "edge" ? "-->" : "-.->";
      return `  ${id(way.from)} ${arrow}${label === "" ? "" : `|"${label}"|`} ${entrance(flow, way.to, id)}`;
    }),
    ...(flow.ends.length === 0 ? [] : ["  done([end])"]),
    ...flow.ends.map((name) => `  ${id(name)} --> done`),
  ].join("\n");
}

/** A gated node is entered through its gate. */
function entrance({ nodes }: FlowDefinition, name: string, id: (name: string) => string): string {
  const gated = nodes.some((node) => node.name === name && node.options.pause !== undefined);
  return gated ? `${id(name)}g` : id(name);
}

function shapeOf({ name, work }: Node): string {
  const label = escaped(name);
  if (typeof work === "function") return `["${label}"]`;
  switch (work.kind) {
    case "call":
      return `[["${label}<br/>${escaped(work.tool)}"]]`;
    case "map":
      return `[["${label}<br/>${escaped(work.tool)} for each of ${escaped(work.overName)}"]]`;
    case "join":
      return `[/"${label}"\\]`;
  }
}

function labelOf({ kind, maxLoops }: Way): string {
  if (kind === "else") return "else";
  return maxLoops === undefined ? "" : `at most ${maxLoops}x`;
}

/** Names are plain; a flow that was not checked yet may hold anything. */
function escaped(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_ -]/gu, (character) => `#${character.codePointAt(0)};`);
}
