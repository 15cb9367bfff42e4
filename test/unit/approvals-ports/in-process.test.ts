// Ports that decide without a store: a function, a fixed answer, a list. They never pause, and whatever is not a decision made
// here runs nothing.
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, test } from "vitest";
import { approve, deny, Executor, Registry, type ApprovalPort, type ReviewRequest } from "agent-adapter";
import { toolNode } from "agent-adapter/langgraph";
import { ManualClock, scriptedApproval } from "agent-adapter/testing";
import { CallbackApproval } from "../../../src/approvals/callback-approval.js";
import { dangerouslyApproveAll, denyAll } from "../../../src/approvals/fixed-approval.js";
import { bindingOf } from "../../../src/approvals/request.js";
import { sampleRequest } from "../../../src/testing/sample-request.js";
import { ai, asking, call, failure, table, turnOf, type App } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";

afterEach(forgetProcess);

function program(approval: ApprovalPort, clock = new ManualClock(1_000_000)) {
  const ran: string[] = [];
  const executor = new Executor(new Registry([asking(ran, "send")]), { approval, clock });
  const context = executor.context({ runId: "run-1" });
  const send = (n = 1, callId = "call-1") => executor.run("send", { n }, { context, callId });
  return { ran, executor, send, clock };
}

/** A promise and what opens it. */
function gateway() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve: () => resolve() };
}

describe("A8/ports: CallbackApproval", () => {
  test("asks the function about exactly what will run, and runs it once", async () => {
    const seen: ReviewRequest[] = [];
    const { ran, executor, send } = program(
      new CallbackApproval(async (review) => {
        seen.push(review);
        return approve({ by: "ana" });
      }),
    );
    expect(await send()).toBe("send 1");
    expect(await send()).toBe("send 1");
    expect(ran).toEqual(["send 1"]);
    expect(seen).toHaveLength(1);
    const [review] = seen;
    expect(review?.request).toMatchObject({ tool: "send", arguments: { n: 1 }, callId: "call-1" });
    expect(review?.binding).toBe(bindingOf(review?.request ?? sampleRequest()));
    expect(Object.isFrozen(review?.request.arguments)).toBe(true);
    expect(await executor.ledger.entries()).toMatchObject([
      { status: "ok", decidedBy: "ana", binding: review?.binding },
    ]);
  });

  test("a denial and an edit are what the function says", async () => {
    const answers = [deny({ reason: "no" }), approve({ editedArgs: { n: 5 } })];
    const { ran, send } = program(new CallbackApproval(() => answers.shift() ?? deny()));
    expect(await failure(send(1, "a"))).toMatchObject({
      kind: "ApprovalDenied",
      message: expect.stringContaining("no"),
    });
    expect(await send(1, "b")).toBe("send 5");
    expect(ran).toEqual(["send 5"]);
  });

  test("an edit that does not fit runs nothing and uses nothing", async () => {
    const answers = [approve({ editedArgs: { n: "five" } }), approve()];
    const { ran, send } = program(new CallbackApproval(() => answers.shift() ?? deny()));
    expect(await failure(send())).toMatchObject({ kind: "ToolArgsInvalid" });
    expect(await send()).toBe("send 1");
    expect(ran).toEqual(["send 1"]);
  });

  test("A9/review: what approve() or deny() did not make runs nothing, and the call can be asked about again", async () => {
    const answers: unknown[] = [
      JSON.parse(JSON.stringify(approve())),
      structuredClone({ ...approve() }),
      true,
      "yes",
      undefined,
      null,
    ];
    const count = answers.length;
    // A function without types may return anything.
    const { ran, send } = program(
      new CallbackApproval(() => (answers.length > 0 ? (answers.shift() as never) : approve())),
    );
    for (let n = 0; n < count; n += 1) expect(await failure(send())).toMatchObject({ kind: "ToolUsageError" });
    expect(ran).toEqual([]);
    expect(await send()).toBe("send 1");
  });

  test("what the function throws comes out as it is, and nothing is used", async () => {
    const down = new Error("the chat is down");
    let throws = true;
    const { ran, send } = program(
      new CallbackApproval(() => {
        if (throws) throw down;
        return approve();
      }),
    );
    expect(await failure(send())).toBe(down);
    expect(ran).toEqual([]);
    throws = false;
    expect(await send()).toBe("send 1");
  });

  test("A4/requests: an answer that comes after the end of its request is too late", async () => {
    const clock = new ManualClock(1_000_000);
    const asked: (number | null)[] = [];
    const approval = new CallbackApproval(
      ({ request }) => {
        asked.push(request.expiresAt);
        clock.advance(asked.length === 1 ? 1001 : 1000);
        return approve();
      },
      { requestTtlMs: 1000 },
    );
    const { ran, send } = program(approval, clock);
    expect(await failure(send(1, "late"))).toMatchObject({ kind: "ApprovalExpired" });
    expect(ran).toEqual([]);
    expect(await send(1, "in time")).toBe("send 1");
    expect(asked).toEqual([1_001_000, 1_002_001]);
  });

  test("A4/requests: nobody is asked about a request whose time is over", async () => {
    const asked: string[] = [];
    const approval = new CallbackApproval(({ binding }) => {
      asked.push(binding);
      return approve();
    });
    const request = sampleRequest({ expiresAt: 1 });
    expect(await approval.decide({ binding: bindingOf(request), request })).toEqual({ status: "expired" });
    expect(asked).toEqual([]);
  });

  test("A2: a request that does not belong to its binding is not shown to anybody", async () => {
    const asked: string[] = [];
    const approval = new CallbackApproval(({ binding }) => {
      asked.push(binding);
      return approve();
    });
    const shown = { binding: "0".repeat(64), request: sampleRequest() };
    expect(await failure(approval.decide(shown))).toMatchObject({ kind: "ToolUsageError" });
    expect(asked).toEqual([]);
  });

  test("the function gets the signal it was given, and an answer after an abort runs nothing", async () => {
    const stop = new AbortController();
    const gate = gateway();
    const seen: unknown[] = [];
    const port = new CallbackApproval(async (_review, signal) => {
      seen.push(signal);
      await gate.promise;
      return approve();
    });
    const request = sampleRequest();
    const answer = port.decide({ binding: bindingOf(request), request }, undefined, stop.signal);
    expect(seen).toEqual([stop.signal]);
    gate.resolve();
    expect(await answer).toMatchObject({ status: "decided" });

    const slow = gateway();
    const { ran, executor } = program(
      new CallbackApproval(async () => {
        await slow.promise;
        return approve();
      }),
    );
    const running = executor.run("send", { n: 1 }, { signal: stop.signal });
    stop.abort(new Error("the user left"));
    expect(await failure(running)).toBe(stop.signal.reason);
    slow.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ran).toEqual([]);
  });

  test("of ten runs at once one runs the tool, whatever the function says to each", async () => {
    const { ran, send } = program(new CallbackApproval(() => approve()));
    await Promise.allSettled(Array.from({ length: 10 }, () => send()));
    expect(ran).toEqual(["send 1"]);
  });

  test("G1: options that cannot be used are refused by name", () => {
    // Callers without types may pass anything.
    expect(() => new CallbackApproval("yes" as never)).toThrow(/function/);
    expect(() => new CallbackApproval(() => approve(), { requestTtlMs: -1 })).toThrow(/requestTtlMs/);
    expect(() => new CallbackApproval(() => approve(), { timeoutMs: 1 } as object)).toThrow(/"timeoutMs"/);
  });
});

