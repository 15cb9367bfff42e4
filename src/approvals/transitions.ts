// The life of an approval as data: what may happen to a call that needs a human, and what is done about it.
// Owns the rules; knows no host, no store and no clock. Everything else in the package executes this table:
//   T1  a pair that is not in the table cannot happen; code that meets one throws and runs nothing
//   T2  only `answered` + `claim-won` leads to a running tool
//   T3  from `done`, `failed`, `denied` and `expired` no event leads back to a running tool

import { ToolUsageError } from "../errors.js";

/** Where a call stands. A call belongs to one task run: a fork, a loop lap or another Send is another call. */
export type CallState =
  /** Nobody was asked yet. */
  | "none"
  /** A request is shown; no usable answer has arrived. */
  | "asked"
  /** A genuine answer is at hand and has not been used. */
  | "answered"
  /** The answer is used up and the tool is running. */
  | "running"
  /** Finished with a result or with an error the model may read. */
  | "done"
  /** Failed after its answer was used. */
  | "failed"
  /** The answer is used up and nobody knows how the tool ended. */
  | "unknown"
  | "denied"
  | "expired"
  /** A newer request took its place before it was used. */
  | "superseded";

/** What can happen to a call. */
export type CallEvent =
  | "needs-human"
  | "re-run"
  | "marked-elsewhere"
  | "definition-changed"
  | "invalid-answer"
  | "stale-answer"
  | "valid-answer"
  | "answer-to-used"
  | "request-expired"
  | "failure-before-claim"
  | "claim-won"
  | "claim-won-by-denial"
  | "claim-lost"
  | "body-done"
  | "body-failed"
  | "body-lost"
  | "task-finished"
  | "nested-ask"
  | "foreign-interrupt"
  | "seal-broken"
  | "other-task-run";

/** What is done about it. */
export type CallAction =
  /** Make a request and pause (or wait for the port). */
  | "ask"
  /** Show the same request under the same id again, without running user code. */
  | "ask-the-same"
  /** Make a request that supersedes the shown one, at the next position. */
  | "ask-superseding"
  /** Make a request of the next generation that says the last attempt's outcome is unknown. */
  | "ask-again-unknown"
  /** LangGraph's invalid resume: nothing is used, the same request stays answerable. */
  | "refuse-as-invalid"
  /** `ApprovalAlreadyDecided`; nothing runs. */
  | "refuse-as-used"
  /** Remember the answer by its binding; nothing is spent. */
  | "collect"
  /** Let the failure out; the answer stays unspent. */
  | "keep-answer"
  /** Claim the answer in every configured place. */
  | "claim"
  /** Run the tool, once. */
  | "run"
  /** Give the recorded result or error again. */
  | "replay"
  /** Wait for the running call: its live owner's caller is refused, an abandoned call is adopted. */
  | "join"
  /** Write the outcome down. */
  | "record"
  | "deny"
  | "expire"
  /** `ToolUsageError`; nothing runs. */
  | "refuse-usage"
  /** `FlowError`; nothing runs. */
  | "fail-closed"
  /** Nothing of the other task run counts here. */
  | "start-over";

export interface Transition {
  readonly to: CallState;
  readonly action: CallAction;
}

const at = (to: CallState, action: CallAction): Transition => ({ to, action });

/** Events that mean the same in every state. */
const anywhere = (state: CallState) => ({
  "task-finished": at(state, "refuse-as-used"),
  "foreign-interrupt": at(state, "refuse-usage"),
  "seal-broken": at(state, "fail-closed"),
  "other-task-run": at("none", "start-over"),
});

type Row = Readonly<Partial<Record<CallEvent, Transition>>>;

/** State, then event, then what follows. The documentation page "The life of an approval" is this table in words. */
export const TRANSITIONS: Readonly<Record<CallState, Row>> = {
  none: {
    ...anywhere("none"),
    "needs-human": at("asked", "ask"),
    "nested-ask": at("none", "refuse-usage"),
  },
  asked: {
    ...anywhere("asked"),
    "re-run": at("asked", "ask-the-same"),
    "definition-changed": at("asked", "ask-superseding"),
    "invalid-answer": at("asked", "refuse-as-invalid"),
    "stale-answer": at("asked", "ask-superseding"),
    "valid-answer": at("answered", "collect"),
    "request-expired": at("expired", "expire"),
  },
  answered: {
    ...anywhere("answered"),
    "re-run": at("answered", "claim"),
    "valid-answer": at("answered", "collect"),
    "stale-answer": at("asked", "ask-superseding"),
    "request-expired": at("expired", "expire"),
    "failure-before-claim": at("answered", "keep-answer"),
    "claim-won": at("running", "run"),
    "claim-won-by-denial": at("denied", "deny"),
    "claim-lost": at("running", "refuse-as-used"),
  },
  running: {
    ...anywhere("running"),
    "re-run": at("running", "join"),
    "marked-elsewhere": at("running", "refuse-as-used"),
    "answer-to-used": at("running", "refuse-as-used"),
    "body-done": at("done", "record"),
    "body-failed": at("failed", "record"),
    "body-lost": at("unknown", "keep-answer"),
  },
  done: {
    ...anywhere("done"),
    "re-run": at("done", "replay"),
    "answer-to-used": at("done", "refuse-as-used"),
  },
  failed: {
    ...anywhere("failed"),
    "re-run": at("failed", "refuse-as-used"),
    "answer-to-used": at("failed", "refuse-as-used"),
  },
  unknown: {
    ...anywhere("unknown"),
    "re-run": at("asked", "ask-again-unknown"),
    "answer-to-used": at("unknown", "refuse-as-used"),
  },
  denied: {
    ...anywhere("denied"),
    "re-run": at("denied", "replay"),
    "answer-to-used": at("denied", "refuse-as-used"),
  },
  expired: {
    ...anywhere("expired"),
    "re-run": at("expired", "replay"),
  },
  superseded: {
    ...anywhere("superseded"),
    "invalid-answer": at("superseded", "refuse-as-invalid"),
  },
};

/**
 * The rule for this state and event.
 *
 * @throws ToolUsageError when the pair is not in the table: a defect of this library, and nothing may run.
 */
export function transition(state: CallState, event: CallEvent): Transition {
  const found = TRANSITIONS[state][event];
  if (found === undefined) {
    throw new ToolUsageError(
      `internal: an approval that is ${state} met the event ${event}; nothing was run. Please report this.`,
    );
  }
  return found;
}

/**
 * Follow the rule: the code that calls this is about to do `expected`, and the table must say so.
 *
 * @throws ToolUsageError when it says something else: a defect of this library, and nothing may run.
 */
export function follow(state: CallState, event: CallEvent, expected: CallAction): void {
  const { action } = transition(state, event);
  if (action === expected) return;
  throw new ToolUsageError(
    `internal: the rule for ${event} while ${state} is ${action}, not ${expected}; nothing was run. Please report this.`,
  );
}
