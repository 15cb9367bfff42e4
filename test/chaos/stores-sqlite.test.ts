// Eight OS processes on one SQLite file: races behind a barrier per record, kills at seeded moments, everybody killed at once.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openSqlite } from "../../src/stores/sqlite/index.js";
import { Team } from "../support/barrier.js";
import { seeded } from "../support/child.js";
import type { Target } from "../support/children/store-worker.js";
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
const folder = mkdtempSync(join(tmpdir(), "aa-chaos-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function bench(name: string, synchronous: "normal" | "full") {
  const target: Target = { engine: "sqlite", path: join(folder, `${name}.db`), synchronous };
  const stores = await openSqlite(target.path, { synchronous });
  return { stores, team: await Team.start(PROCESSES, "store-worker.ts", target) };
}

describe("A11/sqlite, A5, B09, B46: processes on one file", () => {
  test("W1/tables: eight processes that open a new file at once make its tables once", async () => {
    for (let round = 0; round < 3; round += 1) {
      const path = join(folder, `new-${round}.db`);
      const target: Target = { engine: "sqlite", path, synchronous: "full" };
      const team = await Team.start(PROCESSES, "store-worker.ts", target);
      await team.stop();
      const stores = await openSqlite(path);
      expect(await stores.approvals.list()).toEqual([]);
      await stores.close();
    }
  });

  test("of two decisions and four uses at once exactly one each is kept, 2000 times", async () => {
    const { stores, team } = await bench("approvals", "normal");
    const races: Race[] = [];
    for (let n = 0; n < RECORDS; n += 1) races.push(await raceForApproval(team, n, stores));
    const { wrong, ...tally } = await judgeApprovals(stores, races, true);
    console.log("sqlite, approvals:", tally);
    expect(wrong).toEqual([]);
    expect([tally.decided, tally.used]).toEqual([RECORDS, RECORDS]);
    await team.stop();
    await stores.close();
  });

  test("of eight claims at once exactly one is kept, 2000 times", async () => {
    const { stores, team } = await bench("claims", "normal");
    const races: Race[] = [];
    for (let n = 0; n < RECORDS; n += 1) races.push(await raceForClaim(team, n));
    const { wrong, ...tally } = await judgeClaims(stores, races, true);
    console.log("sqlite, claims:", tally);
    expect(wrong).toEqual([]);
    expect(tally.used).toBe(RECORDS);
    await team.stop();
    await stores.close();
  });

  test("processes killed at any moment: never two uses, no acknowledged decision lost", async () => {
    const { stores, team } = await bench("killed", "full");
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
    console.log("sqlite, killed:", { ...tally, kills: team.killed });
    expect(wrong).toEqual([]);
    expect(team.killed).toBeGreaterThan(10);
    await finish(stores, races);
    expect((await judgeApprovals(stores, races, false)).used).toBe(300);
    await team.stop();
    await stores.close();
  });

  test("all processes killed at once, six times: every acknowledged decision and use is there afterwards", async () => {
    const { stores, team } = await bench("all", "full");
    const random = seeded(7);
    const races: Race[] = [];
    for (let n = 0; n < 60; n += 1) {
      const killing =
        n % 10 === 9
          ? new Promise((resolve) => setTimeout(resolve, random() * 15)).then(() => team.killAll())
          : undefined;
      races.push(await raceForApproval(team, n, stores));
      await killing;
    }
    await stores.close();
    const again = await openSqlite(join(folder, "all.db"));
    const { wrong, ...tally } = await judgeApprovals(again, races, false);
    console.log("sqlite, all killed:", { ...tally, kills: team.killed });
    expect(wrong).toEqual([]);
    expect(team.killed).toBe(48);
    await team.stop();
    await again.close();
  });
});
