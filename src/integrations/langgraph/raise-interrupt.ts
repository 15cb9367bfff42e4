// The one call of LangGraph's `interrupt()`. Owns the trick that makes its synchronous validation ask us: one module-level
// schema whose refinement reads what is expected now (a schema per ask would cost about 180 us, and a shaped one would
// refuse answers of an older wire format).

import { interrupt } from "@langchain/langgraph";
import { z } from "zod";

type Check = (value: unknown) => boolean;

let expected: Check | undefined;
const REFUSED =
  "agent-adapter: this is not a signed answer to the request that waits; it still waits (isInvalidAnswer)";
const RESPONSE = z.any().refine((value) => expected !== undefined && expected(value), REFUSED);

/**
 * Take the value at the next position if it passes the check, else pause. Synchronous: nothing else runs while the check is
 * set.
 *
 * @throws GraphInterrupt when there is no value; LangGraph's invalid resume when the value does not pass
 */
export function raiseInterrupt(value: unknown, check: Check): unknown {
  expected = check;
  try {
    return interrupt(value, { responseSchema: RESPONSE });
  } finally {
    expected = undefined;
  }
}
