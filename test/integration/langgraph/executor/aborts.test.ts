// Properties proved in a graph: what an abort of the invocation does to the calls of a tool node, and that a retry of the
// node by LangGraph gives a call no second use of its answer.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failure, one, sleep } from "../../../support/langgraph.js";
import { tool, type Options } from "../../../unit/executor/tools.js";
import { calls, graph } from "./graphs.js";

const seen = { warnings: [] as string[], unhandled: [] as unknown[] };
const warn = ({ name }: Error): void => void seen.warnings.push(name);
const note = (reason: unknown): void => void seen.unhandled.push(reason);
beforeAll(() => void process.on("warning", warn).on("unhandledRejection", note));
afterAll(() => void process.off("warning", warn).off("unhandledRejection", note));

/** A tool that runs until it is aborted, and the signals of its bodies. */
function running(options: Options = {}) {
  const signals: AbortSignal[] = [];
  const waits = tool({
    effects: "read",
    ...options,
    execute: (_args, { signal }) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    },
  });
  return { signals, waits };
}

describe("an invocation that is aborted", () => {
  it("E6, B35: three calls that run see it, two that are queued never start, no message is saved, nothing is a failure", async () => {
    const { signals, waits } = running({ retries: 3, timeoutMs: 10_000 });
    const stand = graph([waits], { node: { concurrency: 3 } });
    const stop = new AbortController();
    const run = failure(stand.start(calls(5), { signal: stop.signal }));
    await sleep(15);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);
    stop.abort();
    expect(await run).toMatchObject({ name: "AbortError" });
    await sleep(5);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    const { values } = await stand.app.getState(stand.config);
    expect((values as { messages?: unknown[] }).messages ?? []).toHaveLength(1);
    const entries = await stand.ledger.entries();
    expect(entries.map(({ status, attempts }) => [status, attempts])).toEqual([
      ...Array.from({ length: 3 }, () => ["cancelled", 1]),
      ...Array.from({ length: 2 }, () => ["cancelled", 0]),
    ]);
  });

  it("E6, B35: before it starts runs no body", async () => {
    const { signals, waits } = running();
    const stand = graph([waits]);
    await failure(stand.start(calls(3), { signal: AbortSignal.abort() }));
    await sleep(5);
    expect(signals).toEqual([]);
  });

  it("E6, E11/process, B38: can go on: what finished replays, what was stopped runs again", async () => {
    const { waits } = running({ name: "waits" });
    const ran: string[] = [];
    let stopped = false;
    const quick = tool({ name: "quick", effects: "read", execute: (args) => void ran.push(args.to) });
    const later = tool({
      name: "waits",
      effects: "read",
      execute: (args, ctx) => {
        ran.push(`waits ${args.to}`);
        return stopped ? "done" : waits.execute(args as never, ctx);
      },
    });
    const stand = graph([quick, later]);
    const stop = new AbortController();
    const both = [...calls(1, "quick"), { name: "waits", args: { to: "1" }, id: "c1" }];
    const run = failure(stand.start(both, { signal: stop.signal }));
    await sleep(10);
    stop.abort();
    await run;
    stopped = true;
    const end = await stand.invoke(null);
    expect(end.tools.map((message) => [message.tool_call_id, message.content])).toEqual([
      ["c0", "null"],
      ["c1", "done"],
    ]);
    expect(ran).toEqual(["0", "waits 1", "waits 1"]);
    expect(await stand.ledger.entries()).toHaveLength(2);
  });

  it("E6: after the answer was used: the outcome is unknown, and the call asks again", async () => {
    const { signals, waits } = running({ effects: "write", confirm: true });
    const stand = graph([waits]);
    const stop = new AbortController();
    const paused = await stand.start(calls(1));
    const run = failure(stand.approve(paused, { signal: stop.signal }));
    await sleep(10);
    stop.abort();
    await run;
    expect(signals).toHaveLength(1);
    expect(one(await stand.ledger.entries())).toMatchObject({ status: "unknown" });
    const again = one((await stand.invoke(null)).interrupts);
    expect(again.value.request).toMatchObject({ generation: 1, previousAttempt: { outcome: "unknown" } });
    expect(signals).toHaveLength(1);
  });
});

describe("LangGraph's retryPolicy on the node", () => {
  const retryPolicy = { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false, retryOn: () => true };
  const failing = (times: number, options: Options) => {
    const count = { runs: 0 };
    const fails = tool({
      ...options,
      execute: () => {
        count.runs += 1;
        if (count.runs <= times) throw new Error("x");
        return `after ${count.runs}`;
      },
    });
    return { count, fails };
  };

  it("B12, E5: does not run an approved call again under the same answer", async () => {
    const { count, fails } = failing(2, { confirm: true });
    const stand = graph([fails], { addNode: { retryPolicy } });
    const error = await failure(stand.approve(await stand.start(calls(1))));
    expect(error).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(count.runs).toBe(1);
    expect(await failure(stand.invoke(null))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(count.runs).toBe(1);
    expect(one(await stand.ledger.entries())).toMatchObject({ status: "failed", attempts: 1 });
  });

  it("B12, E5, B56: the tool's own retries are attempts of one call under one answer", async () => {
    const { count, fails } = failing(2, {
      confirm: true,
      cost: 5,
      retries: { maxAttempts: 3, initialDelayMs: 1 },
    });
    const stand = graph([fails], { addNode: { retryPolicy } });
    const end = await stand.approve(await stand.start(calls(1)));
    expect(one(end.tools).content).toBe("after 3");
    expect(count.runs).toBe(3);
    expect(one(await stand.ledger.entries())).toMatchObject({ status: "ok", attempts: 3, cost: 15 });
  });

  it("B12, E5: runs a plain call that failed again, and only that one", async () => {
    const { count, fails } = failing(1, { effects: "read" });
    const ran: string[] = [];
    const other = tool({ name: "other", effects: "read", execute: (args) => void ran.push(args.to) });
    const stand = graph([fails, other], { addNode: { retryPolicy } });
    const end = await stand.start([...calls(1), { name: "other", args: { to: "o" }, id: "o" }]);
    expect(end.tools.map(({ content }) => content)).toEqual(["after 2", "null"]);
    expect([count.runs, ran]).toEqual([2, ["o"]]);
  });

  it("E4, B12: does not run a timed-out approved call again", async () => {
    let runs = 0;
    const slow = tool({
      confirm: true,
      timeoutMs: 3,
      execute: () => {
        runs += 1;
        return new Promise(() => undefined);
      },
    });
    const stand = graph([slow], { addNode: { retryPolicy } });
    expect(await failure(stand.approve(await stand.start(calls(1))))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(runs).toBe(1);
  });
});

it("S10, E6: a hundred calls in one node under one signal are no leak of listeners of ours", async () => {
  const flaky = tool({
    effects: "read",
    timeoutMs: 1000,
    retries: { maxAttempts: 2, initialDelayMs: 1 },
    execute: async ({ to }, { attempt, signal }) => {
      signal.addEventListener("abort", () => undefined);
      await sleep(2);
      if (attempt === 1) throw new Error("x");
      return to;
    },
  });
  const stand = graph([flaky]);
  const end = await stand.start(calls(100), { signal: new AbortController().signal });
  expect(end.tools).toHaveLength(100);
  await sleep(5);
  expect(seen.warnings).not.toContain("MaxListenersExceededWarning");
});

it("E4, E6: nothing of this left a rejection unhandled", async () => {
  await sleep(10);
  expect(seen.unhandled).toEqual([]);
});
