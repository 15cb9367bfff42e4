// The attack kit against every way to run tools with this package, on every storage. A case that does not apply is named here, so
// that none goes missing in silence.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACK_CASES, formatAttackTable, runAttacks } from "agent-adapter/testing";
import { reportSkipped, startPostgres, whyNoPostgres, type PostgresServer } from "../support/postgres.js";
import { WITH_TSX } from "./with-tsx.js";

/** No edit of ours can name a tool. */
const NO_EDIT_TOOL = ["blind-signed/edited-into-another-tool"];
const NO_STATE = [
  "replayed/earlier-point",
  "replayed/rolled-back",
  "replayed/rolled-back-and-restarted",
  "moved/before-the-answer",
  "moved/after-the-answer",
  "moved/under-an-answer",
  "blind-signed/state-edited",
];
const ONE_PROCESS = [
  "honest/restart",
  "replayed/other-process",
  "replayed/after-restart",
  "replayed/rolled-back-and-restarted",
  "raced/two-processes",
  "raced/other-process-while-it-runs",
  "raced/go-on-elsewhere",
  "stale/after-restart",
  "poisoned/then-restart",
  "blind-signed/tool-changed",
  "crash/after-the-effect",
  "crash/before-the-effect",
  "crash/neighbour",
];

const DRIVERS: readonly (readonly [what: string, file: string, lacking: readonly string[]])[] = [
  ["an executor with a store", "plain.ts", [...NO_EDIT_TOOL, ...NO_STATE]],
  ["toolNode", "tool-node.ts", NO_EDIT_TOOL],
  ["oneUse", "one-use.ts", NO_EDIT_TOOL],
  ["a compiled flow", "compiled-flow.ts", NO_EDIT_TOOL],
  ["agentAdapterMiddleware", "agent.ts", NO_EDIT_TOOL],
];
const ENGINES = ["memory", "sqlite", ...(whyNoPostgres() === undefined ? ["postgres"] : [])];
const TABLE = ENGINES.flatMap((engine) =>
  DRIVERS.map(([what, file, lacking]) => ({
    what,
    file,
    engine,
    lacking: engine === "memory" ? [...new Set([...lacking, ...ONE_PROCESS])] : lacking,
  })),
);

let server: PostgresServer | undefined;
beforeAll(async () => {
  if (whyNoPostgres() === undefined) server = await startPostgres();
});
afterAll(async () => {
  await server?.stop();
  reportSkipped(DRIVERS.length, "attacks on PostgreSQL");
});

describe("the attack kit", () => {
  test.each(TABLE)(
    "Q1: every attack on $what with $engine comes to nothing",
    async ({ file, engine, lacking }) => {
      const module = fileURLToPath(new URL(`drivers/${file}`, import.meta.url));
      const rows = await runAttacks(
        {
          module,
          settings: { engine, url: server?.url ?? "" },
          execArgv: WITH_TSX,
        },
        { stepTimeoutMs: 300_000 },
      );
      const bad = rows.filter(({ ok }) => !ok);
      expect(bad.length === 0 ? "" : formatAttackTable(bad)).toBe("");
      expect(rows.map((row) => row.case)).toEqual(ATTACK_CASES.map(({ id }) => id));
      const left = rows.filter(({ outcome }) => outcome === "not applicable");
      expect(left.map((row) => row.case).toSorted()).toEqual([...lacking].toSorted());
    },
    600_000,
  );
});
