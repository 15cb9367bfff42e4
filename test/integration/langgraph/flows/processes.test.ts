// Compiled flows in real processes: one hands over to the next, one dies at a named moment, a few die anywhere. The long version is
// test/chaos/compiled-kills.test.ts.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approve, deny, type ApprovalDecision } from "agent-adapter";
import { seeded, type Child } from "../../../support/child.js";
import type { CompiledTurn } from "../../../support/children/compiled-worker.js";
import { CompiledProcesses, compiledKillRounds, stepIn, type Program } from "../../../support/compiled-kills.js";

let processes: CompiledProcesses;
beforeAll(() => {
  processes = new CompiledProcesses();
}, 120_000);
afterAll(() => processes.stop());

let threads = 0;

/** One thread, worked on by a process after the other. */
class Relay {
  readonly program: Program;
  constructor(program: Partial<Program> = {}) {
    threads += 1;
    this.program = { thread: `relay-${process.pid}-${threads}`, durability: "sync", claims: false, ...program };
  }

  async with<T>(work: (child: Child) => Promise<T>): Promise<T> {
    const child = await processes.take();
    try {
      return await work(child);
    } finally {
      child.kill();
      await child.ended();
    }
  }

  /** In a process of its own. */
  do(name: "start" | "null" | "raw-null", killAt?: number | string, changes: Partial<Program> = {}) {
    const more = killAt === undefined ? {} : { killAt };
    return this.with((child) => stepIn(child, { ...this.program, ...changes, op: { do: name }, ...more }));
  }

  /** Looked at in one process, signed here, sent in another. */
  async answer(decision: ApprovalDecision = approve({ by: "ana" }), killAt?: number | string) {
    const pending = (await this.look()).waiting.find(({ status }) => status === "waiting");
    if (pending === undefined) throw new Error("nothing waits");
    // As it was stored.
    const values = { [pending.id]: processes.port.resumeValue(pending.interrupt as never, decision) };
    const op = { do: "answer", values } as const;
    return this.with((child) => stepIn(child, { ...this.program, op, ...(killAt === undefined ? {} : { killAt }) }));
  }

  async look(): Promise<CompiledTurn> {
    const turn = await this.with((child) => stepIn(child, { ...this.program, op: { do: "pending" } }));
    if (turn === undefined) throw new Error("the process ended");
    return turn;
  }

  ran(): string {
    return processes
      .lines(this.program.thread)
      .flatMap(({ call }) => call ?? [])
      .toSorted()
      .join(" ");
  }

  async entries(): Promise<string> {
    const stores = await processes.stores();
    const entries = await stores.ledger.entries({ runId: this.program.thread });
    await stores.close();
    return entries
      .map(({ callId }) => callId)
      .toSorted()
      .join(" ");
  }
}

const EVERYTHING = "a1 g1 p1 p2 p3 p4 p5";

describe.each(["sync", "async", "exit"] as const)("C4, J4/compiled, B08: durability %s", (durability) => {
  test("three processes and more: each call once, one entry each", async () => {
    for (const maxConcurrency of [undefined, 1]) {
      const relay = new Relay({ durability, ...(maxConcurrency === undefined ? {} : { maxConcurrency }) });
      expect((await relay.do("start"))?.ended).toBe("paused");
      expect(relay.ran()).toBe("p1 p2");
      expect((await relay.do("raw-null"))?.ended).toBe("paused");
      expect(relay.ran()).toBe("p1 p2");
      expect((await relay.answer())?.ended).toBe("paused");
      expect(relay.ran()).toBe("g1 p1 p2 p3 p4");
      expect(await relay.answer()).toMatchObject({ ended: "done", steps: 4 });
      expect(relay.ran()).toBe(EVERYTHING);
      expect(await relay.entries()).toBe("a1 g1 gate p1 p2 p3 p4 p5");
    }
  });
});

describe("C4, C3, B11: a process that dies", () => {
  test("J4/compiled: after the row of a plain call: the call is not run again", async () => {
    const relay = new Relay();
    expect(await relay.do("start", "after putWrites aa:done")).toBeUndefined();
    expect(relay.ran()).toBe("p1");
    expect((await relay.do("null"))?.ended).toBe("paused");
    expect(relay.ran()).toBe("p1 p2");
  });

  test("between the effect of a plain call and its row, the one window: it runs again under the same key", async () => {
    const relay = new Relay();
    expect(await relay.do("start", "plain, after its effect")).toBeUndefined();
    expect((await relay.do("null"))?.ended).toBe("paused");
    expect(relay.ran()).toBe("p1 p1 p2");
    const keys = processes.lines(relay.program.thread).flatMap(({ call, key }) => (call === "p1" ? [key] : []));
    expect(new Set(keys).size).toBe(1);
  });

  test("after the effect of an approved call: a human is told that nobody knows, and it never runs for that answer again", async () => {
    const relay = new Relay();
    await relay.do("start");
    await relay.answer();
    expect(await relay.answer(approve({ by: "ana" }), "pay, after its effect")).toBeUndefined();
    expect(relay.ran()).toBe("a1 g1 p1 p2 p3 p4");
    expect((await relay.do("null"))?.ended).toBe("paused");
    expect((await relay.do("raw-null"))?.ended).toBe("paused");
    expect(relay.ran()).toBe("a1 g1 p1 p2 p3 p4");
    const [pending] = (await relay.look()).waiting;
    expect(pending?.interrupt.value).toMatchObject({
      request: { generation: 1, previousAttempt: { outcome: "unknown" } },
    });
    expect((await relay.answer(deny({ by: "ben" })))?.ended).toBe("denied");
    expect(relay.ran()).toBe("a1 g1 p1 p2 p3 p4");
  });

  test("between the use of a gate's grant and its row: the gate is asked again, and the last edit is what the step sees", async () => {
    const relay = new Relay();
    await relay.do("start");
    const edited = (tag: string) => approve({ by: "ana", editedArgs: { tag } });
    expect(await relay.answer(edited("one"), "after putWrites aa:spent")).toBeUndefined();
    expect(relay.ran()).toBe("p1 p2");
    expect((await relay.do("null"))?.ended).toBe("paused");
    expect((await relay.answer(edited("two")))?.ended).toBe("paused");
    expect((await relay.answer())?.ended).toBe("done");
    const tags = processes
      .lines(relay.program.thread)
      .flatMap(({ call, nonce }) => (/^(g1|p[345])$/.test(call ?? "") ? [nonce] : []));
    expect(new Set(tags)).toEqual(new Set(["two"]));
    expect(relay.ran()).toBe(EVERYTHING);
  });

  test("J3/compiled: goes on under another secret: FlowError, nothing runs; under its own it is finished", async () => {
    const relay = new Relay();
    await relay.do("start");
    const other = await relay.do("null", undefined, { secret: "another secret of 32 bytes, tests" });
    expect(other?.ended).toBe("FlowError");
    expect(relay.ran()).toBe("p1 p2");
    await relay.answer();
    expect((await relay.answer())?.ended).toBe("done");
  });

  test("anywhere, a few times: one run per answer, no written call twice, every flow is finished", async () => {
    const { wrong, ...counts } = await compiledKillRounds(processes, { rounds: 6, random: seeded(7) });
    expect(wrong).toEqual([]);
    expect(counts.kills).toBeGreaterThan(3);
  });
});
