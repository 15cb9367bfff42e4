// `Attempt`: what the stages share about one call. Data only; each field says which stage writes it.

import type { ApprovalPort, Verdict } from "../approvals/port.js";
import type { ApprovalRequest } from "../approvals/request.js";
import type { AskRecord } from "../approvals/ask.js";
import type { Mark } from "../approvals/mark.js";
import type { RunContext } from "../context/run-context.js";
import type { JsonObject } from "../crypto/canonical-json.js";
import { ToolNotFound } from "../errors.js";
import type { Hook } from "../hooks/hook.js";
import type { Settled } from "../journal/outcome.js";
import type { CallEntry } from "../journal/process-state.js";
import type { TaskRun } from "../journal/task-run.js";
import type { AnyToolSpec } from "../tools/spec.js";
import type { ExecutorParts } from "./parts.js";
import type { OuterCall, Scope } from "./scope.js";

export type Decided = Extract<Verdict, { status: "decided" }>;

/** A call made by a tool's body. */
export interface NestedCall {
  readonly tool: string;
  readonly args: unknown;
}

/** One call on its way through the stages. */
export interface Attempt {
  // ---- known from the start
  readonly parts: ExecutorParts;
  readonly task: TaskRun;
  /** replay: a call that was asked about acts for whoever it was asked for, also when somebody else resumes the run */
  context: RunContext;
  readonly outer: OuterCall | undefined;
  /** A tool's call, or a gate before a node of a flow. */
  readonly kind: ApprovalRequest["kind"];
  readonly name: string;
  readonly callId: string;
  readonly raw: unknown;
  /** Digest of the tool's name and the raw arguments. */
  readonly rawDigest: string;
  /** Identifies the call everywhere: digest of task run and call id. */
  readonly id: string;
  readonly signal: AbortSignal | undefined;
  /** `undefined`: no tool has that name. */
  readonly spec: AnyToolSpec | undefined;
  readonly call: CallEntry;
  /** Runs another tool as a part of this call. */
  readonly runNested: (around: Scope, nested: NestedCall) => Promise<unknown>;
  /** It cannot ask any more. */
  readonly decided: () => void;

  // ---- prepare
  /** replay: the newest request about this call, from whichever attempt */
  asked: AskRecord | undefined;
  /** replay: a used answer whose outcome nobody knows; the call is asked about again */
  unknown: Mark | undefined;
  /** any prepare stage: the call is over before it is performed */
  settled: Settled | undefined;
  /** replay: it is over because it was over before; attempts, costs and hooks are not counted again */
  replayed: boolean;
  /** validate, hooks, claim: what runs */
  arguments: unknown;
  /** hooks */
  opened: readonly Hook[];
  /** hooks: what they hold for this call until it is over */
  held: readonly (() => void)[];
  /** confirm-rule */
  needsHuman: boolean;

  // ---- perform
  /** approve: the request whose answer is used, and the decision */
  approved: { readonly ask: AskRecord; readonly verdict: Decided } | undefined;
  /** approve: what the reviewer changed the arguments to */
  edit: JsonObject | undefined;
  /** claim */
  token: string | undefined;
  /** use-answer: the answer is used up everywhere it had to be */
  claimed: boolean;
  /** cached, once-per-run: the result was there already */
  fromCache: boolean;
  /** timeout: the signal of the attempt that runs now */
  bodySignal: AbortSignal | undefined;
  /** retry */
  attempts: number;
  durationMs: number;
  cost: number;
}

/** @throws ToolNotFound when no tool has that name */
export function specOf(attempt: Attempt): AnyToolSpec {
  if (attempt.spec !== undefined) return attempt.spec;
  throw new ToolNotFound("there is no tool of that name", { callId: attempt.callId });
}

/** Where decisions about this call come from: the executor's port, else the one that the host brings. */
export function portOf({ parts, task }: Attempt): ApprovalPort | undefined {
  return parts.port ?? task.host.fallbackPort;
}

/** The names that an error about this call carries. */
export function about(attempt: Attempt): { readonly tool: string; readonly callId: string } {
  return { tool: attempt.name, callId: attempt.callId };
}
