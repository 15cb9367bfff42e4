// Ten callers answer one request at the same moment, in one process and from four, 200 times each way: one run, whatever
// storage is beside the checkpointer. What callers were told is printed.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { poolOf, reportSkipped, startPostgres, whyNoPostgres, type PostgresServer } from "../support/postgres.js";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { race, RaceTrack } from "../support/graph-races.js";

const ROUNDS = Number(process.env["AGENT_ADAPTER_CHAOS_ROUNDS"] ?? 200);
const HOWS = ["resume", "by-id", "plain"] as const;

function races(name: string, track: () => RaceTrack): void {
  for (const claims of [false, true]) {
    for (const how of HOWS) {
      test(`${name}, ${how}, ${claims ? "with" : "without"} claims`, async () => {
        const { wrong, ...counts } = await race(track(), { how, claims, rounds: ROUNDS });
        console.log(`${name}, ${how}, ${claims ? "with" : "without"} claims:`, counts);
        expect(wrong).toEqual([]);
        expect(counts.runs).toBe(ROUNDS);
      }, 1_800_000);
    }
  }
}

describe("A5/table, A5/claims, B09: ten resumes at once, one run", () => {
  describe("four processes on one file", () => {
    let track: RaceTrack;
    beforeAll(async () => {
      track = await RaceTrack.open();
    });
    afterAll(() => track.close());
    races("SqliteSaver", () => track);
  });

  describe.skipIf(whyNoPostgres() !== undefined)("four processes on one server", () => {
    const schema = `races_${process.pid}`;
    let server: PostgresServer;
    let track: RaceTrack;
    beforeAll(async () => {
      server = await startPostgres();
      const pool = poolOf(server.url);
      await new PostgresSaver(pool, undefined, { schema }).setup();
      await pool.end();
      track = await RaceTrack.open({ engine: "postgres", url: server.url, schema });
    });
    afterAll(async () => {
      await track.close();
      const pool = poolOf(server.url);
      await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      await pool.end();
      await server.stop();
    });
    races("PostgresSaver", () => track);
  });
});

afterAll(() => reportSkipped(6, "races on PostgresSaver"));
