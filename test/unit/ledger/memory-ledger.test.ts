// Properties proved: what the ledger in memory keeps, adds up and filters; arguments only when it was told to keep them.
import { describe, expect, test } from "vitest";
import { MemoryLedger, type LedgerClosing, type LedgerOpening } from "../../../src/index.js";

const opening = (id: string, more: Partial<LedgerOpening> = {}): LedgerOpening => ({
  id,
  runId: "r1",
  threadId: undefined,
  tool: "pay",
  callId: id,
  principal: "ana",
  argumentsDigest: "d",
  arguments: { to: "bob" },
  startedAt: 5,
  ...more,
});
const closing = (more: Partial<LedgerClosing> = {}): LedgerClosing => ({
  status: "ok",
  errorKind: undefined,
  attempts: 1,
  durationMs: 10,
  cost: 0,
  binding: undefined,
  decidedBy: undefined,
  edit: undefined,
  ...more,
});

describe("one entry per id", () => {
  test("E1: opening again adds none and changes none but a waiting one", async () => {
    const ledger = new MemoryLedger();
    await ledger.open(opening("a"));
    const [first] = await ledger.entries();
    expect(first).toMatchObject({
      id: "a",
      status: "running",
      attempts: 0,
      durationMs: 0,
      startedAt: 5,
      principal: "ana",
    });
    await ledger.close("a", closing({ status: "unknown" }));
    await ledger.open(opening("a", { startedAt: 99 }));
    expect(await ledger.entries()).toMatchObject([{ id: "a", status: "unknown", startedAt: 5 }]);
    await ledger.close("a", closing({ status: "pending", attempts: 0, durationMs: 0 }));
    await ledger.open(opening("a", { startedAt: 99 }));
    expect(await ledger.entries()).toMatchObject([{ status: "running", startedAt: 5, attempts: 1 }]);
  });

  test("E1, B56: every closing adds its attempts and its time", async () => {
    const ledger = new MemoryLedger();
    await ledger.open(opening("a"));
    await ledger.close("a", closing({ attempts: 2, durationMs: 7 }));
    await ledger.close("a", closing({ attempts: 0, durationMs: 0 }));
    await ledger.close("a", closing({ attempts: 1, durationMs: 3 }));
    expect(await ledger.entries()).toMatchObject([{ attempts: 3, durationMs: 10 }]);
  });

  test("E1, B56: a call that ran again is one call in the sums, with all its attempts", async () => {
    const ledger = new MemoryLedger();
    await ledger.open(opening("a"));
    for (const attempts of [0, 2, 0, 1]) await ledger.close("a", closing({ attempts, durationMs: 1, cost: 2 }));
    expect(await ledger.totals()).toEqual({ calls: 1, attempts: 3, durationMs: 4, cost: 8 });
  });

  test("E1: binding, decider and edit stay when a later closing has none", async () => {
    const ledger = new MemoryLedger({ arguments: true });
    await ledger.open(opening("a"));
    await ledger.close(
      "a",
      closing({ binding: "b", decidedBy: "ana", edit: { digest: "e", arguments: { to: "eve" } } }),
    );
    await ledger.close("a", closing());
    expect(await ledger.entries()).toMatchObject([
      { binding: "b", decidedBy: "ana", editDigest: "e", editedArguments: { to: "eve" } },
    ]);
  });

  test("E1: closing what was never opened adds nothing", async () => {
    const ledger = new MemoryLedger();
    await ledger.close("a", closing());
    expect(await ledger.entries()).toEqual([]);
  });
});

describe("arguments", () => {
  test("E1, N1: are not kept by default, neither are edits", async () => {
    const ledger = new MemoryLedger();
    await ledger.open(opening("a"));
    await ledger.close("a", closing({ edit: { digest: "e", arguments: { to: "eve" } } }));
    const text = JSON.stringify(await ledger.entries());
    expect(text).not.toContain("bob");
    expect(text).not.toContain("eve");
    expect(text).toContain('"editDigest":"e"');
  });

  test("E1: are kept when told to, as a copy that nobody changes later", async () => {
    const ledger = new MemoryLedger({ arguments: true });
    const args = { to: "bob", list: [1] };
    await ledger.open(opening("a", { arguments: args }));
    args.to = "eve";
    args.list.push(2);
    expect(await ledger.entries()).toMatchObject([{ arguments: { to: "bob", list: [1] } }]);
  });

  test("E1: that are not JSON are left out; the entry is there", async () => {
    const ledger = new MemoryLedger({ arguments: true });
    await ledger.open(opening("a", { arguments: { when: new Date(0) } }));
    expect(await ledger.entries()).toMatchObject([{ id: "a", arguments: undefined }]);
  });
});

describe("looking", () => {
  const filled = async (): Promise<MemoryLedger> => {
    const ledger = new MemoryLedger();
    await ledger.open(opening("a", { threadId: "t1" }));
    await ledger.open(opening("b", { runId: "r2", threadId: "t1" }));
    await ledger.open(opening("c", { tool: "search", threadId: "t2" }));
    for (const id of ["c", "b", "a"]) await ledger.close(id, closing());
    return ledger;
  };

  test("E1: entries come in the order in which the calls were first seen, filtered by run and thread", async () => {
    const ledger = await filled();
    const ids = async (filter?: Parameters<MemoryLedger["entries"]>[0]) =>
      (await ledger.entries(filter)).map(({ id }) => id);
    expect(await ids()).toEqual(["a", "b", "c"]);
    expect(await ids({ runId: "r1" })).toEqual(["a", "c"]);
    expect(await ids({ threadId: "t1" })).toEqual(["a", "b"]);
    expect(await ids({ runId: "r1", threadId: "t1" })).toEqual(["a"]);
    expect(await ids({ runId: "none" })).toEqual([]);
  });

  test("E1: totals count per run and tool", async () => {
    const ledger = await filled();
    expect(await ledger.totals()).toMatchObject({ calls: 3, attempts: 3, durationMs: 30 });
    expect(await ledger.totals({ runId: "r1" })).toMatchObject({ calls: 2, attempts: 2, durationMs: 20 });
    expect(await ledger.totals({ tool: "search" })).toMatchObject({ calls: 1 });
    expect(await ledger.totals({ runId: "r2", tool: "search" })).toMatchObject({
      calls: 0,
      attempts: 0,
      durationMs: 0,
    });
  });

  test("E1: what was handed out does not change later", async () => {
    const ledger = await filled();
    const before = await ledger.entries();
    await ledger.close("a", closing({ status: "failed" }));
    expect(before[0]?.status).toBe("ok");
  });
});
