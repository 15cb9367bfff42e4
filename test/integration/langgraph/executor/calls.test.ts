// Properties proved in a graph: plain calls beside asking ones run once; budgets hold over pauses, failures, aborts and
// resumes; policies ask; a first call of a run that pauses stays the first; what spends an answer and what keeps it.
import { describe, expect, it } from "vitest";
import {
  approve,
  BudgetHook,
  DeferredApproval,
  MemoryApprovalStore,
  MemoryCache,
  MemoryLedger,
  ToolError,
  type Hook,
} from "agent-adapter";
import { failure, KEY, one, sleep } from "../../../support/langgraph.js";
import { tool } from "../../../unit/executor/tools.js";
import { calls, graph } from "./graphs.js";

const statuses = (tools: readonly { status?: string | undefined }[]) => tools.map(({ status }) => status);

describe("plain calls beside asking ones", () => {
  it("B08, E11/process: run once, however many answers are given; messages come in the order of the calls", async () => {
    const ran: string[] = [];
    const execute = ({ to }: { to: string }) => {
      ran.push(to);
      return `did ${to}`;
    };
    const stand = graph([tool({ name: "plain", execute }), tool({ name: "asks", confirm: true, execute })]);
    const batch = [
      { name: "asks", args: { to: "a" }, id: "a" },
      { name: "plain", args: { to: "p" }, id: "p" },
      { name: "asks", args: { to: "b" }, id: "b" },
    ];
    const end = await stand.approve(await stand.approve(await stand.start(batch)));
    expect(ran).toEqual(["p", "a", "b"]);
    expect(end.tools.map((message) => message.tool_call_id)).toEqual(["a", "p", "b"]);
    expect((await stand.ledger.entries()).map(({ tool: name, attempts }) => [name, attempts])).toEqual([
      ["asks", 1],
      ["plain", 1],
      ["asks", 1],
    ]);
  });

  it("E11/process: two invocations of one pause at once run what is plain once", async () => {
    let runs = 0;
    const plain = tool({
      name: "plain",
      execute: async () => {
        runs += 1;
        await sleep(10);
        return runs;
      },
    });
    const stand = graph([plain, tool({ name: "asks", confirm: true })]);
    const paused = await stand.start([...calls(1, "plain"), { name: "asks", args: { to: "a" }, id: "a" }]);
    const ends = await Promise.allSettled([stand.approve(paused), stand.approve(paused), stand.approve(paused)]);
    expect(runs).toBe(1);
    expect(ends.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
  });
});

describe("a budget (B57)", () => {
  it("E9/budget, B57: of a hundred calls of one message ten run, the others are told to the model; two nodes of a run share it", async () => {
    let runs = 0;
    const act = tool({
      effects: "read",
      cost: 1,
      execute: async () => {
        runs += 1;
        await sleep(1);
      },
    });
    const stand = graph([act], { executor: { hooks: [new BudgetHook({ maxCost: 10 })] } });
    const end = await stand.start(calls(100));
    expect(end.tools).toHaveLength(100);
    expect(statuses(end.tools).filter((status) => status === "success")).toHaveLength(10);
    expect(end.tools.at(-1)?.content).toContain('"BudgetExceeded"');
    const more = await stand.start([{ name: "act", args: { to: "x" }, id: "x" }]);
    expect(more.tools.at(-1)?.status).toBe("error");
    expect(runs).toBe(10);
    expect(await stand.ledger.totals({ runId: stand.thread })).toMatchObject({ calls: 10, cost: 10 });
  });

  it("E9/budget, B57: is never overdrawn over pauses, failures, aborts, resumes and restarts", async () => {
    const ran: string[] = [];
    let broken = true;
    const tools = () => [
      tool({ name: "plain", effects: "read", cost: 1, execute: ({ to }) => void ran.push(to) }),
      tool({ name: "asks", confirm: true, cost: 1, execute: ({ to }) => void ran.push(to) }),
      tool({
        name: "fails",
        effects: "read",
        cost: 1,
        execute: ({ to }) => {
          ran.push(to);
          if (broken) throw new Error("x");
        },
      }),
      tool({
        name: "waits",
        effects: "read",
        cost: 1,
        execute: ({ to }, { signal }) => {
          ran.push(to);
          return new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
          });
        },
      }),
    ];
    const ledger = new MemoryLedger();
    const first = graph(tools(), { executor: { ledger, hooks: [new BudgetHook({ maxCost: 10 })] } });
    const { saver, thread } = first;
    // A restarted program: everything anew but checkpointer, key and ledger.
    const restarted = () =>
      graph(tools(), { saver, thread, executor: { ledger, hooks: [new BudgetHook({ maxCost: 10 })] } });
    const spent = async () => (await ledger.totals({ runId: thread })).cost;
    const batch = (turn: string, ...names: string[]) =>
      names.map((name, index) => ({ name, args: { to: `${turn}${index}` }, id: `${turn}${index}` }));

    // A pause gives its room back, and takes it again.
    const paused = await first.start(batch("a", "plain", "plain", "asks"));
    expect(await spent()).toBe(2);
    await restarted().approve(paused);
    expect(await spent()).toBe(3);
    // A failed call has spent its attempt, every time it is run.
    const second = restarted();
    await failure(second.start(batch("b", "fails", "plain")));
    expect(await spent()).toBe(5);
    broken = false;
    await second.invoke(null);
    expect(await spent()).toBe(6);
    // So has one that was aborted; what was queued has not.
    const stop = new AbortController();
    const third = graph(tools(), {
      saver,
      thread,
      node: { concurrency: 1 },
      executor: { ledger, hooks: [new BudgetHook({ maxCost: 10 })] },
    });
    const aborted = failure(third.start(batch("c", "waits", "plain", "plain"), { signal: stop.signal }));
    await sleep(10);
    stop.abort();
    await aborted;
    await sleep(2);
    expect(await spent()).toBe(7);
    // The rest is room for three of a hundred.
    const last = graph(tools(), {
      thread: `${thread}-more`,
      executor: { ledger, hooks: [new BudgetHook({ maxCost: 10 })] },
    });
    const end = await last.start(calls(100, "plain"), {
      configurable: { thread_id: `${thread}-more`, run_id: thread },
    });
    expect(statuses(end.tools).filter((status) => status === "success")).toHaveLength(3);
    expect(await spent()).toBe(10);
    expect(ran).toHaveLength(10);
  });

  it("E9/budget, B57: a call it refuses after the answer came is told to the model, and the answer is not used", async () => {
    let budget = new BudgetHook({ maxCalls: 1 });
    let runs = 0;
    const hook: Partial<Hook> = { beforeTool: (call) => budget.beforeTool(call) };
    const stand = graph([tool({ confirm: true, execute: () => (runs += 1) })], { executor: { hooks: [hook] } });
    const paused = await stand.start(calls(1));
    budget = new BudgetHook({ maxCalls: 0 });
    const refused = await stand.approve(paused);
    expect(one(refused.tools)).toMatchObject({ status: "error" });
    expect(one(refused.tools).content).toContain("BudgetExceeded");
    expect(one(await stand.ledger.entries())).toMatchObject({
      status: "failed",
      errorKind: "BudgetExceeded",
      attempts: 0,
      decidedBy: undefined,
    });
    expect(runs).toBe(0);
  });
});

