// Properties proved: a compiled flow comes to the same as the local one, case by case: status, state, steps, visits, what is shown to
// whom and when, errors, bodies that ran, the ledger; in one process, and with executor, port, registry, flow and app made anew for
// every turn from the same checkpointer, and nothing left of what the process remembered.
import { describe, expect, test } from "vitest";
import { CASES } from "./cases.js";
import { runCompiledFlow, runLocally } from "./run.js";
import type { ParityCase } from "./world.js";

async function expectParity(one: ParityCase): Promise<void> {
  const local = await runLocally(one, "in one process");
  expect(await runCompiledFlow(one, "in one process")).toEqual(local);
  expect(await runCompiledFlow(one, "in a new process for every turn")).toEqual(local);
}

describe("C1, C2: steps, names and step limits", () => {
  test.each(CASES.steps)("$name", expectParity);
});

describe("C1, C2, B42, B43: joins", () => {
  test.each(CASES.joins)("$name", expectParity);
});

describe("C1, C2, B42: routes", () => {
  test.each(CASES.routes)("$name", expectParity);
});

describe("C1, C2, B43: loops", () => {
  test.each(CASES.loops)("$name", expectParity);
});

describe("C1: maps", () => {
  test.each(CASES.maps)("$name", expectParity);
});

describe("C1, B40: merge rules", () => {
  test.each(CASES.merges)("$name", expectParity);
});

describe("C1, B08, B56: failures, retries, timeouts, tools that run once per run", () => {
  test.each(CASES.failures)("$name", expectParity);
});

describe("C1, B45: gates", () => {
  test.each(CASES.gates)("$name", expectParity);
});

describe("C1, B08, B56: approvals of tools", () => {
  test.each(CASES.approvals)("$name", expectParity);
});
