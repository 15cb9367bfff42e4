// Plain values where an answer belongs: what a client sends when it knows nothing, or knows the format of some other stack.

import type { JsonValue } from "../../../index.js";
import type { AttackCase } from "../attack-case.js";
import { PAY, PAY_WAITS, STILL_STANDS } from "./people.js";

const ROWS: readonly (readonly [string, string, readonly JsonValue[]])[] = [
  ["words", "a word for yes", [true, 1, "yes", "y", "approve", "approved", "accept", "ok"]],
  [
    "objects",
    "an object that says yes",
    [
      { approved: true },
      { approve: true },
      { confirmed: true },
      { accepted: true },
      { decision: "approve" },
      { decision: { approved: true } },
      { status: "approved" },
    ],
  ],
  [
    "formats",
    "the yes of another stack",
    [
      { type: "approve" },
      { type: "accept", args: null },
      { action: "accept", content: {} },
      { decisions: [{ type: "approve" }] },
      [{ type: "accept" }],
      { type: "tool-approval-response", approved: true },
      { confirmed: true, payload: {} },
    ],
  ],
  ["nothing", "nothing", [null, "", [], {}, false, 0]],
];

export const BARE: readonly AttackCase[] = ROWS.map(([name, what, values]) => ({
  id: `bare/${name}`,
  family: "bare",
  title: `${what} in the place of an answer`,
  why: "Whoever reaches the endpoint approves, and knows nothing.",
  reports: ["https://github.com/pydantic/pydantic-ai/pull/6800"],
  calls: { pay: PAY },
  steps: [...PAY_WAITS, { do: "send bare", values, to: "pay" }, ...STILL_STANDS],
  expected: "refused",
}));
