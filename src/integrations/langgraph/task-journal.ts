// What is kept beside a task in the checkpointer: marks of used answers, outcomes of calls, refused plain values; and what tools
// that run once per run came to.
// Private pending writes under task ids of our own, sealed for the task run; nothing relies on their order.
//   J1  a visit without asks costs no saver call
//   J2  of two marks for one binding the first one written stays (the savers' rule); whoever reads back its own token won

import { ApprovalAlreadyDecided, FlowError, isAgentAdapterError, StoreUnavailable } from "../../index.js";
import {
  digest,
  openMark,
  outcomeFromJson,
  outcomeToJson,
  sealMark,
  Sealer,
  type KeyRing,
  type Mark,
  type KeptOutcome,
} from "../../spi.js";
import { membersOf } from "./members.js";
import { INTERRUPT_CHANNEL, UNFINISHED_CHANNELS, type PregelTask } from "./pregel-internals.js";

const SPENT = "aa:spent";
const DONE = "aa:done";
const REFUSED = "aa:null";
const FIRST = "aa:first";

/** Everything that is known about a task from its rows. */
export interface TaskRows {
  readonly marks: readonly Mark[];
  readonly outcomes: readonly KeptOutcome[];
  /** First results of tools that run once per run, whichever task of the step had them. */
  readonly firsts: readonly KeptOutcome[];
  /** Digests of refused plain values. */
  readonly refused: readonly string[];
  /** The newest interrupt, whoever raised it; its value may be anything. */
  readonly interrupt: { readonly value: unknown } | undefined;
  /** Has the task written output? Then this is a replay of something that went on. */
  readonly finished: boolean;
}

/** The task id under which the use of an answer is kept beside a task. */
export function markRowId(taskId: string, binding: string): string {
  return `${prefixOf(taskId)}s:${binding}`;
}

/** The task id under which the outcome of one call is kept beside a task, when it is kept at once. */
export function outcomeRowId(taskId: string, callId: string): string {
  return outcomesRowId(taskId, [callId]);
}

function outcomesRowId(taskId: string, callIds: readonly string[]): string {
  return `${prefixOf(taskId)}d:${digest("agent-adapter/row/v1", [...callIds])}`;
}

function prefixOf(taskId: string): string {
  return `aa:${taskId}:`;
}

/** What the rows of a step say about a gate of another node. */
export interface GateRows {
  /** Its grants that were used, in no order. */
  readonly marks: readonly Mark[];
  /** Values that finished nodes of the step have written to that channel. */
  readonly written: readonly unknown[];
}

/**
 * What is kept about a gate beside a task of the same step, by its node's name.
 *
 * @throws StoreUnavailable when the checkpointer cannot be read
 */
export async function gateRowsBeside(
  pregel: PregelTask,
  keys: KeyRing,
  { node, channel: wanted }: { readonly node: string; readonly channel: string },
): Promise<GateRows> {
  const parent = pregel.address.configurable.checkpoint_ns;
  const journal = new TaskJournal(pregel, keys, []);
  const marks: Mark[] = [];
  const written: unknown[] = [];
  for (const [rowId, channel, value] of (await journal.rows()) ?? []) {
    if (channel === wanted) written.push(value);
    if (channel !== SPENT) continue;
    const taskId = rowId.split(":")[1] ?? "";
    const namespace = `${parent === "" ? "" : `${parent}|`}${node}:${taskId}`;
    const mark = openedHere(keys, [pregel.threadId, namespace], value);
    if (mark?.record.request.kind === "gate") marks.push(mark);
  }
  return { marks, written };
}

/** Sealed for another node of the step, it does not open as this one's. */
function openedHere(keys: KeyRing, owner: readonly string[], value: unknown): Mark | undefined {
  try {
    return openMark(keys, owner, value);
  } catch {
    return undefined;
  }
}

type Row = readonly [taskId: string, channel: string, value: unknown];

export class TaskJournal {
  readonly #pregel: PregelTask;
  readonly #keys: KeyRing;
  readonly #owner: readonly string[];
  #doneSealer: Sealer | undefined;

  constructor(pregel: PregelTask, keys: KeyRing, owner: readonly string[]) {
    this.#pregel = pregel;
    this.#keys = keys;
    this.#owner = owner;
  }

