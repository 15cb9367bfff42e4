// A loop that ends: a draft is reviewed and written again at most twice, then somebody else takes over. Checks itself.

import { deepEqual, equal } from "node:assert/strict";
import { Executor, Registry } from "agent-adapter";
import { Flow, runFlow } from "agent-adapter/flow";
import { z } from "zod";

// region: loop
const review = new Flow("review", {
  state: z.object({ wants: z.number(), draft: z.string().default(""), outcome: z.string().default("") }),
})
  .node("write", (_state, { visit }) => ({ draft: `draft ${visit}` }))
  .node("review", () => ({}))
  .node("publish", ({ draft }) => ({ outcome: `published ${draft}` }))
  .node("escalate", ({ draft }) => ({ outcome: `a person reads ${draft}` }))
  .edge("write", "review")
  .route("review", ({ draft, wants }) => (draft === `draft ${wants}` ? "publish" : "write"), ["publish", "write"], {
    maxLoops: { write: 2 },
    orElse: "escalate",
  })
  .end("publish")
  .end("escalate");
// endregion
console.log(review.toMermaid());

const executor = new Executor(new Registry());
for (const wants of [1, 3, 9]) {
  const done = await runFlow(review, { wants }, { executor });
  console.log(
    `  wants draft ${wants}  ${done.state.outcome} after ${done.steps} steps, ${JSON.stringify(done.visits)}`,
  );
  equal(done.status, "done");
  equal(done.state.outcome, wants === 9 ? "a person reads draft 3" : `published draft ${wants}`);
  deepEqual(done.visits["write"], Math.min(wants, 3));
}
