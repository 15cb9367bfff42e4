// Call the function. What it throws is a `ToolFailed`, unless it is control flow or already one of our errors.

import { isAgentAdapterError, ToolFailed, ToolUsageError } from "../../errors.js";
import { about, specOf, type Attempt } from "../attempt.js";
import { isControlFlow, isPause } from "../control-flow.js";
import { toolContext } from "../tool-context.js";

export async function invoke(attempt: Attempt): Promise<unknown> {
  const spec = specOf(attempt);
  attempt.signal?.throwIfAborted();
  attempt.attempts += 1;
  const startedAt = attempt.parts.clock.now();
  try {
    return await spec.parseResult(await toolContext(attempt).within((ctx) => spec.execute(attempt.arguments, ctx)));
  } catch (error) {
    if (attempt.claimed && isPause(error)) {
      // Its answer is used up: a re-run could neither go on nor ask, so the pause would kill the thread.
      throw new ToolUsageError(
        `${attempt.name} paused inside its approved call; ask before it, not in it`,
        about(attempt),
      );
    }
    if (isControlFlow(error, attempt.signal) || isAgentAdapterError(error)) throw error;
    throw new ToolFailed(`${attempt.name} failed`, { ...about(attempt), cause: error });
  } finally {
    attempt.durationMs += attempt.parts.clock.now() - startedAt;
  }
}
