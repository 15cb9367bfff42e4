// A deadline per attempt. The body's signal is aborted, whoever ignores it is left behind, and what it does later is dropped.

import { withDeadline } from "../../async/deadline.js";
import { ToolTimeout } from "../../errors.js";
import { about, specOf, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";

export function timeout(attempt: Attempt, next: Next): Promise<unknown> {
  const { timeoutMs } = specOf(attempt);
  attempt.bodySignal = attempt.signal;
  if (timeoutMs === undefined) return next(attempt);
  const expired = () => new ToolTimeout(`${attempt.name} took longer than ${timeoutMs} ms`, about(attempt));
  const { clock } = attempt.parts;
  return withDeadline({ clock, ms: timeoutMs, signal: attempt.signal, expired }, (signal) => {
    attempt.bodySignal = signal;
    return next(attempt);
  });
}
