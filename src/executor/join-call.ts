// Wait for the running instance of a call, whoever started it.

import { joinRunning } from "../journal/journal.js";
import { replay, type Settled } from "../journal/outcome.js";
import type { RunningCall } from "../journal/process-state.js";
import { about, type Attempt } from "./attempt.js";

/** What the running instance comes to; a result is an object of its own for everybody who shares it. */
export async function joinCall(attempt: Attempt, running: RunningCall): Promise<Settled> {
  const joined = await joinRunning(attempt.task, running, about(attempt));
  const { outcome } = attempt.call;
  return joined.ok && outcome?.status === "ok" ? replay(outcome, about(attempt)) : joined;
}
