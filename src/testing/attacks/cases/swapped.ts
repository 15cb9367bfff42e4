// Genuine answers, for something else than what they were made for.

import type { AttackCase } from "../attack-case.js";
import { BIG, PAY, PAY_WAITS, STILL_STANDS, WIPE } from "./people.js";

const ELSEWHERE = "An approval is worth more than the one call it was given for.";

export const SWAPPED: readonly AttackCase[] = [
  {
    id: "swapped/other-thread",
    family: "swapped",
    title: "the answer to a call of one thread, sent to the same call of another",
    why: "One customer's approval runs the call of another one.",
    reports: ["https://github.com/mastra-ai/mastra/issues/20322"],
    calls: { pay: PAY },
    steps: [
      { do: "start", thread: "b", calls: ["pay"] },
      { do: "look", thread: "b", call: "pay", as: "theirs" },
      { do: "approve", shown: "theirs", as: "their-yes" },
      ...PAY_WAITS,
      { do: "send", answers: [{ answer: "their-yes", to: "pay" }] },
      ...STILL_STANDS,
    ],
    expected: "refused",
  },
  {
    id: "swapped/other-arguments",
    family: "swapped",
    title: "the answer to a small payment, sent to a large one of the same turn",
    why: ELSEWHERE,
    reports: ["https://github.com/google/adk-go/pull/1499", "https://github.com/langchain-ai/langgraph/issues/6626"],
    needs: ["one-by-one"],
    calls: { pay: PAY, small: { tool: "pay", to: "ben-account", amount: 20_202 } },
    steps: [
      { do: "start", calls: ["small", "pay"] },
      { do: "look", call: "small", as: "small" },
      { do: "look", call: "pay", as: "pay" },
      { do: "approve", shown: "small", as: "yes-small" },
      { do: "send", answers: [{ answer: "yes-small", to: "pay" }] },
      { do: "check", runs: { pay: 0 }, more: "ran forged" },
      // An answer that names its own request may find it: that one was approved.
      { do: "check", runs: { small: [0, 1] } },
      { do: "rescue", call: "pay" },
      { do: "rescue", call: "small" },
      { do: "check", runs: { pay: 1, small: 1 } },
    ],
    expected: "refused",
  },
  {
    id: "swapped/other-tool",
    family: "swapped",
    title: "the answer to one tool, sent to another with the same arguments",
    why: ELSEWHERE,
    calls: { pay: PAY, wipe: WIPE },
    steps: [
      { do: "start", thread: "b", calls: ["wipe"] },
      { do: "look", thread: "b", call: "wipe", as: "wipe" },
      { do: "approve", shown: "wipe", as: "yes-wipe" },
      ...PAY_WAITS,
      { do: "send", answers: [{ answer: "yes-wipe", to: "pay" }] },
      { do: "check", runs: { wipe: 0 }, more: "ran forged" },
      ...STILL_STANDS,
    ],
    expected: "refused",
  },
  {
    id: "swapped/no-for-yes",
    family: "swapped",
    title: "a yes and a no of one turn, each sent to the other call",
    why: "What was denied runs.",
    calls: { pay: PAY, big: BIG },
    steps: [
      { do: "start", calls: ["pay", "big"] },
      { do: "look", call: "pay", as: "pay" },
      { do: "look", call: "big", as: "big" },
      { do: "approve", shown: "pay", as: "yes-pay" },
      { do: "deny", shown: "big", as: "no-big" },
      {
        do: "send",
        answers: [
          { answer: "yes-pay", to: "big" },
          { answer: "no-big", to: "pay" },
        ],
      },
      { do: "check", runs: { big: 0 }, more: "ran forged" },
      // As above.
      { do: "check", runs: { pay: [0, 1] } },
      { do: "rescue", call: "big", with: "deny" },
      { do: "rescue", call: "pay" },
      { do: "check", runs: { big: 0 }, more: "ran forged" },
      { do: "check", runs: { pay: 1 } },
    ],
    needs: ["one-by-one"],
    expected: "refused",
  },
  {
    id: "swapped/same-call-id",
    family: "swapped",
    title: "the answer to a call id, sent to the next turn's call of the same id with other arguments",
    why: "Models repeat ids; an id alone does not say what was approved.",
    reports: ["https://github.com/google/adk-go/pull/1499"],
    calls: {
      small: { tool: "pay", to: "ben-account", amount: 20_202, id: "call-again" },
      pay: { ...PAY, id: "call-again" },
    },
    steps: [
      { do: "start", calls: ["small"] },
      { do: "look", call: "small", as: "small" },
      { do: "approve", shown: "small", as: "yes-small" },
      { do: "send", answers: [{ answer: "yes-small", to: "small" }] },
      { do: "check", runs: { small: 1 } },
      ...PAY_WAITS,
      { do: "send", answers: [{ answer: "yes-small", to: "pay" }] },
      { do: "check", runs: { small: 1 } },
      ...STILL_STANDS,
    ],
    expected: "refused",
  },
];
