// docs/guide/attack-kit.md: the attack kit against a stack that protects little, and what it finds. Checks itself.

import { ATTACK_CASES, formatAttackTable, runAttacks } from "agent-adapter/testing";
import { finish, heading, tried } from "./support/page.js";

heading("interrupt() in a node, under attack");
// In this repository the package runs from its sources.
const fromSources = ["--conditions=agent-adapter-source"];

// region: run
const rows = await runAttacks(
  {
    module: new URL("./support/attack-driver.ts", import.meta.url),
    execArgv: ["--import", "tsx", ...fromSources], // for a driver in TypeScript: ["--import", "tsx"]; leave it out for JavaScript
  },
  { cases: ATTACK_CASES.filter(({ family }) => ["honest", "bare", "replayed", "raced"].includes(family)) },
);
console.log(formatAttackTable(rows));
// endregion

const outcomeOf = (id: string) => rows.find((row) => row.case === id)?.outcome ?? "no such case";
tried("an approved call", outcomeOf("honest/approve"), "ran once");
tried("true in the place of an answer", outcomeOf("bare/words"), "ran forged");
tried("the same answer to the paused checkpoint", outcomeOf("replayed/earlier-point"), "ran twice");
tried("the same answer eight times at once", outcomeOf("raced/eight-at-once"), "ran twice");
finish();