  /**
   * What the rows say, but for sealed ones that this process has opened before (and now remembers as opened).
   *
   * @throws FlowError when a sealed row does not open: nothing may run
   */
  async read(opened: Set<string>): Promise<TaskRows> {
    const rows = (await this.rows()) ?? [];
    const own = rows.filter(([taskId]) => taskId.startsWith(this.#prefix) && !opened.has(taskId));
    const task = rows.filter(([taskId]) => taskId === this.#pregel.taskId);
    const [done, firsts] = [this.#done, this.#firsts];
    const found = {
      marks: own
        .filter(([, channel]) => channel === SPENT)
        .map(([, , value]) => openMark(this.#keys, this.#owner, value)),
      outcomes: own.filter(([, channel]) => channel === DONE).map(([, , value]) => openOutcome(done, value)),
      firsts: rows.filter(([, channel]) => channel === FIRST).map(([, , value]) => openOutcome(firsts, value)),
      refused: own.filter(([, channel]) => channel === REFUSED).map(([taskId]) => taskId.split(":").at(-1) ?? ""),
      interrupt: newestInterrupt(task),
      finished: task.some(([, channel]) => !UNFINISHED_CHANNELS.has(channel)),
    };
    for (const [taskId] of own) opened.add(taskId);
    return found;
  }

  /** Write the mark and read it back. @throws ApprovalAlreadyDecided when another claim was first */
  async mark(mark: Mark): Promise<void> {
    const rowId = markRowId(this.#pregel.taskId, mark.record.binding);
    const sealed = sealMark(this.#keys, this.#owner, mark);
    await this.#write([[SPENT, sealed]], rowId);
    const rows = await this.rows();
    // Not saved yet (exit durability, first pause not reached): nobody else can have it.
    if (rows === undefined) return;
    const row = rows.find(([taskId, channel]) => taskId === rowId && channel === SPENT);
    if (row === undefined) throw new FlowError("this checkpointer drops private writes, so it cannot keep approvals");
    // No two seals have the same text.
    if (row[2] === sealed) return;
    // Another copy of this very claim is its own, too: it was written by an attempt that was interrupted.
    if (openMark(this.#keys, this.#owner, row[2]).token === mark.token) return;
    throw new ApprovalAlreadyDecided("another process used this approval first", {
      callId: mark.record.request.callId,
    });
  }

  /** One write for all of them; written again, the first one stays. */
  async keepOutcomes(kept: readonly KeptOutcome[]): Promise<void> {
    const callIds = kept.map(({ callId }) => callId);
    await this.#write(
      kept.map((one) => [DONE, sealOutcome(this.#done, one)]),
      outcomesRowId(this.#pregel.taskId, callIds),
    );
  }

  /** For every task of the step, so that it opens for all of them. */
  async keepFirst(kept: KeptOutcome): Promise<void> {
    await this.#write([[FIRST, sealOutcome(this.#firsts, kept)]], `${this.#prefix}f:${kept.callId}`);
  }

  /** Outcomes of this task run. A hundred calls that end at once have one place. */
  get #done(): Sealer {
    this.#doneSealer ??= this.#sealer(this.#owner);
    return this.#doneSealer;
  }

  get #firsts(): Sealer {
    const { thread_id, checkpoint_ns } = this.#pregel.address.configurable;
    return this.#sealer(["first", thread_id, checkpoint_ns]);
  }

  #sealer(owner: readonly string[]): Sealer {
    return new Sealer(this.#keys, { purpose: "done", owner: [...owner] });
  }

  /** Remember that this plain value was refused: LangGraph would offer it for ever. */
  async refuse(valueDigest: string): Promise<void> {
    await this.#write([[REFUSED, 1]], `${this.#prefix}n:${valueDigest}`);
  }

  get #prefix(): string {
    return prefixOf(this.#pregel.taskId);
  }

  async #write(writes: [channel: string, value: unknown][], taskId: string): Promise<void> {
    try {
      await this.#pregel.saver?.putWrites(this.#pregel.address, writes, taskId);
    } catch (cause) {
      throw new StoreUnavailable("the checkpointer did not take a write; nothing was used", { cause });
    }
  }

  /** All rows beside the tasks of the step. `undefined`: its checkpoint is not saved yet. */
  async rows(): Promise<readonly Row[] | undefined> {
    try {
      const tuple = await this.#pregel.saver?.getTuple(this.#pregel.address);
      return tuple === undefined ? undefined : (tuple.pendingWrites ?? []);
    } catch (cause) {
      // An encrypted checkpointer says so itself when a row was changed.
      if (isAgentAdapterError(cause, "FlowError")) throw cause;
      throw new StoreUnavailable("the checkpointer cannot be read; nothing was used", { cause });
    }
  }
}

function sealOutcome(place: Sealer, { callId, rawDigest, outcome }: KeptOutcome): string {
  return place.seal({ v: 1, callId, rawDigest, outcome: outcomeToJson(outcome) });
}

function openOutcome(place: Sealer, sealed: unknown): KeptOutcome {
  const { v, callId, rawDigest, outcome: json } = membersOf(place.open(sealed));
  const outcome = outcomeFromJson(json);
  if (v !== 1 || typeof callId !== "string" || typeof rawDigest !== "string" || outcome === undefined) {
    throw new FlowError("the sealed outcome of a call is not of a version this release can read");
  }
  return { callId, rawDigest, outcome };
}

function newestInterrupt(rows: readonly Row[]): TaskRows["interrupt"] {
  const interrupts = rows.filter(([, channel]) => channel === INTERRUPT_CHANNEL).flatMap(([, , value]) => value);
  const newest: unknown = interrupts.at(-1);
  return typeof newest === "object" && newest !== null ? { value: membersOf(newest)["value"] } : undefined;
}
