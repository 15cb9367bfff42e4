// `resume`: answer or continue any app, also a parent graph whose subgraph waits. Never guesses: what does not fit exactly
// what is pending is refused before anything is sent.

import { Command } from "@langchain/langgraph";
import {
  ApprovalAlreadyDecided,
  ToolArgsInvalid,
  ToolUsageError,
  type ApprovalPort,
  type Executor,
} from "../../index.js";
import {
  deliveryOf,
  fieldsOf,
  isApprovalDecision,
  matchAnswers,
  partsOf,
  refuseUnknown,
  type Answers,
  type Delivery,
  type OneAnswer,
} from "../../spi.js";
import { executorIn, saverOf, type AppConfig, type GraphApp } from "./app.js";
import { pendingApprovals, type PendingApproval } from "./pending-approvals.js";
import { CONTINUE_KEY, STRICT_RESUME_KEY } from "./pregel-internals.js";
import { isRevived } from "./revived.js";

export type { OneAnswer };

/** Whose approvals are answered. */
export interface ResumeOptions {
  /** Whose approvals are answered. Default: the one executor of the app's nodes. */
  readonly executor?: Executor;
}

/**
 * Answer requests that wait, named by binding or interrupt id, or continue with `null`. Returns the app's own output. A bare
 * decision answers whatever waits now: name the binding when a person looked first. Whoever passes a decision is the approver; a port with `approvers` takes signed answers only.
 *
 * @throws ToolUsageError when nothing waits, one answer meets several requests, or an answer is not one to what waits: nothing
 * was sent
 * @throws ApprovalAlreadyDecided when a genuine answer's request is no longer pending
 * @example
 * const [asked] = await pendingApprovals(app, config); // show `asked.request`
 * if (asked !== undefined) await resume(app, { [asked.binding]: approve({ by: "ana" }) }, config); // that one, no newer one
 */
export async function resume<Output>(
  app: GraphApp<Output>,
  answer: Answers | null,
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
  const pendings = await pendingApprovals(app, config);
  const waiting = pendings.map((pending) => {
    const { id, binding, status } = pending;
    return { pending, id, binding, used: status === "used" };
  });
  const matched = matchAnswers("resume", port, { given: answer, waiting });
  const deliveries = matched.map(({ waiting: { id, pending }, answer: one }) => ({
    id,
    ...deliver(port, pending, one),
  }));
  // Everything was checked; only now is anything written.
  for (const one of deliveries) if (one.to === "store") await one.decide();
  const values = deliveries.flatMap((one) => (one.to === "host" ? [[one.id, one.value] as const] : []));
  if (values.length === 0) return resume(app, null, config, options);
  const command = new Command({ resume: Object.fromEntries(values) });
  return send(app, command, { ...config.configurable, [STRICT_RESUME_KEY]: true }, config);
}

/** What was asked by one kind of port cannot be answered through the other. */
function deliver(port: ApprovalPort, pending: PendingApproval, answer: OneAnswer): Delivery {
  const askedBy = pending.approvalId === undefined ? "resume" : "port";
  if (askedBy === port.source) {
    refuseUncarried(pending, answer);
    return deliveryOf("resume", port, { interrupt: pending.interrupt, answer });
  }
  throw new ToolUsageError(
    askedBy === "port"
      ? "resume: this request is decided in a store, and the executor's port has none"
      : "resume: the executor's port does not answer pauses",
  );
}

/** @throws ToolArgsInvalid: LangGraph would make something else of the edit on its way, or of the state that it goes into */
function refuseUncarried({ request }: PendingApproval, answer: OneAnswer): void {
  const decision = isApprovalDecision(answer) ? fieldsOf(answer) : answer.decision;
  if (!decision.approved || decision.editedArgs === undefined || !isRevived(decision.editedArgs)) return;
  const message =
    "the edit cannot pass LangGraph, which reads something in it as an object of its own; nothing was sent";
  throw new ToolArgsInvalid(message, { tool: request.tool, callId: request.callId });
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
