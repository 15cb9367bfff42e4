// Properties proved: what each parity case comes to in the local runner is what its author says, in one process and over many.
import { describe, expect, test } from "vitest";
import { CASES } from "./cases.js";
import { runLocally, type Seen } from "./run.js";
import type { Ending, ParityCase } from "./world.js";

/** What was seen, of what the ending names. */
function endingOf(seen: Seen, named: Ending): Ending {
  // What a state holds is its own business; only named fields are looked at.
  const state = (seen.state ?? {}) as Readonly<Record<string, unknown>>;
  const all: Required<Omit<Ending, "state">> = {
    status: seen.status,
    log: state["log"] as readonly string[], // which it is in this flow
    steps: seen.steps,
    pauses: seen.pauses.length,
    error: seen.errors.at(-1)?.split(":")[0] ?? "",
    ran: seen.ran.length,
    visits: seen.visits,
  };
  const fields = Object.keys(named.state ?? {}).map((field) => [field, state[field]]);
  const ending: Ending = { ...all, state: Object.fromEntries(fields) as Ending["state"] & object };
  return Object.fromEntries(Object.entries(ending).filter(([what]) => Object.hasOwn(named, what))) as unknown as Ending;
}

describe.each(Object.entries<readonly ParityCase[]>(CASES))("F2, F3, F4, F6, F7: %s", (_topic, cases) => {
  test.each(cases)("$name", async (one) => {
    const here = await runLocally(one, "in one process");
    expect(endingOf(here, one.ends)).toEqual(one.ends);
    expect(await runLocally(one, "in a new process for every turn")).toEqual(here);
  });
});

test("there are enough of them, and no two have the same name", () => {
  const names = Object.values<readonly ParityCase[]>(CASES).flatMap((cases) => cases.map(({ name }) => name));
  expect(names.length).toBeGreaterThanOrEqual(60);
  expect(new Set(names).size).toBe(names.length);
});