describe("both sides of the use of an answer (B11)", () => {
  it("B11, E9/before-after: what fails before it keeps the answer; null goes on without asking", async () => {
    let broken = false;
    let runs = 0;
    const hook: Partial<Hook> = {
      beforeTool: () => {
        if (broken) throw new Error("kill switch");
      },
    };
    const stand = graph([tool({ confirm: true, execute: () => (runs += 1) })], { executor: { hooks: [hook] } });
    const paused = await stand.start(calls(1));
    broken = true;
    await failure(stand.approve(paused));
    expect(runs).toBe(0);
    broken = false;
    expect(one((await stand.invoke(null)).tools).content).toBe("1");
    expect(runs).toBe(1);
  });

  it.each<[string, (count: { runs: number }) => Partial<Hook>[], number]>([
    ["a tool that throws", () => [], 1],
    [
      "an onApproval hook that throws when it hears of the use",
      () => [
        {
          onApproval: (_call, { state }) => {
            if (state === "approved") throw new Error("x");
          },
        },
      ],
      0,
    ],
  ])("B11, E9/errors-approvals: %s comes after it: the answer is spent", async (_what, hooks, expected) => {
    const count = { runs: 0 };
    const act = tool({
      confirm: true,
      execute: () => {
        count.runs += 1;
        throw new Error("x");
      },
    });
    const stand = graph([act], { executor: { hooks: hooks(count) } });
    await failure(stand.approve(await stand.start(calls(1))));
    expect(await failure(stand.invoke(null))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(count.runs).toBe(expected);
  });

  it("B11: an afterTool hook that throws comes after the result: null replays it", async () => {
    let broken = true;
    let runs = 0;
    const hook: Partial<Hook> = {
      afterTool: () => {
        if (broken) throw new Error("x");
      },
    };
    const stand = graph([tool({ confirm: true, execute: () => (runs += 1) })], { executor: { hooks: [hook] } });
    await failure(stand.approve(await stand.start(calls(1))));
    broken = false;
    expect(one((await stand.invoke(null)).tools).content).toBe("1");
    expect(runs).toBe(1);
  });
});

describe("a store that decides", () => {
  it("B59, A8/in-graph: in the hook that hears of the request lets the graph go on without a pause", async () => {
    const store = new MemoryApprovalStore();
    const heard: string[] = [];
    const hook: Partial<Hook> = {
      async onApproval(_call, event) {
        heard.push(event.state);
        if (event.state === "asked") await store.decide(event.binding, approve({ by: "policy engine" }));
      },
    };
    const executor = { approval: new DeferredApproval(store), secret: KEY, hooks: [hook] };
    const stand = graph([tool({ confirm: true })], { executor });
    const end = await stand.start(calls(2));
    expect(end.interrupts).toEqual([]);
    expect(statuses(end.tools)).toEqual(["success", "success"]);
    expect(heard).toEqual(["asked", "approved", "asked", "approved"]);
    expect((await store.list()).map(({ status }) => status)).toEqual(["used", "used"]);
  });
});

describe("a policy", () => {
  it("G4: makes a tool ask in a graph, and its own confirm cannot be taken away", async () => {
    const seen: unknown[] = [];
    const big = (args: Readonly<Record<string, unknown>>) => {
      seen.push(args);
      return args["to"] === "1";
    };
    const stand = graph([tool({ effects: "read" })], { executor: { policy: { act: big } } });
    const paused = await stand.start(calls(3));
    expect(one(paused.interrupts).value.request.callId).toBe("c1");
    const end = await stand.approve(paused);
    expect(statuses(end.tools)).toEqual(["success", "success", "success"]);
    expect(seen).toHaveLength(3);
  });
});

describe("once per run", () => {
  it("A5/process, E7/process: a first call that pauses stays the first: its equal asks nobody and replays it", async () => {
    let runs = 0;
    const first = tool({ confirm: true, oncePerRun: true, execute: () => (runs += 1) });
    const stand = graph([first]);
    const same = ["a", "b"].map((id) => ({ name: "act", args: { to: "x" }, id }));
    const end = await stand.approve(await stand.start(same));
    expect(end.interrupts).toEqual([]);
    expect(end.tools.map(({ content }) => content)).toEqual(["1", "1"]);
    const later = await stand.start([{ name: "act", args: { to: "x" }, id: "z" }]);
    expect(later.interrupts).toEqual([]);
    expect(runs).toBe(1);
    const other = await stand.start([{ name: "act", args: { to: "y" }, id: "y" }]);
    expect(other.tools.at(-1)?.content).toContain("ToolError");
  });

  it("E7/process: another thread with another run is another run; a run id that names both is one", async () => {
    let runs = 0;
    const first = tool({ effects: "read", oncePerRun: true, execute: () => (runs += 1) });
    const cache = new MemoryCache();
    for (let i = 0; i < 2; i += 1) await graph([first], { executor: { cache } }).start(calls(1));
    expect(runs).toBe(2);
  });
});

it("E7/process, T4/text: a cached result and its artifact are the same for the model on every call", async () => {
  let runs = 0;
  const rate = tool({
    effects: "read",
    cache: { ttlMs: 60_000, scope: "run" },
    execute: () => {
      runs += 1;
      return { rate: 0.05, list: [1, "a", null] };
    },
  });
  const stand = graph([rate]);
  const end = await stand.start(["a", "b", "c"].map((id) => ({ name: "act", args: { to: "x" }, id })));
  expect(new Set(end.tools.map(({ content }) => content))).toEqual(new Set(['{"rate":0.05,"list":[1,"a",null]}']));
  expect(runs).toBe(1);
});

it("E9/errors-approvals: hooks hear once of a question of a graph, of no failure when it pauses, and of the answer", async () => {
  const log: string[] = [];
  const hook: Partial<Hook> = {
    beforeTool: () => ({ finally: () => void log.push("let go") }),
    onApproval: (_call, { state }) => void log.push(state),
    onError: () => void log.push("error"),
    afterTool: () => void log.push("after"),
  };
  const stand = graph([tool({ confirm: true })], { executor: { hooks: [hook] } });
  const paused = await stand.start(calls(1));
  await stand.invoke(null);
  await stand.approve(paused);
  expect(log.filter((line) => line !== "let go")).toEqual(["asked", "approved", "after"]);
  expect(log.at(-1)).toBe("let go");
});

it("E4, E9/errors-approvals: a denial is told to the model and to the hooks; a model's error too", async () => {
  const heard: unknown[] = [];
  const hook: Partial<Hook> = { onError: (_call, error) => void heard.push((error as Error).name) };
  const stand = graph([tool({ effects: "read", execute: () => Promise.reject(new ToolError("no")) })], {
    executor: { hooks: [hook] },
  });
  const end = await stand.start(calls(1));
  expect(one(end.tools).status).toBe("error");
  expect(heard).toEqual(["ToolError"]);
});
