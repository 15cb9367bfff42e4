// Branches of different length, one of them skipped, into one join: it runs once, after all of them. Checks itself.

import { deepEqual } from "node:assert/strict";
import { Executor, Registry } from "agent-adapter";
import { Flow, join, Merge, runFlow } from "agent-adapter/flow";
import { z } from "zod";

// region: join
const report = new Flow("report", {
  state: z.object({ abroad: z.boolean(), found: z.array(z.string()).default([]), summary: z.string().default("") }),
  merge: { found: Merge.append },
})
  .node("start", () => ({}))
  .node("price", () => ({ found: ["price"] }))
  .node("stock", () => ({ found: ["stock"] }))
  .node("supplier", () => ({ found: ["supplier"] }))
  .node("delivery", () => ({ found: ["delivery"] }))
  .node("customs", () => ({ found: ["customs"] }))
  .node(
    "summary",
    join(({ found }) => ({ summary: found.join(", ") })),
  )
  .edge("start", "price")
  .edge("start", "stock")
  .route("start", ({ abroad }) => (abroad ? "customs" : []), ["customs"])
  .edge("stock", "supplier")
  .edge("supplier", "delivery")
  .edge("price", "summary")
  .edge("delivery", "summary")
  .edge("customs", "summary")
  .end("summary");
// endregion
console.log(report.toMermaid());

const executor = new Executor(new Registry());
for (const abroad of [true, false]) {
  const done = await runFlow(report, { abroad }, { executor });
  console.log(`  ${abroad ? "abroad" : "at home"}  ${done.state.summary} (${done.steps} steps)`);
  const all = ["price", "stock", "supplier", "delivery"];
  deepEqual(done.state.summary.split(", ").toSorted(), (abroad ? ["customs", ...all] : all).toSorted());
  deepEqual([done.visits["summary"], done.steps], [1, 5]);
}
