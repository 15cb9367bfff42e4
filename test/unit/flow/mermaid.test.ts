// Properties proved: the drawing has every node, gate and way of the flow, and nothing that a name holds can end a label.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import { call, Flow, join, map } from "../../../src/flow/index.js";

const state = { text: z.string(), list: z.array(z.string()) };
const nothing = () => undefined;

// The part of Mermaid's flowchart grammar that a drawing may use, line by line.
const ID = String.raw`(?:n\d+g?|start|done|missing)`;
const TEXT = String.raw`"(?:[A-Za-z0-9_ -]|#\d+;|<br\/>)*"`;
const SHAPE = String.raw`(?:\[${TEXT}\]|\[\[${TEXT}\]\]|\[\/${TEXT}\\\]|\{\{${TEXT}\}\}|\(\[(?:start|end)\]\))`;
const LINE = new RegExp(String.raw`^  ${ID}${SHAPE}?(?: (?:-->|-\.->)(?:\|${TEXT}\|)? ${ID})?$`);

function linesOf(flow: { toMermaid(): string }): string[] {
  const [first, ...lines] = flow.toMermaid().split("\n");
  expect(first).toBe("flowchart TD");
  for (const line of lines) expect(line).toMatch(LINE);
  return lines.map((line) => line.trim());
}

test("F1: a flow is drawn with its shapes, gates, caps and ways", () => {
  const flow = new Flow("order", { state })
    .node("rate", call("shipping", { args: {}, into: "text" }))
    .node("rates", map("list", { tool: "shipping", into: "list" }))
    .node("all", join())
    .node("place", nothing, { pause: () => ({}) })
    .edge("rate", "rates")
    .edge("rates", "all", { maxLoops: 3, orElse: "place" })
    .route("all", () => "place", ["place", "rate"], { maxLoops: { rate: 2 } })
    .end("place");
  expect(linesOf(flow)).toEqual([
    "start([start])",
    'n0[["rate<br/>shipping"]]',
    'n1[["rates<br/>shipping for each of list"]]',
    String.raw`n2[/"all"\]`,
    'n3["place"]',
    'n3g{{"a human approves"}} --> n3',
    "start --> n0",
    "n0 --> n1",
    'n1 -->|"at most 3x"| n2',
    'n1 -.->|"else"| n3g',
    "n2 -.-> n3g",
    'n2 -.->|"at most 2x"| n0',
    "done([end])",
    "n3 --> done",
  ]);
});

test("F1: a flow that is not right yet is drawn all the same, whatever its names hold", () => {
  // Names that the compiler and `validate` would refuse.
  const empty = new Flow("f", { state }) as Flow<typeof state, object, string>;
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), (name, other) => {
      linesOf(empty.node(name, nothing).edge(name, other).end(other).start(other));
    }),
    { seed: 20_261_130 },
  );
  const hostile = 'x"]; click n0 "javascript:alert(1)" %%{init}%% \n end -->|<b>|';
  const [, drawn] = linesOf(empty.node(hostile, nothing));
  expect(drawn).toBe(`n0["${hostile.replaceAll(/[^A-Za-z0-9_ -]/gu, (one) => `#${one.codePointAt(0)};`)}"]`);
  expect(linesOf(empty.node("😀", nothing))[1]).toBe('n0["#128512;"]');
  expect(linesOf(empty)).toEqual(["start([start])"]);
});
