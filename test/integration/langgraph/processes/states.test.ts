// Rows of "States and events" and of the table about null and resumes that need another process: crashes, keys that changed,
// clocks, other versions of the program. A crash is a process that kills itself at a named moment.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { approve, deny } from "agent-adapter";
import { openSqlite } from "agent-adapter/sqlite";
import { GraphProcess, only, ProcessThread, SharedWorld, type MoreOfAStep } from "../../../support/graph-process.js";
import type { Ask, Program } from "../../../support/children/graph-worker.js";

// Other processes need a turn too on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const MINUTE_MS = 60_000;
const VICTIMS = 8;
const shared = new SharedWorld();
const victims: GraphProcess[] = [];
let one: GraphProcess;
let two: GraphProcess;
let three: GraphProcess;
beforeAll(async () => {
  const started = await GraphProcess.several(shared, 3 + VICTIMS);
  [one, two, three] = started.splice(0, 3) as [GraphProcess, GraphProcess, GraphProcess];
  victims.push(...started);
});
afterAll(async () => {
  await Promise.all([one, two, three, ...victims].map((each) => each.stop()));
  shared.remove();
});

/** Process 1 asked about `a1`; nothing else has happened. */
async function asked(program: Program, calls = ["a1"]): Promise<{ thread: ProcessThread; ask: Ask }> {
  const thread = new ProcessThread(shared, program);
  return { thread, ask: only(await thread.in(one, { do: "start", calls })) };
}

/** A process of its own answers and dies at that moment. */
async function killed(thread: ProcessThread, ask: Ask, killAt: string, more: MoreOfAStep & { plain?: boolean } = {}) {
  const victim = victims.pop();
  if (victim === undefined) throw new Error("raise VICTIMS");
  const { plain = false, ...rest } = more;
  const answer = thread.sign(ask);
  const op = plain
    ? ({ do: "plain", value: answer } as const)
    : ({ do: "by-id", values: { [ask.id]: answer } } as const);
  expect(await thread.tryIn(victim, op, { ...rest, killAt })).toBeUndefined();
}

const old = { changes: { aheadMs: 6 * MINUTE_MS } };

describe("a process dies while it holds an answer", () => {
  for (const node of ["toolNode", "oneUse"] as const) {
    test(`A6, B11: ${node}: in the body: young elsewhere, old unknown, asked again, done`, async () => {
      const { thread, ask } = await asked({ node }, ["p1", "a1"]);
      await killed(thread, ask, "body, after its effect");
      expect((await thread.in(two, { do: "pending" })).waiting).toMatchObject([{ callId: "a1", status: "used" }]);
      expect((await thread.in(two, { do: "null" })).ended).toBe("ApprovalAlreadyDecided");
      const values = { [ask.id]: thread.sign(ask) };
      expect((await thread.in(two, { do: "by-id", values }, old)).ended).toBe("ApprovalAlreadyDecided");
      expect((await thread.in(two, { do: "resume", answer: thread.sign(ask) }, old)).ended).toBe(
        "ApprovalAlreadyDecided",
      );
      const again = only(await thread.in(two, { do: "null" }, old));
      expect(again.value.request).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
      expect(thread.ran()).toBe("a1 p1");
      expect((await thread.in(three, { do: "by-id", values: thread.answers([again]) })).ended).toBe("done");
      expect(thread.ran()).toBe("a1x2 p1");
    });
  }

  test("A6, B11: with a plain resume: `resume(app, null)` asks at once, a raw null needs it twice", async () => {
    const { thread, ask } = await asked({ node: "oneUse" });
    await killed(thread, ask, "body, after its effect", { plain: true });
    expect((await thread.in(two, { do: "null" }, old)).ended).toBe("ApprovalAlreadyDecided");
    expect((await thread.in(two, { do: "null" }, old)).ended).toBe("asks a1.1");
    const other = await asked({ node: "oneUse" });
    await killed(other.thread, other.ask, "body, after its effect", { plain: true });
    expect((await other.thread.in(two, { do: "resume", answer: null }, old)).ended).toBe("asks a1.1");
    expect([thread.ran(), other.thread.ran()]).toEqual(["a1", "a1"]);
  });

  test("A6: before its mark was written: the answer is unspent; the same request can be answered", async () => {
    const { thread, ask } = await asked({ node: "toolNode" });
    await killed(thread, ask, "before putWrites aa:spent");
    const again = await thread.in(two, { do: "null" });
    expect(again.asks.map(({ value }) => value.binding)).toEqual([ask.value.binding]);
    expect((await thread.in(three, { do: "by-id", values: { [ask.id]: thread.sign(ask) } })).ended).toBe("done");
    expect(thread.ran()).toBe("a1");
  });

  test("A6, J4/tasks: after its outcome was written, before LangGraph knew: it is replayed, never asked, never run", async () => {
    const { thread, ask } = await asked({ node: "toolNode" }, ["p1", "a1"]);
    await killed(thread, ask, "after putWrites aa:done");
    expect((await thread.in(two, { do: "resume", answer: thread.sign(ask) })).ended).toBe("ApprovalAlreadyDecided");
    const end = await thread.in(two, { do: "null" });
    expect([end.ended, end.results]).toEqual([
      "done",
      [
        ["p1", expect.anything()],
        ["a1", '"did a1 model"'],
      ],
    ]);
    expect(thread.ran()).toBe("a1 p1");
  });

  test("A6: a denial is kept by its mark alone", async () => {
    const { thread, ask } = await asked({ node: "toolNode" });
    const victim = victims.pop();
    if (victim === undefined) throw new Error("raise VICTIMS");
    const values = { [ask.id]: thread.sign(ask, deny({ reason: "no" })) };
    expect(await thread.tryIn(victim, { do: "by-id", values }, { killAt: "after putWrites aa:spent" })).toBeUndefined();
    const end = await thread.in(two, { do: "null" });
    expect([end.ended, end.results]).toEqual(["done", [["a1", expect.stringContaining("ApprovalDenied")]]]);
    expect(thread.ran()).toBe("");
  });
});

