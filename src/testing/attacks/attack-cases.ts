// Every case of the kit, family by family.

import type { AttackCase } from "./attack-case.js";
import { BARE } from "./cases/bare.js";
import { BLIND_SIGNED } from "./cases/blind-signed.js";
import { CRASH } from "./cases/crash.js";
import { EXPIRED } from "./cases/expired.js";
import { FORGED } from "./cases/forged.js";
import { HONEST } from "./cases/honest.js";
import { MOVED } from "./cases/moved.js";
import { POISONED } from "./cases/poisoned.js";
import { RACED } from "./cases/raced.js";
import { REPLAYED } from "./cases/replayed.js";
import { STALE } from "./cases/stale.js";
import { SWAPPED } from "./cases/swapped.js";

/** All of it is JSON: pick, print or port what you need. */
export const ATTACK_CASES: readonly AttackCase[] = [
  ...HONEST,
  ...FORGED,
  ...BARE,
  ...SWAPPED,
  ...REPLAYED,
  ...RACED,
  ...STALE,
  ...MOVED,
  ...EXPIRED,
  ...POISONED,
  ...BLIND_SIGNED,
  ...CRASH,
];
