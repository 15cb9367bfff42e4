// Checks that hold on every SQL engine: retention, hostile values, indexes, tables of version 1.
import { expect } from "vitest";
import { approve, deny, type ApprovalRequest } from "../../src/index.js";
import { bindingOf, CLOCK_SKEW_MS, useDigest } from "../../src/spi.js";
import type { SqlStores } from "../../src/stores/sqlite/index.js";
import type { ManualClock } from "../../src/testing/index.js";
import { request } from "./store-races.js";

const DAY = 24 * 60 * 60 * 1000;
const KEEP = 30 * DAY + CLOCK_SKEW_MS;

export async function checksPruning(stores: SqlStores, clock: ManualClock): Promise<void> {
  const { approvals, claims, cache, ledger } = stores;
  const start = clock.now();
  const make = async (n: number, expiresAt: number | null = null) =>
    (await approvals.create({ ...request(n), expiresAt })).id;
  const waits = await make(1);
  const waitsLong = await make(2, start + 90 * DAY);
  const unspent = await make(3, start + DAY);
  await approvals.decide(unspent, approve());
  const used = await make(4);
  await approvals.decide(used, approve());
  await approvals.consume(used, "token");
  const expired = await make(5);
  await approvals.expire(expired);
  const replaced = await make(6);
  await approvals.supersede(replaced, used);
  const ranOut = await make(7, start);
  await claims.claim("short", "a", start + DAY);
  await claims.claim("long", "a", start + DAY);
  await claims.claim("long", "a", start + 60 * DAY);
  await cache.set("soon", "1", start + DAY);
  await cache.set("never", "1", undefined);
  const names = {
    threadId: undefined,
    tool: "pay",
    callId: "c",
    principal: undefined,
    argumentsDigest: "",
    arguments: {},
  };
  await ledger.open({ ...names, id: "entry", runId: "r", startedAt: start });

  const kept = async () => {
    const found = [];
    for (const id of [waits, waitsLong, unspent, used, expired, replaced, ranOut])
      found.push((await approvals.get(id)) !== undefined);
    return found;
  };
  const nothing = { approvals: 0, claims: 0, ledger: 0, results: 0 };
  expect(await stores.prune(start)).toEqual(nothing);
  // The last moment at which an answer may still be good: its claim stays.
  expect(await stores.prune(start + DAY + CLOCK_SKEW_MS)).toEqual({ ...nothing, results: 1 });
  await expect(claims.claim("short", "thief", start)).rejects.toMatchObject({ kind: "ApprovalAlreadyDecided" });
  expect(await stores.prune(start + DAY + CLOCK_SKEW_MS + 1)).toEqual({ ...nothing, claims: 1 });
  await expect(claims.claim("long", "thief", start)).rejects.toMatchObject({ kind: "ApprovalAlreadyDecided" });
  expect(await stores.prune(start + KEEP)).toEqual(nothing);
  expect(await kept()).toEqual([true, true, true, true, true, true, true]);
  expect(await stores.prune(start + KEEP + 1)).toEqual({ ...nothing, approvals: 4 });
  expect(await kept()).toEqual([true, true, true, false, false, false, false]);
  // A decision that nobody has used, and a request without an end, stay whatever the time.
  await stores.prune(start + 1000 * DAY);
  expect(await kept()).toEqual([true, false, true, false, false, false, false]);
  expect([await cache.get("never"), (await ledger.entries()).length]).toEqual(["1", 1]);
  expect(await stores.prune(start + 10, { keepLedgerMs: 5 })).toMatchObject({ ledger: 1 });
  for (const options of [
    { keepApprovalsMs: DAY - 1 },
    { keepLedgerMs: -1 },
    { keepClaimsMs: 1 },
    { keepApprovalsMs: Number.NaN },
  ]) {
    await expect(stores.prune(start, options)).rejects.toMatchObject({ kind: "ToolUsageError" });
  }
  await expect(stores.prune(Number.NaN)).rejects.toMatchObject({ kind: "ToolUsageError" });
  for (let n = 0; n < 1201; n += 1) await cache.set(`many ${n}`, "1", start + DAY);
  expect(await stores.prune(start + DAY + 1)).toEqual({ ...nothing, results: 1201 });
}

const NUL = "a\0b";
const HALF = "cut \uD83D";

