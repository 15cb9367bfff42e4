// Processes that run a compiled flow are killed at any moment of it: before or after any read or write of the checkpointer, anywhere in a
// tool. A person follows the documented steps. The one window in which a plain call repeats lies between its effect and its row.
import { afterAll, describe, expect, test } from "vitest";
import { poolOf, reportSkipped, startPostgres, whyNoPostgres } from "../support/postgres.js";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { SaverPlace } from "../support/children/moments.js";
import { seeded } from "../support/child.js";
import { CompiledProcesses, compiledKillRounds } from "../support/compiled-kills.js";

const ROUNDS = Number(process.env["AGENT_ADAPTER_CHAOS_ROUNDS"] ?? 60);

async function rounds(name: string, seed: number, saver?: SaverPlace): Promise<readonly string[]> {
  const processes = new CompiledProcesses(saver);
  const { wrong, ...counts } = await compiledKillRounds(processes, { rounds: ROUNDS, random: seeded(seed) });
  await processes.stop();
  console.log(`compiled flows on ${name}, killed:`, counts);
  expect(counts.kills).toBeGreaterThan(ROUNDS);
  expect(counts.runs).toBeGreaterThanOrEqual(ROUNDS);
  return wrong;
}

describe("C4, J4/compiled, B11: SIGKILL between any two effects of a compiled flow", () => {
  test("SqliteSaver: one run per answer, one entry per call, no written call twice, every flow is finished", async () => {
    expect(await rounds("SqliteSaver", 20_261_132)).toEqual([]);
  }, 1_800_000);

  describe.skipIf(whyNoPostgres() !== undefined)("on a real server", () => {
    test("PostgresSaver: the same", async () => {
      const server = await startPostgres();
      const schema = `compiled_${process.pid}`;
      const pool = poolOf(server.url);
      await new PostgresSaver(pool, undefined, { schema }).setup();
      const place = { engine: "postgres", url: server.url, schema } as const;
      expect(await rounds("PostgresSaver", 20_261_133, place)).toEqual([]);
      await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      await pool.end();
      await server.stop();
    }, 1_800_000);
  });
});

afterAll(() => reportSkipped(1, "kills of compiled flows on PostgresSaver"));
