// `resume`, `pendingApprovals`, `resumeValues`: what waits is listed, what fits exactly is sent, everything else is refused
// before anything is written.
import { generateKeyPairSync } from "node:crypto";
import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  approve,
  CallbackApproval,
  DeferredApproval,
  deny,
  MemoryApprovalStore,
  signDecision,
  type Answer,
  type ApprovalPort,
} from "agent-adapter";
import {
  LangGraphApproval,
  oneUse,
  pendingApprovals,
  resume,
  type OneAnswer,
  type PendingApproval,
} from "agent-adapter/langgraph";
import type { AnswerablePort } from "agent-adapter/spi";
import { asking, failure, KEY, one } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";
import { Nodes, oneNodeGraph, type Built } from "./rig.js";

afterEach(forgetProcess);
const State = Annotation.Root({ a: Annotation<unknown>(), b: Annotation<unknown>() });

const oneAsk = ({ executor }: Built) =>
  oneUse<object, object>(async () => ({ a: await executor.run("send", { n: 1 }, { callId: "c1" }) }), { executor });

/** Two nodes side by side, each with one request. */
function twoNodes({ executor }: Built) {
  const node = (key: "a" | "b", n: number) =>
    oneUse<object, object>(async () => ({ [key]: await executor.run("send", { n }, { callId: `c${n}` }) }), {
      executor,
    });
  return new StateGraph(State)
    .addNode("first", node("a", 1))
    .addNode("second", node("b", 2))
    .addEdge(START, "first")
    .addEdge(START, "second");
}

function nodesOf(graph: "one" | "two" | "inner", port?: () => ApprovalPort) {
  const ran: string[] = [];
  const nodes = new Nodes({
    tools: [asking(ran, "send")],
    ...(port === undefined ? {} : { port }),
    graph: (built) => {
      if (graph === "two") return twoNodes(built) as never;
      const single = oneNodeGraph(State, oneAsk(built));
      if (graph === "one") return single as never;
      const inner = (single as unknown as { compile(): never }).compile();
      return new StateGraph(State).addNode("outer", inner).addEdge(START, "outer" as never) as never;
    },
  });
  return { ran, nodes };
}

/** Every row that was written from here on. */
function watchWrites(nodes: Nodes) {
  return vi.spyOn(nodes.saver, "putWrites");
}

const waiting = (nodes: Nodes) => pendingApprovals(nodes.app, nodes.config);
const resumeWith = (nodes: Nodes, answer: unknown) =>
  // What the types forbid must be refused as well.
  resume(nodes.app, answer as OneAnswer, nodes.config);

describe("R5: pendingApprovals", () => {
  it("R5: lists every request of a thread with what is needed to answer it, and runs nothing", async () => {
    const { ran, nodes } = nodesOf("two");
    await nodes.invoke({});
    const all = await waiting(nodes);
    expect(all.map(({ node, status, request }) => [node, status, request.callId, request.tool])).toEqual([
      ["first", "waiting", "c1", "send"],
      ["second", "waiting", "c2", "send"],
    ]);
    for (const pending of all) {
      expect(nodes.desk.check(pending.interrupt, nodes.desk.resumeValue(pending.interrupt, approve()))).toBe("ok");
    }
    expect(ran).toEqual([]);
  });

  it("R5, A9/review: nothing sealed is in what a browser would get of it", async () => {
    const { nodes } = nodesOf("one");
    await nodes.invoke({});
    const [pending] = await waiting(nodes);
    expect(JSON.stringify(pending)).not.toContain("aa_state");
    expect({ ...pending }).not.toHaveProperty("interrupt");
    expect(structuredClone({ ...pending })).not.toHaveProperty("interrupt");
  });

  it("R5: finds what waits in a subgraph, which the parent app answers", async () => {
    const { ran, nodes } = nodesOf("inner");
    await nodes.invoke({});
    const pending = one(await waiting(nodes));
    expect(pending.node).toBe("node");
    expect(
      await resume(nodes.app, { [pending.binding]: approve() }, nodes.config, { executor: nodes.executor }),
    ).toMatchObject({
      a: "send 1",
    });
    expect(ran).toEqual(["send 1"]);
    expect(await waiting(nodes)).toEqual([]);
  });

  it("R5: gives nothing for a thread that never was, that finished, or that waits for something else", async () => {
    const { nodes } = nodesOf("one");
    expect(await waiting(nodes)).toEqual([]);
    await nodes.answer(await nodes.asked());
    expect(await waiting(nodes)).toEqual([]);
    const raw = new StateGraph(State)
      .addNode("ask", () => ({ a: interrupt("who?") }))
      .addEdge(START, "ask")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    await raw.invoke({}, config);
    expect(await pendingApprovals(raw as never, config)).toEqual([]);
  });

  it("R5, N1: an app without a checkpointer is told so", async () => {
    const app = new StateGraph(State)
      .addNode("n", () => ({}))
      .addEdge(START, "n")
      .compile();
    const config = { configurable: { thread_id: "t" } };
    expect(await failure(pendingApprovals(app as never, config))).toMatchObject({ kind: "ToolUsageError" });
    expect(await failure(resume(app as never, null, config))).toMatchObject({ kind: "ToolUsageError" });
  });
});