describe("A8/ports: fixed answers", () => {
  test("denyAll denies every call, with its reason for the model", async () => {
    const { ran, send } = program(denyAll({ reason: "nobody is on call" }));
    for (const callId of ["a", "b"]) {
      const denied = await failure(send(1, callId));
      expect(denied).toMatchObject({ kind: "ApprovalDenied", message: expect.stringContaining("nobody is on call") });
    }
    expect(ran).toEqual([]);
    // A caller without types may pass anything.
    expect(() => denyAll({ reason: 1 as never })).toThrow(/JSON/);
  });

  test("dangerouslyApproveAll runs every call, each once", async () => {
    const { ran, send } = program(dangerouslyApproveAll());
    await send(1, "a");
    await send(1, "a");
    await send(2, "b");
    expect(ran).toEqual(["send 1", "send 2"]);
  });
});

describe("A8/in-graph: ports that decide at once do not pause a graph", () => {
  async function inGraph(approval: ApprovalPort) {
    const ran: string[] = [];
    const registry = new Registry([asking(ran, "send")]);
    const executor = new Executor(registry, { approval });
    // The generics of a compiled graph say nothing the tests use.
    const app = new StateGraph(MessagesAnnotation)
      .addNode("tools", toolNode(registry, { executor }))
      .addEdge(START, "tools")
      .compile({ checkpointer: new MemorySaver() }) as unknown as App;
    const input = { messages: [ai([call("c1", 1), call("c2", 2)])] };
    return { ran, turn: turnOf(await app.invoke(input, { configurable: { thread_id: crypto.randomUUID() } })) };
  }

  test("a function", async () => {
    const { ran, turn } = await inGraph(
      new CallbackApproval(({ request }) => (request.callId === "c1" ? approve() : deny({ reason: "no" }))),
    );
    expect(turn.interrupts).toEqual([]);
    expect(table(turn.tools).map(([id, status]) => [id, status])).toEqual([
      ["c1", "success"],
      ["c2", "error"],
    ]);
    expect(ran).toEqual(["send 1"]);
  });

  test("a fixed answer", async () => {
    expect((await inGraph(denyAll())).ran).toEqual([]);
    expect((await inGraph(dangerouslyApproveAll())).ran).toEqual(["send 1", "send 2"]);
  });
});

describe("A8/ports: scriptedApproval", () => {
  test("answers requests in order and says what was asked", async () => {
    const approval = scriptedApproval([approve(), deny({ reason: "too much" }), "pending"]);
    const { ran, send } = program(approval);
    expect(await send(1, "a")).toBe("send 1");
    expect(await failure(send(2, "b"))).toMatchObject({ kind: "ApprovalDenied" });
    for (let n = 0; n < 2; n += 1) expect(await failure(send(3, "c"))).toMatchObject({ kind: "ApprovalPending" });
    expect(await failure(send(4, "d"))).toMatchObject({
      kind: "ToolUsageError",
      message: expect.stringContaining("4"),
    });
    expect(ran).toEqual(["send 1"]);
    expect(approval.requests.map((request) => request.arguments)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  test("refuses a list with something else than decisions", () => {
    // A test without types may pass anything.
    expect(() => scriptedApproval([{ approved: true } as never])).toThrow(/approve\(\)/);
  });
});
