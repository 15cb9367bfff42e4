// Call the function. What it throws is a `ToolFailed`, unless it is control flow or already one of our errors.

import { isAgentAdapterError, ToolFailed, ToolUsageError } from "../../errors.js";
import { isThenable } from "../../tools/schema.js";
import { about, specOf, type Attempt } from "../attempt.js";
import { isHostSignal, isPause } from "../control-flow.js";
import { enterBody, outerCall } from "../tool-context.js";

export async function invoke(attempt: Attempt): Promise<unknown> {
  const spec = specOf(attempt);
  const signal = attempt.bodySignal;
  const self = outerCall(attempt);
  try {
    const value = await enterBody(attempt, self, (ctx) => spec.execute(attempt.arguments, ctx));
    // The body is over before its result is looked at: what it left behind may call nothing more.
    self.running = false;
    const result = spec.parseResult(value);
    return isThenable(result) ? await result : result;
  } catch (error) {
    throw asThrown(attempt, error, signal);
  } finally {
    self.running = false;
  }
}

function asThrown(attempt: Attempt, error: unknown, signal: AbortSignal | undefined): unknown {
  if (attempt.claimed && isPause(error)) {
    // Its answer is used up: a re-run could neither go on nor ask, so the pause would kill the thread.
    return new ToolUsageError(
      `${attempt.name} paused inside its approved call; ask before it, not in it`,
      about(attempt),
    );
  }
  if (isHostSignal(error)) return error;
  // Whatever a body throws once it was told to stop, the reason to stop is what happened.
  if (signal?.aborted === true) return signal.reason;
  if (isAgentAdapterError(error)) return error;
  return new ToolFailed(`${attempt.name} failed`, { ...about(attempt), cause: error });
}
