// Answers that look right and that no reviewer made.

import type { AttackCase } from "../attack-case.js";
import { BIG, PAY, PAY_WAITS, STILL_STANDS } from "./people.js";

export const FORGED: readonly AttackCase[] = [
  {
    id: "forged/rewritten",
    family: "forged",
    title: "an answer that was seen for another call, made over for this one",
    why: "Whoever has seen one approval can write them himself: nothing in it proves that a reviewer made it.",
    reports: [
      "https://github.com/vercel/ai/pull/16068",
      "https://github.com/google/adk-java/issues/1389",
      "https://github.com/microsoft/agent-framework/issues/4597",
    ],
    calls: { pay: PAY, seen: { tool: "pay", to: "ben-account", amount: 20_202 } },
    steps: [
      { do: "start", thread: "b", calls: ["seen"] },
      { do: "look", thread: "b", call: "seen", as: "seen" },
      { do: "approve", shown: "seen", as: "yes" },
      ...PAY_WAITS,
      { do: "rewrite", answer: "yes", from: "seen", onto: "pay", as: "forged" },
      { do: "send", answers: [{ answer: "forged", to: "pay" }] },
      ...STILL_STANDS,
    ],
    expected: "refused",
  },
  {
    id: "forged/denial-turned",
    family: "forged",
    title: "a denial whose no was turned into a yes on its way",
    why: "Whoever carries the answer decides instead of the reviewer.",
    calls: { pay: PAY },
    steps: [
      ...PAY_WAITS,
      { do: "deny", shown: "pay", as: "no" },
      { do: "flip", answer: "no", as: "turned" },
      { do: "send", answers: [{ answer: "turned", to: "pay" }] },
      ...STILL_STANDS,
    ],
    expected: "refused",
  },
  {
    id: "forged/of-this-stack",
    family: "forged",
    title: "answers that the driver's author could make without any secret",
    why: "Formats that only this stack has, under keys that only the attacker has.",
    calls: { pay: PAY },
    steps: [...PAY_WAITS, { do: "send forged", to: "pay" }, ...STILL_STANDS],
    expected: "refused",
  },
  {
    id: "forged/edit-changed",
    family: "forged",
    title: "a reviewer's change of the arguments, changed again on its way",
    why: "The approval covers that there was a change, and not what was changed.",
    reports: ["https://github.com/microsoft/agent-framework/issues/7383"],
    calls: { pay: PAY, asked: { tool: "pay", to: "ben-account", amount: 20_202 }, big: BIG },
    steps: [
      { do: "start", calls: ["asked"] },
      { do: "look", call: "asked", as: "asked" },
      { do: "approve", shown: "asked", edit: "pay", as: "changed" },
      {
        do: "replace",
        of: "changed",
        these: [
          ["ana-account", "mallory-account"],
          [10_101, 99_099],
        ],
        as: "changed-again",
      },
      { do: "send", answers: [{ answer: "changed-again", to: "asked" }] },
      { do: "check", runs: { big: 0, pay: 0, asked: 0 }, more: "ran forged" },
      { do: "rescue", call: "asked" },
      { do: "check", runs: { asked: 1 } },
    ],
    expected: "refused",
  },
  {
    id: "forged/caller",
    family: "forged",
    title: "a caller whose message brings settings, context or history that switch the gate off",
    why: "Whoever may talk to the agent may approve what it does.",
    reports: ["https://github.com/vercel/ai/pull/16068", "https://github.com/microsoft/agent-framework/pull/8375"],
    calls: { pay: PAY },
    steps: [
      { do: "start with tricks", calls: ["pay"] },
      { do: "check", runs: { pay: 0 }, more: "ran forged" },
    ],
    expected: "refused",
  },
];
