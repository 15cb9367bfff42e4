// A compiled flow under somebody who may call the graph with anything and write to its checkpointer: nothing runs that nobody approved,
// and whatever he leaves behind, documented steps lead on: an update with values that fit (a new step, where every gate and call asks
// anew), a fork of an older checkpoint, or new input.
import { Command, MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve } from "agent-adapter";
import { Flow } from "agent-adapter/flow";
import { isInvalidAnswer } from "agent-adapter/langgraph";
import { FlowStand, oneAsk, oneGate, resumeWith, twoGates } from "../integration/langgraph/flows/rig.js";
import { editInterrupts, failure } from "../support/langgraph.js";
import { forgetProcess } from "../support/process.js";

afterEach(forgetProcess);

const flows = [
  ["a gate", oneGate, ["read 1"], ["send 1", "note 1", "after 1"]],
  ["a tool's approval", oneAsk, ["note 1", "read 1"], ["pay 1", "last 1"]],
] as const;

const updates: Readonly<Record<string, unknown>> = {
  "of another type": { seen: 5, n: "x" },
  "that is nothing": { seen: undefined },
  "that is no JSON": { n: new Map([[1, 2]]) },
  "that is not a number": { n: Number.NaN },
  "that looks like LangGraph's own": { n: { __overwrite__: { __overwrite__: 1 } } },
  "that LangGraph would revive": { got: { lc: 2, type: "constructor", id: ["Map"], method: null, args: [[]] } },
  "of reserved keys": {
    aa_visits: "x",
    aa_begin: "x",
    __pregel_tasks: "x",
    __interrupt__: [],
    __resume__: "yes",
    __error__: "x",
  },
  "of a field without a rule, twice": [
    ["n", 2],
    ["n", 3],
  ],
  "of keys that are none": { constructor: 1, nobody: 2 },
};

describe.each(flows)("B21, N1: what is left behind at %s", (_what, flow, before, behind) => {
  async function waiting() {
    const stand = new FlowStand({ flow });
    await stand.invoke({ n: 1 });
    const { config } = await stand.app.getState(stand.config as never);
    return { stand: stand.elsewhere(), config };
  }

  it.each(Object.keys(updates))(
    "an update %s runs nothing, and an update with a value that fits goes on",
    async (name) => {
      const { stand } = await waiting();
      await stand.invoke(new Command({ update: updates[name] } as never)).catch(() => undefined);
      await stand
        .elsewhere()
        .invoke(null)
        .catch(() => undefined);
      expect(stand.ran).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(pay|send|after|last)/)]));
      await stand.elsewhere().invoke(new Command({ update: { n: 1 } }));
      expect((await stand.finish(true)).status).toBe("done");
      expect(stand.ran.filter((effect) => /^(pay|send)/.test(effect))).toHaveLength(1);
    },
  );

  it.each(["that is no JSON", "that is nothing", "that is not a number"])(
    "through runCompiled an update %s is refused before LangGraph keeps it",
    async (name) => {
      const { stand } = await waiting();
      const { binding } = await stand.only();
      expect(await failure(stand.run(new Command({ update: updates[name] } as never)))).toMatchObject({
        kind: "FlowError",
      });
      expect((await stand.only()).binding).toBe(binding);
      expect((await stand.finish(true)).status).toBe("done");
      expect(stand.ran).toEqual([...before, ...behind]);
    },
  );

  it("a hundred and twenty answers that are none: refused, and the real one goes on", async () => {
    const { stand } = await waiting();
    const { id } = await stand.only();
    for (let round = 0; round < 60; round += 1) {
      expect(isInvalidAnswer(await failure(stand.invoke(resumeWith({ [id]: { binding: "x", round } }))))).toBe(true);
      await failure(stand.invoke(resumeWith(`yes ${round}`)));
    }
    expect(stand.ran).toEqual(before);
    expect((await stand.elsewhere().run(approve())).status).toBe("done");
    expect(stand.ran).toEqual([...before, ...behind]);
  });

  it("input that does not fit, by a raw call, abandons the pause; a fork of it goes on", async () => {
    const { stand, config } = await waiting();
    await failure(stand.invoke({ n: "x" }));
    await stand.invoke(null, config);
    expect((await stand.finish(true)).status).toBe("done");
    expect(stand.ran.filter((effect) => /^(pay|send)/.test(effect))).toHaveLength(1);
  });

  it("the shown request edited, so that a reviewer would sign something else: nothing is signed, nothing runs", async () => {
    const { stand } = await waiting();
    editInterrupts(stand.saver, (value) => ({
      ...value,
      request: { ...(value["request"] as object), arguments: { n: 1_000_000 } },
    }));
    expect(await failure(stand.pendings())).toMatchObject({ kind: "ToolUsageError" });
    expect(await failure(stand.run(approve()))).toMatchObject({ kind: "ToolUsageError" });
    expect(stand.ran).toEqual(before);
  });

  it("the request of another thread in place of this one, with that one's answer: FlowError, nothing runs", async () => {
    const { stand } = await waiting();
    const { stand: other } = await waiting();
    const foreign = await other.only();
    editInterrupts(stand.saver, () => ({ ...(foreign.interrupt.value as object) }));
    const { id } = await stand.only();
    expect(await failure(stand.invoke(resumeWith({ [id]: other.sign(foreign) })))).toMatchObject({ kind: "FlowError" });
    expect(stand.ran).toEqual(before);
  });
});

