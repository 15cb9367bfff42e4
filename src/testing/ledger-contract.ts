// Every promise a `Ledger` makes, as named cases: one entry a call whatever happens, nothing lost under races.

import type { Ledger, LedgerClosing, LedgerEntry, LedgerOpening } from "../index.js";
import {
  contract,
  holds,
  race,
  RACERS,
  same,
  START_MS,
  winners,
  type CaseBody,
  type ContractCase,
  type ContractOptions,
  type MakeStore,
} from "./contract.js";
import { hostileObject, HOSTILE_TEXTS } from "./hostile.js";

/** What the cases about ledgers need. */
export interface LedgerContractOptions extends ContractOptions<Ledger> {
  /** Was the ledger told to keep arguments and edits? Default `false`. */
  readonly keepsArguments?: boolean;
}

/**
 * Named cases for a ledger. Each throws when the ledger breaks the promise.
 *
 * @example
 * for (const { name, run } of ledgerContract(() => new MemoryLedger())) test(name, run);
 */
export function ledgerContract(makeLedger: MakeStore<Ledger>, options: LedgerContractOptions = {}): ContractCase[] {
  const { keepsArguments = false, ...rest } = options;
  return contract(makeLedger, rest, { ...ENTRIES, ...SUMS, ...(keepsArguments ? KEEPING : FORGETTING) });
}

const SECRET = "only the reviewer may see this";

function opening(changes: Partial<LedgerOpening> = {}): LedgerOpening {
  return {
    id: "call-1",
    runId: "run-1",
    threadId: "thread-1",
    tool: "pay",
    callId: "call-1",
    principal: "ana",
    argumentsDigest: "a".repeat(64),
    arguments: { note: SECRET },
    startedAt: START_MS,
    ...changes,
  };
}

function closing(changes: Partial<LedgerClosing> = {}): LedgerClosing {
  const names = { errorKind: undefined, binding: undefined, decidedBy: undefined, edit: undefined };
  return { status: "ok", attempts: 1, durationMs: 7, cost: 0.25, ...names, ...changes };
}

async function only(ledger: Ledger): Promise<LedgerEntry> {
  const [entry, ...others] = await ledger.entries();
  if (entry === undefined || others.length > 0) throw new Error(`expected one entry, found ${others.length + 1}`);
  return entry;
}

