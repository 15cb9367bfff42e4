// How an answer enters: at this one place, at the start of an attempt, before any user code.
//   E1  on a first visit nothing is read
//   E2  stored answers are consumed unchecked and remembered by binding; a fresh one must answer what was shown
//   E3  after this no ask looks at LangGraph's values: it uses what was remembered, or pauses
//   E4  consuming spends nothing

import { ToolUsageError } from "../../index.js";
import {
  APPROVAL_TYPE,
  digest,
  isJson,
  follow,
  recallMark,
  recallOutcome,
  type AskRecord,
  type Mark,
} from "../../spi.js";
import type { GraphTask } from "./graph-task.js";
import { membersOf } from "./members.js";
import type { TaskRows } from "./task-journal.js";

/** Refused plain values that are remembered for one task; a later one is refused again instead of being dropped. */
const MAX_REFUSED = 100;

/**
 * Read what is known, take the answers in, and stop the attempt when there is nothing new to go on with.
 *
 * @throws GraphInterrupt: the same request again; LangGraph's invalid resume: not an answer to what was shown
 * @throws ApprovalAlreadyDecided, FlowError, ToolUsageError: see transitions.ts; nothing ran
 */
export async function enter(task: GraphTask): Promise<void> {
  const { pregel, entry } = task;
  if (!pregel.resuming || pregel.saver === undefined) return;
  const rows = await task.journal.read(entry.opened);
  recall(task, rows);
  if (rows.finished && entry.asks.size > 0) {
    follow("done", "task-finished", "refuse-as-used");
    await task.refuseUsed("this node has finished; its approvals are used up");
  }
  if (task.foreign) return;
  await takeAnswers(task);
  dropLeftoverPlain(task);
  await takePlain(task);
  pauseAgain(task);
}

/** Put what the rows say into the entry of this process. */
function recall(task: GraphTask, rows: TaskRows): void {
  const { entry } = task;
  for (const mark of rows.marks.toSorted(byAge)) recallMark(entry, mark);
  for (const kept of rows.outcomes) recallOutcome(entry, kept);
  for (const kept of rows.firsts) recallOutcome(task.run(), kept);
  for (const refused of rows.refused) entry.refused.add(refused);
  if (rows.interrupt === undefined) return;
  const fields = membersOf(rows.interrupt.value);
  if (fields["type"] === APPROVAL_TYPE) {
    const ask = task.openShown(fields);
    entry.asks.remember(ask);
    for (const callId of ask.waiting) entry.needsHuman.add(callId);
    return;
  }
  task.foreign = true;
  if (entry.asks.size === 0) return;
  follow("asked", "foreign-interrupt", "refuse-usage");
  throw new ToolUsageError("a raw interrupt() followed an approval in one node: ask through the approval port only");
}

/** The newest use of a call last, whatever order the rows came in; asks that were never shown have no position. */
function byAge({ record: a }: Mark, { record: b }: Mark): number {
  return a.request.generation - b.request.generation || a.position - b.position;
}

/** Every position LangGraph has a value for, in order. */
async function takeAnswers(task: GraphTask): Promise<void> {
  const { pregel, entry } = task;
  const shown = entry.asks.newest;
  while (task.position < pregel.answers.count) {
    const value = pregel.answers.at(task.position);
    if (!pregel.answers.isFresh(value)) takeStored(task, value);
    else if (shown !== undefined && shown.position === task.position) {
      // There is one fresh value at most; the loop ends after it.
      await takeFresh(task, shown, value);
    } else {
      await dropMisplaced(task, value);
    }
  }
}

/** A schema that judged stored answers would wedge the thread the day they expire. */
function takeStored(task: GraphTask, value: unknown): void {
  const known = task.entry.asks.bound(membersOf(value)["binding"]);
  // There is a value, so nothing is shown.
  task.take({}, () => true);
  if (known !== undefined && known.source === "resume") task.remember(known.binding, value);
}

