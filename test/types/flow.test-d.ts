// What the compiler promises about flows: state, writes, names of nodes and fields, merge rules. Every line that must not compile is
// beside one that does; the messages are in docs/reference/flow-rules.md.
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { call, Flow, join, map, Merge, resumeFlow, runFlow, type FlowResult } from "../../src/flow/index.js";
import type { Executor } from "../../src/index.js";
import { defineTool } from "../../src/tools/define-tool.js";

declare const executor: Executor;

const rate = defineTool({
  name: "rate",
  description: "d",
  inputSchema: z.object({ item: z.string() }),
  execute: () => 5,
});
const state = z.object({
  item: z.string(),
  items: z.array(z.object({ item: z.string() })),
  price: z.number().default(0),
  rates: z.array(z.number()).default([]),
  all: z.array(z.number()).default([]),
  bag: z.record(z.string(), z.number()).optional(),
  note: z.string().default(""),
});
const base = new Flow("order", {
  state,
  merge: {
    rates: Merge.append,
    bag: Merge.assign,
    note: Merge.by<string, number>((now, all) => `${now}${all.length}`),
  },
});
const two = base.node("a", () => ({})).node("b", () => ({}));

describe("F1: what the compiler checks of a flow", () => {
  test("nodes read the state and write fields of it", () => {
    void base.node("n", (seen, ctx) => {
      expectTypeOf(seen.price).toEqualTypeOf<number>();
      expectTypeOf(seen.bag).toEqualTypeOf<Record<string, number> | undefined>();
      expectTypeOf(ctx.visit).toEqualTypeOf<number>();
      // @ts-expect-error the state is read only
      seen.item = "x";
      return { item: "x" };
    });
    void base.node("n", () => undefined).node("m", async () => {});
    void base.node("n", async (_seen, ctx) => ({ price: await ctx.run(rate, { item: "x" }) }));
    // @ts-expect-error the field is text
    void base.node("n", async (_seen, ctx) => ({ item: await ctx.run(rate, { item: "x" }) }));
    // @ts-expect-error no such field
    void base.node("n", () => ({ prize: 1 }));
    // @ts-expect-error a number field
    void base.node("n", () => ({ price: "1" }));
    void base.node(
      "n",
      join((seen) => ({ price: seen.rates.length })),
    );
    const wrong = () => ({ item: 5 });
    // @ts-expect-error the field is text
    void base.node("n", join(wrong));
    // @ts-expect-error no such field
    void base.node("n", () => ({}), { pause: (seen) => ({ x: seen.itm }) });
  });

  test("a rule says what may be written, which need not be what is read", () => {
    void base.node("n", () => ({ rates: 4, bag: { a: 1 }, note: 7 }));
    void base.node("n", () => ({ rates: [4, 5] }));
    // @ts-expect-error `by` takes numbers here
    void base.node("n", () => ({ note: "text" }));
    // @ts-expect-error items are numbers
    void base.node("n", () => ({ rates: ["4"] }));
    // @ts-expect-error without a rule the whole list is written
    void base.node("n", () => ({ all: 4 }));
  });

  test("the result of a call fits the field it goes into", () => {
    void base.node("n", call(rate, { args: (seen) => ({ item: seen.item }), into: "price" }));
    void base.node("n", call(rate, { args: { item: "x" }, into: "rates" }));
    void base.node("n", call("rate", { args: (seen) => ({ item: seen.item }), into: "price" }));
    // @ts-expect-error no such field
    void base.node("n", call(rate, { args: { item: "x" }, into: "prize" }));
    // @ts-expect-error a text field
    void base.node("n", call(rate, { args: { item: "x" }, into: "item" }));
    // @ts-expect-error the tool takes `item`
    void base.node("n", call(rate, { args: () => ({ itm: "x" }), into: "price" }));
    // @ts-expect-error no such field, whatever the tool gives
    void base.node("n", call("rate", { args: {}, into: "prize" }));
  });

  test("a map goes over a list, and its results into a list or a field with a rule", () => {
    void base.node("n", map("items", { tool: rate, into: "rates" }));
    void base.node("n", map("items", { tool: rate, into: "all" }));
    void base.node(
      "n",
      map("items", { tool: rate, args: ({ item }, seen, i) => ({ item: item + seen.item + i }), into: "all" }),
    );
    void base.node("n", map("items", { tool: "rate", into: "rates" }));
    // @ts-expect-error no such field
    void base.node("n", map("itms", { tool: rate, into: "rates" }));
    // @ts-expect-error not a list
    void base.node("n", map("item", { tool: "rate", into: "rates" }));
    // @ts-expect-error a number without a rule holds one result, not one per item
    void base.node("n", map("items", { tool: rate, into: "price" }));
    // @ts-expect-error a text field
    void base.node("n", map("items", { tool: rate, into: "item" }));
    // @ts-expect-error items have no such field
    void base.node("n", map("items", { tool: rate, args: (item) => ({ item: item.name }), into: "rates" }));
  });

  test("ways lead from nodes to nodes", () => {
    void two.edge("a", "b", { maxLoops: 2, orElse: "a" }).start("a").end("b");
    void two.route("a", (seen) => (seen.price > 1 ? "b" : []), ["a", "b"], { maxLoops: { b: 2 } });
    // @ts-expect-error no such node
    void two.edge("a", "c");
    // @ts-expect-error no such node
    void two.edge("c", "a");
    // @ts-expect-error no such node
    void two.edge("a", "b", { maxLoops: 2, orElse: "c" });
    // @ts-expect-error not a target of this route
    void two.route("a", () => "a", ["b"]);
    // @ts-expect-error no such node
    void two.route("a", () => "b", ["b", "c"]);
    // @ts-expect-error not a target of this route
    void two.route("a", () => "b", ["b"], { maxLoops: { a: 2 } });
    // @ts-expect-error no such node
    void two.start("c");
    // @ts-expect-error no such node
    void two.end("c");
  });

  test("a rule fits its field", () => {
    const fields = {
      text: z.string(),
      count: z.number(),
      list: z.array(z.string()),
      bag: z.record(z.string(), z.number()),
    };
    void new Flow("f", {
      state: fields,
      merge: { text: Merge.last, count: Merge.max, list: Merge.union, bag: Merge.assign },
    });
    void new Flow("f", { state: { ...fields, most: z.number().optional() }, merge: { most: Merge.max } });
    // @ts-expect-error texts are not summed
    void new Flow("f", { state: fields, merge: { text: Merge.sum } });
    // @ts-expect-error not a list
    void new Flow("f", { state: fields, merge: { text: Merge.append } });
    // @ts-expect-error not a record
    void new Flow("f", { state: fields, merge: { list: Merge.assign } });
    // @ts-expect-error no such field
    void new Flow("f", { state: fields, merge: { texts: Merge.last } });
  });

  test("a run takes the input of the schemas and gives their output", () => {
    const done = two.edge("a", "b").end("b");
    expectTypeOf(runFlow(done, { item: "x", items: [] }, { executor })).toEqualTypeOf<
      Promise<FlowResult<z.output<typeof state>>>
    >();
    expectTypeOf(resumeFlow(done, "", null, { executor })).toEqualTypeOf<Promise<FlowResult<z.output<typeof state>>>>();
    // @ts-expect-error a required field is missing
    void runFlow(done, { item: "x" }, { executor });
    // @ts-expect-error no such field
    void runFlow(done, { item: "x", items: [], itm: "x" }, { executor });
  });
});
