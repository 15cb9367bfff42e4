// Resumes at the same moment, in one process and from four, with and without `claims`: one run each. The same with 200 rounds
// is in test/chaos/asks-races.test.ts.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { race, RaceTrack } from "../../../support/graph-races.js";

// Other processes need a turn too on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const ROUNDS = 10;
let track: RaceTrack;
beforeAll(async () => {
  track = await RaceTrack.open();
});
afterAll(() => track.close());

describe("ten resumes at once, in one process and from four, with and without claims", () => {
  for (const how of ["resume", "by-id", "plain"] as const) {
    const named = how === "resume" ? "through `resume`" : `a raw invoke, ${how}`;
    test(`A5/table, B09: ${named}: one run each, the others are told or get the finished state`, async () => {
      const tally = await race(track, { how, rounds: ROUNDS });
      expect(tally.wrong).toEqual([]);
      expect(tally.runs).toBe(ROUNDS);
    });
  }
});