describe("failures, and a process that goes on", () => {
  for (const node of ["toolNode", "oneUse", "toolTask"] as const) {
    test(`A5/table, A6: ${node}: a tool that failed after its effect is not run again by invoke(null) elsewhere`, async () => {
      const { thread, ask } = await asked({ node });
      const values = { [ask.id]: thread.sign(ask) };
      const failed = await thread.in(one, { do: "by-id", values }, { changes: { failing: { a1: "hidden" } } });
      expect(failed.ended).toBe("ToolFailed");
      for (const op of [{ do: "null" }, { do: "by-id", values }, { do: "resume", answer: null }] as const) {
        expect((await thread.in(two, op)).ended).toBe("ApprovalAlreadyDecided");
      }
      expect(thread.ran()).toBe("a1");
    });
  }

  test("A6: an error that the model reads is replayed", async () => {
    const { thread, ask } = await asked({ node: "toolNode" }, ["a1", "a2"]);
    const values = { [ask.id]: thread.sign(ask) };
    const next = only(await thread.in(one, { do: "by-id", values }, { changes: { failing: { a1: "visible" } } }));
    const end = await thread.in(two, { do: "by-id", values: { [next.id]: thread.sign(next) } });
    expect(end.results[0]?.[1]).toContain("a1 failed after its effect");
    expect(thread.ran()).toBe("a1 a2");
  });

  for (const node of ["toolNode", "oneUse"] as const) {
    test(`A6: ${node}: a failure before the claim keeps the answer for another process, without asking`, async () => {
      const { thread, ask } = await asked({ node }, ["p1", "a1"]);
      const values = { [ask.id]: thread.sign(ask) };
      const failed = await thread.in(one, { do: "by-id", values }, { changes: { refusing: ["a1"] } });
      expect(failed.ended).toBe("Error: a hook failed");
      expect((await thread.in(two, { do: "null" })).ended).toBe("done");
      expect(thread.ran()).toBe("a1 p1");
    });
  }

  test("A6: node code that failed after a done call: the same answer is refused, null goes on", async () => {
    const { thread, ask } = await asked({ node: "oneUse" }, ["p1", "a1"]);
    const values = { [ask.id]: thread.sign(ask) };
    const failed = await thread.in(one, { do: "by-id", values }, { changes: { stumbling: "a1" } });
    expect(failed.ended).toBe("Error: the node's own code failed");
    expect((await thread.in(two, { do: "by-id", values })).ended).toBe("ApprovalAlreadyDecided");
    expect((await thread.in(three, { do: "null" })).ended).toBe("done");
    expect(thread.ran()).toBe("a1 p1");
  });

  test("A6: the paused checkpoint again, after another process finished: refused, in a fork asked anew", async () => {
    const { thread, ask } = await asked({ node: "toolNode" });
    const answer = { do: "by-id", values: { [ask.id]: thread.sign(ask) } } as const;
    const checkpointId = await thread.checkpointId(one);
    expect((await thread.in(one, answer)).ended).toBe("done");
    expect((await thread.in(two, answer, { checkpointId })).ended).toBe("ApprovalAlreadyDecided");
    const fork = only(await thread.in(three, { do: "null" }, { checkpointId }));
    expect(fork.value.binding).not.toBe(ask.value.binding);
    const stale = { do: "by-id", values: { [fork.id]: thread.sign(ask) } } as const;
    expect((await thread.in(two, stale)).ended).toBe("invalid");
    expect(thread.ran()).toBe("a1");
  });
});

