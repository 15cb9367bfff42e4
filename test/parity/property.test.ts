// Properties proved: any flow, compiled, comes to what the rules of docs/reference/flow-rules.md say, whether it runs at once or is
// paused, stopped by LangGraph between its steps, failed and taken up by other processes on its way; no call runs to its end twice.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { told } from "../support/flow-build.js";
import { runCompiledAtOnce, runCompiledWithPauses } from "../support/flow-compiled.js";
import { predict } from "../support/flow-model.js";
import { randomFlow } from "../support/flow-sketch.js";

// A fixed seed finds the same on every machine; AGENT_ADAPTER_SEED and AGENT_ADAPTER_RUNS look further. fast-check prints seed and path.
const seed = Number(process.env["AGENT_ADAPTER_SEED"] ?? 20_261_201);
const numRuns = Number(process.env["AGENT_ADAPTER_RUNS"] ?? 80);
// Making a failing flow smaller takes minutes; AGENT_ADAPTER_SHRINK does it.
const options = { seed, numRuns, endOnFailure: process.env["AGENT_ADAPTER_SHRINK"] === undefined };

test("C1, C2, B40, B42, B43, B56: any compiled flow comes to what the rules say", async () => {
  await fc.assert(
    fc.asyncProperty(randomFlow, async (sketch) => {
      const outcome = predict(sketch);
      expect(told(await runCompiledAtOnce(sketch), outcome)).toEqual({ ...outcome, runTwice: 0 });
    }),
    options,
  );
});

test("C1, C2, B08, B43, B45, B48, B56: pauses, stops, failures and new processes on the way change nothing", async () => {
  await fc.assert(
    fc.asyncProperty(randomFlow, fc.array(fc.nat(99), { minLength: 40, maxLength: 40 }), async (sketch, choices) => {
      const outcome = predict(sketch);
      expect(told(await runCompiledWithPauses(sketch, choices), outcome)).toEqual({ ...outcome, runTwice: 0 });
    }),
    options,
  );
});
