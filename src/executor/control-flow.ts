// What must never be wrapped, retried or recorded as a failure: a host's control flow and an abort of our own signal.
// Recognised by shape, so that the core needs no framework.

const INVALID_RESUME = Symbol.for("langgraph.invalid_resume");
const MAX_CAUSES = 10;

/** A pause, a command, a drain, or an answer that the host must refuse. */
export function isHostSignal(error: unknown): boolean {
  return isBubbleUp(error) || isInvalidResume(error);
}

/** A host's control flow, or anything thrown after the run was aborted. */
export function isControlFlow(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true || isHostSignal(error);
}

/** A pause raised by somebody's raw `interrupt()`. */
export function isPause(error: unknown): boolean {
  return isBubbleUp(error) && typeof error === "object" && error !== null && "interrupts" in error;
}

function isBubbleUp(error: unknown): boolean {
  return typeof error === "object" && error !== null && "is_bubble_up" in error && error.is_bubble_up === true;
}

function isInvalidResume(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (typeof current !== "object" || current === null) return false;
    if (INVALID_RESUME in current && current[INVALID_RESUME] === true) return true;
    current = "cause" in current ? current.cause : undefined;
  }
  return false;
}
