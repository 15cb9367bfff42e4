// The flows that both runners treat alike, as data. What holds for all of them is in the two tests beside this file.
import { approvals, gates } from "./cases/humans.js";
import { steps } from "./cases/steps.js";
import { joins, loops, routes } from "./cases/ways.js";
import { failures, maps, merges } from "./cases/work.js";
import type { ParityCase } from "./world.js";

export const CASES = {
  steps,
  joins,
  routes,
  loops,
  maps,
  merges,
  failures,
  gates,
  approvals,
} as const satisfies Readonly<Record<string, readonly ParityCase[]>>;
