// "What holds when": with which storage an answer is good for one use, also for somebody who deletes or rolls back rows of the
// checkpointer. Each step another OS process.
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { approve } from "agent-adapter";
import { openSqlite } from "agent-adapter/sqlite";
import { GraphProcess, only, ProcessThread, SharedWorld } from "../../../support/graph-process.js";
import type { Ask, Program } from "../../../support/children/graph-worker.js";

// Other processes need a turn too on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: unknown[]): { changes: number } };
  close(): void;
}
type Open = new (path: string) => Database;
const Libsql: Open = createRequire(import.meta.url)("libsql");

const shared = new SharedWorld();
const saver = shared.world.saver;
const path = saver.engine === "sqlite" ? saver.path : "";
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

function change(sql: string, ...values: unknown[]): number {
  const db = new Libsql(path);
  try {
    db.exec("PRAGMA busy_timeout=5000");
    return db.prepare(sql).run(...values).changes;
  } finally {
    db.close();
  }
}

/** Everything that was written about a thread after the pause is gone, as after a restore of a backup. */
function rollBack(thread: string, checkpointId: string): void {
  change("DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_id > ?", thread, checkpointId);
  change("DELETE FROM writes WHERE thread_id = ? AND checkpoint_id > ?", thread, checkpointId);
  change("DELETE FROM writes WHERE thread_id = ? AND (task_id LIKE 'aa:%' OR channel <> '__interrupt__')", thread);
}

/** Only what says that the answer was used. */
function deleteMarks(thread: string): void {
  expect(change("DELETE FROM writes WHERE thread_id = ? AND channel LIKE 'aa:%'", thread)).toBeGreaterThan(0);
}

interface Used {
  readonly thread: ProcessThread;
  readonly ask: Ask;
  readonly checkpointId: string;
  readonly answer: { readonly do: "by-id"; readonly values: Readonly<Record<string, unknown>> };
}

/** Asked in process 1, answered and finished in process 2. */
async function used(program: Program): Promise<Used> {
  const thread = new ProcessThread(shared, program);
  const ask = only(await thread.in(one, { do: "start", calls: ["a1"] }));
  const checkpointId = await thread.checkpointId(one);
  const answer = { do: "by-id", values: { [ask.id]: thread.sign(ask) } } as const;
  if (program.deferred === true) {
    const stores = await openSqlite(shared.world.stores);
    await stores.approvals.decide(ask.value.binding, approve({ by: "ana" }));
    await stores.close();
  }
  expect((await thread.in(two, program.deferred === true ? { do: "null" } : answer)).ended).toBe("done");
  expect(thread.ran()).toBe("a1");
  return { thread, ask, checkpointId, answer };
}

describe("a durable checkpointer alone", () => {
  test("A5/table: accidents, retries, other workers, restarts: one use everywhere", async () => {
    const { thread, ask, answer, checkpointId } = await used({ node: "toolNode" });
    for (const process of [one, two, three]) {
      expect((await thread.in(process, answer)).ended).toBe("done");
      expect((await thread.in(process, { do: "null" })).ended).toBe("done");
      expect((await thread.in(process, answer, { checkpointId })).ended).toBe("ApprovalAlreadyDecided");
      expect((await thread.in(process, { do: "resume", answer: thread.sign(ask) })).ended).toBe(
        "ApprovalAlreadyDecided",
      );
    }
    expect(thread.ran()).toBe("a1");
  });

  test("A5/table: after a rollback of its rows another process may use the answer again, the same one does not", async () => {
    const { thread, answer, checkpointId } = await used({ node: "toolNode" });
    rollBack(thread.id, checkpointId);
    expect((await thread.in(two, answer)).ended).toBe("ApprovalAlreadyDecided");
    expect(thread.ran()).toBe("a1");
    rollBack(thread.id, checkpointId);
    expect((await thread.in(three, answer)).ended).toBe("done");
    expect(thread.ran()).toBe("a1x2");
  });

  test("A5/table: deleted marks do not help while the rows of the finished node are there", async () => {
    const { thread, answer, checkpointId } = await used({ node: "toolNode" });
    deleteMarks(thread.id);
    expect((await thread.in(three, answer, { checkpointId })).ended).toBe("ApprovalAlreadyDecided");
    expect(thread.ran()).toBe("a1");
  });
});

describe("a claims store, or an approval store, beside the checkpointer", () => {
  for (const node of ["toolNode", "oneUse", "toolTask"] as const) {
    test(`A5/table, A5/claims, B46: ${node}: one use everywhere, after a rollback too`, async () => {
      const { thread, answer, checkpointId } = await used({ node, claims: true });
      const plain = { do: "plain", value: Object.values(answer.values)[0] } as const;
      for (const op of [answer, plain]) {
        rollBack(thread.id, checkpointId);
        expect((await thread.in(three, op)).ended).toBe("ApprovalAlreadyDecided");
      }
      // The process that used it knows what came of it, and gives that again.
      rollBack(thread.id, checkpointId);
      expect((await thread.in(two, answer)).ended).toBe("ApprovalAlreadyDecided");
      expect((await thread.in(two, { do: "null" })).ended).toBe("done");
      expect(thread.ran()).toBe("a1");
    });
  }

  test("A5/table, A5/claims: a fresh answer to the old request is no second use either", async () => {
    const { thread, ask, checkpointId } = await used({ node: "toolNode", claims: true });
    rollBack(thread.id, checkpointId);
    const values = { [ask.id]: thread.sign(ask, approve({ by: "bob" })) };
    expect((await thread.in(three, { do: "by-id", values })).ended).toBe("ApprovalAlreadyDecided");
    expect(thread.ran()).toBe("a1");
  });

  test("A5/table, A11/sqlite: a store that decides: null after a rollback runs nothing", async () => {
    const { thread, checkpointId } = await used({ node: "toolNode", deferred: true });
    rollBack(thread.id, checkpointId);
    expect((await thread.in(three, { do: "null" })).ended).toBe("ApprovalAlreadyDecided");
    expect(thread.ran()).toBe("a1");
  });
});

describe("no checkpointer that lasts", () => {
  test("A5/table: one use in this process", async () => {
    const other = new SharedWorld({ engine: "memory" });
    const here = await GraphProcess.start(other);
    const thread = new ProcessThread(other, { node: "toolNode" });
    const ask = only(await thread.in(here, { do: "start", calls: ["a1"] }));
    const answer = { do: "by-id", values: { [ask.id]: thread.sign(ask) } } as const;
    const told = (await here.run(thread.step(answer, { times: 10 })))?.turns.map(({ ended }) => ended);
    expect(told?.toSorted()).toEqual([...Array<string>(9).fill("ApprovalAlreadyDecided"), "done"]);
    expect(thread.ran()).toBe("a1");
    await here.stop();
    other.remove();
  });
});