describe("dates, keys and versions of another process", () => {
  test("A4, A6: a request that expired before it was signed: expired, replayed, no denial", async () => {
    const { thread, ask } = await asked({ node: "toolNode", requestTtlMs: 1000, aheadMs: -MINUTE_MS }, ["a1", "a2"]);
    const values = { [ask.id]: thread.sign(ask) };
    const next = only(await thread.in(two, { do: "by-id", values }));
    const end = await thread.in(three, { do: "by-id", values: { [next.id]: thread.sign(next) } });
    expect(end.results.map(([, result]) => /ApprovalExpired/.exec(result)?.[0])).toEqual(
      Array(2).fill("ApprovalExpired"),
    );
    expect(thread.ran()).toBe("");
  });

  test("A6: an answer that expired on its way leads to a new request, which supersedes", async () => {
    const { thread, ask } = await asked({ node: "toolNode" });
    const values = { [ask.id]: thread.sign(ask) };
    const next = only(await thread.in(two, { do: "by-id", values }, { changes: { aheadMs: 25 * 60 * MINUTE_MS } }));
    expect(next.value.request).toMatchObject({ generation: 0, supersedes: ask.value.binding });
    expect((await thread.in(three, { do: "by-id", values: thread.answers([next]) })).ended).toBe("done");
    expect(thread.ran()).toBe("a1");
  });

  test("A6: a stored answer under a key that was removed only asks again", async () => {
    const { thread, ask } = await asked({ node: "toolNode", key: "an answer key that will be removed" });
    const values = { [ask.id]: thread.sign(ask) };
    const failed = await thread.in(one, { do: "by-id", values }, { changes: { refusing: ["a1"] } });
    expect(failed.ended).toBe("Error: a hook failed");
    const key = "the answer key that came instead";
    const next = only(await thread.in(two, { do: "null" }, { changes: { key } }));
    expect(next.value.request).toMatchObject({ generation: 0, supersedes: ask.value.binding });
    expect((await thread.in(three, { do: "by-id", values: thread.answers([next]) })).ended).toBe("done");
    expect(thread.ran()).toBe("a1");
  });

  for (const node of ["toolNode", "oneUse", "toolTask"] as const) {
    test(`J3/ask-record, A6: ${node}: another secret opens nothing and runs nothing; the right one goes on`, async () => {
      const { thread, ask } = await asked({ node });
      const values = { [ask.id]: thread.sign(ask) };
      for (const secret of ["a secret that nobody else has at all", null]) {
        for (const op of [{ do: "by-id", values }, { do: "null" }] as const) {
          expect((await thread.in(two, op, { changes: { secret } })).ended).toBe("FlowError");
        }
      }
      expect(thread.ran()).toBe("");
      const rotated = { changes: { secret: ["the next secret of this deployment", thread.secret] as const } };
      expect((await thread.in(three, { do: "by-id", values }, rotated)).ended).toBe("done");
      expect(thread.ran()).toBe("a1");
    });
  }

  test("J3/ask-record, A6: a thread of a process without a shared secret says so elsewhere", async () => {
    const { thread } = await asked({ node: "toolNode", secret: null });
    const refused = await thread.in(two, { do: "null" });
    expect(refused).toMatchObject({ ended: "FlowError", message: expect.stringContaining("secret") });
    expect((await thread.in(one, { do: "null" })).ended).toBe("asks a1.0");
  });

  test("A6: another version of the tool asks anew; the answer to the older request does not count", async () => {
    const { thread, ask } = await asked({ node: "toolNode" });
    const next = only(await thread.in(two, { do: "null" }, { changes: { version: "2" } }));
    expect(next.id).toBe(ask.id);
    expect(next.value.request.supersedes).toBe(ask.value.binding);
    const values = { [ask.id]: thread.sign(ask) };
    expect((await thread.in(three, { do: "by-id", values }, { changes: { version: "2" } })).ended).toBe("invalid");
    const answer = { [next.id]: thread.sign(next) };
    expect((await thread.in(three, { do: "by-id", values: answer }, { changes: { version: "2" } })).ended).toBe("done");
    expect(thread.ran()).toBe("a1");
  });

  test("A6: bad answers use nothing up; the same request is answered in a third process", async () => {
    const { thread, ask } = await asked({ node: "oneUse" });
    const other = await asked({ node: "oneUse" });
    const genuine = thread.sign(ask);
    const { mac } = other.thread.sign(other.ask) as { mac: string };
    for (const bad of ["yes", true, { ...genuine, mac }, other.thread.sign(other.ask), thread.sign(other.ask)]) {
      expect((await thread.in(two, { do: "by-id", values: { [ask.id]: bad } })).ended).toBe("invalid");
    }
    expect((await thread.in(three, { do: "by-id", values: { [ask.id]: genuine } })).ended).toBe("done");
    expect(thread.ran()).toBe("a1");
  });
});

