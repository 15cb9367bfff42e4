// Would this call ask, and why? Parses and evaluates the rules; asks, runs and records nothing.

import type { RunContext } from "../context/run-context.js";
import { privateTaskEntry } from "../journal/process-state.js";
import { plainHost, TaskRun } from "../journal/task-run.js";
import { confirmReason, type ConfirmReason } from "./confirm.js";
import type { ExecutorParts } from "./parts.js";
import { prepare } from "./pipeline.js";
import { newAttempt } from "./run-call.js";
import { validateArgs } from "./stages/validate-args.js";

/** What `explain` says about a call. */
export interface Explanation {
  /** Would a human be asked before this call runs? */
  readonly asks: boolean;
  /** Why it asks, or that nobody does. */
  readonly because: ConfirmReason;
}

export async function explain(
  parts: ExecutorParts,
  context: RunContext,
  request: { readonly tool: string; readonly args: unknown },
): Promise<Explanation> {
  const task = new TaskRun({
    id: [context.runId],
    group: "",
    entry: privateTaskEntry(),
    host: plainHost,
    signal: undefined,
  });
  const attempt = newAttempt(parts, { task, context, outer: undefined }, request);
  await prepare([validateArgs], attempt);
  if (attempt.settled?.ok === false) throw attempt.settled.error;
  const because = await confirmReason(attempt);
  return { asks: because !== "nobody-asks", because };
}
