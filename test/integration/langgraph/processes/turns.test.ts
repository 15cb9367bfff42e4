// OS processes take turns on one thread: pause, answer, pause, answer, finish. Real LangGraph, SqliteSaver; bodies are counted
// in a file outside of all of them.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { approve, deny } from "agent-adapter";
import { GraphProcess, only, ProcessThread, SharedWorld } from "../../../support/graph-process.js";
import type { Program } from "../../../support/children/graph-worker.js";

// Other processes need a turn too on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const shared = new SharedWorld();
let processes: GraphProcess[] = [];
beforeAll(async () => {
  processes = await GraphProcess.several(shared, 3);
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.stop()));
  shared.remove();
});

function nth(n: 1 | 2 | 3): GraphProcess {
  const found = processes[n - 1];
  if (found === undefined) throw new Error(`there is no process ${n}`);
  return found;
}

const DURABILITIES = ["sync", "async", "exit"] as const;
const CALLS = ["p1", "a1", "a2"];

async function threeTurns(program: Program): Promise<ProcessThread> {
  const thread = new ProcessThread(shared, program);
  const first = await thread.in(nth(1), { do: "start", calls: CALLS });
  expect(first.ended).toBe(program.node === "toolTask" ? "asks a1.0 a2.0" : "asks a1.0");
  const values = thread.answers(first.asks.slice(0, 1));
  const second = await thread.in(nth(2), { do: "by-id", values });
  expect(second.ended).toBe("asks a2.0");
  const third = await thread.in(nth(3), { do: "by-id", values: thread.answers(second.asks) });
  expect(third.ended).toBe("done");
  expect(third.results.map(([callId]) => callId)).toEqual(CALLS);
  return thread;
}

describe("three processes take turns", () => {
  for (const node of ["toolNode", "oneUse", "toolTask"] as const) {
    for (const durability of DURABILITIES) {
      test(`J4/tasks, A5/table: ${node}, ${durability}: every body ran once, the plain one too, each in its turn`, async () => {
        const thread = await threeTurns({ node, durability });
        expect(thread.effects().map(({ callId }) => callId)).toEqual(CALLS);
        const [plain, first, second] = thread.effects().map(({ pid }) => pid);
        expect([plain, first, second]).toEqual([1, 2, 3].map((n) => nth(n as 1).child.pid));
      });
    }
  }

  for (const node of ["toolNode", "oneUse"] as const) {
    test(`J4/tasks: ${node}, durable "call": the plain call ran once`, async () => {
      expect((await threeTurns({ node, durable: "call" })).ran()).toBe("a1 a2 p1");
    });

    test(`J4/tasks: ${node}, durable false: every process runs the plain call again, the approved ones once`, async () => {
      expect((await threeTurns({ node, durable: false })).ran()).toBe("a1 a2 p1x3");
    });
  }

  test("J4/tasks: toolTask, durable false: a plain task that finished is LangGraph's, and is not run again", async () => {
    expect((await threeTurns({ node: "toolTask", durable: false })).ran()).toBe("a1 a2 p1");
  });

  test("A7, A5/table: what a reviewer changed in one process is what the next one replays", async () => {
    const thread = new ProcessThread(shared, { node: "toolNode" });
    const ask = only(await thread.in(nth(1), { do: "start", calls: ["a1", "a2"] }));
    const edit = approve({ editedArgs: { n: "a1", nonce: "less" } });
    const next = only(await thread.in(nth(2), { do: "by-id", values: { [ask.id]: thread.sign(ask, edit) } }));
    const end = await thread.in(nth(3), { do: "by-id", values: { [next.id]: thread.sign(next) } });
    expect(end.results).toEqual([
      ["a1", expect.stringContaining("did a1 less")],
      ["a2", expect.stringContaining("did a2 model")],
    ]);
    expect(thread.effects().map(({ callId, nonce }) => `${callId} ${nonce}`)).toEqual(["a1 less", "a2 model"]);
  });

  for (const node of ["toolNode", "oneUse"] as const) {
    test(`A6: ${node}: a denial of one process is replayed by the next, whatever it decides about the rest`, async () => {
      const thread = new ProcessThread(shared, { node });
      const ask = only(await thread.in(nth(1), { do: "start", calls: ["a1", "a2"] }));
      const denied = { [ask.id]: thread.sign(ask, deny({ reason: "no" })) };
      const next = only(await thread.in(nth(2), { do: "by-id", values: denied }));
      const approved = { [ask.id]: thread.sign(ask) };
      expect((await thread.in(nth(3), { do: "by-id", values: approved })).ended).toBe("ApprovalAlreadyDecided");
      const end = await thread.in(nth(3), { do: "by-id", values: { [next.id]: thread.sign(next) } });
      expect(end.results.map(([, result]) => /ApprovalDenied|did/.exec(result)?.[0])).toEqual([
        "ApprovalDenied",
        "did",
      ]);
      expect(thread.ran()).toBe("a2");
    });
  }

  test("R5: the same through `resume`, with what `pendingApprovals` of each process shows", async () => {
    const thread = new ProcessThread(shared, { node: "toolTask" });
    await thread.in(nth(1), { do: "start", calls: CALLS });
    const { waiting } = await thread.in(nth(2), { do: "pending" });
    expect(waiting.map(({ callId, status }) => `${callId} ${status}`)).toEqual(["a1 waiting", "a2 waiting"]);
    const [first, second] = waiting.map(({ interrupt }) => interrupt);
    if (first === undefined || second === undefined) throw new Error("nothing waits");
    const decisions = { [first.value.binding]: { approved: true as const } };
    expect((await thread.in(nth(2), { do: "decide", decisions })).ended).toBe("asks a2.0");
    expect((await thread.in(nth(3), { do: "resume", answer: thread.sign(second) })).ended).toBe("done");
    for (const answer of [thread.sign(first), thread.sign(second), thread.answers([first, second])]) {
      expect((await thread.in(nth(1), { do: "resume", answer })).ended).toBe("ApprovalAlreadyDecided");
    }
    expect(thread.ran()).toBe("a1 a2 p1");
  });
});
