// Processes are killed at any moment of a thread's life: before or after any read or write of a store, anywhere in a body. A
// person follows the documented steps. Never two runs for one answer, never one answer for two calls, every thread ends.
import { afterAll, describe, expect, test } from "vitest";
import { poolOf, reportSkipped, startPostgres, whyNoPostgres } from "../support/postgres.js";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { SaverPlace } from "../support/children/graph-worker.js";
import { seeded } from "../support/child.js";
import { killRounds } from "../support/graph-kills.js";

const ROUNDS = Number(process.env["AGENT_ADAPTER_CHAOS_ROUNDS"] ?? 100);

async function rounds(name: string, seed: number, saver?: SaverPlace): Promise<readonly string[]> {
  const tally = await killRounds({ rounds: ROUNDS, random: seeded(seed), ...(saver === undefined ? {} : { saver }) });
  const { wrong, ...counts } = tally;
  console.log(`${name}, killed:`, counts);
  expect(tally.kills).toBeGreaterThan(ROUNDS / 2);
  expect(tally.runs).toBeGreaterThanOrEqual(2 * ROUNDS);
  return wrong;
}

describe("A6, B11, B12: SIGKILL between any two effects", () => {
  test("SqliteSaver: one run per answer, one answer per call, every thread is finished by a person", async () => {
    expect(await rounds("SqliteSaver", 20_261_130)).toEqual([]);
  }, 1_800_000);

  describe.skipIf(whyNoPostgres() !== undefined)("on a real server", () => {
    test("PostgresSaver: the same", async () => {
      const server = await startPostgres();
      const schema = `asks_${process.pid}`;
      const pool = poolOf(server.url);
      await new PostgresSaver(pool, undefined, { schema }).setup();
      const place = { engine: "postgres", url: server.url, schema } as const;
      expect(await rounds("PostgresSaver", 20_261_131, place)).toEqual([]);
      await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      await pool.end();
      await server.stop();
    }, 1_800_000);
  });
});

afterAll(() => reportSkipped(1, "kills on PostgresSaver"));