export async function keepsHostileValues({ approvals, claims, cache, ledger }: SqlStores): Promise<void> {
  // NUL in everything that a request says.
  const odd: ApprovalRequest = {
    ...request(1),
    runId: NUL,
    threadId: NUL,
    callId: NUL,
    tool: NUL,
    description: NUL,
    requestedBy: NUL,
    taskRun: [NUL],
    arguments: { [NUL]: NUL, own: JSON.parse('{"__proto__":{"admin":true}}') as ApprovalRequest["arguments"] },
  };
  const { id } = await approvals.create(odd);
  await approvals.create({ ...odd, runId: "a" });
  await approvals.decide(id, approve({ by: NUL, reason: NUL, editedArgs: { [NUL]: NUL } }));
  const [found, ...others] = await approvals.list({ runId: NUL, threadId: NUL });
  expect(others).toEqual([]);
  expect(found?.request).toEqual(odd);
  expect(bindingOf(found?.request ?? request(0))).toBe(id);
  expect(found?.decision).toEqual({ approved: true, by: NUL, reason: NUL, editedArgs: { [NUL]: NUL } });
  expect((await approvals.supersede(id, NUL)).supersededBy).toBe(NUL);
  expect((await approvals.get(id))?.supersededBy).toBe(NUL);

  // Half a surrogate pair is not JSON that can be hashed: refused, and nothing is kept.
  await expect(approvals.create({ ...request(2), description: HALF })).rejects.toMatchObject({
    kind: "ToolUsageError",
  });
  expect(await approvals.list({ runId: "run-2" })).toEqual([]);
  for (const unknown of [NUL, HALF, "x".repeat(100_000)]) expect(await approvals.get(unknown)).toBeUndefined();

  // Results may be cut text.
  for (const text of [NUL, HALF, JSON.stringify(HALF), "\u0001json:1", "x".repeat(3 * 1024 * 1024)]) {
    await cache.set(text, text, undefined);
    expect(await cache.get(text)).toBe(text);
  }
  await claims.claim(NUL, NUL, 1);
  await claims.claim(HALF, "token", 1);
  await claims.claim("x".repeat(100_000), "token", 1);
  await expect(claims.claim(HALF, "another", 1)).rejects.toMatchObject({ kind: "ApprovalAlreadyDecided" });
  await claims.claim("cut \uD83E", "another", 1);

  const names = { id: HALF, runId: HALF, threadId: NUL, tool: NUL, callId: HALF, principal: NUL };
  await ledger.open({ ...names, argumentsDigest: NUL, arguments: { text: NUL }, startedAt: 0.5 });
  const end = { status: "ok", attempts: 1, durationMs: 0.1, cost: 1e-9, errorKind: undefined } as const;
  await ledger.close(HALF, { ...end, binding: NUL, decidedBy: HALF, edit: { digest: "d", arguments: { text: NUL } } });
  const entry = { ...names, argumentsDigest: NUL, arguments: { text: NUL }, startedAt: 0.5, editDigest: "d" };
  const closed = { ...end, binding: NUL, decidedBy: HALF, editedArguments: { text: NUL } };
  expect(await ledger.entries({ runId: HALF, threadId: NUL })).toEqual([{ ...entry, ...closed }]);
  expect(await ledger.totals({ tool: NUL })).toEqual({ calls: 1, attempts: 1, durationMs: 0.1, cost: 1e-9 });
}

/** The statements of the stores, and the index that has to answer each. */
export async function usesIndexes(explain: (text: string) => Promise<string>, tables: string): Promise<void> {
  const [approvals, claims, ledger] = [`${tables}approvals`, `${tables}claims`, `${tables}ledger`];
  const expected: readonly (readonly [string, RegExp])[] = [
    [`SELECT * FROM ${approvals} WHERE status = 'pending' ORDER BY seq DESC LIMIT 100`, /approvals_by_status/],
    [
      `SELECT * FROM ${approvals} WHERE status = 'pending' AND seq < 50 ORDER BY seq DESC LIMIT 100`,
      /approvals_by_status/,
    ],
    [`SELECT * FROM ${approvals} WHERE run_key = 'x' ORDER BY seq DESC LIMIT 100`, /approvals_by_run/],
    [`SELECT * FROM ${approvals} WHERE thread_key = 'x' ORDER BY seq DESC LIMIT 100`, /approvals_by_thread/],
    [
      `UPDATE ${approvals} SET status = 'used' WHERE id = 'x' AND (status = 'approved') IS TRUE`,
      /approvals_id_key|autoindex/,
    ],
    [`UPDATE ${claims} SET guard_until = 1 WHERE binding_key = 'x'`, /claims_pkey|autoindex/],
    [`SELECT binding_key FROM ${claims} WHERE guard_until < 1 ORDER BY guard_until LIMIT 500`, /claims_by_end/],
    [`SELECT id FROM ${approvals} WHERE over_at < 1 ORDER BY over_at LIMIT 500`, /approvals_by_end/],
    [`SELECT * FROM ${ledger} WHERE run_key = 'x' ORDER BY seq`, /ledger_by_run/],
  ];
  for (const [text, index] of expected) {
    const plan = await explain(text);
    expect(`${text}\n${plan}`).toMatch(index);
    expect(`${text}\n${plan}`).not.toMatch(/SCAN|Seq Scan/);
  }
}

