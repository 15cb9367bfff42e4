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
  return isBubbleUp(error) && read(error, "interrupts") !== undefined;
}

function isBubbleUp(error: unknown): boolean {
  return read(error, "is_bubble_up") === true;
}

function isInvalidResume(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (read(current, INVALID_RESUME) === true) return true;
    current = read(current, "cause");
  }
  return false;
}

/** Tools throw anything; what cannot be looked at says nothing. */
function read(value: unknown, key: PropertyKey): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}
