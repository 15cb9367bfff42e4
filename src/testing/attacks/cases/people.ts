// The calls that most cases are about. Names and amounts are such that they stand nowhere by chance: cases replace them in bytes.

import type { AttackStep, CaseCall } from "../attack-case.js";

export const PAY: CaseCall = { tool: "pay", to: "ana-account", amount: 10_101 };
export const BIG: CaseCall = { tool: "pay", to: "mallory-account", amount: 99_099 };
export const WIPE: CaseCall = { tool: "wipe", to: "ana-account", amount: 10_101 };
export const RATE: CaseCall = { tool: "rate", to: "ana-account", amount: 30_303 };

/** The model asks for `pay`, and it waits. */
export const PAY_WAITS: readonly AttackStep[] = [
  { do: "start", calls: ["pay"] },
  { do: "look", call: "pay", as: "pay" },
];

/** The model asks for the same call in its next turn, and it waits as `second`. */
export const PAY_WAITS_AGAIN: readonly AttackStep[] = [
  { do: "start", calls: ["pay"] },
  { do: "look", call: "pay", as: "second" },
];

/** A reviewer signed a yes that nobody sent, and then said no. */
export const YES_OVERTAKEN: readonly AttackStep[] = [
  ...PAY_WAITS,
  { do: "approve", shown: "pay", as: "yes" },
  { do: "deny", shown: "pay", as: "no" },
  { do: "send", answers: [{ answer: "no", to: "pay" }] },
];

/** `pay` was approved, and has run once. */
export const PAY_RAN: readonly AttackStep[] = [
  ...PAY_WAITS,
  { do: "approve", shown: "pay", as: "yes" },
  { do: "send", answers: [{ answer: "yes", to: "pay" }] },
  { do: "check", runs: { pay: 1 } },
];

/** Nothing has run, and the genuine answer still works: the attack was refused and left nothing behind. */
export const STILL_STANDS: readonly AttackStep[] = [
  { do: "check", runs: { pay: 0 }, more: "ran forged" },
  { do: "rescue", call: "pay" },
  { do: "check", runs: { pay: 1 } },
];
