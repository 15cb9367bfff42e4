// What the reviewer saw is not what would run.

import type { AttackCase, AttackStep } from "../attack-case.js";
import { BIG, PAY, PAY_WAITS, STILL_STANDS, WIPE } from "./people.js";

const LIE = "The reviewer signs a small payment and pays a large one.";

const BIG_WAITS: readonly AttackStep[] = [
  { do: "start", calls: ["big"] },
  { do: "look", call: "big", as: "big" },
];
/** What is shown about the large payment says the small one. */
const SHOWN_SMALL: AttackStep = {
  do: "replace",
  of: "big",
  these: [
    ["mallory-account", "ana-account"],
    [99_099, 10_101],
  ],
  as: "lie",
};
/** Signed or not, the lie runs nothing, and the truth still can. */
const LIE_REFUSED: readonly AttackStep[] = [
  { do: "approve", shown: "lie", as: "yes", mayRefuse: true },
  { do: "send", answers: [{ answer: "yes", to: "big" }] },
  { do: "check", runs: { big: 0 }, more: "ran forged" },
  { do: "rescue", call: "big" },
  { do: "check", runs: { big: 1 } },
];

export const BLIND_SIGNED: readonly AttackCase[] = [
  {
    id: "blind-signed/other-arguments-shown",
    family: "blind-signed",
    title: "the request shows other arguments than the call has",
    why: LIE,
    reports: ["https://arxiv.org/html/2606.02668v1"],
    calls: { big: BIG },
    steps: [...BIG_WAITS, SHOWN_SMALL, ...LIE_REFUSED],
    expected: "refused",
  },
  {
    id: "blind-signed/argument-hidden",
    family: "blind-signed",
    title: "the request leaves out an argument",
    why: "The reviewer cannot object to what he does not see.",
    calls: { big: BIG },
    steps: [...BIG_WAITS, { do: "hide", of: "big", argument: "amount", as: "lie" }, ...LIE_REFUSED],
    expected: "refused",
  },
  {
    id: "blind-signed/other-request-shown",
    family: "blind-signed",
    title: "the request of a harmless call carries the ids of a harmful one",
    why: LIE,
    calls: { pay: PAY, big: BIG },
    steps: [
      { do: "start", thread: "b", calls: ["big"] },
      { do: "look", thread: "b", call: "big", as: "big" },
      ...PAY_WAITS,
      SHOWN_SMALL,
      { do: "approve", shown: "lie", as: "yes", mayRefuse: true },
      { do: "send", thread: "b", answers: [{ answer: "yes", to: "big" }] },
      { do: "check", runs: { big: 0, pay: 0 }, more: "ran forged" },
      { do: "rescue", call: "pay" },
      { do: "check", runs: { pay: 1 } },
    ],
    expected: "refused",
  },
  {
    id: "blind-signed/state-edited",
    family: "blind-signed",
    title: "the stored arguments are changed after the reviewer has answered",
    why: "The approval is for a call id, and what stands behind it is somebody else's to write.",
    reports: ["https://github.com/microsoft/agent-framework/issues/7383"],
    calls: { pay: PAY, big: BIG },
    steps: [
      ...PAY_WAITS,
      { do: "approve", shown: "pay", as: "yes" },
      { do: "save", as: "honest" },
      {
        do: "replace",
        of: "honest",
        these: [
          ["ana-account", "mallory-account"],
          [10_101, 99_099],
        ],
        as: "edited",
      },
      { do: "load", saved: "edited" },
      { do: "send", answers: [{ answer: "yes", to: "pay" }] },
      { do: "check", runs: { big: 0 }, more: "ran forged" },
    ],
    expected: "refused",
  },
  {
    id: "blind-signed/tool-changed",
    family: "blind-signed",
    title: "the tool is another one when the answer arrives",
    why: "A tool that was reviewed under its name does something else after a release, or when its server turns bad.",
    reports: ["https://ship-safe.co/blog/mcp-tool-poisoning-rug-pull"],
    calls: { pay: PAY },
    steps: [
      ...PAY_WAITS,
      { do: "approve", shown: "pay", as: "yes" },
      { do: "kill", changed: true },
      { do: "send", answers: [{ answer: "yes", to: "pay" }] },
      ...STILL_STANDS,
    ],
    expected: "refused",
  },
  {
    id: "blind-signed/edited-into-another-tool",
    family: "blind-signed",
    title: "a reviewer's change names another tool, which asks for itself",
    why: "Whoever may change arguments may run any tool, past its own gate.",
    reports: ["https://github.com/langchain-ai/langchain/issues/40166"],
    calls: { pay: PAY, wipe: WIPE },
    steps: [
      ...PAY_WAITS,
      { do: "approve", shown: "pay", edit: "wipe", withTool: true, as: "changed", mayRefuse: true },
      { do: "send", answers: [{ answer: "changed", to: "pay" }] },
      { do: "check", runs: { wipe: 0 }, more: "ran forged" },
    ],
    expected: "refused",
  },
];
