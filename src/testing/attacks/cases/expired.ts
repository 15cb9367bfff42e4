// Genuine answers, too late.

import type { AttackCase } from "../attack-case.js";
import { PAY, PAY_WAITS, STILL_STANDS } from "./people.js";

export const EXPIRED: readonly AttackCase[] = [
  {
    id: "expired/answer",
    family: "expired",
    title: "an answer that was made in time and is sent when its time is over",
    why: "An approval from last month still runs a payment today.",
    reports: ["https://github.com/OWASP/AISVS"],
    calls: { pay: PAY },
    steps: [
      ...PAY_WAITS,
      { do: "approve", shown: "pay", as: "yes" },
      { do: "elapse", what: "answer" },
      { do: "send", answers: [{ answer: "yes", to: "pay" }] },
      ...STILL_STANDS,
    ],
    expected: "refused",
  },
  {
    id: "expired/request",
    family: "expired",
    title: "an answer that is made when the time to answer is over",
    why: "Nobody answered in time, and the call runs all the same.",
    calls: { pay: PAY },
    steps: [
      ...PAY_WAITS,
      { do: "elapse", what: "request" },
      { do: "approve", shown: "pay", as: "late", mayRefuse: true },
      { do: "send", answers: [{ answer: "late", to: "pay" }] },
      { do: "check", runs: { pay: 0 }, more: "ran forged" },
    ],
    expected: "refused",
  },
];
