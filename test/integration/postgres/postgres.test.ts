// What a real server does to the stores: versions, indexes, hostile values, roles, poolers, strict isolation, lost connections.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approve } from "../../../src/index.js";
import {
  openPostgres,
  type ListenClient,
  type PostgresPool,
  type SqlStores,
} from "../../../src/stores/postgres/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import {
  clientOf,
  poolOf,
  reportSkipped,
  startPostgres,
  whyNoPostgres,
  type PostgresServer,
} from "../../support/postgres.js";
import { checksPruning, keepsHostileValues, opensVersion1, usesIndexes } from "../../support/store-checks.js";
import { request } from "../../support/store-races.js";

const missing = whyNoPostgres();
const TESTS = 15;
let server: PostgresServer;
let pool: ReturnType<typeof poolOf>;
let schemas = 0;
const nextSchema = () => `it_${process.pid}_${(schemas += 1)}`;

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres();
  pool = poolOf(server.url, 10);
}, 60_000);

afterAll(async () => {
  if (missing !== undefined) return;
  for (let n = 1; n <= schemas; n += 1) await pool.query(`DROP SCHEMA IF EXISTS "it_${process.pid}_${n}" CASCADE`);
  await pool.end();
  await server.stop();
}, 60_000);

/** Loses the answer of every statement once, after it was carried out. */
function forgetful(real: PostgresPool): PostgresPool & { lost: number } {
  const seen = new Set<string>();
  const losing = {
    lost: 0,
    query: async (text: string, values?: unknown[]) => {
      const answer = await real.query(text, values);
      const key = JSON.stringify([text, values]);
      if (seen.has(key)) return answer;
      seen.add(key);
      losing.lost += 1;
      throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    },
  };
  return losing;
}

/** The life of one approval, a claim and a ledger entry. */
async function livesThrough(stores: SqlStores, n = 1): Promise<void> {
  const { id } = await stores.approvals.create(request(n));
  expect((await stores.approvals.decide(id, approve({ by: "ana" }))).status).toBe("approved");
  expect((await stores.approvals.consume(id, "token")).status).toBe("used");
  await expect(stores.approvals.consume(id, "another")).rejects.toMatchObject({ kind: "ApprovalAlreadyDecided" });
  await stores.claims.claim(`b${n}`, "token", Date.now());
  await expect(stores.claims.claim(`b${n}`, "another", Date.now())).rejects.toMatchObject({
    kind: "ApprovalAlreadyDecided",
  });
  const names = {
    threadId: undefined,
    tool: "pay",
    callId: "c",
    principal: undefined,
    argumentsDigest: "",
    arguments: {},
  };
  await stores.ledger.open({ ...names, id: `${n}`, runId: `r${n}`, startedAt: 1 });
  const nothing = { errorKind: undefined, binding: undefined, decidedBy: undefined, edit: undefined };
  await stores.ledger.close(`${n}`, { status: "ok", attempts: 1, durationMs: 1, cost: 5, ...nothing });
  expect(await stores.ledger.totals({ runId: `r${n}` })).toEqual({ calls: 1, attempts: 1, durationMs: 1, cost: 5 });
}

