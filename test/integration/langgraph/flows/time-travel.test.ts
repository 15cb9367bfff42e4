// Older checkpoints of a compiled flow: what was used stays used, and another history asks a human of its own.
import { afterEach, describe, expect, it } from "vitest";
import { Command } from "@langchain/langgraph";
import { approve, deny } from "agent-adapter";
import { failure } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";
import { FlowStand, oneAsk, oneGate, resumeWith, twoGates } from "./rig.js";

afterEach(forgetProcess);

const flows = [
  ["a tool's approval", oneAsk, ["note 1", "read 1"], "pay 1"],
  ["a gate", oneGate, ["read 1"], "send 1"],
] as const;

describe.each(flows)("B46, C4: %s", (_what, flow, before, effect) => {
  /** Paused at P, approved, run to its end; then perhaps elsewhere. */
  async function over(renewed: boolean) {
    const stand = new FlowStand({ flow });
    await stand.invoke({ n: 1 });
    expect(stand.ran).toEqual(before);
    const { config: paused } = await stand.app.getState(stand.config as never);
    const pending = await stand.only();
    const values = { [pending.id]: stand.sign(pending) };
    expect((await stand.invoke(resumeWith(values))).__interrupt__).toBeUndefined();
    const done = [...stand.ran];
    if (renewed) stand.elsewhere();
    return { stand, paused, pending, values, done, count: () => stand.ran.filter((one) => one === effect).length };
  }

  it.each([false, true])(
    "null on the paused checkpoint asks again, and a fork has its own approval (elsewhere: %s)",
    async (renewed) => {
      const { stand, paused, pending, count } = await over(renewed);
      await stand.invoke(null, paused);
      expect(count()).toBe(1);
      const fork = await stand.only();
      expect(fork.binding).not.toBe(pending.binding);
      // The old answer is for nothing here, by every verb.
      await failure(stand.run(stand.sign(pending)));
      await failure(stand.invoke(resumeWith({ [fork.id]: stand.sign(pending) })));
      expect(count()).toBe(1);
      expect((await stand.run(approve({ by: "ben" }))).status).toBe("done");
      expect(count()).toBe(2);
    },
  );

  it.each([false, true])(
    "the used answer on the paused checkpoint: ApprovalAlreadyDecided, nothing runs (elsewhere: %s)",
    async (renewed) => {
      const { stand, paused, values, pending, done } = await over(renewed);
      const fresh = { [pending.id]: stand.sign(pending, approve({ by: "a second person" })) };
      for (const answer of [values, fresh])
        expect(await failure(stand.invoke(resumeWith(answer), paused))).toMatchObject({
          kind: "ApprovalAlreadyDecided",
        });
      expect(stand.ran).toEqual(done);
    },
  );

  it.each([false, true])(
    "a fork with another state asks about that one; the old answer is refused (elsewhere: %s)",
    async (renewed) => {
      const { stand, paused, pending, done } = await over(renewed);
      await stand.invoke(new Command({ update: { n: 2 } }), paused);
      const fork = await stand.only();
      expect(fork.request.arguments).toEqual({ n: 2 });
      await failure(stand.invoke(resumeWith({ [fork.id]: stand.sign(pending) })));
      const more = stand.ran.slice(done.length);
      expect(more.filter((one) => /^(pay|send)/.test(one))).toEqual([]);
      await stand.run(approve());
      expect(stand.ran.slice(done.length).filter((one) => /^(pay|send)/.test(one))).toEqual([effect.replace("1", "2")]);
    },
  );

  it("a denied one stays denied on its checkpoint, and a fork asks anew", async () => {
    const stand = new FlowStand({ flow });
    await stand.invoke({ n: 1 });
    const { config: paused } = await stand.app.getState(stand.config as never);
    const values = await stand.signed();
    expect((await stand.run(deny({ by: "ben" }))).status).toBe("denied");
    stand.elsewhere();
    expect((await stand.run(null)).status).toBe("denied");
    await failure(stand.invoke(resumeWith(values), paused));
    await failure(stand.invoke(resumeWith(values)));
    expect(stand.ran).toEqual(before);
  });
});

it("B46, B45: two gates: of a fork both ask anew, whichever of them was passed before", async () => {
  const stand = new FlowStand({ flow: twoGates });
  await stand.invoke({ n: 1 });
  await stand.run(approve());
  const { config: paused } = await stand.app.getState(stand.config as never);
  await stand.run(approve());
  const done = [...stand.ran];
  stand.elsewhere();
  await stand.invoke(null, paused);
  expect(stand.ran).toEqual(done);
  expect(await stand.waiting()).toBe("a");
  await stand.run(approve());
  expect(await stand.waiting()).toBe("c");
  expect(stand.ran).toEqual(done);
});

it.each([undefined, 1])(
  "B46: the used answer on the paused checkpoint repeats no sibling either (cap: %s)",
  async (maxConcurrency) => {
    const stand = new FlowStand({ flow: twoGates, ...(maxConcurrency === undefined ? {} : { maxConcurrency }) });
    await stand.invoke({ n: 1 });
    const { config: paused } = await stand.app.getState(stand.config as never);
    await stand.run(approve());
    const values = await stand.signed().catch(() => ({}));
    await stand.run(approve());
    const done = [...stand.ran];
    for (const renewed of [false, true]) {
      if (renewed) stand.elsewhere();
      await failure(stand.invoke(resumeWith(values), { ...stand.config, ...paused }));
      expect(stand.ran).toEqual(done);
    }
  },
);
