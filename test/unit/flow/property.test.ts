// Properties proved: any flow comes to what the rules of docs/reference/flow-rules.md say (interpreted by test/support/flow-model.ts),
// whether it runs at once or is paused, stopped, failed and taken up by other processes on its way; no call runs to its end twice.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { runAtOnce, runWithPauses, told } from "../../support/flow-build.js";
import { predict } from "../../support/flow-model.js";
import { randomFlow } from "../../support/flow-sketch.js";

// A fixed seed finds the same on every machine; AGENT_ADAPTER_SEED and AGENT_ADAPTER_RUNS look further. fast-check prints seed and path.
const seed = Number(process.env["AGENT_ADAPTER_SEED"] ?? 20_261_130);
const numRuns = Number(process.env["AGENT_ADAPTER_RUNS"] ?? 250);

test("F2, F4, F7, B40, B42, B43, B56: any flow comes to what the rules say", async () => {
  await fc.assert(
    fc.asyncProperty(randomFlow, async (sketch) => {
      const outcome = predict(sketch);
      expect(told(await runAtOnce(sketch), outcome)).toEqual({ ...outcome, runTwice: 0 });
    }),
    { seed, numRuns },
  );
});

test("F2, F4, F7, B43, B48, B56: pauses, stops, failures and new processes on the way change nothing", async () => {
  await fc.assert(
    fc.asyncProperty(randomFlow, fc.array(fc.nat(99), { minLength: 40, maxLength: 40 }), async (sketch, choices) => {
      const outcome = predict(sketch);
      expect(told(await runWithPauses(sketch, choices), outcome)).toEqual({ ...outcome, runTwice: 0 });
    }),
    { seed, numRuns },
  );
});