async function takeFresh(task: GraphTask, shown: AskRecord, offered: unknown): Promise<void> {
  await refuseOlder(task, shown, offered);
  const value = task.take(task.shownAs(shown), (candidate) => answers(task, shown, candidate));
  await refuseIfUsed(task, shown);
  if (shown.source === "resume") {
    follow("asked", "valid-answer", "collect");
    task.remember(shown.binding, value);
  }
}

/** LangGraph puts the answer to an old id one position too far: it is not an answer to what is shown. */
async function dropMisplaced(task: GraphTask, value: unknown): Promise<void> {
  task.pregel.answers.cut(task.position);
  await refuseOlder(task, undefined, value);
}

/** A genuine answer to another request of this task: used before, or never to be used. */
async function refuseOlder(task: GraphTask, shown: AskRecord | undefined, value: unknown): Promise<void> {
  const older = task.entry.asks.bound(membersOf(value)["binding"]);
  if (older === undefined || older.binding === shown?.binding) return;
  if (answers(task, older, value)) await refuseIfUsed(task, older);
}

/** Within one invocation LangGraph's own retries offer the same answer again: that is not a second answer. */
async function refuseIfUsed(task: GraphTask, ask: AskRecord): Promise<void> {
  if (task.pregel.attempt > 1 || ask.source === "port" || !task.isUsed(ask)) return;
  follow("running", "answer-to-used", "refuse-as-used");
  await task.refuseUsed("this approval was used before; go on with `resume(app, null, config)`", ask);
}

/** Genuine and for this request; dates are judged at use, where an expired answer leads to a new request. */
function answers(task: GraphTask, ask: AskRecord, value: unknown): boolean {
  if (ask.source === "port") return true;
  const check = task.parts.port?.verify(ask, value);
  return check === "ok" || check === "expired";
}

/** A plain value that cannot be meant for what is shown now. */
function dropLeftoverPlain(task: GraphTask): void {
  const { answers: slots } = task.pregel;
  if (slots.plain === undefined) return;
  const print = printOf(slots.plain);
  const stored = Array.from({ length: slots.count }, (_, position) => printOf(slots.at(position)));
  if (slots.byId || slots.noPlain || task.entry.refused.has(print) || stored.includes(print)) slots.dropPlain();
}

async function takePlain(task: GraphTask): Promise<void> {
  const { pregel, entry } = task;
  const { plain } = pregel.answers;
  if (plain === undefined) return;
  const waiting = waitingAsk(task);
  if (waiting === undefined || waiting.source === "port") {
    pregel.answers.dropPlain();
    return;
  }
  if (!answers(task, waiting, plain) && entry.refused.size < MAX_REFUSED) {
    entry.refused.add(printOf(plain));
    await task.journal.refuse(printOf(plain));
  }
  await takeFresh(task, waiting, plain);
}

/** The ask that is shown at the next position and has neither answer nor outcome. */
function waitingAsk(task: GraphTask): AskRecord | undefined {
  const shown = task.entry.asks.newest;
  if (shown?.position !== task.position) return undefined;
  return task.entry.calls.get(shown.request.callId)?.outcome === undefined ? shown : undefined;
}

/** Nothing new and the shown request still stands: the same request again, before user code runs. */
function pauseAgain(task: GraphTask): void {
  const waiting = waitingAsk(task);
  if (waiting === undefined || waiting.source === "port" || task.isUsed(waiting)) return;
  // The executor has another kind of port now: it asks anew.
  if (waiting.source !== task.parts.port?.source) return;
  const spec = task.parts.registry.get(waiting.request.tool);
  if (spec?.definitionDigest !== waiting.request.definitionDigest) return;
  follow("asked", "re-run", "ask-the-same");
  task.take(task.shownAs(waiting), () => false);
}

function printOf(value: unknown): string {
  return digest("agent-adapter/row/v1", isJson(value) ? ["json", value] : ["other", typeof value]);
}
