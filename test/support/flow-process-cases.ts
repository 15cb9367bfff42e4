// What several OS processes that share a database promise about local flows: the same cases on every database.
import { describe, expect, test } from "vitest";
import { approve, deny } from "agent-adapter";
import type { SqlStores } from "agent-adapter/sqlite";
import type { Child } from "./child.js";
import { no, ProcessRun, yes, type FlowProcesses } from "./flow-processes.js";

export interface Around {
  readonly processes: FlowProcesses;
  readonly workers: readonly [Child, Child];
  /** The same database, opened here: where a reviewer is. */
  readonly stores: SqlStores;
}

const ROUNDS = 6;

export function flowProcessCases(database: string, around: () => Around): void {
  describe.each(["tool", "gate"] as const)(`${database}, F5, F6: a %s`, (kind) => {
    test("A8, F6: asks in one process, is decided in the store by another, goes on in a third", async () => {
      const { processes, workers, stores } = around();
      const [one, two] = workers;
      const run = new ProcessRun(processes, { kind, port: "store", claims: false });
      const asked = await run.in(one);
      expect(asked.ended).toBe("paused");
      expect((await run.in(two, { checkpoint: asked.checkpoint })).ended).toBe("paused");
      await stores.approvals.decide(asked.binding, approve({ by: "ana" }));
      const done = await run.in(two, { checkpoint: asked.checkpoint });
      expect(done).toMatchObject({ ended: "done", state: { n: 1, receipt: "paid 1" } });
      expect((await run.in(one, { checkpoint: asked.checkpoint })).ended).toBe("ApprovalAlreadyDecided");
      // Before the gate nothing of its step runs; before the call the node's other calls do, once.
      expect(run.effects).toEqual(["read 1", "pay 1"]);
      expect(await run.entries(stores)).toEqual(["pay ok", "read ok"]);
    });

    test("F6: a denial in the store ends the run, and nothing is paid", async () => {
      const { processes, workers, stores } = around();
      const run = new ProcessRun(processes, { kind, port: "store", claims: false });
      const asked = await run.in(workers[0]);
      await stores.approvals.decide(asked.binding, deny({ by: "ben" }));
      const denied = await run.in(workers[1], { checkpoint: asked.checkpoint });
      expect(denied).toMatchObject({ ended: "denied", state: { n: 1, receipt: "" } });
      expect(run.paid).toEqual([]);
    });

    test("A5/claims, F5, B09: two processes resume the same checkpoint at once: one goes on", async () => {
      const { processes, workers, stores } = around();
      for (let round = 0; round < ROUNDS; round += 1) {
        const run = new ProcessRun(processes, { kind, port: round % 2 === 0 ? "passed" : "store", claims: true });
        const asked = await run.in(workers[0]);
        const passed = round % 2 === 0;
        if (!passed) await stores.approvals.decide(asked.binding, approve());
        const { checkpoint } = asked;
        const decision = passed ? yes : null;
        const turns = await Promise.all(workers.map((worker) => run.in(worker, { checkpoint, decision })));
        expect(turns.map(({ ended }) => ended).toSorted()).toEqual(["ApprovalAlreadyDecided", "done"]);
        expect(run.paid).toEqual(["pay 1"]);
        expect(await run.entries(stores)).toEqual(["pay ok", "read ok"]);
      }
    });

    test("A5/claims, B09: approve and deny race in two processes: one decision counts", async () => {
      const { processes, workers } = around();
      for (let round = 0; round < ROUNDS; round += 1) {
        const run = new ProcessRun(processes, { kind, port: "passed", claims: true });
        const { checkpoint } = await run.in(workers[0]);
        const turns = await Promise.all([
          run.in(workers[0], { checkpoint, decision: round % 2 === 0 ? yes : no }),
          run.in(workers[1], { checkpoint, decision: round % 2 === 0 ? no : yes }),
        ]);
        const ended = turns.map((turn) => turn.ended).toSorted();
        expect(ended[0]).toBe("ApprovalAlreadyDecided");
        expect(run.paid).toEqual(ended[1] === "done" ? ["pay 1"] : []);
      }
    });

    test("A5/claims, B46: an older checkpoint with a fresh answer, elsewhere, after the run went on", async () => {
      const { processes, workers } = around();
      const [one, two] = workers;
      const run = new ProcessRun(processes, { kind, port: "passed", claims: true });
      const { checkpoint } = await run.in(one);
      expect((await run.in(one, { checkpoint, decision: yes })).ended).toBe("done");
      for (const decision of [yes, no])
        expect((await run.in(two, { checkpoint, decision })).ended).toBe("ApprovalAlreadyDecided");
      expect((await run.in(two, { checkpoint })).ended).toBe("paused");
      expect(run.paid).toEqual(["pay 1"]);
    });

    test("B11: a process killed after the effect: its answer is used, nobody pays again from the same checkpoint", async () => {
      const { processes, workers } = around();
      for (const port of ["passed", "store"] as const) {
        const run = new ProcessRun(processes, { kind, port, claims: true });
        const asked = await run.in(workers[0]);
        const { checkpoint } = asked;
        if (port === "store") await around().stores.approvals.decide(asked.binding, approve());
        const decision = port === "passed" ? yes : null;
        const victim = await processes.start();
        expect(await run.tryIn(victim, { checkpoint, decision, dies: true })).toBeUndefined();
        expect(run.paid).toEqual(["pay 1"]);
        expect((await run.in(workers[1], { checkpoint, decision })).ended).toBe("ApprovalAlreadyDecided");
        expect((await run.in(workers[0], { checkpoint, decision })).ended).toBe("ApprovalAlreadyDecided");
        expect(run.paid).toEqual(["pay 1"]);
      }
    });
  });
}
