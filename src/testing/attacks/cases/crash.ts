// The process dies, by SIGKILL, while an approved call runs.

import type { AttackCase, AttackStep } from "../attack-case.js";
import { PAY, PAY_WAITS, RATE } from "./people.js";

const YES = { answers: [{ answer: "yes", to: "pay" }] } as const;
const APPROVED: readonly AttackStep[] = [...PAY_WAITS, { do: "approve", shown: "pay", as: "yes" }];
/** Whatever became of the call, the thread takes the next message. */
const NEXT_TURN: readonly AttackStep[] = [
  { do: "start", calls: ["next"] },
  { do: "rescue", call: "next" },
  { do: "check", runs: { next: 1 } },
];
const next = { tool: "pay", to: "ben-account", amount: 20_202 } as const;

export const CRASH: readonly AttackCase[] = [
  {
    id: "crash/after-the-effect",
    family: "crash",
    title: "killed between the effect and its record, then everything that could run it again",
    why: "A payment that went out goes out again when the process comes back.",
    reports: [
      "https://github.com/crewAIInc/crewAI/issues/5802",
      "https://github.com/andrewyng/openworker/issues/443",
      "https://github.com/microsoft/agent-framework/issues/3938",
    ],
    calls: { pay: PAY, next },
    steps: [
      ...APPROVED,
      { do: "send and hold", ...YES, hold: "after" },
      { do: "kill" },
      { do: "go on" },
      { do: "send", ...YES },
      { do: "go on" },
      { do: "send", ...YES },
      { do: "check", runs: { pay: 1 } },
      // It asks again, or has an outcome: a reviewer who knows that it was paid says no.
      { do: "rescue", call: "pay", with: "deny" },
      ...NEXT_TURN,
      { do: "check", runs: { pay: 1 } },
    ],
    expected: "ran once",
  },
  {
    id: "crash/before-the-effect",
    family: "crash",
    title: "killed before the effect, then everything that could run it",
    why: "Nobody can tell this from the case above: the call runs once more at most, and the thread is not lost.",
    reports: ["https://github.com/microsoft/agent-framework/issues/7458"],
    calls: { pay: PAY, next },
    steps: [
      ...APPROVED,
      { do: "send and hold", ...YES, hold: "before" },
      { do: "kill" },
      { do: "go on" },
      { do: "send", ...YES },
      { do: "check", runs: { pay: [0, 1] } },
      { do: "rescue", call: "pay" },
      { do: "check", runs: { pay: [0, 1] } },
      ...NEXT_TURN,
    ],
    expected: "ran once",
    alsoRight: "not run",
  },
  {
    id: "crash/neighbour",
    family: "crash",
    title: "killed while an approved call runs beside one that had finished before the pause",
    why: "What had finished runs again.",
    reports: ["https://github.com/langchain-ai/langgraph/issues/7780"],
    calls: { pay: PAY, rate: RATE },
    steps: [
      { do: "start", calls: ["rate", "pay"] },
      { do: "look", call: "pay", as: "pay" },
      { do: "approve", shown: "pay", as: "yes" },
      { do: "send and hold", ...YES, hold: "before" },
      { do: "kill" },
      { do: "go on" },
      { do: "rescue", call: "pay" },
      { do: "check", runs: { rate: 1, pay: [0, 1] } },
    ],
    expected: "ran once",
    alsoRight: "not run",
  },
];
