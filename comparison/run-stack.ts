// Runs the attack kit on one driver and prints each row as a line of JSON. Started by compare.ts, with the Node that the stack needs.

import { pathToFileURL } from "node:url";
import { runAttacks } from "../src/testing/attacks/run-attacks.js";

const [, , file = "", settings = "null"] = process.argv;
await runAttacks(
  { module: pathToFileURL(file), settings: JSON.parse(settings) },
  { onRow: (row) => process.stdout.write(`${JSON.stringify(row)}\n`) },
);
