// Genuine answers, several times at once.

import type { AttackCase, AttackStep } from "../attack-case.js";
import { PAY, PAY_WAITS } from "./people.js";

const why = "A double click, two browser tabs, or a proxy that tries again, runs the call twice.";
const APPROVED: readonly AttackStep[] = [...PAY_WAITS, { do: "approve", shown: "pay", as: "yes" }];
const YES = { answers: [{ answer: "yes", to: "pay" }] } as const;
const ONCE: AttackStep = { do: "check", runs: { pay: 1 } };

export const RACED: readonly AttackCase[] = [
  {
    id: "raced/eight-at-once",
    family: "raced",
    title: "the same answer eight times at the same moment",
    why,
    reports: ["https://github.com/vercel/ai/pull/15947"],
    calls: { pay: PAY },
    steps: [...APPROVED, { do: "race", sends: [YES], times: 8 }, ONCE],
    expected: "ran once",
  },
  {
    id: "raced/while-it-runs",
    family: "raced",
    title: "the same answer again while the call is running",
    why,
    calls: { pay: PAY },
    steps: [
      ...APPROVED,
      { do: "send and hold", ...YES, hold: "before" },
      { do: "send", ...YES },
      { do: "release" },
      ONCE,
    ],
    expected: "ran once",
  },
  {
    id: "raced/two-processes",
    family: "raced",
    title: "the same answer to two processes at the same moment",
    why,
    calls: { pay: PAY },
    steps: [...APPROVED, { do: "race", sends: [YES, { ...YES, elsewhere: true }], times: 4 }, ONCE],
    expected: "ran once",
  },
  {
    id: "raced/other-process-while-it-runs",
    family: "raced",
    title: "the same answer to another process while the call is running",
    why: "A lock in one process does not hold another one.",
    calls: { pay: PAY },
    steps: [
      ...APPROVED,
      { do: "send and hold", ...YES, hold: "before" },
      { do: "send", ...YES, elsewhere: true },
      { do: "release" },
      ONCE,
    ],
    expected: "ran once",
  },
  {
    id: "raced/go-on-elsewhere",
    family: "raced",
    title: "another process goes on with the thread while the call is running",
    why: "A supervisor that takes a slow process for a dead one runs the call a second time.",
    reports: ["https://github.com/microsoft/agent-framework/issues/3938"],
    calls: { pay: PAY },
    steps: [
      ...APPROVED,
      { do: "send and hold", ...YES, hold: "before" },
      { do: "go on", elsewhere: true },
      { do: "release" },
      ONCE,
    ],
    expected: "ran once",
  },
  {
    id: "raced/yes-and-no",
    family: "raced",
    title: "a yes and a no at the same moment",
    why: "One of them wins; the call runs once or never.",
    calls: { pay: PAY },
    steps: [
      ...APPROVED,
      { do: "deny", shown: "pay", as: "no" },
      { do: "race", sends: [YES, { answers: [{ answer: "no", to: "pay" }] }], times: 4 },
      { do: "check", runs: { pay: [0, 1] } },
    ],
    expected: "ran once",
    alsoRight: "not run",
  },
];
