// R8/flows: LangGraph's adapter compiles flows under the name that adapters share.
import { MemorySaver } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { z } from "zod";
import { Executor, Registry } from "../../../../src/index.js";
import { Flow } from "../../../../src/flow/index.js";
import { INTEGRATION, runCompiled } from "../../../../src/integrations/langgraph/index.js";

test("R8/flows: INTEGRATION.compileFlow makes an app that runs the flow", async () => {
  const flow = new Flow("count", { state: z.object({ n: z.number() }) })
    .node("add", ({ n }) => ({ n: n + 1 }))
    .end("add");
  const executor = new Executor(new Registry(), { secret: "a secret of at least 32 bytes, for tests" });
  const app = INTEGRATION.compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
  const done = await runCompiled(app, { n: 1 }, { configurable: { thread_id: "t" } });
  expect(done).toMatchObject({ status: "done", state: { n: 2 }, steps: 1 });
});

test("C6: nothing to go on with, or no thread, is said by name", async () => {
  const flow = new Flow("count", { state: z.object({ n: z.number() }) }).node("add", () => ({})).end("add");
  const executor = new Executor(new Registry(), { secret: "a secret of at least 32 bytes, for tests" });
  const app = INTEGRATION.compileFlow(flow, { executor }).compile({ checkpointer: new MemorySaver() });
  for (const config of [{ configurable: { thread_id: "new" } }, {}])
    await expect(runCompiled(app, null, config)).rejects.toMatchObject({ kind: "ToolUsageError" });
});
