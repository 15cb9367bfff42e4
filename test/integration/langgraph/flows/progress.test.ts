// The sealed progress of a compiled flow: what an attacker without a key can do to it, what he can read, what another process finds.
import { Command, MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { approve, MemoryClaimStore } from "agent-adapter";
import { Flow, join, Merge } from "agent-adapter/flow";
import { z } from "zod";
import { editInterrupts, editRows, failure } from "../../../support/langgraph.js";
import { forgetProcess } from "../../../support/process.js";
import { FlowStand, oneAsk, oneGate, resumeWith, type Ink } from "./rig.js";

afterEach(forgetProcess);

const ALL = ["note 1", "read 1", "pay 1", "last 1"];

/** Reached the question of `work`, in a process that is gone. */
async function waiting(options: Partial<ConstructorParameters<typeof FlowStand>[0]> = {}) {
  const stand = new FlowStand({ flow: oneAsk, ...options });
  await stand.invoke({ n: 1 });
  expect(stand.ran).toEqual(["note 1", "read 1"]);
  return stand.elsewhere();
}

/** Changes the text of every checkpoint of a MemorySaver. */
function editCheckpoints(saver: unknown, edit: (text: string) => string): void {
  if (!(saver instanceof MemorySaver)) throw new Error("only a MemorySaver can be edited");
  const namespaces = Object.values(saver.storage).flatMap((thread) => Object.values(thread));
  for (const row of namespaces.flatMap((checkpoints) => Object.values(checkpoints)))
    row[0] = new TextEncoder().encode(edit(new TextDecoder().decode(row[0])));
}

/** Changes the sealed progress in every checkpoint; gives what was there. */
function editProgress(saver: unknown, edit: (sealed: string) => unknown): string[] {
  const found: string[] = [];
  editCheckpoints(saver, (text) => {
    const checkpoint = JSON.parse(text) as { channel_values: Record<string, unknown> };
    const { aa_visits: sealed, ...others } = checkpoint.channel_values;
    if (typeof sealed !== "string") return text;
    found.push(sealed);
    // What is undefined is not in the text.
    return JSON.stringify({ ...checkpoint, channel_values: { ...others, aa_visits: edit(sealed) } });
  });
  return found;
}

const flip = (sealed: string) => `${sealed.slice(0, -6)}${sealed.at(-6) === "A" ? "B" : "A"}${sealed.slice(-5)}`;

describe("J3/compiled, C4, B21: the sealed progress", () => {
  it.each([
    ["a byte is changed", flip],
    ["it is cut", (sealed: string) => sealed.slice(0, 40)],
    ["it is something else", () => "progress"],
    ["it is an object", () => ({ thread: "t", steps: 0, visits: {} })],
    ["it is gone", () => undefined],
  ] as const)("%s: FlowError, nothing runs, by every verb; put back, it goes on", async (_what, edit) => {
    const stand = await waiting();
    const saver = stand.saver as MemorySaver;
    const values = await stand.signed();
    const before = structuredClone(saver.storage);
    expect(editProgress(saver, edit).length).toBeGreaterThan(0);
    expect(await failure(stand.invoke(resumeWith(values)))).toMatchObject({ kind: "FlowError" });
    expect(await failure(stand.run(approve({ by: "ana" })))).toMatchObject({ kind: "FlowError" });
    // The same question again at most: nothing is run.
    const again = await Promise.allSettled([stand.invoke(null), stand.run(null)]);
    const failures = again.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
    expect(failures).toEqual(failures.map(() => expect.objectContaining({ kind: "FlowError" }) as unknown));
    expect(stand.ran).toEqual(["note 1", "read 1"]);
    saver.storage = before;
    stand.elsewhere();
    // An answer that was kept is used; one that LangGraph lost is asked for again.
    const result = await stand.run(null);
    expect((result.status === "paused" ? await stand.finish() : result).status).toBe("done");
    expect(stand.ran).toEqual(ALL);
  });

  it("under another secret: FlowError, nothing runs; with the secret among the older ones it goes on", async () => {
    const stand = await waiting();
    const other = "another secret of 32 bytes, tests";
    stand.elsewhere({ secret: other });
    expect(await failure(stand.run(approve({ by: "ana" })))).toMatchObject({ kind: "FlowError" });
    expect(stand.ran).toEqual(["note 1", "read 1"]);
    stand.elsewhere({ secret: [other, stand.keyOfTests] });
    expect((await stand.finish()).status).toBe("done");
    expect(stand.ran).toEqual(ALL);
  });

  it("moved here from another thread, of the same or another flow: FlowError, nothing runs", async () => {
    for (const flow of [oneAsk, oneGate]) {
      const saver = new MemorySaver();
      const other = new FlowStand({ flow, saver: new MemorySaver() });
      await other.invoke({ n: 1 });
      const [foreign] = editProgress(other.saver, (sealed) => sealed).slice(-1);
      const stand = await waiting({ saver });
      const values = await stand.signed();
      editProgress(saver, () => foreign);
      expect(await failure(stand.invoke(resumeWith(values)))).toMatchObject({ kind: "FlowError" });
      expect(await failure(stand.invoke(null))).toMatchObject({ kind: "FlowError" });
      expect(stand.ran).toEqual(["note 1", "read 1"]);
    }
  });

  it("what a node of another thread has added counts for nothing here", async () => {
    const additions: unknown[] = [];
    class Spying extends MemorySaver {
      override putWrites(...[config, writes, task]: Parameters<MemorySaver["putWrites"]>): Promise<void> {
        additions.push(...writes.filter(([channel]) => channel === "aa_visits").map(([, value]) => value));
        return super.putWrites(config, writes, task);
      }
    }
    const other = new FlowStand({ flow: oneAsk, saver: new Spying() });
    await other.invoke({ n: 1 });
    await other.finish();
    const stand = await waiting();
    // Each of them is sealed with the key that is used here, for a run that is alike step by step.
    for (const addition of additions) await stand.invoke(new Command({ update: { aa_visits: addition } }));
    expect(await stand.finish()).toMatchObject({ status: "done", steps: 3, visits: { first: 1, work: 1, last: 1 } });
  });

  it("the sealed state of the request gone, changed or moved: FlowError, nothing runs", async () => {
    const edits = [
      ({ aa_state: _gone, ...rest }: Record<string, unknown>) => rest,
      (value: Record<string, unknown>) => ({ ...value, aa_state: flip(String(value["aa_state"])) }),
    ];
    for (const edit of edits) {
      const stand = await waiting();
      const values = await stand.signed();
      editInterrupts(stand.saver, edit);
      for (const input of [null, resumeWith(values)])
        expect(await failure(stand.invoke(input))).toMatchObject({ kind: "FlowError" });
      expect(stand.ran).toEqual(["note 1", "read 1"]);
    }
  });

  it("changed, gone or another thread's before the first node of a run: FlowError, nothing runs", async () => {
    const flow = ({ ran }: Ink) =>
      new Flow("first", { state: z.object({ n: z.number() }) })
        .node("only", ({ n }) => void ran.push(`only ${n}`), { pause: ({ n }) => ({ n }) })
        .end("only");
    const other = new FlowStand({ flow });
    await other.invoke({ n: 1 });
    const [foreign = ""] = editProgress(other.saver, (sealed) => sealed);
    for (const edit of [flip, () => foreign, () => undefined]) {
      const stand = new FlowStand({ flow });
      await stand.invoke({ n: 1 });
      const values = await stand.signed();
      expect(editProgress(stand.saver, edit).length).toBeGreaterThan(0);
      stand.elsewhere();
      for (const input of [null, resumeWith(values)])
        expect(await failure(stand.invoke(input))).toMatchObject({ kind: "FlowError" });
      expect(stand.ran).toEqual([]);
    }
  });

  it("B48: rows of finished calls that were changed: FlowError, nothing runs", async () => {
    const stand = await waiting();
    expect(editRows(stand.saver, "aa:done", (sealed) => flip(String(sealed)))).toBeGreaterThan(0);
    expect(await failure(stand.run(approve({ by: "ana" })))).toMatchObject({ kind: "FlowError" });
    expect(stand.ran).toEqual(["note 1", "read 1"]);
  });
});

describe("J4/compiled, C4, B08, B13: each call runs once, wherever the flow goes on", () => {
  it("three processes: what finished is not run again, and each call has one entry", async () => {
    const stand = await waiting();
    await stand.run(null);
    stand.elsewhere();
    expect((await stand.run(approve({ by: "ana" }))).status).toBe("done");
    expect(stand.ran).toEqual(ALL);
    expect(await stand.entries()).toEqual(["note ok", "pay ok", "read ok"]);
  });

  it("a tool that runs once per run is not run again by a later node in another process", async () => {
    const stand = new FlowStand({
      flow: ({ ran, tools }: Ink) =>
        new Flow("once", {
          state: z.object({ n: z.number(), seen: z.array(z.string()).default([]) }),
          merge: { seen: Merge.append },
        })
          .node("one", async ({ n }, ctx) => ({ seen: [await ctx.run(tools.once, { n })] }))
          .node("gate", () => ({}), { pause: ({ n }) => ({ n }) })
          .node("two", async ({ n }, ctx) => {
            ran.push("two");
            return { seen: [await ctx.run(tools.once, { n })] };
          })
          .node("all", join())
          .edge("one", "gate")
          .edge("gate", "two")
          .edge("two", "all")
          .end("all"),
    });
    await stand.invoke({ n: 1 });
    stand.elsewhere();
    expect(await stand.run(approve())).toMatchObject({ status: "done", state: { seen: ["once 1", "once 1"] } });
    expect(stand.ran).toEqual(["once 1", "two"]);
  });

  it("A5/claims: a thread that was rolled back to the pause repeats no approved call, with `claims`", async () => {
    for (const flow of [oneAsk, oneGate]) {
      const saver = new MemorySaver();
      const stand = new FlowStand({ flow, saver, claims: new MemoryClaimStore() });
      await stand.invoke({ n: 1 });
      const values = await stand.signed();
      const kept = structuredClone({ storage: saver.storage, writes: saver.writes });
      expect((await stand.run(approve({ by: "ana" }))).status).toBe("done");
      const ran = [...stand.ran];
      saver.storage = kept.storage;
      saver.writes = kept.writes;
      stand.elsewhere();
      // The used answer, and a second one for the same request.
      for (const answer of [values, await stand.signed()])
        expect(await failure(stand.invoke(resumeWith(answer)))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
      expect(stand.ran).toEqual(ran);
    }
  });
});

it("J3/compiled: without the key nothing of results, calls and progress can be read; the state lies open", async () => {
  const secretResult = "a result that nobody may read";
  const saver = new MemorySaver();
  const stand = new FlowStand({
    saver,
    flow: ({ tools }: Ink) =>
      new Flow("leaks", { state: z.object({ n: z.number(), note: z.string().default("") }) })
        .node("work", async ({ n }, ctx) => {
          await ctx.run("whisper", { n });
          await ctx.run(tools.once, { n });
          await ctx.run(tools.pay, { n }, { callId: "pay" });
          return { note: "what the state says" };
        })
        .node("wait", () => ({}), { pause: ({ n }) => ({ n }) })
        .edge("work", "wait")
        .end("wait"),
    whisper: secretResult,
  });
  await stand.invoke({ n: 1 });
  const bytes = () =>
    JSON.stringify([saver.storage, saver.writes], (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : value,
    );
  for (const text of [secretResult, "once 1", "whisper", '"visits"', '"counts"']) expect(bytes()).not.toContain(text);
  await stand.run(approve({ by: "ana" }));
  for (const text of [secretResult, "once 1", "pay 1", '"visits"']) expect(bytes()).not.toContain(text);
  expect(bytes()).toContain("what the state says");
});