const ENTRIES: Readonly<Record<string, CaseBody<Ledger>>> = {
  "an opened call is running, with its names and nothing counted": async ({ store, other }) => {
    await store.open(opening());
    const { arguments: _, ...names } = opening();
    const { arguments: __, ...entry } = await only(other);
    same(entry, { ...names, status: "running", attempts: 0, durationMs: 0, cost: 0 }, "the entry");
  },

  "what has no thread and no principal says so": async ({ store, other }) => {
    await store.open(opening({ threadId: undefined, principal: undefined }));
    const { threadId, principal } = await only(other);
    same([typeof threadId, typeof principal], ["undefined", "undefined"], "thread and principal");
  },

  "opening a call again adds no entry and changes nothing but a wait": async ({ store, other }) => {
    await store.open(opening());
    await store.close("call-1", closing({ status: "pending", attempts: 0, binding: "b" }));
    same((await only(store)).status, "pending", "the status");
    await other.open(opening({ startedAt: START_MS + 9, principal: "bob", arguments: {} }));
    const { status, startedAt, principal, binding } = await only(store);
    same([status, startedAt, principal, binding], ["running", START_MS, "ana", "b"], "a wait that goes on");
    await store.close("call-1", closing());
    const over = await only(store);
    await other.open(opening());
    same(await only(store), over, "a call that is over");
  },

  "each end adds what it used and keeps the names that came before": async ({ store, other }) => {
    await store.open(opening());
    await store.close("call-1", closing({ status: "pending", attempts: 0, durationMs: 0, cost: 0, binding: "b1" }));
    const edit = { digest: "e".repeat(64), arguments: { note: SECRET } };
    await other.close("call-1", closing({ status: "failed", errorKind: "ToolFailed", decidedBy: "bob", edit }));
    await store.close("call-1", closing({ attempts: 2, binding: "b2" }));
    const { status, errorKind, attempts, durationMs, cost, binding, decidedBy, editDigest } = await only(other);
    same([status, typeof errorKind], ["ok", "undefined"], "how it ended");
    same([attempts, durationMs, cost], [3, 14, 0.5], "what it used");
    same([binding, decidedBy, editDigest], ["b2", "bob", edit.digest], "its names");
  },

  "a wait that is written down late does not change how the call ended": async ({ store, other }) => {
    for (const status of ["ok", "cached", "denied", "expired"] as const) {
      await store.open(opening({ id: status }));
      await store.close(status, closing({ status, errorKind: status === "denied" ? "ApprovalDenied" : undefined }));
      await other.close(status, closing({ status: "pending", attempts: 0, durationMs: 0, cost: 0 }));
    }
    const ends = (await store.entries()).map(({ status, errorKind }) => [status, errorKind ?? ""]);
    same(
      ends,
      [
        ["ok", ""],
        ["cached", ""],
        ["denied", "ApprovalDenied"],
        ["expired", ""],
      ],
      "how they ended",
    );
  },

  "ending a call that was never opened adds no entry": async ({ store }) => {
    // Whether it is refused is the ledger's own choice.
    const close = async () => store.close("unknown", closing());
    await close().catch(() => undefined);
    same(await store.entries(), [], "the entries");
  },

  "entries come in the order in which calls were first seen, by run and by thread": async ({ store, other }) => {
    await store.open(opening({ id: "z", runId: "r1", threadId: "t1" }));
    await store.open(opening({ id: "a", runId: "r2", threadId: "t1" }));
    await store.open(opening({ id: "m", runId: "r1", threadId: undefined }));
    await store.close("z", closing());
    await store.open(opening({ id: "z", runId: "r1", threadId: "t1" }));
    const ids = async (filter?: { runId?: string; threadId?: string }) =>
      (await other.entries(filter)).map(({ id }) => id);
    same(await ids(), ["z", "a", "m"], "all");
    same(await ids({ runId: "r1" }), ["z", "m"], "by run");
    same(await ids({ threadId: "t1" }), ["z", "a"], "by thread");
    same(await ids({ runId: "r1", threadId: "t1" }), ["z"], "by both");
    same(await ids({ runId: "none" }), [], "by a run that is not there");
  },

  "hostile text comes back as it went in": async ({ store, other }) => {
    for (const [index, text] of HOSTILE_TEXTS.entries()) {
      const runId = `${index}${text}`;
      const names = { id: runId, runId, threadId: text, tool: text, callId: text, principal: text };
      await store.open(opening({ ...names, arguments: hostileObject() }));
      await store.close(runId, closing({ decidedBy: text }));
      const [entry, ...others] = await other.entries({ runId });
      same(others, [], "others that a filter found");
      const { id, threadId, tool, callId, principal, decidedBy } = entry ?? {};
      same({ id, runId, threadId, tool, callId, principal, decidedBy }, { ...names, decidedBy: text }, "the entry");
    }
  },

  "an entry that was given out is a copy": async ({ store }) => {
    await store.open(opening());
    Reflect.set(await only(store), "status", "ok");
    same((await only(store)).status, "running", "the status");
  },

  "arguments that are not JSON do no harm": async ({ store }) => {
    for (const [index, args] of [() => 1, 10n, Number.NaN, "\uD800", undefined].entries()) {
      await store.open(opening({ id: `call-${index}`, arguments: args }));
    }
    same((await store.entries()).length, 5, "how many entries");
  },
};

