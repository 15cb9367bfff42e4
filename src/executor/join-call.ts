// Wait for the running instance of a call, whoever started it.

import { withDeadline } from "../async/deadline.js";
import { isAgentAdapterError, ToolTimeout } from "../errors.js";
import { joinRunning } from "../journal/journal.js";
import { replay, type Settled } from "../journal/outcome.js";
import type { RunningCall } from "../journal/process-state.js";
import { about, type Attempt } from "./attempt.js";

/** What the running instance comes to; a result is an object of its own for everybody who shares it. */
export async function joinCall(attempt: Attempt, running: RunningCall): Promise<Settled> {
  const joined = await adopted(attempt, running);
  const { outcome } = attempt.call;
  return joined.ok && outcome?.status === "ok" ? replay(outcome, about(attempt)) : joined;
}

/**
 * The abort that made the call an orphan took its deadline away, and a body that never ends must not hold every run after it:
 * the tool's own time counts again for whoever adopts it. What it comes to later is kept and replayed.
 */
async function adopted(attempt: Attempt, running: RunningCall): Promise<Settled> {
  const joining = () => joinRunning(attempt.task, running, about(attempt));
  const ms = attempt.spec?.timeoutMs;
  if (ms === undefined || running.owner.alive) return joining();
  const { clock } = attempt.parts;
  const expired = () => new ToolTimeout(`${attempt.name} took longer than ${ms} ms`, about(attempt));
  try {
    return await withDeadline({ clock, ms, signal: attempt.signal, expired }, joining);
  } catch (error) {
    if (isAgentAdapterError(error, "ToolTimeout")) return { ok: false, error, lost: false };
    throw error;
  }
}
