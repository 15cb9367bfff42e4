// The state of a thread in another one: by whoever writes to the storage, or by a client where the client holds the state.

import type { AttackCase } from "../attack-case.js";
import { BIG, PAY, PAY_WAITS, STILL_STANDS } from "./people.js";

export const MOVED: readonly AttackCase[] = [
  {
    id: "moved/before-the-answer",
    family: "moved",
    title: "a paused thread is copied into another one, and the answer sent there",
    why: "What was approved in one conversation runs in another: for another customer, in another account.",
    calls: { pay: PAY },
    steps: [
      ...PAY_WAITS,
      { do: "approve", shown: "pay", as: "yes" },
      { do: "save", as: "paused" },
      { do: "load", thread: "b", saved: "paused" },
      { do: "send", thread: "b", answers: [{ answer: "yes", to: "pay" }] },
      ...STILL_STANDS,
    ],
    expected: "refused",
  },
  {
    id: "moved/after-the-answer",
    family: "moved",
    title: "the copy is answered with what the thread itself was answered with",
    why: "One approval, one run for each copy.",
    calls: { pay: PAY },
    steps: [
      ...PAY_WAITS,
      { do: "approve", shown: "pay", as: "yes" },
      { do: "save", as: "paused" },
      { do: "send", answers: [{ answer: "yes", to: "pay" }] },
      { do: "check", runs: { pay: 1 } },
      { do: "load", thread: "b", saved: "paused" },
      { do: "send", thread: "b", answers: [{ answer: "yes", to: "pay" }] },
      { do: "check", runs: { pay: 1 } },
    ],
    expected: "refused",
  },
  {
    id: "moved/under-an-answer",
    family: "moved",
    title: "the state of another thread is put under an answer that was made for this one",
    why: "The reviewer approved what he saw, and something else stands there when his answer arrives.",
    calls: { pay: PAY, big: BIG },
    steps: [
      { do: "start", thread: "b", calls: ["big"] },
      { do: "look", thread: "b", call: "big", as: "big" },
      { do: "save", thread: "b", as: "theirs" },
      ...PAY_WAITS,
      { do: "approve", shown: "pay", as: "yes" },
      { do: "load", saved: "theirs" },
      { do: "send", answers: [{ answer: "yes", to: "pay" }] },
      { do: "send", answers: [{ answer: "yes", to: "big" }] },
      { do: "check", runs: { big: 0, pay: 0 }, more: "ran forged" },
    ],
    expected: "refused",
  },
];
