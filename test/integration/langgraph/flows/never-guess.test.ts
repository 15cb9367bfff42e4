// `runCompiled` and `resume` on compiled flows: what does not fit exactly what waits is a typed error, and nothing is sent.
import { generateKeyPairSync } from "node:crypto";
import { Command, interrupt } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { approve, DeferredApproval, deny, isAgentAdapterError, MemoryApprovalStore, signDecision } from "agent-adapter";
import { Flow } from "agent-adapter/flow";
import { LangGraphApproval, resume, runCompiled, compileFlow } from "agent-adapter/langgraph";
import { failure, KEY } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";
import { FlowStand, oneAsk, oneGate, paused, twoGates, type Ink } from "./rig.js";

afterEach(forgetProcess);

/** Two tools in one step, each of which asks. */
function twoAsks({ tools }: Ink) {
  const state = z.object({ n: z.number(), x: z.string().default(""), y: z.string().default("") });
  return new Flow("asks", { state })
    .node("start", () => ({}))
    .node("x", async ({ n }, ctx) => ({ x: await ctx.run(tools.pay, { n }, { callId: "pay" }) }))
    .node("y", async ({ n }, ctx) => ({ y: await ctx.run(tools.pay, { n: n + 1 }, { callId: "pay" }) }))
    .edge("start", "x")
    .edge("start", "y")
    .end("x")
    .end("y");
}

async function asked(flow: (ink: Ink) => unknown = oneAsk, options: object = {}) {
  const stand = new FlowStand({ flow, ...options });
  paused(await stand.run({ n: 1 }));
  const ran = stand.ran.length;
  return { stand, still: () => expect(stand.ran).toHaveLength(ran) };
}

const verbs = {
  runCompiled: (stand: FlowStand, answer: unknown) => stand.run(answer),
  resume: (stand: FlowStand, answer: unknown) => resume(stand.app as never, answer as never, stand.config),
};