describe("a store decides", () => {
  test("A11/sqlite, A6: null before the decision shows the same request, after it runs the call, once, elsewhere", async () => {
    const { thread, ask } = await asked({ node: "toolNode", deferred: true }, ["a1", "a2"]);
    const stores = await openSqlite(shared.world.stores);
    const again = only(await thread.in(two, { do: "null" }));
    expect(again.value.binding).toBe(ask.value.binding);
    await stores.approvals.decide(ask.value.binding, approve({ by: "ana" }));
    const next = only(await thread.in(two, { do: "null" }));
    expect(next.value.request.callId).toBe("a2");
    await stores.approvals.decide(next.value.binding, deny({ by: "ana" }));
    expect((await thread.in(three, { do: "null" })).ended).toBe("done");
    expect(thread.ran()).toBe("a1");
    await stores.close();
  });

  test("A6, B11: killed in the body: another record asks again with the outcome unknown, and is decided", async () => {
    const { thread, ask } = await asked({ node: "toolNode", deferred: true });
    const stores = await openSqlite(shared.world.stores);
    await stores.approvals.decide(ask.value.binding, approve({ by: "ana" }));
    const victim = victims.pop();
    if (victim === undefined) throw new Error("raise VICTIMS");
    expect(await thread.tryIn(victim, { do: "null" }, { killAt: "body, after its effect" })).toBeUndefined();
    expect((await thread.in(two, { do: "pending" })).waiting).toMatchObject([{ callId: "a1", status: "used" }]);
    expect((await thread.in(two, { do: "null" })).ended).toBe("ApprovalAlreadyDecided");
    const again = only(await thread.in(two, { do: "null" }, old));
    expect(again.value.request).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    expect(again.value.approvalId).not.toBe(ask.value.approvalId);
    await stores.approvals.decide(again.value.binding, approve({ by: "ana" }));
    expect((await thread.in(three, { do: "null" }, old)).ended).toBe("done");
    expect(thread.ran()).toBe("a1x2");
    await stores.close();
  });
});
