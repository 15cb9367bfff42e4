// A store that takes signed answers: what it keeps, what it refuses, and a port that checks them again when they are used.
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  approve,
  DeferredApproval,
  deny,
  Executor,
  MemoryApprovalStore,
  MemoryLedger,
  Registry,
  signDecision,
  toReviewRequest,
  type Answer,
  type ApprovalDecision,
  type ApprovalRecord,
  type ApprovalStore,
  type SigningOptions,
} from "agent-adapter";
import { LangGraphApproval } from "agent-adapter/langgraph";
import { openSqlite } from "agent-adapter/sqlite";
import { ManualClock } from "agent-adapter/testing";
import { APPROVAL_TYPE, type SignerOptions } from "agent-adapter/spi";
import { asking, failure, one } from "../../support/langgraph.js";

const ana = generateKeyPairSync("ed25519");
const ben = generateKeyPairSync("ed25519");
const approvers = [
  { id: "ana", publicKey: ana.publicKey, mayDecide: ({ arguments: { n } }: { arguments: { n?: unknown } }) => n !== 9 },
];
const key = "a shared secret of 16+ bytes";
const START = 1_000_000;
const folder = mkdtempSync(join(tmpdir(), "aa-signed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const STORES: Record<string, (options: SignerOptions, clock: ManualClock) => Promise<ApprovalStore>> = {
  memory: async (options, clock) => new MemoryApprovalStore({ clock, ...options }),
  sqlite: async (options, clock) => {
    const { approvals } = await openSqlite(join(folder, `${(files += 1)}.db`), { clock, ...options });
    return approvals;
  },
};

interface BenchOptions {
  readonly store?: SignerOptions;
  readonly port?: SignerOptions;
}

/** A program with one asking tool and a store that decides. */
async function benchOf(make: (typeof STORES)[string], { store: forStore = {}, port = forStore }: BenchOptions) {
  const clock = new ManualClock(START);
  const store = await make(forStore, clock);
  const ran: string[] = [];
  const ledger = new MemoryLedger();
  const approval = new DeferredApproval(store, port);
  const registry = new Registry([asking(ran, "send")]);
  const executor = new Executor(registry, { approval, secret: "another secret, 16 bytes", clock, ledger });
  const context = executor.context({ runId: "r", principal: "who asked" });
  const send = (n = 1) => executor.run("send", { n }, { context, callId: `call-${n}` });
  return {
    clock,
    store,
    ran,
    ledger,
    send,
    approval,
    /** Run it until it waits, and give what waits. */
    waiting: async (n = 1) => {
      expect(await failure(send(n))).toMatchObject({ kind: "ApprovalPending" });
      return one(await store.list({ status: "pending" }));
    },
  };
}

function interruptOf({ id, request }: ApprovalRecord) {
  return { id: "i", value: { type: APPROVAL_TYPE, binding: id, request } };
}

function signed(record: ApprovalRecord, decision: ApprovalDecision, more: Partial<SigningOptions> = {}): Answer {
  const options = { privateKey: ana.privateKey, id: "ana", signedAt: START, ...more };
  const answer = signDecision(toReviewRequest(interruptOf(record)), decision, options);
  // As it comes over the wire.
  return JSON.parse(JSON.stringify(answer)) as Answer;
}

describe.each(Object.entries(STORES))("A9/verbs: store.decide (%s)", (_name, make) => {
  test("A9/verbs, A3/ed25519: takes what an approver signed, keeps it, and the call runs once", async () => {
    const bench = await benchOf(make, { store: { approvers } });
    const record = await bench.waiting();
    const answer = signed(record, approve({ by: "somebody else", editedArgs: { n: 2 } }));

    const decided = await bench.store.decide(record.id, answer);

    expect(decided).toMatchObject({ status: "approved", decision: answer.decision, answer, decidedBy: "ana" });
    expect(await bench.store.get(record.id)).toEqual(decided);
    expect(await bench.send()).toBe("send 2");
    expect(bench.ran).toEqual(["send 2"]);
    expect((await bench.ledger.entries())[0]?.decidedBy).toBe("ana");
    expect(await bench.store.get(record.id)).toMatchObject({ status: "used", answer });
  });

  test("A9/verbs, A3/ed25519: with `approvers` it takes nothing else, and nothing of it is kept", async () => {
    const bench = await benchOf(make, { store: { approvers } });
    const record = await bench.waiting();
    const other = { ...record, id: "0".repeat(64) };
    const good = signed(record, approve());
    const wrong: [string, unknown][] = [
      ["a decision made here", approve({ by: "ana" })],
      ["a denial made here", deny()],
      ["parsed JSON", JSON.parse(JSON.stringify(approve()))],
      ["somebody else's key", signed(record, approve(), { privateKey: ben.privateKey })],
      ["somebody else", signed(record, approve(), { privateKey: ben.privateKey, id: "ben" })],
      ["a changed decision", { ...good, decision: { approved: true, editedArgs: { n: 3 } } }],
      ["another binding", { ...good, binding: other.id }],
      ["an edit she may not decide about", signed(record, approve({ editedArgs: { n: 9 } }))],
      ["one that has expired", signed(record, approve(), { signedAt: 1, answerTtlMs: 1 })],
      ["a shared secret", new LangGraphApproval({ key }).resumeValue(interruptOf(record), approve())],
      ["nothing", undefined],
    ];
    for (const [what, value] of wrong) {
      // What the type forbids is what must be refused.
      expect([what, await failure(bench.store.decide(record.id, value as Answer))]).toMatchObject([
        what,
        { kind: "ToolUsageError" },
      ]);
    }
    expect(await bench.store.get(record.id)).toEqual(record);
    expect(bench.ran).toEqual([]);
  });

  test("A9/verbs, A3/hmac: with a `key` it takes what was signed with it, and decisions made here", async () => {
    const bench = await benchOf(make, { store: { key } });
    const desk = new LangGraphApproval({ key, answerTtlMs: 8e15 });
    const first = await bench.waiting(1);
    await bench.store.decide(first.id, desk.resumeValue(interruptOf(first), approve({ by: "ana" })));
    expect(await bench.send(1)).toBe("send 1");
    const second = await bench.waiting(2);
    await bench.store.decide(second.id, approve({ by: "ben" }));
    expect(await bench.send(2)).toBe("send 2");
    const third = await bench.waiting(3);
    const foreign = new LangGraphApproval({ key: "another secret of 16+ bytes" });
    const forged = foreign.resumeValue(interruptOf(third), approve());
    expect(await failure(bench.store.decide(third.id, forged))).toMatchObject({ kind: "ToolUsageError" });
    expect(bench.ran).toEqual(["send 1", "send 2"]);
  });

  test("A9/verbs: without keys nobody can check a signature, so none is taken", async () => {
    const bench = await benchOf(make, {});
    const record = await bench.waiting();
    expect(await failure(bench.store.decide(record.id, signed(record, approve())))).toMatchObject({
      kind: "ToolUsageError",
      message: expect.stringContaining("`key` or `approvers`"),
    });
    expect((await bench.store.get(record.id))?.status).toBe("pending");
  });
});

/** What somebody did who can write into the store but has no key. */
class WrittenStore extends MemoryApprovalStore {
  written: Partial<ApprovalRecord> | undefined;

  override async get(id: string): Promise<ApprovalRecord | undefined> {
    const record = await super.get(id);
    return record?.id === this.written?.id && record !== undefined ? { ...record, ...this.written } : record;
  }
}

describe("A9/verbs, A3/ed25519: a store that somebody wrote into", () => {
  async function written(change: (record: ApprovalRecord) => Partial<ApprovalRecord>) {
    const store = new WrittenStore();
    const bench = await benchOf(async () => store, { port: { approvers } });
    const record = await bench.waiting();
    store.written = { id: record.id, ...change(record) };
    const error = await failure(bench.send());
    store.written = undefined;
    return { bench, record, error, now: await store.list() };
  }

  const decision = { approved: true } as const;
  test.each<[string, (record: ApprovalRecord) => Partial<ApprovalRecord>]>([
    ["a decision that nobody signed", () => ({ status: "approved", decision })],
    [
      "a signature of somebody else",
      (r) => ({ status: "approved", decision, answer: signed(r, approve(), { privateKey: ben.privateKey }) }),
    ],
    ["a signature that is no JSON", () => ({ status: "approved", decision, answer: (() => 1) as never })],
    [
      "an answer whose time is over",
      (r) => ({ status: "approved", decision, answer: signed(r, approve(), { signedAt: 1, answerTtlMs: 1 }) }),
    ],
    [
      "an answer to another request",
      (r) => ({ status: "approved", decision, answer: { ...signed(r, approve()), binding: "1".repeat(64) } }),
    ],
    ["the record of another use", () => ({ status: "used", decision })],
  ])("%s runs nothing: the call is asked again", async (_what, change) => {
    const { bench, record, error, now } = await written(change);
    expect(error).toMatchObject({ kind: "ApprovalPending" });
    expect(bench.ran).toEqual([]);
    const [asked] = now;
    expect(asked?.request.supersedes).toBe(record.id);
    expect(asked?.status).toBe("pending");
  });

  test("what was signed counts, not what was written beside it", async () => {
    const { bench, error } = await written((record) => ({
      status: "denied",
      decision: { approved: true, editedArgs: { n: 5 } },
      answer: signed(record, deny({ reason: "no" })),
    }));
    // The store has no such decision, so it cannot be used there; it was judged by the signature all the same.
    expect(error).toMatchObject({ kind: "ToolUsageError" });
    expect(bench.ran).toEqual([]);
  });

  test("a denial that was turned into an approval is a FlowError", async () => {
    const { bench, error } = await written((record) => ({
      status: "approved",
      decision: { approved: true },
      answer: signed(record, deny()),
    }));
    expect(error).toMatchObject({ kind: "FlowError" });
    expect(bench.ran).toEqual([]);
  });
});

describe("G1, A9/verbs: options", () => {
  test.each([
    ["both", { key, approvers }, /leave out `key`/],
    ["no key", { key: undefined }, /key is undefined/],
    ["no approvers", { approvers: undefined }, /approvers is undefined/],
    ["an empty list", { approvers: [] }, /nobody could approve/],
    ["a short key", { key: "short" }, /key/],
    ["another option", { aprovers: approvers }, /aprovers/],
  ])("%s: refused by port and stores", async (_what, wrong, message) => {
    // What the type forbids is what must be refused.
    const options = wrong as never;
    expect(() => new DeferredApproval(new MemoryApprovalStore(), options)).toThrow(message);
    expect(() => new MemoryApprovalStore(options)).toThrow(message);
    expect(String(await failure(openSqlite(join(folder, "never.db"), options)))).toMatch(message);
  });

  test("A8: inGraph is one of two words", () => {
    expect(() => new DeferredApproval(new MemoryApprovalStore(), { inGraph: "stop" as never })).toThrow(/inGraph/);
  });
});