describe("B21, C3, B45: two gates of one step", () => {
  it("the answer to one is none to the other, and of a fork neither", async () => {
    const stand = new FlowStand({ flow: twoGates });
    await stand.invoke({ n: 1 });
    const first = await stand.only();
    await stand.run(stand.sign(first));
    const second = await stand.only();
    for (const values of [{ [second.id]: stand.sign(first) }, { [first.id]: stand.sign(second) }]) {
      await stand.invoke(resumeWith(values)).catch(() => undefined);
      expect((await stand.only()).binding).toBe(second.binding);
    }
    expect(stand.ran).toEqual(["start 1"]);
    // A new step of the same thread.
    await stand.invoke(new Command({ update: { n: 1 } }));
    const fork = await stand.only();
    for (const answer of [first, second]) {
      await stand.invoke(resumeWith({ [fork.id]: stand.sign(answer) })).catch(() => undefined);
      expect((await stand.only()).binding).toBe(fork.binding);
    }
    expect(stand.ran).toEqual(["start 1"]);
  });

  it("J3/compiled: the record of a passed gate deleted while its step waits: what has run stays, and nothing more runs", async () => {
    const saver = new MemorySaver();
    const stand = new FlowStand({ flow: gateBesideAsk, saver });
    await stand.invoke({ n: 1 });
    await stand.run(approve());
    expect(stand.ran).toEqual(["a 1"]);
    const values = await stand.signed();
    for (const rows of Object.values(saver.writes))
      for (const [key, row] of Object.entries(rows)) if (row[1] === "aa:spent") delete rows[key];
    stand.elsewhere();
    for (const input of [null, resumeWith(values)]) await stand.invoke(input).catch(() => undefined);
    expect(await failure(stand.invoke(resumeWith(values)))).toMatchObject({ kind: "FlowError" });
    expect(stand.ran).toEqual(["a 1"]);
  });

  it("C4: a gate that was passed for another state lets nobody beside it through, in another process", async () => {
    const saver = new MemorySaver();
    const stand = new FlowStand({ flow: gateBesideAsk, saver });
    await stand.invoke({ n: 1 });
    await stand.run(approve());
    const values = await stand.signed();
    stand.elsewhere();
    // The node behind the gate has run; what still waits must not go on with a state that nobody has let through.
    expect(await failure(stand.invoke(resumeWith(values, { update: { n: 9 } })))).toMatchObject({ kind: "FlowError" });
    expect(stand.ran).toEqual(["a 1"]);
  });
});

/** `a` behind a gate, and beside it a call that asks. */
function gateBesideAsk({ ran, tools }: Parameters<typeof oneAsk>[0]) {
  return new Flow("mixed", { state: z.object({ n: z.number(), x: z.string().default("") }) })
    .node("start", () => ({}))
    .node("a", ({ n }) => void ran.push(`a ${n}`), { pause: ({ n }) => ({ n }) })
    .node("b", async ({ n }, ctx) => ({ x: await ctx.run(tools.pay, { n }, { callId: "pay" }) }))
    .edge("start", "a")
    .edge("start", "b")
    .end("a")
    .end("b");
}
