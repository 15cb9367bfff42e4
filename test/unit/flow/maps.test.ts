// Properties proved: a map runs its tool once per item in one step, writes in item order, and after a failure or a pause repeats only
// what did not finish.
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { approve } from "../../../src/index.js";
import { checkpointOf, Flow, map, Merge, resumeFlow, runFlow } from "../../../src/flow/index.js";
import { bench, idle, rejection } from "../../support/flows.js";
import { forgetProcess } from "../../support/process.js";

const state = {
  items: z.array(z.string()).default([]),
  all: z.array(z.string()).default([]),
  list: z.array(z.string()).default(["before"]),
};
const over = (tool: string, options: { concurrency?: number; into?: "all" | "list" } = {}) => {
  const { into = "all", ...rest } = options;
  return new Flow("flow", { state, merge: { all: Merge.append } })
    .node("m", map("items", { tool, args: (text) => ({ text }), into, ...rest }))
    .end("m");
};
const items = (count: number) => Array.from({ length: count }, (_, index) => `i${index}`);

describe("F2, F4: a map", () => {
  test.each([0, 1, 50])(
    "over %i items is one step, with one write each in their order [rule 14] [rule 19]",
    async (count) => {
      const { executor, ran } = bench();
      const done = await runFlow(over("safe"), { items: items(count) }, { executor, maxSteps: 1 });
      expect(done).toMatchObject({ status: "done", steps: 1, visits: { m: 1 }, state: { all: items(count) } });
      expect(ran).toHaveLength(count);
    },
  );

  test.each([0, 1, 3])("of %i items writes the whole list where there is no rule [rule 19]", async (count) => {
    const { executor } = bench();
    const done = await runFlow(over("echo", { into: "list" }), { items: items(count) }, { executor });
    expect(done.state.list).toEqual(items(count));
  });

  test("gives arguments from item, state and index, or the item itself [rule 19]", async () => {
    const { executor, ran } = bench();
    const flow = new Flow("flow", {
      state: { ...state, items: z.array(z.object({ text: z.string() })) },
      merge: { all: Merge.append },
    })
      .node("m", map("items", { tool: "echo", into: "all" }))
      .node(
        "n",
        map("items", {
          tool: "echo",
          args: ({ text }, { list }, index) => ({ text: `${list[0]} ${text} ${index}` }),
          into: "all",
        }),
      )
      .edge("m", "n")
      .end("n");
    await runFlow(flow, { items: [{ text: "a" }, { text: "b" }] }, { executor });
    expect(ran.map(({ text }) => text)).toEqual(["a", "b", "before a 0", "before b 1"]);
  });

  test("runs as many at once as it says, and in item order whoever is faster [rule 19]", async () => {
    const { executor, ran, waiting } = bench();
    const release = new Map<string, () => void>();
    for (const text of items(4)) waiting.set(text, new Promise<void>((resolve) => release.set(text, resolve)));
    const running = runFlow(over("safe", { concurrency: 2 }), { items: items(4) }, { executor });
    await idle();
    expect(ran.map(({ text }) => text)).toEqual(["i0", "i1"]);
    release.get("i1")?.();
    await idle();
    expect(ran.map(({ text }) => text)).toEqual(["i0", "i1", "i2"]);
    for (const text of ["i3", "i2", "i0"]) release.get(text)?.();
    expect((await running).state.all).toEqual(items(4));
  });

  test("a field that holds no list fails the visit, named [rule 19]", async () => {
    const { executor } = bench();
    const flow = new Flow("flow", {
      state: { items: z.array(z.string()).optional(), all: z.array(z.string()).default([]) },
    })
      .node("m", map("items", { tool: "echo", into: "all" }))
      .end("m");
    expect(await rejection(runFlow(flow, {}, { executor }))).toMatchObject({
      kind: "ToolUsageError",
      message: expect.stringContaining('"items", which holds no list'),
    });
  });

  test("with one failing item settles the others, asks nobody, and repeats only that item [rule 20]", async () => {
    const { executor, ran, failing, entries, again } = bench();
    failing.set("i1", 1);
    const flow = over("some");
    const error = await rejection(runFlow(flow, { items: ["i0", "i1", "ask", "i2"] }, { executor }));
    expect(error).toMatchObject({ kind: "ToolFailed" });
    expect(ran.map(({ text }) => text)).toEqual(["i0", "i1", "i2"]);
    forgetProcess();
    const paused = await resumeFlow(flow, checkpointOf(error) ?? "", null, { executor: again() });
    if (paused.status !== "paused") throw new Error("it did not pause");
    expect(paused.pendings).toHaveLength(1);
    expect(ran.map(({ text }) => text)).toEqual(["i0", "i1", "i2", "i1"]);
    forgetProcess();
    const done = await resumeFlow(flow, paused.checkpoint, approve(), { executor: again() });
    expect(done.state.all).toEqual(["i0", "i1", "ask", "i2"]);
    expect(ran.map(({ text }) => text)).toEqual(["i0", "i1", "i2", "i1", "ask"]);
    // One entry a call: the failed one had two attempts.
    expect((await entries()).map(([, status, attempts, cost]) => [status, attempts, cost])).toEqual([
      ["ok", 1, 5],
      ["ok", 2, 10],
      ["ok", 1, 5],
      ["ok", 1, 5],
    ]);
  });

  test("asks about its items one by one, when the others have run [rule 19]", async () => {
    const { executor, ran } = bench();
    const flow = over("some");
    let result = await runFlow(flow, { items: ["ask 1", "i0", "ask 2"] }, { executor });
    const asked: unknown[] = [];
    while (result.status === "paused") {
      expect(result.pendings).toHaveLength(1);
      asked.push(result.pending.request.arguments);
      result = await resumeFlow(flow, result.checkpoint, approve(), { executor });
    }
    expect(asked).toEqual([{ text: "ask 1" }, { text: "ask 2" }]);
    expect(result.state.all).toEqual(["ask 1", "i0", "ask 2"]);
    expect(ran.map(({ text }) => text)).toEqual(["i0", "ask 1", "ask 2"]);
  });
});
