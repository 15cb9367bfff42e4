// A port that answers from a list: for tests of programs that use an executor.

import { ToolUsageError, type ApprovalDecision, type ApprovalPort, type ApprovalRequest } from "../index.js";
import { fieldsOf, type Shown, type Verdict } from "../spi.js";

/** `"pending"`: nobody ever decides about that request. */
export type ScriptedAnswer = ApprovalDecision | "pending";

/** A port that answers from a list and says what it was asked. */
export interface ScriptedApproval extends ApprovalPort {
  /** What was asked so far, in order. */
  readonly requests: readonly ApprovalRequest[];
}

/**
 * The first request gets the first answer, the second the second; a request that is asked again gets its answer again.
 *
 * @throws ToolUsageError when something else than `approve()` or `deny()` made is on the list; from the run when the list is
 * used up
 * @example
 * const approval = scriptedApproval([approve(), deny({ reason: "too much" })]);
 * await new Executor(registry, { approval }).run("pay", { amount: 5 });
 * expect(approval.requests[0]?.arguments).toEqual({ amount: 5 });
 */
export function scriptedApproval(answers: readonly ScriptedAnswer[]): ScriptedApproval {
  const script = answers.map((answer) => (answer === "pending" ? answer : fieldsOf(answer)));
  const requests: ApprovalRequest[] = [];
  const given = new Map<string, Verdict>();

  function verdictOf({ binding, request }: Shown): Verdict {
    const known = given.get(binding);
    if (known !== undefined) return known;
    const answer = script[requests.length];
    if (answer === undefined) throw new ToolUsageError(`scriptedApproval has no answer number ${requests.length + 1}`);
    const verdict: Verdict = answer === "pending" ? { status: "pending" } : decided(answer);
    requests.push(request);
    given.set(binding, verdict);
    return verdict;
  }

  return {
    source: "port",
    requestTtlMs: null,
    unknownAfterMs: undefined,
    keys: undefined,
    requests,
    attach: () => undefined,
    verify: () => "ok",
    decide: async (shown) => verdictOf(shown),
  };
}

function decided(decision: ReturnType<typeof fieldsOf>): Verdict {
  const guardUntil = Number.MAX_SAFE_INTEGER;
  return { status: "decided", decision, decidedBy: decision.by, guardUntil, consume: () => Promise.resolve() };
}
