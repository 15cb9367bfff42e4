// `resume`: answer or continue any app, also a parent graph whose subgraph waits. Never guesses: what does not fit exactly
// what is pending is refused before anything is sent.

import { Command } from "@langchain/langgraph";
import {
  ApprovalAlreadyDecided,
  DeferredApproval,
  ToolUsageError,
  type Answer,
  type ApprovalDecision,
  type ApprovalPort,
  type Executor,
} from "../../index.js";
import { isApprovalDecision, partsOf, refuseUnknown } from "../../spi.js";
import { executorIn, saverOf, type AppConfig, type GraphApp } from "./app.js";
import { membersOf } from "./members.js";
import { LangGraphApproval } from "./langgraph-approval.js";
import { pendingApprovals, type PendingApproval } from "./pending-approvals.js";
import { CONTINUE_KEY, STRICT_RESUME_KEY } from "./pregel-internals.js";

/** One answer: a decision made here by `approve` or `deny`, or signed bytes that came over the wire. */
export type OneAnswer = ApprovalDecision | Answer;

export interface ResumeOptions {
  /** Whose approvals are answered. Default: the one executor of the app's nodes. */
  readonly executor?: Executor;
}

/**
 * Answer the request that waits (or several, named by interrupt id or binding), or continue with `null`. Returns the app's own
 * output. Whoever passes a decision is the approver; a port with `approvers` takes signed answers only.
 *
 * @throws ToolUsageError when nothing waits, one answer meets several requests, or an answer is not one to what waits: nothing
 * was sent
 * @throws ApprovalAlreadyDecided when a genuine answer's request is no longer pending
 * @example const out = await resume(app, approve({ by: "ana" }), config);
 */
export async function resume<Output>(
  app: GraphApp<Output>,
  answer: OneAnswer | Readonly<Record<string, OneAnswer>> | null,
  config: AppConfig,
  options: ResumeOptions = {},
): Promise<Output> {
  const { executor: given, ...rest } = options;
  refuseUnknown("resume", rest);
  saverOf(app, "resume");
  if (answer === null) return send(app, null, { ...config.configurable, [CONTINUE_KEY]: "none" }, config);
  const executor = given ?? executorIn(app, "resume");
  const { port } = partsOf(executor);
  if (port === undefined)
    throw new ToolUsageError("resume: the executor has no `approval` port that could be answered");
  const matched = match(port, answer, await pendingApprovals(app, config));
  const values: Record<string, unknown> = {};
  const records: (() => Promise<unknown>)[] = [];
  for (const { pending, answer: one } of matched) {
    if (pending.approvalId === undefined) values[pending.id] = valueFor(port, pending, one);
    else records.push(recordDecision(port, pending, one));
  }
  // Everything was checked; only now is anything written.
  for (const decide of records) await decide();
  if (Object.keys(values).length === 0) return resume(app, null, config, options);
  return send(app, new Command({ resume: values }), { ...config.configurable, [STRICT_RESUME_KEY]: true }, config);
}

interface Matched {
  readonly pending: PendingApproval;
  readonly answer: OneAnswer;
}

function match(
  port: ApprovalPort,
  answer: OneAnswer | Readonly<Record<string, OneAnswer>>,
  pending: readonly PendingApproval[],
): Matched[] {
  if (isOneAnswer(answer)) return [matchOne(port, answer, pending)];
  const named = Object.entries(answer);
  if (named.length === 0) throw new ToolUsageError("resume: an empty map answers nothing; use null to continue");
  const matched = named.map(([name, one]) =>
    matchNamed(
      port,
      one,
      pending.filter(({ id, binding }) => name === id || name === binding),
    ),
  );
  if (new Set(matched.map((one) => one.pending)).size === matched.length) return matched;
  throw new ToolUsageError("resume: one request is answered twice, by its interrupt id and by its binding");
}

function matchOne(port: ApprovalPort, answer: OneAnswer, pending: readonly PendingApproval[]): Matched {
  if (!isApprovalDecision(answer))
    return matchNamed(
      port,
      answer,
      pending.filter(({ binding }) => binding === answer.binding),
    );
  if (pending.length > 1) {
    throw new ToolUsageError(
      `resume: ${pending.length} requests wait; name each decision by its interrupt id or binding`,
    );
  }
  return matchNamed(port, answer, pending);
}

function matchNamed(port: ApprovalPort, answer: OneAnswer, candidates: readonly PendingApproval[]): Matched {
  if (!isOneAnswer(answer)) throw notAnAnswer();
  const [pending] = candidates;
  if (pending?.status === "used") {
    throw new ApprovalAlreadyDecided("this request was answered and its call has not come back; continue with null");
  }
  if (pending !== undefined) return { pending, answer };
  if (!isApprovalDecision(answer) && port instanceof LangGraphApproval && port.isGenuine(answer)) {
    throw new ApprovalAlreadyDecided("the request this answers is no longer pending");
  }
  throw new ToolUsageError("resume: nothing that waits is answered by this; nothing was sent");
}

function isOneAnswer(value: unknown): value is OneAnswer {
  const { binding, mac, signature } = membersOf(value);
  return isApprovalDecision(value) || (typeof binding === "string" && (mac !== undefined || signature !== undefined));
}

function notAnAnswer(): ToolUsageError {
  return new ToolUsageError(
    "resume: an answer is made by approve() or deny(), or is a signed one; parsed JSON is neither",
  );
}

/** The signed value, checked before LangGraph sees it: refused bytes never reach the checkpointer. */
function valueFor(port: ApprovalPort, pending: PendingApproval, answer: OneAnswer): Answer {
  if (!(port instanceof LangGraphApproval))
    throw new ToolUsageError("resume: the executor's port does not answer pauses");
  if (isApprovalDecision(answer)) return port.resumeValue(pending.interrupt, answer);
  const check = port.check(pending.interrupt, answer);
  if (check === "ok") return answer;
  throw new ToolUsageError(`resume: the answer was refused (${check}); nothing was sent`);
}

/** How the store is told, checked as far as that can be done before it is. */
function recordDecision(port: ApprovalPort, pending: PendingApproval, answer: OneAnswer): () => Promise<unknown> {
  if (!(port instanceof DeferredApproval)) {
    throw new ToolUsageError("resume: this request is decided in a store, and the executor's port has none");
  }
  if (!isApprovalDecision(answer))
    throw new ToolUsageError("resume: a store is decided by approve() or deny(), not by a signed answer");
  const { store } = port;
  return () => store.decide(pending.binding, answer);
}

async function send<Output>(
  app: GraphApp<Output>,
  input: unknown,
  configurable: Readonly<Record<string, unknown>>,
  config: AppConfig,
): Promise<Output> {
  try {
    // A compiled graph's input is typed by its state; null and Command fit every one of them.
    return await app.invoke(input as never, { ...config, configurable } as never);
  } catch (error) {
    if (!isUnknownInterrupt(error)) throw error;
    throw new ApprovalAlreadyDecided("the request this answers is no longer pending", { cause: error });
  }
}

/** By name: LangGraph 1.7.0 throws it and does not export its test. */
function isUnknownInterrupt(error: unknown): boolean {
  return error instanceof Error && error.name === "UnknownInterruptError";
}