describe("R5: resume never guesses", () => {
  it("R5: one decision for the one request; the app's own output comes back", async () => {
    const { ran, nodes } = nodesOf("one");
    await nodes.invoke({});
    expect(await resumeWith(nodes, approve())).toMatchObject({ a: "send 1" });
    expect(ran).toEqual(["send 1"]);
  });

  it("R5: several requests: one decision is refused, a map by id or binding answers some or all", async () => {
    const { ran, nodes } = nodesOf("two");
    await nodes.invoke({});
    const [first, second] = (await waiting(nodes)) as [PendingApproval, PendingApproval];
    expect(await failure(resumeWith(nodes, approve()))).toMatchObject({ kind: "ToolUsageError" });
    expect(ran).toEqual([]);
    await resumeWith(nodes, { [second.id]: approve() });
    expect(ran).toEqual(["send 2"]);
    // Now there is one.
    expect(await resumeWith(nodes, { [first.binding]: approve() })).toMatchObject({ a: "send 1", b: "send 2" });
    expect(ran).toEqual(["send 2", "send 1"]);
  });

  it("R5: a signed answer finds its request by its binding", async () => {
    const { ran, nodes } = nodesOf("two");
    const { pending } = await nodes.invoke({});
    const [first, second] = pending.map((each) => nodes.desk.resumeValue(each, approve()));
    await resumeWith(nodes, second);
    await resumeWith(nodes, first);
    expect(ran).toEqual(["send 2", "send 1"]);
  });

  it("R5, A10/resume, A9/verbs: what does not fit is refused, nothing is written, and the request can be answered", async () => {
    const { ran, nodes } = nodesOf("two");
    const { pending } = await nodes.invoke({});
    const [first, second] = pending;
    if (first === undefined || second === undefined) throw new Error("two wait");
    const good = nodes.desk.resumeValue(first, approve());
    const foreign = new LangGraphApproval({ key: "another secret of 16+ bytes" }).resumeValue(first, approve());
    const writes = watchWrites(nodes);
    const wrong: Record<string, unknown> = {
      "parsed JSON": { approved: true },
      "parsed JSON of a decision": JSON.parse(JSON.stringify(approve({ by: "ana" }))),
      yes: "yes",
      true: true,
      undefined,
      "an array": [approve()],
      "an empty map": {},
      "a map to nobody": { nobody: approve() },
      "a map with one to nobody": { [first.id]: approve(), nobody: approve() },
      "a map with parsed JSON": { [first.id]: { approved: true } },
      "a map with a good one and parsed JSON": { [first.id]: approve(), [second.id]: { approved: true } },
      "a foreign key": foreign,
      "a foreign key by id": { [first.id]: foreign },
      "a changed decision": { ...good, decision: { approved: true, editedArgs: { n: 9 } } },
      "for the other one": { [second.id]: good },
      "a good one and one for the other": { [first.id]: approve(), [second.id]: good },
      "one more field": { ...good, more: 1 },
    };
    for (const [what, value] of Object.entries(wrong)) {
      expect([what, await failure(resumeWith(nodes, value))]).toMatchObject([what, { kind: "ToolUsageError" }]);
    }
    expect(writes).not.toHaveBeenCalled();
    expect(ran).toEqual([]);
    expect((await waiting(nodes)).map(({ status }) => status)).toEqual(["waiting", "waiting"]);
    await resumeWith(nodes, { [first.id]: good, [second.id]: approve() });
    expect(ran.toSorted()).toEqual(["send 1", "send 2"]);
  });

  it("R5, A10/resume: an answer that has expired is refused before it is sent, and the request stays", async () => {
    const { nodes } = nodesOf("one");
    const pending = await nodes.asked();
    const old = { binding: pending.value.binding, signedAt: 1, expiresAt: 2 };
    const desk = new LangGraphApproval({ key: KEY, answerTtlMs: 1 });
    const answer = desk.resumeValue(pending, approve());
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await failure(resumeWith(nodes, { ...answer, ...old }))).toMatchObject({ kind: "ToolUsageError" });
    expect(String(await failure(resumeWith(nodes, answer)))).toContain("expired");
    expect(one(await waiting(nodes)).binding).toBe(pending.value.binding);
  });

  it("R5: nothing waits: a decision is refused, a genuine answer is ApprovalAlreadyDecided, null gives what there is", async () => {
    const { ran, nodes } = nodesOf("one");
    const pending = await nodes.asked();
    const answer = nodes.desk.resumeValue(pending, approve());
    await resumeWith(nodes, answer);
    expect(await failure(resumeWith(nodes, approve()))).toMatchObject({ kind: "ToolUsageError" });
    expect(await failure(resumeWith(nodes, answer))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(await failure(resumeWith(nodes, { [pending.id]: answer }))).toMatchObject({
      kind: "ApprovalAlreadyDecided",
    });
    expect(await failure(resumeWith(nodes, { ...answer, keyId: "x" }))).toMatchObject({ kind: "ToolUsageError" });
    expect(await resumeWith(nodes, null)).toMatchObject({ a: "send 1" });
    expect(ran).toEqual(["send 1"]);
  });

  it("R5: null on a thread that waits shows the same request again and runs nothing", async () => {
    const { ran, nodes } = nodesOf("one");
    const pending = await nodes.asked();
    await resumeWith(nodes, null);
    expect(one(await waiting(nodes)).binding).toBe(pending.value.binding);
    expect(ran).toEqual([]);
  });

  it("R5: without an `executor` the app must have one of which it can be told", async () => {
    const app = new StateGraph(State)
      .addNode("n", () => ({ a: interrupt("x") }))
      .addEdge(START, "n")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    await app.invoke({}, config);
    expect(String(await failure(resume(app as never, approve(), config)))).toContain("`executor`");
  });
});

