// The table of src/approvals/transitions.ts against "States and events" of the page that decides it, transcribed here by
// hand: every state with every event. The structural invariants that the source states in its header:
//   T1  a pair that is not in the table throws
//   T2  only `answered` + `claim-won` leads to a running tool
//   T3  from `done`, `failed`, `denied` and `expired` no event leads back to a running tool

import { describe, expect, it } from "vitest";
import {
  TRANSITIONS,
  transition,
  type CallAction,
  type CallEvent,
  type CallState,
} from "../../../src/approvals/transitions.js";
import { isAgentAdapterError, ToolUsageError } from "../../../src/errors.js";

const STATES = Object.keys({
  none: 0,
  asked: 0,
  answered: 0,
  running: 0,
  done: 0,
  failed: 0,
  unknown: 0,
  denied: 0,
  expired: 0,
  superseded: 0,
} satisfies Record<CallState, 0>) as CallState[];

const EVENTS = Object.keys({
  "needs-human": 0,
  "re-run": 0,
  "marked-elsewhere": 0,
  "definition-changed": 0,
  "invalid-answer": 0,
  "stale-answer": 0,
  "valid-answer": 0,
  "answer-to-used": 0,
  "request-expired": 0,
  "failure-before-claim": 0,
  "claim-won": 0,
  "claim-won-by-denial": 0,
  "claim-lost": 0,
  "body-done": 0,
  "body-failed": 0,
  "body-lost": 0,
  "task-finished": 0,
  "nested-ask": 0,
  "foreign-interrupt": 0,
  "seal-broken": 0,
  "other-task-run": 0,
} satisfies Record<CallEvent, 0>) as CallEvent[];

interface Row {
  /** The sentence of the page. */
  readonly says: string;
  readonly from: readonly CallState[];
  readonly on: CallEvent;
  /** `same`: the state does not change. */
  readonly to: CallState | "same";
  readonly action: CallAction;
}

const ANY = STATES;

const ROWS: readonly Row[] = [
  { says: "call needs a human: record the ask, pause", from: ["none"], on: "needs-human", to: "asked", action: "ask" },
  {
    says: "re-run: the same request, same id, again; user code does not run",
    from: ["asked"],
    on: "re-run",
    to: "same",
    action: "ask-the-same",
  },
  {
    says: "re-run without an answer, definition changed: the new request, same interrupt id, supersedes",
    from: ["asked"],
    on: "definition-changed",
    to: "asked",
    action: "ask-superseding",
  },
  {
    says: "bad, bare, foreign or forged fresh answer: invalid resume; the same request can be answered",
    from: ["asked"],
    on: "invalid-answer",
    to: "same",
    action: "refuse-as-invalid",
  },
  {
    says: "... or a genuine one for a request that is not the one shown and was never used",
    from: ["superseded"],
    on: "invalid-answer",
    to: "same",
    action: "refuse-as-invalid",
  },
  {
    says: "genuine answer, expired, of an older definition, or under a removed key: asked again at once, supersedes",
    from: ["asked", "answered"],
    on: "stale-answer",
    to: "asked",
    action: "ask-superseding",
  },
  { says: "valid answer: answered", from: ["asked"], on: "valid-answer", to: "answered", action: "collect" },
  {
    says: "failure before the claim: stays answered; the same answer again uses it without asking",
    from: ["answered"],
    on: "valid-answer",
    to: "same",
    action: "collect",
  },
  {
    says: "failure before the claim: stays answered",
    from: ["answered"],
    on: "failure-before-claim",
    to: "same",
    action: "keep-answer",
  },
  { says: "... the retry uses it without asking", from: ["answered"], on: "re-run", to: "same", action: "claim" },
  { says: "claim won: running", from: ["answered"], on: "claim-won", to: "running", action: "run" },
  {
    says: "denial (its claim won): ApprovalDenied, the tool never runs for this ask",
    from: ["answered"],
    on: "claim-won-by-denial",
    to: "denied",
    action: "deny",
  },
  {
    says: "claim lost: concurrent resume, other worker: ApprovalAlreadyDecided (whoever won is running it)",
    from: ["answered"],
    on: "claim-lost",
    to: "running",
    action: "refuse-as-used",
  },
  { says: "body ends: done", from: ["running"], on: "body-done", to: "done", action: "record" },
  { says: "body ends: failed", from: ["running"], on: "body-failed", to: "failed", action: "record" },
  {
    says: "re-run of done: replays; never runs, never asks",
    from: ["done"],
    on: "re-run",
    to: "same",
    action: "replay",
  },
  {
    says: "re-run of failed: ApprovalAlreadyDecided",
    from: ["failed"],
    on: "re-run",
    to: "same",
    action: "refuse-as-used",
  },
  {
    says: "fresh answer to a request that was used: ApprovalAlreadyDecided",
    from: ["running", "done", "failed", "unknown", "denied"],
    on: "answer-to-used",
    to: "same",
    action: "refuse-as-used",
  },
  {
    says: "the task run already has output rows: ApprovalAlreadyDecided",
    from: ANY,
    on: "task-finished",
    to: "same",
    action: "refuse-as-used",
  },
  { says: "abort, crash, SIGKILL: unknown", from: ["running"], on: "body-lost", to: "unknown", action: "keep-answer" },
  {
    says: "re-run; mark, no outcome, owner not alive: asks again, generation + 1, previousAttempt",
    from: ["unknown"],
    on: "re-run",
    to: "asked",
    action: "ask-again-unknown",
  },
  {
    says: "young mark of another process, no outcome: ApprovalAlreadyDecided",
    from: ["running"],
    on: "marked-elsewhere",
    to: "same",
    action: "refuse-as-used",
  },
  {
    says: "concurrency inside one process: a running call is waited for, shared or adopted",
    from: ["running"],
    on: "re-run",
    to: "same",
    action: "join",
  },
  { says: "a re-run of denied replays it", from: ["denied"], on: "re-run", to: "same", action: "replay" },
  {
    // The page says `asked`; the answer that shows it has been collected by then, so it holds for `answered` as well.
    says: "the request expired before the answer's signedAt: expired",
    from: ["asked", "answered"],
    on: "request-expired",
    to: "expired",
    action: "expire",
  },
  { says: "expired: kept and replayed, not a denial", from: ["expired"], on: "re-run", to: "same", action: "replay" },
  {
    says: "fork, loop lap, edited state: another task run, a new ask",
    from: ANY,
    on: "other-task-run",
    to: "none",
    action: "start-over",
  },
  {
    says: "nested call that needs approval: ToolUsageError before it asks",
    from: ["none"],
    on: "nested-ask",
    to: "same",
    action: "refuse-usage",
  },
  { says: "raw interrupt(): ToolUsageError", from: ANY, on: "foreign-interrupt", to: "same", action: "refuse-usage" },
  {
    says: "aa_state missing, swapped, key gone: FlowError",
    from: ANY,
    on: "seal-broken",
    to: "same",
    action: "fail-closed",
  },
];