describe.each(Object.entries(verbs))("C6, A9: %s", (verb, send) => {
  it("nothing pending: an error that says so", async () => {
    const { stand } = await asked();
    await stand.finish();
    const ran = [...stand.ran];
    for (const answer of [approve(), deny(), { ["0".repeat(64)]: approve() }])
      expect(await failure(send(stand, answer))).toMatchObject({ kind: "ToolUsageError" });
    expect(stand.ran).toEqual(ran);
  });

  it("a thread that was never started: an error, nothing is sent", async () => {
    const stand = new FlowStand({ flow: oneAsk });
    expect(await failure(send(stand, approve()))).toMatchObject({ kind: "ToolUsageError" });
  });

  it("several pending and one decision: an error; named by binding they are answered together", async () => {
    const { stand, still } = await asked(twoAsks);
    expect(await failure(send(stand, approve()))).toMatchObject({ kind: "ToolUsageError" });
    still();
    const pendings = await stand.pendings();
    await send(stand, Object.fromEntries(pendings.map(({ binding }) => [binding, approve()])));
    expect(stand.ran.toSorted()).toEqual(["pay 1", "pay 2"]);
  });

  it("one of several, then the other: each answer lets its own call run, and nothing twice", async () => {
    const { stand } = await asked(twoAsks);
    for (const node of ["y", "x"]) {
      const waiting = (await stand.pendings()).find((pending) => pending.node === node);
      await send(stand, { [waiting?.binding ?? ""]: approve() });
    }
    expect(stand.ran).toEqual(["pay 2", "pay 1"]);
  });

  it("a binding of something else, beside the right one: nothing of it is sent", async () => {
    const { stand, still } = await asked();
    const { binding } = await stand.only();
    const answers = { [binding]: approve(), ["0".repeat(64)]: approve() };
    expect(await failure(send(stand, answers))).toMatchObject({ kind: "ToolUsageError" });
    still();
    expect(await stand.waiting()).toBe("work");
  });

  it("an answer to another thread's request, or a used one: typed, never LangGraph's own error", async () => {
    const { stand, still } = await asked();
    const { stand: other } = await asked();
    const foreign = other.sign(await other.only());
    expect(isAgentAdapterError(await failure(send(stand, foreign)))).toBe(true);
    still();
    const own = stand.sign(await stand.only());
    await send(stand, own);
    expect(await failure(send(stand, own))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(stand.ran).toEqual(["note 1", "read 1", "pay 1", "last 1"]);
  });

  it("two callers with the same answer: one goes on, the others are told", async () => {
    const { stand } = await asked();
    const answer = stand.sign(await stand.only());
    const ends = await Promise.allSettled([send(stand, answer), send(stand, answer), send(stand, answer)]);
    const refused = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
    const told = expect.objectContaining({ kind: "ApprovalAlreadyDecided" }) as unknown;
    expect(refused).toEqual([told, told]);
    expect(stand.ran).toEqual(["note 1", "read 1", "pay 1", "last 1"]);
  });

  it("with a store: a decision goes into the store, and an answer to what is decided is refused", async () => {
    const store = new MemoryApprovalStore();
    const { stand, still } = await asked(oneGate, { port: () => new DeferredApproval(store) });
    await send(stand, null);
    still();
    const { binding } = await stand.only();
    await send(stand, { [binding]: approve({ by: "ana" }) });
    expect(await failure(send(stand, { [binding]: approve() }))).toMatchObject({
      kind: expect.stringMatching(/Usage|Already/) as string,
    });
    expect(stand.ran).toEqual(["read 1", "send 1", "note 1", "after 1"]);
  });

  it("with approvers: decisions are refused, their signed answers go on, others' do not", async () => {
    const keys = generateKeyPairSync("ed25519");
    const thief = generateKeyPairSync("ed25519");
    const approvers = [{ id: "ana", publicKey: keys.publicKey.export({ type: "spki", format: "pem" }).toString() }];
    const { stand, still } = await asked(oneGate, { port: () => new LangGraphApproval({ approvers }) });
    const pending = await stand.only();
    expect(await failure(send(stand, approve()))).toMatchObject({ kind: "ToolUsageError" });
    const by = (privateKey: typeof keys.privateKey) =>
      signDecision(pending, approve(), {
        id: "ana",
        privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      } as never);
    expect(isAgentAdapterError(await failure(send(stand, by(thief.privateKey))))).toBe(true);
    still();
    await send(stand, by(keys.privateKey));
    expect(stand.ran).toEqual(["read 1", "send 1", "note 1", "after 1"]);
  });

  it(`without a checkpointer: ToolUsageError that names ${verb}`, async () => {
    const stand = new FlowStand({ flow: oneAsk, around: (graph) => graph.compile() });
    expect(await failure(send(stand, approve()))).toMatchObject({ kind: "ToolUsageError" });
  });
});

describe("C6, A9: what runCompiled is given", () => {
  it.each([
    ["a decision as JSON", { approved: true }],
    ["a decision as JSON, by binding", { ["a".repeat(64)]: { approved: true } }],
    ["a copy of a decision", structuredClone({ ...approve({ by: "ana" }) })],
    ["text", "yes"],
    ["a list", [approve()]],
    ["a number", 1],
  ])("%s is no answer: refused, nothing runs, the request stands", async (_what, input) => {
    const { stand, still } = await asked();
    const { binding } = await stand.only();
    expect(isAgentAdapterError(await failure(stand.run(input)))).toBe(true);
    still();
    expect((await stand.only()).binding).toBe(binding);
  });

  it("new input that looks like a map of answers is input when the flow's fields say so", async () => {
    const state = z.object({ approved: z.boolean(), binding: z.string().default("") });
    const stand = new FlowStand({
      flow: ({ ran }: Ink) => new Flow("odd", { state }).node("only", () => void ran.push("only")).end("only"),
    });
    expect((await stand.run({ approved: true, binding: "b" })).status).toBe("done");
    expect(stand.ran).toEqual(["only"]);
  });

  it("input that does not fit is refused before the paused thread is touched", async () => {
    const { stand } = await asked();
    const { binding } = await stand.only();
    for (const input of [{ n: "x" }, { m: 1 }, {}])
      expect(await failure(stand.run(input))).toMatchObject({ kind: "FlowError" });
    expect((await stand.only()).binding).toBe(binding);
  });

  it("a Command passes through, and its answers are checked where they enter", async () => {
    const { stand, still } = await asked();
    await failure(stand.run(new Command({ resume: "yes" })));
    still();
    const { id } = await stand.only();
    const signed = stand.sign(await stand.only());
    expect((await stand.run(new Command({ resume: { [id]: signed } }))).status).toBe("done");
  });

  it("an interrupt of somebody else in a node: said so, and never asked for ever", async () => {
    const stand = new FlowStand({
      flow: () =>
        new Flow("raw", { state: z.object({ n: z.number() }) }).node("only", () => void interrupt("mine")).end("only"),
    });
    expect(await failure(stand.run({ n: 1 }))).toMatchObject({ kind: "ToolUsageError" });
  });

  it("an app that is no compiled flow: ToolUsageError", async () => {
    expect(await failure(runCompiled({ checkpointer: {} } as never, null, {}))).toMatchObject({
      kind: "ToolUsageError",
    });
    expect(typeof compileFlow).toBe("function");
    expect(KEY.length).toBeGreaterThan(16);
  });
});

it("C6, B45: with gates and one decision at a time each goes to the gate that is shown", async () => {
  const { stand } = await asked(twoGates);
  expect((await stand.run(approve())).status).toBe("paused");
  expect((await stand.run(approve())).status).toBe("done");
});
