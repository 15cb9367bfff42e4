// Eight OS processes on one PostgreSQL server: races behind a barrier per record, while connections are cut, processes are
// killed, and the server itself is killed and started again.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgres } from "../../src/stores/postgres/index.js";
import { Team } from "../support/barrier.js";
import { seeded } from "../support/child.js";
import type { Target } from "../support/children/store-worker.js";
import { poolOf, reportSkipped, startPostgres, whyNoPostgres, type PostgresServer } from "../support/postgres.js";
import {
  finish,
  judgeApprovals,
  judgeClaims,
  raceForApproval,
  raceForClaim,
  type Race,
} from "../support/store-races.js";

const PROCESSES = 8;
const RECORDS = 2000;
const missing = whyNoPostgres();
const suffix = process.pid;
let found: PostgresServer | undefined;

beforeAll(async () => {
  // Durable as servers are by default: what it acknowledged must be there after it was killed.
  if (missing === undefined) found = await startPostgres({ durable: true });
});
afterAll(async () => {
  await found?.stop();
});

function server(): PostgresServer {
  if (found === undefined) throw new Error("there is no server");
  return found;
}

async function bench(name: string) {
  const { url } = server();
  const schema = `${name}_${suffix}`;
  const pool = poolOf(url);
  const stores = await openPostgres(pool, { schema });
  const target: Target = { engine: "postgres", url, schema };
  const team = await Team.start(PROCESSES, "store-worker.ts", target);
  const close = async () => {
    await team.stop();
    await stores.close();
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
    await pool.end();
  };
  return { stores, team, pool, close };
}

/** Cuts a connection of somebody every few milliseconds. */
function cutter(seed: number) {
  const pool = poolOf(server().url, 1);
  const random = seeded(seed);
  let cuts = 0;
  const over = new AbortController();
  const done = (async () => {
    while (!over.signal.aborted) {
      const { rows } = await pool.query<{ cut: boolean }>(
        `SELECT pg_terminate_backend(pid) AS cut FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY md5(pid::text || $1) LIMIT 1`,
        [String(random())],
      );
      cuts += rows.length;
      await new Promise((resolve) => setTimeout(resolve, 20 + random() * 60));
    }
    await pool.end();
  })();
  return async () => {
    over.abort();
    await done;
    return cuts;
  };
}

describe.skipIf(missing !== undefined)("A11/postgres, A5, B09, B46: processes on one server", () => {
  test("W1/tables: eight processes that open a new schema at once make its tables once", async () => {
    const { url } = server();
    const pool = poolOf(url);
    for (let round = 0; round < 3; round += 1) {
      const schema = `new_${round}_${suffix}`;
      const team = await Team.start(PROCESSES, "store-worker.ts", { engine: "postgres", url, schema });
      await team.stop();
      const { rows } = await pool.query(`SELECT version FROM "${schema}".versions`);
      expect(rows).toEqual([{ version: 1 }]);
      await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
    }
    await pool.end();
  });

  test("of two decisions and four uses at once exactly one each is kept, 2000 times", async () => {
    const { stores, team, close } = await bench("approvals");
    const races: Race[] = [];
    for (let n = 0; n < RECORDS; n += 1) races.push(await raceForApproval(team, n, stores));
    const { wrong, ...tally } = await judgeApprovals(stores, races, true);
    console.log("postgres, approvals:", tally);
    expect(wrong).toEqual([]);
    expect([tally.decided, tally.used]).toEqual([RECORDS, RECORDS]);
    await close();
  });

  test("of eight claims at once exactly one is kept, 2000 times", async () => {
    const { stores, team, close } = await bench("claims");
    const races: Race[] = [];
    for (let n = 0; n < RECORDS; n += 1) races.push(await raceForClaim(team, n));
    const { wrong, ...tally } = await judgeClaims(stores, races, true);
    console.log("postgres, claims:", tally);
    expect(wrong).toEqual([]);
    expect(tally.used).toBe(RECORDS);
    await close();
  });

  test("with connections cut all the time: never two uses, every acknowledgement true", async () => {
    const { stores, team, close } = await bench("cut");
    const stop = cutter(11);
    const races: Race[] = [];
    for (let n = 0; n < RECORDS; n += 1) races.push(await raceForApproval(team, n, stores));
    const cuts = await stop();
    const { wrong, ...tally } = await judgeApprovals(stores, races, false);
    console.log("postgres, cut:", { ...tally, cuts });
    expect(wrong).toEqual([]);
    expect(cuts).toBeGreaterThan(100);
    await finish(stores, races);
    expect((await judgeApprovals(stores, races, false)).used).toBe(RECORDS);
    await close();
  });

  test("claims with connections cut all the time: never two", async () => {
    const { stores, team, close } = await bench("cut_claims");
    const stop = cutter(12);
    const races: Race[] = [];
    for (let n = 0; n < RECORDS; n += 1) races.push(await raceForClaim(team, n));
    const cuts = await stop();
    const { wrong, ...tally } = await judgeClaims(stores, races, false);
    console.log("postgres, claims cut:", { ...tally, cuts });
    expect(wrong).toEqual([]);
    expect(cuts).toBeGreaterThan(50);
    await close();
  });

  test("processes killed at any moment: never two uses, no acknowledged decision lost", async () => {
    const { stores, team, close } = await bench("killed");
    const random = seeded(20_261_130);
    const races: Race[] = [];
    for (let n = 0; n < 300; n += 1) {
      if (random() < 0.08) {
        const [who, afterMs] = [Math.floor(random() * PROCESSES), random() * 12];
        setTimeout(() => team.kill(who), afterMs);
      }
      races.push(await raceForApproval(team, n, stores));
    }
    const { wrong, ...tally } = await judgeApprovals(stores, races, false);
    console.log("postgres, killed:", { ...tally, kills: team.killed });
    expect(wrong).toEqual([]);
    expect(team.killed).toBeGreaterThan(10);
    await finish(stores, races);
    expect((await judgeApprovals(stores, races, false)).used).toBe(300);
    await close();
  });

  test("the server killed and started again: every acknowledged decision and use is there", async ({ skip }) => {
    if (!server().isOurs) skip("the server of AGENT_ADAPTER_TEST_POSTGRES is not ours to kill");
    const { stores, team, close } = await bench("server");
    const random = seeded(3);
    const races: Race[] = [];
    let kills = 0;
    for (let n = 0; n < 200; n += 1) {
      const killing =
        n % 40 === 39
          ? new Promise((resolve) => setTimeout(resolve, random() * 10)).then(() => server().killAndRestart())
          : undefined;
      races.push(await raceForApproval(team, n, stores));
      await killing;
      kills += killing === undefined ? 0 : 1;
    }
    const { wrong, ...tally } = await judgeApprovals(stores, races, false);
    console.log("postgres, server killed:", { ...tally, kills });
    expect(wrong).toEqual([]);
    expect(kills).toBe(5);
    await close();
  });
});

reportSkipped(7, "PostgreSQL under load");
