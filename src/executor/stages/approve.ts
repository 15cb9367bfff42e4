// Ask the port until there is a decision that can be used, or stop: pause, expire, refuse. Uses nothing up.

import { askRecord, NOT_SHOWN, type AskRecord } from "../../approvals/ask.js";
import type { ApprovalPort } from "../../approvals/port.js";
import type { ApprovalRequest, PreviousAttempt } from "../../approvals/request.js";
import { follow } from "../../approvals/transitions.js";
import { isJsonObject, jsonCopy, type JsonObject, type JsonValue } from "../../crypto/canonical-json.js";
import {
  ApprovalAlreadyDecided,
  ApprovalExpired,
  ApprovalPending,
  isAgentAdapterError,
  ToolArgsInvalid,
  ToolUsageError,
} from "../../errors.js";
import { keepOutcome } from "../../journal/journal.js";
import { groupSettled } from "../../journal/task-run.js";
import { announceApproval } from "../../hooks/dispatch.js";
import { about, portOf, specOf, type Attempt } from "../attempt.js";
import type { Next } from "../pipeline.js";
import { hookCall } from "../hook-call.js";

/** A new question may find a stale record once, and its answer may arrive while it is announced; more is a broken port. */
const MAX_LOOKS = 5;

export function approve(attempt: Attempt, next: Next): Promise<unknown> {
  return attempt.needsHuman ? askFirst(attempt, next) : next(attempt);
}

async function askFirst(attempt: Attempt, next: Next): Promise<unknown> {
  const port = portFor(attempt);
  await refuseUsedMeanwhile(attempt);
  let ask = await standingAsk(attempt, port);
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const answer = attempt.task.host.answerTo(ask.binding);
    // A stale answer leads to one more question, and there is no answer to that one yet.
    const verdict = await port.decide(ask, answer, attempt.signal);
    switch (verdict.status) {
      case "pending":
        if (await announceNew(attempt, ask)) break;
        return wait(attempt, ask, verdict.inGraph);
      case "stale":
        follow("answered", "stale-answer", "ask-superseding");
        ask = await newAsk(attempt, port, { supersedes: ask.binding });
        break;
      case "expired":
        return expire(attempt, ask);
      case "decided":
        if (!(await takesEdit(attempt, verdict.decision))) {
          follow("answered", "stale-answer", "ask-superseding");
          ask = await newAsk(attempt, port, { supersedes: ask.binding });
          break;
        }
        attempt.approved = { ask, verdict };
        if (ask.position === NOT_SHOWN) attempt.task.entry.asks.remember(ask);
        return next(attempt);
    }
  }
  throw new ToolUsageError(`the approval port of ${attempt.name} finds every new request stale`, about(attempt));
}

/** Tell the hooks of a new question; true when the port may have been answered meanwhile and is to be looked at again. */
async function announceNew(attempt: Attempt, ask: AskRecord): Promise<boolean> {
  if (attempt.asked === ask) return false;
  attempt.asked = ask;
  const { binding, request, source } = ask;
  await announceApproval(attempt.opened, hookCall(attempt), { state: "asked", binding, request });
  return source === "port";
}

function portFor(attempt: Attempt): ApprovalPort {
  const { parts, task, outer } = attempt;
  if (outer !== undefined) {
    follow("none", "nested-ask", "refuse-usage");
    throw new ToolUsageError(
      `${attempt.name} needs a human and cannot be called inside another tool's body`,
      about(attempt),
    );
  }
  const port = portOf(attempt);
  if (port === undefined) {
    throw new ToolUsageError(
      `${attempt.name} needs a human, and the executor has no \`approval\` port`,
      about(attempt),
    );
  }
  if (task.host.executorId !== undefined && task.host.executorId !== parts.id) {
    throw new ToolUsageError(
      `${attempt.name} needs a human, and the node lets answers in for another executor: give it this one as \`executor\``,
      about(attempt),
    );
  }
  if (port.source === "resume" && !task.host.pauses) {
    throw new ToolUsageError(
      `${attempt.name} needs a human, and its port can only pause a graph: run it in toolNode or oneUse`,
      about(attempt),
    );
  }
  return port;
}

/** Another run used the answer after this one was prepared: its call may be running, so its outcome is not unknown. */
async function refuseUsedMeanwhile(attempt: Attempt): Promise<void> {
  const { asked, task, unknown } = attempt;
  if (asked === undefined || unknown !== undefined || !task.entry.marks.has(asked.binding)) return;
  follow("answered", "claim-lost", "refuse-as-used");
  await groupSettled(task.group);
  throw new ApprovalAlreadyDecided("this approval was used before", about(attempt));
}

