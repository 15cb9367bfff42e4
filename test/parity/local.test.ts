// Properties proved: what each parity case comes to in the local runner is what its author says, in one process and over many.
import { describe, expect, test } from "vitest";
import { CASES } from "./cases.js";
import { runLocally, type Seen } from "./run.js";
import type { Ending, ParityCase } from "./world.js";

export function expectEnding(seen: Seen, { status, log, steps, pauses, error, state, ran, visits }: Ending): void {
  expect(seen.status).toBe(status);
  const known = seen.state as Readonly<Record<string, unknown>> | undefined;
  if (log !== undefined) expect(known?.["log"]).toEqual(log);
  if (steps !== undefined) expect(seen.steps).toBe(steps);
  if (pauses !== undefined) expect(seen.pauses).toHaveLength(pauses);
  if (error !== undefined) expect(seen.errors.at(-1)?.split(":")[0]).toBe(error);
  if (state !== undefined) expect(known).toMatchObject(state);
  if (ran !== undefined) expect(seen.ran).toHaveLength(ran);
  if (visits !== undefined) expect(seen.visits).toEqual(visits);
}

describe.each(Object.entries<readonly ParityCase[]>(CASES))("F2, F3, F4, F6, F7: %s", (_topic, cases) => {
  test.each(cases)("$name", async (one) => {
    const here = await runLocally(one, "in one process");
    expectEnding(here, one.ends);
    expect(await runLocally(one, "in a new process for every turn")).toEqual(here);
  });
});

test("there are enough of them, and no two have the same name", () => {
  const names = Object.values<readonly ParityCase[]>(CASES).flatMap((cases) => cases.map(({ name }) => name));
  expect(names.length).toBeGreaterThanOrEqual(60);
  expect(new Set(names).size).toBe(names.length);
});
