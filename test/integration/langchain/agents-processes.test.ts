// An agent whose thread moves from one OS process to the next. Real createAgent, SqliteSaver.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startChild } from "../../support/child.js";
import type { AgentTurn } from "../../support/children/agent-worker.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "aa-agents-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function turn(more: Partial<AgentTurn> = {}) {
  const files = { database: join(folder, "checkpoints.db"), effects: join(folder, "effects") };
  const child = startChild("agent-worker.ts", { ...files, ...more } satisfies AgentTurn);
  const told = await child.next();
  await child.ended();
  if (told === undefined) throw new Error("the process ended and said nothing");
  return told;
}

const effects = () => readFileSync(join(folder, "effects"), "utf8").trim().split("\n");

test("B16, I2, L5: four processes start, refuse, approve and edit: one message per call, every tool once, each in its own", async () => {
  const first = await turn();
  expect(first["waiting"]).toEqual(["c1", "c2"]);
  const refused = await turn({ callId: "c2", how: "yes" });
  expect(refused["waiting"]).toEqual(["c1", "c2"]);
  expect(refused["tools"]).toEqual([["c3", "success", "rate 3"]]);
  const second = await turn({ callId: "c2", how: "approve" });
  expect(second["waiting"]).toEqual(["c1"]);
  const third = await turn({ callId: "c1", how: "edit", says: "All done." });
  expect(third["waiting"]).toEqual([]);
  expect(third["tools"]).toEqual([
    ["c1", "success", '[A reviewer changed the arguments of this call to {"n":20}]\npay 20'],
    ["c2", "success", "send 2"],
    ["c3", "success", "rate 3"],
  ]);
  expect(third["last"]).toBe("All done.");
  expect(effects()).toEqual([
    `rate 3 ${String(first["pid"])}`,
    `send 2 ${String(second["pid"])}`,
    `pay 20 ${String(third["pid"])}`,
  ]);
});