const SUMS: Readonly<Record<string, CaseBody<Ledger>>> = {
  "totals count calls that started, and sum what they used, by run and by tool": async ({ store, other }) => {
    await store.open(opening({ id: "a", runId: "r1", tool: "pay" }));
    await store.open(opening({ id: "b", runId: "r1", tool: "search" }));
    await store.open(opening({ id: "c", runId: "r2", tool: "pay" }));
    await store.open(opening({ id: "refused", runId: "r1", tool: "pay" }));
    await store.close("a", closing({ attempts: 2, durationMs: 10, cost: 3 }));
    await store.close("b", closing({ status: "failed", durationMs: 5, cost: 1 }));
    await store.close("c", closing({ durationMs: 1, cost: 0.5 }));
    await store.close("refused", closing({ status: "denied", attempts: 0, durationMs: 0, cost: 0 }));
    same(await other.totals(), { calls: 3, attempts: 4, durationMs: 16, cost: 4.5 }, "all");
    same(await other.totals({ runId: "r1" }), { calls: 2, attempts: 3, durationMs: 15, cost: 4 }, "by run");
    same(await other.totals({ tool: "pay" }), { calls: 2, attempts: 3, durationMs: 11, cost: 3.5 }, "by tool");
    same(
      await other.totals({ runId: "r1", tool: "pay" }),
      { calls: 1, attempts: 2, durationMs: 10, cost: 3 },
      "by both",
    );
    same(await other.totals({ runId: "none" }), { calls: 0, attempts: 0, durationMs: 0, cost: 0 }, "nothing");
  },

  "totals count a call once, however often it ends with attempts": async ({ store, other }) => {
    await store.open(opening());
    await store.close("call-1", closing({ status: "failed" }));
    await other.close("call-1", closing({ status: "failed", attempts: 2 }));
    await store.close("call-1", closing());
    const sums = { calls: 1, attempts: 4, durationMs: 21, cost: 0.75 };
    same(await other.totals(), sums, "all");
    same(await other.totals({ runId: "run-1", tool: "pay" }), sums, "by run and tool");
  },

  "of many who open one call at once there is one entry, and no end is lost": async (bench) => {
    winners(await race(bench, async (ledger) => ledger.open(opening())), "StoreUnavailable");
    await only(bench.store);
    const ends = await race(bench, async (ledger) => ledger.close("call-1", closing({ durationMs: 2 })));
    same(winners(ends, "StoreUnavailable").length, RACERS, "how many ends were taken");
    const { attempts, durationMs, cost } = await only(bench.other);
    same([attempts, durationMs, cost], [RACERS, RACERS * 2, RACERS / 4], "what was used");
  },
};

async function withEdit({ store }: { readonly store: Ledger }): Promise<LedgerEntry> {
  await store.open(opening());
  const edit = { digest: "e".repeat(64), arguments: { note: `${SECRET}, edited` } };
  await store.close("call-1", closing({ edit }));
  return only(store);
}

const FORGETTING: Readonly<Record<string, CaseBody<Ledger>>> = {
  "arguments and edits are not kept, their digests are": async (bench) => {
    const entry = await withEdit(bench);
    holds(!JSON.stringify(entry).includes(SECRET), "the entry holds arguments");
    same([entry.argumentsDigest, entry.editDigest], ["a".repeat(64), "e".repeat(64)], "the digests");
  },
};

const KEEPING: Readonly<Record<string, CaseBody<Ledger>>> = {
  "arguments and edits are kept when the ledger was told to": async (bench) => {
    const entry = await withEdit(bench);
    same(entry.arguments, { note: SECRET }, "the arguments");
    same(entry.editedArguments, { note: `${SECRET}, edited` }, "the edit");
  },

  "arguments with the names of inherited members stay what they are": async ({ store, other }) => {
    await store.open(opening({ arguments: hostileObject() }));
    same((await only(other)).arguments, hostileObject(), "the arguments");
  },
};