const REFUSED = "ToolUsageError";

/** What the page says. */
function expected(state: CallState, event: CallEvent): unknown {
  const rows = ROWS.filter((row) => row.from.includes(state) && row.on === event);
  if (rows.length > 1) throw new Error(`${state} x ${event} is decided twice`);
  const [row] = rows;
  return row === undefined ? REFUSED : { to: row.to === "same" ? state : row.to, action: row.action };
}

/** What the source says. */
function actual(state: CallState, event: CallEvent): unknown {
  try {
    return transition(state, event);
  } catch (error) {
    return isAgentAdapterError(error) ? error.kind : error;
  }
}

describe.each(STATES)("A6: a call that is %s", (state) => {
  it.each(EVENTS)("and meets %s", (event) => {
    expect(actual(state, event)).toEqual(expected(state, event));
  });
});

describe("A6: the table as a whole", () => {
  const pairs = STATES.flatMap((state) =>
    EVENTS.filter((event) => Object.hasOwn(TRANSITIONS[state], event)).map(
      (event) => [state, event, transition(state, event)] as const,
    ),
  );

  it("knows exactly these states and events", () => {
    expect(Object.keys(TRANSITIONS).toSorted()).toEqual(STATES.toSorted());
    const events = new Set(Object.values(TRANSITIONS).flatMap((row) => Object.keys(row)));
    expect([...events].toSorted()).toEqual(EVENTS.toSorted());
    expect(pairs).toHaveLength(ROWS.flatMap(({ from }) => from).length);
  });

  it("an unknown pair is a defect of ours, says which, and runs nothing (invariant T1)", () => {
    const refused = () => transition("none", "claim-won");
    expect(refused).toThrow(ToolUsageError);
    for (const word of ["none", "claim-won", "nothing was run"]) expect(refused).toThrow(word);
  });

  it("only `answered` + `claim-won` runs the tool (invariant T2)", () => {
    expect(pairs.filter(([, , { action }]) => action === "run")).toEqual([
      ["answered", "claim-won", { to: "running", action: "run" }],
    ]);
    const running = pairs.filter(([from, , { to }]) => to === "running" && from !== "running");
    expect(running.map(([from, event]) => `${from} ${event}`)).toEqual(["answered claim-won", "answered claim-lost"]);
  });

  it("what is over leads nowhere but to another task run (invariant T3)", () => {
    for (const over of ["done", "failed", "denied", "expired"] as const) {
      const reached = pairs.filter(([from, event]) => from === over && event !== "other-task-run");
      expect(reached.map(([, , { to }]) => to)).toEqual(reached.map(() => over));
    }
  });

  it("a used answer is never collected, claimed or kept for later", () => {
    for (const used of ["running", "done", "failed", "unknown", "denied"] as const) {
      const actions = pairs
        .filter(([from, event]) => from === used && event !== "body-lost")
        .map(([, , { action }]) => action);
      for (const wrong of ["collect", "claim", "run", "keep-answer"]) expect(actions).not.toContain(wrong);
    }
  });

  it("every state but `superseded` can be reached from `none`", () => {
    const reached = new Set<CallState>(["none"]);
    for (let grew = true; grew;) {
      const before = reached.size;
      for (const [from, , { to }] of pairs) if (reached.has(from)) reached.add(to);
      grew = reached.size > before;
    }
    expect(STATES.filter((state) => !reached.has(state))).toEqual(["superseded"]);
  });
});
