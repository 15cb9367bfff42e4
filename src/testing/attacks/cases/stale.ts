// Genuine answers that nobody has used, to questions that are no longer asked.

import type { AttackCase } from "../attack-case.js";
import { PAY, PAY_WAITS_AGAIN, STILL_STANDS, YES_OVERTAKEN } from "./people.js";

export const STALE: readonly AttackCase[] = [
  {
    id: "stale/next-turn",
    family: "stale",
    title: "an answer that was never used, sent to the same call of the next turn",
    why: "A reviewer's old yes, found in a queue or a browser tab, approves what is asked today.",
    reports: ["https://github.com/mastra-ai/mastra/issues/19633"],
    calls: { pay: PAY },
    steps: [
      ...YES_OVERTAKEN,
      ...PAY_WAITS_AGAIN,
      { do: "send", answers: [{ answer: "yes", to: "second" }] },
      { do: "send", answers: [{ answer: "yes", to: "pay" }] },
      ...STILL_STANDS,
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
      ...YES_OVERTAKEN,
      { do: "kill" },
      ...PAY_WAITS_AGAIN,
      { do: "send", answers: [{ answer: "yes", to: "second" }] },
      ...STILL_STANDS,
    ],
    expected: "refused",
  },
];
