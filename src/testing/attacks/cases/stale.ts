// Genuine answers that nobody has used, to questions that are no longer asked.

import type { AttackCase } from "../attack-case.js";
import { PAY, PAY_WAITS } from "./people.js";

export const STALE: readonly AttackCase[] = [
  {
    id: "stale/next-turn",
    family: "stale",
    title: "an answer that was never used, sent to the same call of the next turn",
    why: "A reviewer's old yes, found in a queue or a browser tab, approves what is asked today.",
    reports: ["https://github.com/mastra-ai/mastra/issues/19633"],
    calls: { pay: PAY },
    steps: [
      ...PAY_WAITS,
      { do: "approve", shown: "pay", as: "yes" },
      { do: "deny", shown: "pay", as: "no" },
      { do: "send", answers: [{ answer: "no", to: "pay" }] },
      { do: "start", calls: ["pay"] },
      { do: "look", call: "pay", as: "second" },
      { do: "send", answers: [{ answer: "yes", to: "second" }] },
      { do: "send", answers: [{ answer: "yes", to: "pay" }] },
      { do: "check", runs: { pay: 0 }, more: "ran forged" },
      { do: "rescue", call: "pay" },
      { do: "check", runs: { pay: 1 } },
    ],
    expected: "refused",
  },
  {
    id: "stale/after-restart",
    family: "stale",
    title: "the same, with a restart between the turns",
    why: "The new process asks again and takes the answer to what the old one asked.",
    calls: { pay: PAY },
    steps: [
      ...PAY_WAITS,
      { do: "approve", shown: "pay", as: "yes" },
      { do: "deny", shown: "pay", as: "no" },
      { do: "send", answers: [{ answer: "no", to: "pay" }] },
      { do: "kill" },
      { do: "start", calls: ["pay"] },
      { do: "look", call: "pay", as: "second" },
      { do: "send", answers: [{ answer: "yes", to: "second" }] },
      { do: "check", runs: { pay: 0 }, more: "ran forged" },
      { do: "rescue", call: "pay" },
      { do: "check", runs: { pay: 1 } },
    ],
    expected: "refused",
  },
];
