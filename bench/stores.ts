// Figures of the stores with 100 000 records: `npx tsx --conditions=agent-adapter-source bench/stores.ts [records]`. PostgreSQL
// only where AGENT_ADAPTER_TEST_POSTGRES names a server or its binaries are found. Prints; judges nothing.

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approve } from "agent-adapter";
import { openPostgres } from "agent-adapter/postgres";
import { openSqlite, type SqlStores } from "agent-adapter/sqlite";
import { poolOf, startPostgres, whyNoPostgres } from "../test/support/postgres.js";
import { request } from "../test/support/store-races.js";

const RECORDS = Number(process.argv[2] ?? 100_000);
const SAMPLES = 500;
/** So many at once: what a pool of ten makes of it. */
const AT_ONCE = 20;

async function fill(count: number, each: (n: number) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  for (let n = 0; n < count; n += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, index) => each(n + index)));
  }
  return performance.now() - start;
}

async function times(count: number, each: (n: number) => Promise<unknown>): Promise<string> {
  const all: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const start = performance.now();
    await each(n);
    all.push(performance.now() - start);
  }
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

async function measure(name: string, stores: SqlStores): Promise<void> {
  const { approvals, claims, ledger, cache } = stores;
  const say = (what: string, value: string) => console.log(`${name.padEnd(22)} ${what.padEnd(30)} ${value}`);
  const perSecond = (ms: number) => `${Math.round(ms)} ms, ${Math.round((RECORDS / ms) * 1000)} a second`;
  const ids: string[] = [];
  say(
    `create ${RECORDS}`,
    perSecond(await fill(RECORDS, async (n) => ids.push((await approvals.create(request(n))).id))),
  );
  say(`claim ${RECORDS}`, perSecond(await fill(RECORDS, (n) => claims.claim(`b${n}`, "token", Date.now()))));
  const id = (n: number) => ids[(n * 7919) % ids.length] ?? "";
  say("get", await times(SAMPLES, (n) => approvals.get(id(n))));
  say("decide", await times(SAMPLES, (n) => approvals.decide(id(n), approve())));
  say("consume", await times(SAMPLES, (n) => approvals.consume(id(n), "token")));
  say("claim, one more", await times(SAMPLES, (n) => claims.claim(`c${n}`, "token", Date.now())));
  say("list pending, 100", await times(50, () => approvals.list({ status: "pending" })));
  say("list used, 100", await times(50, () => approvals.list({ status: "used" })));
  say("list by run", await times(SAMPLES, (n) => approvals.list({ runId: `run-${n}` })));
  const half = ids[Math.floor(ids.length / 2)] ?? "";
  say("a page in the middle", await times(50, () => approvals.list({ status: "pending", before: half })));
  const names = { threadId: "t", tool: "pay", callId: "c", principal: undefined, argumentsDigest: "", arguments: {} };
  say(
    "ledger open",
    await times(SAMPLES, async (n) => ledger.open({ ...names, id: `${n}`, runId: "r", startedAt: n })),
  );
  say("ledger totals of a run", await times(50, () => ledger.totals({ runId: "r" })));
  say(
    "cache set and get",
    await times(SAMPLES, (n) => cache.set(`${n}`, "{}", undefined).then(() => cache.get(`${n}`))),
  );
  const start = performance.now();
  const pruned = await stores.prune(Date.now() + 120_000);
  say("prune", `${Math.round(performance.now() - start)} ms, ${pruned.claims} claims`);
}

const folder = mkdtempSync(join(tmpdir(), "aa-bench-"));
for (const synchronous of ["normal", "full"] as const) {
  const path = join(folder, `${synchronous}.db`);
  const stores = await openSqlite(path, { synchronous });
  await measure(`sqlite, ${synchronous}`, stores);
  await stores.close();
  console.log(`${`sqlite, ${synchronous}`.padEnd(22)} size ${(statSync(path).size / 2 ** 20).toFixed(0)} MiB`);
}
rmSync(folder, { recursive: true, force: true });

const reason = whyNoPostgres();
if (reason === undefined) {
  const server = await startPostgres({ durable: true });
  const pool = poolOf(server.url, 10);
  await measure("postgres", await openPostgres(pool, { schema: "bench" }));
  await pool.query("DROP SCHEMA bench CASCADE");
  await pool.end();
  await server.stop();
} else {
  console.log(`postgres: ${reason}`);
}