/** What the fixtures of version 1 hold: they were made by this function when that was the newest version, and never again. */
export async function fillVersion1({ approvals, claims, cache, ledger }: SqlStores, clock: ManualClock): Promise<void> {
  const make = async (n: number) => (await approvals.create(request(n))).id;
  await make(1);
  await approvals.decide(await make(2), approve({ by: "ana", editedArgs: { to: "ana", amount: 1 } }));
  await approvals.decide(await make(3), deny({ by: "bob", reason: "no" }));
  const used = await make(4);
  await approvals.decide(used, approve());
  clock.advance(1);
  await approvals.consume(used, "the token");
  await approvals.expire(await make(5));
  await approvals.supersede(await make(6), used);
  await make(7).then((id) => approvals.decide(id, deny({ reason: NUL })));
  await claims.claim("binding", "the token", Date.UTC(2100, 0, 1));
  await cache.set("key", JSON.stringify({ half: HALF }), undefined);
  await cache.set(NUL, NUL, undefined);
  const names = { threadId: "thread", tool: "pay", callId: "c", principal: NUL, argumentsDigest: "a".repeat(64) };
  await ledger.open({ ...names, id: "entry", runId: "run", arguments: { a: 1 }, startedAt: clock.now() });
  const end = { status: "failed", attempts: 2, durationMs: 1.5, cost: 0.25, errorKind: "ToolFailed" } as const;
  await ledger.close("entry", { ...end, binding: "b", decidedBy: "ana", edit: { digest: "d", arguments: { a: 2 } } });
}

export async function opensVersion1({ approvals, claims, cache, ledger }: SqlStores): Promise<void> {
  const at = Date.UTC(2026, 0, 1);
  const id = (n: number) => bindingOf(request(n));
  const all = await approvals.list();
  expect(all.map(({ id: found }) => found)).toEqual([7, 6, 5, 4, 3, 2, 1].map(id));
  expect(all.map(({ status }) => status)).toEqual([
    "denied",
    "superseded",
    "expired",
    "used",
    "denied",
    "approved",
    "pending",
  ]);
  expect(all.map((record) => record.request)).toEqual([7, 6, 5, 4, 3, 2, 1].map(request));
  expect(all[3]).toMatchObject({ usedBy: useDigest(id(4), "the token"), usedAt: at + 1, decidedAt: at, createdAt: at });
  expect([all[0]?.decision, all[1]?.supersededBy]).toEqual([{ approved: false, reason: NUL }, id(4)]);
  expect(all[5]?.decision).toEqual({ approved: true, by: "ana", editedArgs: { to: "ana", amount: 1 } });
  // The same token, after all those years, and only that one.
  expect((await approvals.consume(id(4), "the token")).status).toBe("used");
  await expect(approvals.consume(id(4), "another")).rejects.toMatchObject({ kind: "ApprovalAlreadyDecided" });
  expect((await approvals.consume(id(2), "token")).decidedBy).toBe("ana");
  expect((await approvals.decide(id(1), approve())).status).toBe("approved");
  expect((await approvals.create(request(8))).status).toBe("pending");
  expect((await approvals.list({ limit: 1 }))[0]?.id).toBe(id(8));
  await claims.claim("binding", "the token", 1);
  await expect(claims.claim("binding", "another", 1)).rejects.toMatchObject({ kind: "ApprovalAlreadyDecided" });
  expect([await cache.get("key"), await cache.get(NUL)]).toEqual([JSON.stringify({ half: HALF }), NUL]);
  const [entry] = await ledger.entries({ runId: "run" });
  expect(entry).toMatchObject({
    status: "failed",
    principal: NUL,
    attempts: 2,
    cost: 0.25,
    decidedBy: "ana",
    editDigest: "d",
  });
  await ledger.close("entry", {
    status: "ok",
    attempts: 1,
    durationMs: 1,
    cost: 1,
    errorKind: undefined,
    binding: undefined,
    decidedBy: undefined,
    edit: undefined,
  });
  expect(await ledger.totals()).toEqual({ calls: 1, attempts: 3, durationMs: 2.5, cost: 1.25 });
}