describe("R5: resumeValues", () => {
  it("R5: signs several at once, named by id or binding, and leaves out what nobody decided", async () => {
    const { ran, nodes } = nodesOf("two");
    const { pending } = await nodes.invoke({});
    const [first, second] = pending;
    if (first === undefined || second === undefined) throw new Error("two wait");
    expect(Object.keys(nodes.desk.resumeValues(pending, { [first.value.binding]: approve() }))).toEqual([first.id]);
    expect(() => nodes.desk.resumeValues(pending, { nobody: approve() })).toThrow(/none of the interrupts/);
    expect(() => nodes.desk.resumeValues(pending, { [first.id]: { approved: true } as never })).toThrow(/approve\(\)/);
    const map = nodes.desk.resumeValues(pending, { [first.id]: approve(), [second.value.binding]: deny() });
    await nodes.invoke(new Command({ resume: map })).catch(() => undefined);
    expect(ran).toEqual(["send 1"]);
  });
});

describe("A9/verbs: with `approvers`", () => {
  const ana = generateKeyPairSync("ed25519");
  const approvers = [{ id: "ana", publicKey: ana.publicKey }];
  const sign = (pending: PendingApproval, decision = approve()): Answer =>
    JSON.parse(JSON.stringify(signDecision(pending, decision, { privateKey: ana.privateKey, id: "ana" }))) as Answer;

  it("A9/verbs, A3/ed25519: resume takes what one of them signed, and nothing else", async () => {
    const { ran, nodes } = nodesOf("one", () => new LangGraphApproval({ approvers }));
    await nodes.invoke({});
    const pending = one(await waiting(nodes));
    const mac = nodes.desk.resumeValue(pending.interrupt, approve());
    for (const value of [
      approve(),
      deny(),
      { approved: true },
      mac,
      { [pending.id]: mac },
      { [pending.id]: approve() },
    ]) {
      expect(await failure(resumeWith(nodes, value))).toMatchObject({ kind: "ToolUsageError" });
    }
    // The secret of the executor seals and approves nothing.
    const own = new LangGraphApproval({ key: KEY }).resumeValue(pending.interrupt, approve());
    expect(await failure(nodes.invoke(new Command({ resume: { [pending.id]: own } })))).toBeInstanceOf(Error);
    expect(ran).toEqual([]);
    await resumeWith(nodes, sign(pending));
    expect(ran).toEqual(["send 1"]);
    expect((await nodes.ledger.entries())[0]).toMatchObject({ status: "ok", decidedBy: "ana" });
  });

  it("A9/verbs, A8/in-graph: the same for a store: signed, checked, then written", async () => {
    const store = new MemoryApprovalStore({ approvers });
    const { ran, nodes } = nodesOf("one", () => new DeferredApproval(store, { approvers }));
    await nodes.invoke({});
    const pending = one(await waiting(nodes));
    expect(pending.approvalId).toBe(pending.binding);
    const mac = nodes.desk.resumeValue(pending.interrupt, approve());
    for (const value of [approve(), { approved: true }, mac, { [pending.id]: approve() }]) {
      expect(await failure(resumeWith(nodes, value))).toMatchObject({ kind: "ToolUsageError" });
    }
    expect(await store.get(pending.binding)).toMatchObject({ status: "pending" });
    const answer = sign(pending);
    await resumeWith(nodes.elsewhere(), answer);
    expect(ran).toEqual(["send 1"]);
    expect((await nodes.ledger.entries())[0]).toMatchObject({ status: "ok", decidedBy: "ana" });
    expect(await failure(resumeWith(nodes, answer))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
  });

  it("A9/verbs, R5: of several answers for a store none is written unless all are good", async () => {
    const store = new MemoryApprovalStore({ approvers });
    const { ran, nodes } = nodesOf("two", () => new DeferredApproval(store, { approvers }));
    await nodes.invoke({});
    const [first, second] = (await waiting(nodes)) as [PendingApproval, PendingApproval];
    const answers = { [first.id]: sign(first), [second.id]: { ...sign(second), signedAt: 5 } };
    expect(await failure(resumeWith(nodes, answers))).toMatchObject({ kind: "ToolUsageError" });
    expect((await store.list()).map(({ status }) => status)).toEqual(["pending", "pending"]);
    expect(ran).toEqual([]);
  });
});

describe("A8: ports and resume", () => {
  it("A8/in-graph, R5: a decision for a store is written there, and the graph goes on", async () => {
    const store = new MemoryApprovalStore();
    const { ran, nodes } = nodesOf("two", () => new DeferredApproval(store));
    await nodes.invoke({});
    const [first, second] = (await waiting(nodes)) as [PendingApproval, PendingApproval];
    const both = { [first.binding]: approve({ by: "ana" }), [second.id]: approve() };
    expect(await failure(resumeWith(nodes, { ...both, nobody: approve() }))).toMatchObject({ kind: "ToolUsageError" });
    expect((await store.list()).map(({ status }) => status)).toEqual(["pending", "pending"]);
    expect(await resumeWith(nodes, both)).toMatchObject({ a: "send 1", b: "send 2" });
    expect(ran.toSorted()).toEqual(["send 1", "send 2"]);
    expect(await failure(resumeWith(nodes, nodes.desk.resumeValue(first.interrupt, approve())))).toMatchObject({
      kind: "ToolUsageError",
    });
  });

  it("A8, R5: a port of somebody else's is answered by its methods, whatever class it is of", async () => {
    const inner = new LangGraphApproval({ key: KEY });
    const asked: unknown[] = [];
    const port: AnswerablePort = {
      source: "resume",
      requestTtlMs: null,
      unknownAfterMs: undefined,
      keys: inner.keys,
      attach: (host) => inner.attach(host),
      verify: (shown, value) => inner.verify(shown, value),
      decide: (shown, answer) => inner.decide(shown, answer),
      isGenuine: (value) => inner.isGenuine(value),
      deliver: (shown, answer) => {
        asked.push(answer);
        return inner.deliver(shown, answer);
      },
    };
    const { ran, nodes } = nodesOf("one", () => port);
    await nodes.invoke({});
    const decision = approve();
    await resumeWith(nodes, decision);
    expect([ran, asked]).toEqual([["send 1"], [decision]]);
  });

  it("A8, R5: a port that decides by itself has nothing that waits for an answer", async () => {
    const { nodes } = nodesOf("one", () => new CallbackApproval(() => deny()));
    expect(await failure(resumeWith(nodes, approve()))).toMatchObject({ kind: "ToolUsageError" });
  });

  it('A8/in-graph: `inGraph: "throw"` fails the node with ApprovalPending; decided, null goes on, what finished is not run again', async () => {
    const store = new MemoryApprovalStore();
    const ran: string[] = [];
    const nodes = new Nodes({
      tools: [asking(ran, "send"), asking(ran, "look", { confirm: false })],
      port: () => new DeferredApproval(store, { inGraph: "throw" }),
      graph: ({ executor }) =>
        oneNodeGraph(
          State,
          oneUse<object, object>(
            async () => ({
              a: await executor.run("look", { n: 1 }, { callId: "look" }),
              b: await executor.run("send", { n: 2 }, { callId: "send" }),
            }),
            { executor },
          ),
        ),
    });
    expect(await failure(nodes.invoke({}))).toMatchObject({ kind: "ApprovalPending" });
    expect(await waiting(nodes)).toEqual([]);
    expect(await failure(nodes.again())).toMatchObject({ kind: "ApprovalPending" });
    const record = one(await store.list({ status: "pending" }));
    await store.decide(record.id, approve({ by: "ana" }));
    const { values } = await nodes.again();
    expect(values).toMatchObject({ a: "look 1", b: "send 2" });
    expect(ran).toEqual(["look 1", "send 2"]);
    expect((await nodes.ledger.entries()).map(({ status }) => status)).toEqual(["ok", "ok"]);
  });

  it("A8/in-graph: the same in another process: one record, one use, and finished calls replay", async () => {
    const store = new MemoryApprovalStore();
    const { ran, nodes } = nodesOf("one", () => new DeferredApproval(store, { inGraph: "throw" }));
    expect(await failure(nodes.invoke({}))).toMatchObject({ kind: "ApprovalPending" });
    expect(await failure(nodes.elsewhere().again())).toMatchObject({ kind: "ApprovalPending" });
    const record = one(await store.list());
    await store.decide(record.id, approve());
    expect((await nodes.elsewhere().again()).values).toMatchObject({ a: "send 1" });
    expect(ran).toEqual(["send 1"]);
    expect(await store.get(record.id)).toMatchObject({ status: "used" });
  });
});
