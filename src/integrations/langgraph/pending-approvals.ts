// `pendingApprovals`: every request of a thread that waits for a human, subgraphs included, with what is needed to answer it.

import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { isAgentAdapterError, toReviewRequest, type ReviewRequest } from "../../index.js";
import { APPROVAL_TYPE } from "../../spi.js";
import {
  asSnapshot,
  saverOf,
  snapshotOf,
  type AppConfig,
  type AppSnapshot,
  type AppTask,
  type GraphApp,
} from "./app.js";
import { membersOf } from "./members.js";
import { UNFINISHED_CHANNELS } from "./pregel-internals.js";
import { markRowId, outcomeRowId } from "./task-journal.js";

/** A request that waits. */
export interface PendingApproval extends ReviewRequest {
  /** The interrupt's id: the key for `Command({ resume: { [id]: answer } })`. The same id may carry a new request later. */
  readonly id: string;
  /** The record to decide, when a store decides. */
  readonly approvalId: string | undefined;
  /** The node that waits. */
  readonly node: string;
  /**
   * `"used"`: an answer to this request was used and its run has not come back (a crash, or it runs right now). It cannot be
   * answered: continue with `resume(app, null, config)`, and if the outcome is unknown a new request comes.
   */
  readonly status: "waiting" | "used";
  /** The raw interrupt, for `resumeValue`. Never show it; JSON and copies leave it out. */
  readonly interrupt: { readonly id: string; readonly value: unknown };
}

/**
 * Read what waits. Runs nothing. A stored request that does not match its binding (somebody wrote on it) is left out as long as
 * another one waits, so that it is not in the way of the others: nobody can answer it.
 *
 * @throws ToolUsageError when the app has no checkpointer, or none of the stored requests matches its binding
 * @example for (const pending of await pendingApprovals(app, config)) show(pending.request);
 */
export async function pendingApprovals(app: GraphApp<unknown>, config: AppConfig): Promise<PendingApproval[]> {
  const saver = saverOf(app, "pendingApprovals");
  const unreadable: unknown[] = [];
  const found = await waitingIn(await snapshotOf(app, saver, config), saver, unreadable);
  if (found.length === 0 && unreadable.length > 0) throw unreadable[0];
  return found;
}

async function waitingIn(
  snapshot: AppSnapshot,
  saver: BaseCheckpointSaver,
  unreadable: unknown[],
): Promise<PendingApproval[]> {
  const found: PendingApproval[] = [];
  let rows: Promise<Kept> | undefined;
  const kept = () => (rows ??= keptIn(saver, snapshot.config));
  for (const task of snapshot.tasks) {
    if (task.result !== undefined) continue;
    const inner = membersOf(task.state);
    if (Array.isArray(inner["tasks"])) found.push(...(await waitingIn(asSnapshot(task.state), saver, unreadable)));
    else found.push(...(await ofTask(task, kept).catch((error: unknown) => setAside(unreadable, error))));
  }
  return found;
}

async function ofTask(task: AppTask, kept: () => Promise<Kept>): Promise<PendingApproval[]> {
  const interrupt = task.interrupts.at(-1);
  const value = membersOf(interrupt?.value);
  if (interrupt?.id === undefined || value["type"] !== APPROVAL_TYPE) return [];
  const { id } = interrupt;
  const { rowIds, finished } = await kept();
  // A finished task keeps the interrupts it had, and LangGraph 1.7.0 gives it no result.
  if (finished.has(task.id)) return [];
  const review = toReviewRequest(interrupt);
  // The mark is there before the tool runs; whether it is genuine is the node's business.
  const used = rowIds.has(markRowId(task.id, review.binding));
  // A gate that was passed asks nobody any more: its node waits for another gate of the step, or is to be run again.
  const { kind, callId } = review.request;
  if (used && kind === "gate" && rowIds.has(outcomeRowId(task.id, callId))) return [];
  const approvalId = typeof value["approvalId"] === "string" ? value["approvalId"] : undefined;
  const pending = { ...review, id, approvalId, node: task.name, status: used ? "used" : "waiting" } as const;
  return [withRaw(pending, { id, value: interrupt.value })];
}

function setAside(unreadable: unknown[], error: unknown): PendingApproval[] {
  // A checkpointer that fails is not a request that cannot be read.
  if (!isAgentAdapterError(error, "ToolUsageError")) throw error;
  unreadable.push(error);
  return [];
}

/** Not enumerable: a list that is sent to a browser as JSON holds no sealed state. */
function withRaw(pending: Omit<PendingApproval, "interrupt">, raw: PendingApproval["interrupt"]): PendingApproval {
  // The one property that was missing is defined here.
  return Object.defineProperty(pending, "interrupt", { value: raw }) as PendingApproval;
}

/** What the rows of a checkpoint say about its tasks. */
interface Kept {
  readonly rowIds: ReadonlySet<string>;
  /** Ids of tasks that have written output. */
  readonly finished: ReadonlySet<string>;
}

async function keptIn(saver: BaseCheckpointSaver, config: AppConfig): Promise<Kept> {
  const tuple = await saver.getTuple({ configurable: { ...config.configurable } });
  const rows = tuple?.pendingWrites ?? [];
  const output = rows.filter(([, channel]) => !UNFINISHED_CHANNELS.has(channel));
  return { rowIds: new Set(rows.map(([id]) => id)), finished: new Set(output.map(([id]) => id)) };
}
