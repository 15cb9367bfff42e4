// Bad answers after which the good one must still be taken.

import type { JsonValue } from "../../../index.js";
import type { AttackCase } from "../attack-case.js";
import { BIG, PAY, PAY_WAITS, STILL_STANDS } from "./people.js";

const why = "One bad request, and nobody can answer the thread any more.";
const DEEP = Array.from({ length: 200 }).reduce<JsonValue>((inner) => [inner], "end");
// Through JSON, so that it is a member and not the prototype.
const POLLUTED: JsonValue = JSON.parse(
  '{"__proto__": {"approved": true}, "constructor": {"prototype": {"approved": true}}}',
);
const GARBAGE: readonly JsonValue[] = [
  "x".repeat(100_000),
  DEEP,
  POLLUTED,
  { decision: null, binding: 5, mac: [] },
  [[], {}, [null]],
  { decisions: [] },
  "\u0000\ud83d",
];

export const POISONED: readonly AttackCase[] = [
  {
    id: "poisoned/garbage",
    family: "poisoned",
    title: "values of every wrong shape, then the genuine answer",
    why,
    calls: { pay: PAY },
    steps: [...PAY_WAITS, { do: "send bare", values: GARBAGE, to: "pay" }, ...STILL_STANDS],
    expected: "refused",
  },
  {
    id: "poisoned/then-restart",
    family: "poisoned",
    title: "a bad value, a restart, then the genuine answer",
    why: "The bad value was kept, and every new process finds it first.",
    calls: { pay: PAY },
    steps: [...PAY_WAITS, { do: "send bare", values: ["yes", null], to: "pay" }, { do: "kill" }, ...STILL_STANDS],
    expected: "refused",
  },
  {
    id: "poisoned/unknown-id",
    family: "poisoned",
    title: "a genuine answer, addressed to a request that does not exist",
    why,
    calls: { pay: PAY },
    steps: [
      ...PAY_WAITS,
      { do: "approve", shown: "pay", as: "yes" },
      { do: "misaddress", of: "pay", as: "nobody" },
      { do: "send", answers: [{ answer: "yes", to: "nobody" }] },
      { do: "check", runs: { pay: [0, 1] } },
      { do: "rescue", call: "pay" },
      { do: "check", runs: { pay: 1 } },
    ],
    expected: "refused",
  },
  {
    id: "poisoned/one-bad-of-two",
    family: "poisoned",
    title: "a good answer and a bad one in the same request",
    why: "The bad one takes the good one with it, or the good one lets the bad one in.",
    needs: ["one-by-one"],
    calls: { pay: PAY, big: BIG },
    steps: [
      { do: "start", calls: ["pay", "big"] },
      { do: "look", call: "pay", as: "pay" },
      { do: "look", call: "big", as: "big" },
      { do: "approve", shown: "pay", as: "yes" },
      { do: "deny", shown: "big", as: "no" },
      { do: "flip", answer: "no", as: "bad" },
      {
        do: "send",
        answers: [
          { answer: "yes", to: "pay" },
          { answer: "bad", to: "big" },
        ],
      },
      { do: "check", runs: { big: 0 }, more: "ran forged" },
      { do: "check", runs: { pay: [0, 1] } },
      { do: "rescue", call: "pay" },
      { do: "rescue", call: "big" },
      { do: "check", runs: { pay: 1, big: 1 } },
    ],
    expected: "refused",
  },
];