/** The request that stands: the one shown before, or a new one when there is none, it was used, or the tool changed. */
async function standingAsk(attempt: Attempt, port: ApprovalPort): Promise<AskRecord> {
  const { asked, task, unknown } = attempt;
  if (asked === undefined) {
    follow("none", "needs-human", "ask");
    return newAsk(attempt, port, {});
  }
  if (unknown !== undefined) {
    follow("unknown", "re-run", "ask-again-unknown");
    return newAsk(attempt, port, { previousAttempt: { outcome: "unknown", claimedAt: unknown.claimedAt } });
  }
  // Another kind of port cannot take the answer to what is shown: its question goes the way of a changed tool's.
  // So does that of a gate which was asked about another state: what is approved is that one.
  const stands =
    asked.request.definitionDigest === specOf(attempt).definitionDigest &&
    asked.source === port.source &&
    asked.rawDigest === attempt.rawDigest;
  if (stands) return asked;
  const unanswered = task.host.answerTo(asked.binding) === undefined;
  if (unanswered) follow("asked", "definition-changed", "ask-superseding");
  else follow("answered", "stale-answer", "ask-superseding");
  return newAsk(attempt, port, { supersedes: asked.binding });
}

interface Because {
  readonly supersedes?: string;
  readonly previousAttempt?: PreviousAttempt;
}

/** What the port's store holds of this very question stands: a process before this one may have been answered. */
async function newAsk(attempt: Attempt, port: ApprovalPort, because: Because): Promise<AskRecord> {
  const now = attempt.parts.clock.now();
  const request = newRequest(attempt, { port, because, now });
  const stored = await port.stored?.(request);
  return askRecord({
    request: stored ?? request,
    rawDigest: attempt.rawDigest,
    askedAt: now,
    source: port.source,
  });
}

interface Asking {
  readonly port: ApprovalPort;
  readonly because: Because;
  readonly now: number;
}

function newRequest(attempt: Attempt, { port, because, now }: Asking): ApprovalRequest {
  const { context, task, asked } = attempt;
  const spec = specOf(attempt);
  return {
    v: 1,
    kind: attempt.kind,
    runId: context.runId,
    threadId: context.threadId ?? null,
    taskRun: task.id,
    tool: spec.name,
    description: spec.description,
    effects: spec.effects,
    definitionDigest: spec.definitionDigest,
    arguments: plainArguments(attempt),
    callId: attempt.callId,
    generation: task.generationOf(attempt.callId),
    // Whoever it was asked for stays: never derived again.
    requestedBy: asked === undefined ? (context.principal ?? null) : asked.request.requestedBy,
    expiresAt: port.requestTtlMs === null ? null : now + port.requestTtlMs,
    supersedes: because.supersedes ?? null,
    previousAttempt: because.previousAttempt ?? null,
  };
}

/** Copied when the request is bound. */
function plainArguments(attempt: Attempt): JsonObject {
  // The schema's fixed-point check has seen that they are JSON.
  const args = attempt.arguments as JsonValue;
  if (isJsonObject(args)) return args;
  throw new ToolUsageError(`the parsed arguments of ${attempt.name} are not a JSON object`, about(attempt));
}

function wait(attempt: Attempt, ask: AskRecord, inGraph: "throw" | undefined): Promise<never> {
  const { host, entry } = attempt.task;
  if (host.pauses && inGraph !== "throw") return host.pause(ask);
  entry.asks.remember(ask);
  throw new ApprovalPending(`${attempt.name} waits for a decision`, about(attempt));
}

async function expire(attempt: Attempt, ask: AskRecord): Promise<never> {
  follow("answered", "request-expired", "expire");
  attempt.asked = ask;
  keepOutcome(attempt.task.entry, attempt.call, { status: "expired" });
  const { callId, rawDigest } = attempt;
  await attempt.task.host.keepOutcome({ callId, rawDigest, outcome: { status: "expired" } }, true);
  throw new ApprovalExpired(`nobody decided about ${attempt.name} in time`, about(attempt));
}

/**
 * False when an edit cannot run and cannot be taken back: the reviewer is asked once more. Ports know how to check an edit of a
 * tool as it comes in; what a gate takes only this call knows.
 *
 * @throws ToolArgsInvalid
 */
async function takesEdit(attempt: Attempt, decision: Parameters<typeof acceptedEdit>[1]) {
  try {
    attempt.edit = await acceptedEdit(attempt, decision);
    return true;
  } catch (error) {
    if (attempt.kind === "gate" && isAgentAdapterError(error, "ToolArgsInvalid")) return false;
    throw error;
  }
}

/** An edit is checked like any arguments, before anything is used up. */
async function acceptedEdit(attempt: Attempt, decision: { approved: boolean; editedArgs?: JsonObject }) {
  if (!decision.approved || decision.editedArgs === undefined) return undefined;
  const parsed = jsonCopy(await specOf(attempt).parseEditedArguments(decision.editedArgs, attempt.parts.limits));
  if (!isJsonObject(parsed))
    throw new ToolArgsInvalid(`the edited arguments of ${attempt.name} are not a JSON object`, about(attempt));
  // A tool's run as they are; a gate's are written into the state.
  const why = attempt.kind === "gate" ? attempt.task.host.cannotCarry(parsed, "edit") : undefined;
  if (why === undefined) return parsed;
  throw new ToolArgsInvalid(`the edit at gate "${attempt.name}" ${why}`, about(attempt));
}
