// The runner itself: nothing passes in silence, whatever a driver does or fails to do.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ATTACK_CASES, formatAttackTable, runAttacks, type AttackCase } from "agent-adapter/testing";
import { WITH_TSX } from "./with-tsx.js";

const folder = mkdtempSync(join(tmpdir(), "aa-runner-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const IDLE = `{
  start: async () => {}, pending: async () => [], approve: async () => "yes", deny: async () => "no",
  answer: async () => {}, goOn: async () => {}, close: async () => {},
}`;

/** A driver of a few lines of JavaScript. */
function driver(name: string, { session = IDLE, lacks = {} }: { session?: string; lacks?: object }) {
  const module = join(folder, `${name}.mjs`);
  const driven = `{ name: ${JSON.stringify(name)}, lacks: ${JSON.stringify(lacks)}, open: async (world) => (${session}) }`;
  writeFileSync(module, `export const attackDriver = () => (${driven});\n`);
  return { module, execArgv: WITH_TSX };
}

function named(...ids: readonly string[]): readonly AttackCase[] {
  return ATTACK_CASES.filter(({ id }) => ids.includes(id));
}

describe("the runner", () => {
  test("Q1: a driver that does nothing passes nothing: its rows are errors", async () => {
    const rows = await runAttacks(driver("idle", {}));
    // It names no tricks of callers, so there was nothing to try.
    expect(rows.filter(({ ok }) => ok).map((row) => row.case)).toEqual(["forged/caller"]);
    expect(new Set(rows.filter(({ ok }) => !ok).map(({ outcome }) => outcome))).toEqual(new Set(["error"]));
  });

  test("Q1: what a stack lacks is not applicable, with the reason in row and table", async () => {
    const rows = await runAttacks(driver("poor", { lacks: { restart: "it has no disk" } }), {
      cases: named("honest/restart"),
    });
    expect(rows).toMatchObject([{ outcome: "not applicable", ok: true, detail: "it has no disk" }]);
    expect(formatAttackTable(rows)).toContain("- poor: it has no disk (honest/restart)");
  });

  test("Q1: a stack that runs the call without asking is no error of its driver", async () => {
    const session = `Object.assign(${IDLE}, {
      start: async (thread, [call]) => { await world.tools.find(({ name }) => name === call.tool).run(call.args); },
    })`;
    const rows = await runAttacks(driver("eager", { session }), { cases: named("honest/approve", "bare/words") });
    expect(rows.map(({ outcome }) => outcome)).toEqual(["ran forged", "ran forged"]);
  });

  test("Q1: a driver that does not answer is an error, and the cases after it still run", async () => {
    const session = `Object.assign(${IDLE}, { start: (thread) => thread.startsWith("honest-approve") ? new Promise(() => {}) : Promise.resolve() })`;
    const rows = await runAttacks(driver("stuck", { session }), {
      cases: named("honest/approve", "honest/deny"),
      stepTimeoutMs: 5000,
    });
    expect(rows.map(({ outcome, detail }) => [outcome, detail])).toEqual([
      ["error", "start: no answer within 5000 ms"],
      ["error", "nothing waits for big"],
    ]);
  });

  test("Q1: where two calls should wait together and do not, the error says what to name under lacks", async () => {
    const rows = await runAttacks(driver("single", {}), { cases: named("honest/two-together") });
    expect(rows.map(({ detail }) => detail)).toEqual([
      "nothing waits for pay: if your stack asks for one call at a time, name `several` under `lacks`",
    ]);
  });

  test("Q1: what was approved and did not run is never called a run, and is right only where the case says so", async () => {
    const waits = `Object.assign(${IDLE}, {
      start: async (thread, calls) => { waiting = calls; },
      pending: async () => waiting.map((call) => ({ ...call, raw: call })),
    })`;
    const [may, must] = ["may", "must"].map((id): AttackCase => ({
      id: `honest/${id}`,
      family: "honest",
      title: "a call that is never answered",
      why: "Nothing ran.",
      calls: { pay: { tool: "pay", to: "ana-account", amount: 10_101 } },
      steps: [
        { do: "start", calls: ["pay"] },
        { do: "look", call: "pay", as: "pay" },
        { do: "check", runs: { pay: [0, 1] } },
      ],
      expected: "ran once",
      ...(id === "may" ? { alsoRight: "not run" as const } : {}),
    }));
    const session = `((waiting) => (${waits}))([])`;
    const cases = [may, must].filter((each) => each !== undefined);
    const rows = await runAttacks(driver("silent", { session }), { cases });
    expect(rows.map(({ outcome, ok }) => [outcome, ok])).toEqual([
      ["not run", true],
      ["not run", false],
    ]);
    expect(formatAttackTable(rows)).toContain("| as it should be | 1 of 2 |");
  });

  test("Q1: a driver whose process ends is an error, and the next case gets another process", async () => {
    const session = `Object.assign(${IDLE}, { start: async (thread) => { if (thread.startsWith("honest-approve")) process.exit(3); } })`;
    const rows = await runAttacks(driver("mortal", { session }), { cases: named("honest/approve", "honest/deny") });
    expect(rows.map(({ outcome, detail }) => [outcome, detail])).toEqual([
      ["error", "the process ended"],
      ["error", "nothing waits for big"],
    ]);
  });

  test("Q1: a module that is no driver is refused by name", async () => {
    const module = join(folder, "empty.mjs");
    writeFileSync(module, "export const other = 1;\n");
    await expect(runAttacks({ module, execArgv: WITH_TSX })).rejects.toThrow(/exports no attackDriver/);
  });

  test("Q1: every case is JSON, and its id says its family", () => {
    expect(JSON.parse(JSON.stringify(ATTACK_CASES))).toEqual(ATTACK_CASES);
    expect(new Set(ATTACK_CASES.map(({ id }) => id)).size).toBe(ATTACK_CASES.length);
    for (const { id, family } of ATTACK_CASES) expect(id.split("/")[0]).toBe(family);
  });
});
