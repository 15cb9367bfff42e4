// Every case can fail: a small stack passes all of them, and with a protection switched off exactly the cases fail that are about it,
// each with the outcome that names what went wrong.
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ATTACK_CASES, runAttacks, type AttackOutcome, type AttackRow } from "agent-adapter/testing";
import { WITH_TSX } from "../with-tsx.js";
import { BROKEN } from "./missing-protections.js";
import type { Switch } from "./small-stack.js";

const module = fileURLToPath(new URL("small-stack.ts", import.meta.url));

function attacked(without: readonly Switch[]): Promise<AttackRow[]> {
  return runAttacks({ module, settings: { without: [...without] }, execArgv: WITH_TSX }, { stepTimeoutMs: 300_000 });
}

function redOf(rows: readonly AttackRow[]): Record<string, AttackOutcome> {
  return Object.fromEntries(rows.filter(({ ok }) => !ok).map((row) => [row.case, row.outcome]));
}

describe("the attack kit finds what is missing", () => {
  test("Q1: a small stack with every protection passes every case, and every case applies", async () => {
    const rows = await attacked([]);
    expect(redOf(rows)).toEqual({});
    expect(rows.filter(({ outcome }) => outcome === "not applicable")).toEqual([]);
  });

  test.concurrent.each(BROKEN)("Q1: without $what, exactly the cases about it are red", async ({ without, red }) => {
    expect(redOf(await attacked(without))).toEqual(red);
  });

  test("Q1: every case is red for some missing protection", () => {
    const red = new Set(BROKEN.flatMap((each) => Object.keys(each.red)));
    expect(ATTACK_CASES.map(({ id }) => id).filter((id) => !red.has(id))).toEqual([]);
  });
});
