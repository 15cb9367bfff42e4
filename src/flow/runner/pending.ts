// What a paused run shows, and how answers to it come in. Everything is checked before anything is written.

import { deliveryOf, matchAnswers, type Answers, type OneAnswer } from "../../approvals/answering.js";
import type { Answer } from "../../approvals/answer.js";
import type { AskRecord } from "../../approvals/ask.js";
import { fieldsOf, isApprovalDecision } from "../../approvals/decision.js";
import { APPROVAL_TYPE, toReviewRequest } from "../../approvals/review-request.js";
import { privateTaskEntry } from "../../journal/process-state.js";
import { restore, type Snapshot } from "../../journal/snapshot.js";
import type { Checkpoint } from "../checkpoint/checkpoint.js";
import { gateSpec } from "../gate.js";
import { nodeOf } from "../plan.js";
import type { OpenRun } from "./open-run.js";
import type { FlowPending } from "./result.js";
import { visitEntry, waitingOf, type WaitingAsk } from "./step.js";

export function pendingOf({ node, ask }: WaitingAsk): FlowPending {
  const interrupt = interruptOf(ask);
  const pending = { ...toReviewRequest(interrupt), node, approvalId: ask.source === "port" ? ask.binding : undefined };
  // Not enumerable, as in a graph: what is shown to a reviewer is `request`. The one property that was missing is defined here.
  return Object.defineProperty(pending, "interrupt", { value: interrupt }) as FlowPending;
}

function interruptOf({ binding, request }: AskRecord) {
  return { binding, value: { type: APPROVAL_TYPE, binding, request } };
}

/**
 * Take answers in: into the run, or into the port's store.
 *
 * @throws ToolUsageError, ApprovalAlreadyDecided, ToolArgsInvalid; nothing was written then
 */
export async function takeAnswers(run: OpenRun, opened: Checkpoint, given: Answers): Promise<void> {
  const waiting = [...opened.tasks].flatMap(([node, snapshot]) => {
    // It came to an end without the answer it once asked for.
    if (opened.finished.has(node)) return [];
    const entry = visitEntry(run, opened.progress, node);
    return waitingIn(node, snapshot).map(({ ask }) => ({
      node,
      ask,
      binding: ask.binding,
      used: entry.marks.has(ask.binding),
    }));
  });
  const matched = matchAnswers("resumeFlow", run.port, { given, waiting });
  const records: (() => Promise<unknown>)[] = [];
  const values: Answer[] = [];
  for (const {
    waiting: { node, ask },
    answer,
  } of matched) {
    const delivery = deliveryOf("resumeFlow", run.port, { interrupt: interruptOf(ask), answer });
    if (ask.request.kind === "gate") await checkGateEdit(run, node, answer);
    if (delivery.to === "host") values.push(delivery.value);
    else records.push(delivery.decide);
  }
  for (const decide of records) await decide();
  for (const answer of values) run.answers.set(answer.binding, answer);
}

/** As the checkpoint says, whatever happened in this process since. */
function waitingIn(node: string, snapshot: Snapshot): WaitingAsk[] {
  const entry = privateTaskEntry();
  restore(entry, snapshot);
  return waitingOf(node, entry);
}

/** @throws ToolArgsInvalid when the edit does not fit the state */
async function checkGateEdit({ plan, parts }: OpenRun, node: string, answer: OneAnswer): Promise<void> {
  const decision = isApprovalDecision(answer) ? fieldsOf(answer) : answer.decision;
  if (!decision.approved || decision.editedArgs === undefined) return;
  await gateSpec(plan, nodeOf(plan, node)).parseEditedArguments(decision.editedArgs, parts.limits);
}
