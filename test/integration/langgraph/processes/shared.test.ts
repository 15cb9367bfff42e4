// OS processes that share a checkpointer and a ledger: one entry per call whatever they do, and a call that runs in one of them
// is not started by another.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openSqlite } from "agent-adapter/sqlite";
import { GraphProcess, only, ProcessThread, SharedWorld } from "../../../support/graph-process.js";

// Other processes need a turn too on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const shared = new SharedWorld();
let one: GraphProcess;
let two: GraphProcess;
let three: GraphProcess;
beforeAll(async () => {
  [one, two, three] = (await GraphProcess.several(shared, 3)) as [GraphProcess, GraphProcess, GraphProcess];
});
afterAll(async () => {
  await Promise.all([one, two, three].map((each) => each.stop()));
  shared.remove();
});

/** Call id and status of what is in the ledger about a thread. */
async function entriesOf(thread: ProcessThread): Promise<string[]> {
  const stores = await openSqlite(shared.world.stores);
  const entries = await stores.ledger.entries({ threadId: thread.id });
  await stores.close();
  return entries.map(({ callId, status }) => `${callId.replace(/^.*:/, "")} ${status}`).toSorted();
}

describe("one ledger", () => {
  for (const node of ["toolNode", "oneUse"] as const) {
    test(`E1/shared: ${node}: pauses, resumes and replays of three processes add no entry`, async () => {
      const thread = new ProcessThread(shared, { node, ledger: true });
      const first = only(await thread.in(one, { do: "start", calls: ["p1", "a1", "a2"] }));
      expect(await entriesOf(thread)).toEqual(
        ["a1 pending", "a2 pending", "p1 ok"].filter((line) => node === "toolNode" || !line.startsWith("a2")),
      );
      const second = only(await thread.in(two, { do: "by-id", values: thread.answers([first]) }));
      await thread.in(three, { do: "null" });
      await thread.in(one, { do: "by-id", values: thread.answers([first]) });
      expect((await thread.in(three, { do: "by-id", values: thread.answers([second]) })).ended).toBe("done");
      expect((await thread.in(one, { do: "by-id", values: thread.answers([second]) })).ended).toBe("done");
      expect(await entriesOf(thread)).toEqual(["a1 ok", "a2 ok", "p1 ok"]);
    });
  }

  test("E1/shared: nor do ten answers at once in three processes, or a process that dies while the tool runs", async () => {
    const thread = new ProcessThread(shared, { node: "toolNode", ledger: true, unknownAfterMs: 1 });
    const ask = only(await thread.in(one, { do: "start", calls: ["p1", "a1"] }));
    const op = { do: "by-id", values: thread.answers([ask]) } as const;
    const told = await Promise.all([one, two, three].map((each) => each.run(thread.step(op, { times: 4 }))));
    expect(told.flatMap((each) => each?.turns ?? []).filter(({ ended }) => ended === "done").length).toBeGreaterThan(0);
    expect(await entriesOf(thread)).toEqual(["a1 ok", "p1 ok"]);

    const dying = new ProcessThread(shared, { node: "toolNode", ledger: true, unknownAfterMs: 1 });
    const asked = only(await dying.in(one, { do: "start", calls: ["p1", "a1"] }));
    const victim = await GraphProcess.start(shared);
    const values = dying.answers([asked]);
    expect(await dying.tryIn(victim, { do: "by-id", values }, { killAt: "body, after its effect" })).toBeUndefined();
    const again = only(await dying.in(two, { do: "null" }));
    expect((await dying.in(two, { do: "by-id", values: dying.answers([again]) })).ended).toBe("done");
    expect(await entriesOf(dying)).toEqual(["a1 ok", "p1 ok"]);
  });
});

describe("a call that runs in another process", () => {
  for (const node of ["toolNode", "oneUse", "toolTask"] as const) {
    test(`E11/processes, A6: ${node}: null and the same answer are refused while it runs, and give its result afterwards`, async () => {
      const thread = new ProcessThread(shared, { node, bodyMs: 1500 });
      const ask = only(await thread.in(one, { do: "start", calls: ["a1"] }));
      const op = { do: "by-id", values: thread.answers([ask]) } as const;
      const running = thread.in(one, op);
      while (thread.effects().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      for (const other of [{ do: "null" } as const, op, { do: "resume", answer: null } as const]) {
        expect((await thread.in(two, other)).ended).toBe("ApprovalAlreadyDecided");
      }
      expect((await running).ended).toBe("done");
      expect((await thread.in(two, { do: "null" })).ended).toBe("done");
      expect(thread.ran()).toBe("a1");
    });
  }
});
