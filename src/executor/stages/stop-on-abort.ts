// The caller gets the abort's reason at once, also when a body ignores its signal. The call itself goes on registered as
// running: a re-run adopts it instead of starting another one.

import { untilAborted } from "../../async/deadline.js";
import type { Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";

export function stopOnAbort(attempt: Attempt, next: Next): Promise<unknown> {
  attempt.signal?.throwIfAborted();
  return untilAborted(attempt.signal, next(attempt));
}