describe.skipIf(missing !== undefined)("PostgreSQL", () => {
  test("W1/tables: tables of version 1 open, and every record in them goes on", async () => {
    const schema = nextSchema();
    const text = readFileSync(new URL("fixtures/version-1.sql", import.meta.url), "utf8");
    await pool.query(text.replaceAll("agent_adapter_fixture_v1", schema));
    await expect(opensVersion1(await openPostgres(pool, { schema }))).resolves.toBeUndefined();
  });

  test("W1/tables: many who open a new schema at once make its tables once", async () => {
    const schema = nextSchema();
    await Promise.all(Array.from({ length: 8 }, () => openPostgres(pool, { schema })));
    expect((await pool.query(`SELECT version FROM "${schema}".versions`)).rows).toEqual([{ version: 1 }]);
  });

  test("W1/tables: tables of a newer release are refused", async () => {
    const schema = nextSchema();
    await openPostgres(pool, { schema });
    await pool.query(`INSERT INTO "${schema}".versions VALUES (99)`);
    await expect(openPostgres(pool, { schema })).rejects.toThrow(/version 99/);
  });

  test("A11/prune: pruning leaves what still guards or waits", async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const stores = await openPostgres(pool, { schema: nextSchema(), clock });
    await expect(checksPruning(stores, clock)).resolves.toBeUndefined();
  });

  test("A11/postgres, B25, B48, B51: hostile values come back unchanged or are refused before anything is written", async () => {
    const stores = await openPostgres(pool, { schema: nextSchema(), ledger: { arguments: true } });
    await expect(keepsHostileValues(stores)).resolves.toBeUndefined();
  });

  test("A11/postgres: list by status, run and thread, consume, claim and prune use indexes", async () => {
    const schema = nextSchema();
    await openPostgres(pool, { schema });
    // Enough rows that reading a whole table is not the fastest way.
    await pool.query(`INSERT INTO "${schema}".approvals (id, status, run_key, thread_key, request, created_at, over_at)
        SELECT md5(n::text), CASE WHEN n % 50 = 0 THEN 'pending' ELSE 'used' END, 'run' || n, 'thread' || n % 500, '{}', n, n
        FROM generate_series(1, 5000) n;
      INSERT INTO "${schema}".claims SELECT md5(n::text), 't', n, n FROM generate_series(1, 5000) n;
      INSERT INTO "${schema}".ledger (id_key, run_key, tool_key, names, status, attempts, duration_ms, cost, started_at, ends)
        SELECT md5(n::text), 'run' || n % 500, 'pay', '{}', 'ok', 1, 1, 1, n, '' FROM generate_series(1, 5000) n`);
    for (const table of ["approvals", "claims", "ledger"]) await pool.query(`ANALYZE "${schema}".${table}`);
    const explain = async (text: string) => {
      const { rows } = await pool.query<Record<string, string>>(`EXPLAIN ${text}`);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    };
    await expect(usesIndexes(explain, `"${schema}".`)).resolves.toBeUndefined();
  });

  test.each([["public2"], ["Mixed_Case"]])("a schema of any name: %s", async (name) => {
    const schema = `${name}_${nextSchema()}`;
    await expect(livesThrough(await openPostgres(pool, { schema }))).resolves.toBeUndefined();
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
  });

  test("a schema that is no plain name, and options that are none, are refused", async () => {
    for (const schema of ["", "a-b", 'a"; DROP TABLE x; --', "1a", "é", "x".repeat(49)]) {
      await expect(openPostgres(pool, { schema })).rejects.toMatchObject({ kind: "ToolUsageError" });
    }
    // A caller without types may pass anything.
    await expect(openPostgres(pool, { shema: "x" } as never)).rejects.toThrow(/shema/);
  });

  test("A11/postgres: a role that may not make tables uses those that are there", async () => {
    const schema = nextSchema();
    await openPostgres(pool, { schema });
    const role = `role_${schema}`;
    await pool.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA "${schema}" TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO ${role}`);
    const client = await pool.connect();
    await client.query(`SET ROLE ${role}`);
    await livesThrough(await openPostgres(client, { schema }));
    await expect(openPostgres(client, { schema: "not_there" })).rejects.toMatchObject({ kind: "StoreUnavailable" });
    await client.query("RESET ROLE");
    client.release();
    await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });

  test("A11/postgres: every statement may come to another session, as behind a pooler", async () => {
    const anySession: PostgresPool = {
      query: async (text, values) => {
        const client = await clientOf(server.url);
        try {
          return await client.query(text, values);
        } finally {
          await client.end();
        }
      },
    };
    const stores = await openPostgres(anySession, { schema: nextSchema() });
    await expect(livesThrough(stores)).resolves.toBeUndefined();
  });

  test("A11/postgres: an answer that was lost is asked for again, and what happened happened once", async () => {
    const losing = forgetful(pool);
    const stores = await openPostgres(losing, { schema: nextSchema() });
    await livesThrough(stores);
    expect(losing.lost).toBeGreaterThan(10);
  });

  test("A11/postgres, A5: races under serializable isolation have one winner", async () => {
    const strict = poolOf(`${server.url}?options=-c%20default_transaction_isolation%3Dserializable`, 8);
    const stores = await openPostgres(strict, { schema: nextSchema() });
    const { id } = await stores.approvals.create(request(1));
    const all = Array.from({ length: 8 }, (_, n) => n);
    const decided = await Promise.allSettled(all.map((n) => stores.approvals.decide(id, approve({ by: `${n}` }))));
    const used = await Promise.allSettled(all.map((n) => stores.approvals.consume(id, `${n}`)));
    const claimed = await Promise.allSettled(all.map((n) => stores.claims.claim("b", `${n}`, 1)));
    for (const results of [decided, used, claimed]) {
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const kinds = results.flatMap((result) =>
        result.status === "rejected" ? [Reflect.get(result.reason, "kind")] : [],
      );
      expect(new Set(kinds)).toEqual(new Set(["ApprovalAlreadyDecided"]));
    }
    await strict.end();
  });

  test("A11/wait: a worker hears of a decision at once, and finds it when its connection was cut", async () => {
    const schema = nextSchema();
    const ear = await clientOf(server.url);
    const worker = await openPostgres(pool, { schema, listen: ear });
    const reviewer = await openPostgres(pool, { schema });
    const { id } = await worker.approvals.create(request(1));
    const waiting = worker.approvals.waitForDecision(id, { timeoutMs: 4000 });
    // Longer than the looks in between of who does not hear.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await reviewer.approvals.decide(id, approve({ by: "ana" }));
    expect((await waiting).decidedBy).toBe("ana");

    const second = await worker.approvals.create(request(2));
    const cut = worker.approvals.waitForDecision(second.id, { timeoutMs: 10_000 });
    await pool.query("SELECT pg_terminate_backend($1)", [Reflect.get(ear, "processID")]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await reviewer.approvals.decide(second.id, approve({ by: "bob" }));
    expect((await cut).decidedBy).toBe("bob");
    await worker.close();
    expect(ear.listenerCount("notification")).toBe(0);
  });

  test("a connection that cannot listen is refused", async () => {
    const deaf: ListenClient = {
      query: () => Promise.reject(new Error("no")),
      on: () => deaf,
      removeListener: () => deaf,
    };
    await expect(openPostgres(pool, { schema: nextSchema(), listen: deaf })).rejects.toMatchObject({
      kind: "StoreUnavailable",
    });
  });
});

reportSkipped(TESTS, "PostgreSQL");
