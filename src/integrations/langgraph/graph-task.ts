// `GraphTask`: a LangGraph task as the host of a task run. Owns its position among LangGraph's answers, the answers that
// entered, and the one pause an attempt may raise. How answers enter is enter.ts; what is kept is task-journal.ts.

import { ApprovalAlreadyDecided, FlowError, ToolUsageError } from "../../index.js";
import {
  APPROVAL_TYPE,
  groupSettled,
  isClaimed,
  openAsk,
  sealAsk,
  type AskRecord,
  type ExecutorParts,
  type JsonObject,
  type KeptOutcome,
  type Mark,
  type TaskEntry,
  type TaskHost,
} from "../../spi.js";
import { isCarried } from "./compile-flow/field-channel.js";
import type { NodeSettings } from "./node-settings.js";
import type { PregelTask } from "./pregel-internals.js";
import { raiseInterrupt } from "./raise-interrupt.js";
import { isRevived } from "./revived.js";
import { TaskJournal } from "./task-journal.js";

/** What a paused task shows. Give a reviewer `request` only. */
export interface ApprovalInterrupt {
  /** Tells our interrupts from others. */
  readonly type: typeof APPROVAL_TYPE;
  /** The hash of the request, which an answer is signed for. */
  readonly binding: string;
  /** What the reviewer decides about. */
  readonly request: AskRecord["request"];
  /** Not part of what is signed. */
  readonly meta: { readonly askedAt: number };
  /** The record to decide, when a store decides. */
  readonly approvalId?: string;
  /** The sealed ask, for whoever resumes. Not to be shown. */
  readonly aa_state: string;
}

interface GraphTaskOptions {
  readonly parts: ExecutorParts;
  readonly entry: TaskEntry;
  /** What is remembered of the run that the task belongs to, made when it is asked for: first results of `oncePerRun` tools. */
  readonly run: () => TaskEntry;
  readonly settings: NodeSettings;
}

export class GraphTask implements TaskHost {
  readonly pauses = true;
  readonly fallbackPort = undefined;
  readonly executorId: string;
  readonly pregel: PregelTask;
  readonly parts: ExecutorParts;
  readonly entry: TaskEntry;
  readonly run: () => TaskEntry;
  readonly id: readonly string[];
  readonly group: string;
  readonly journal: TaskJournal;
  /** A raw `interrupt()` of somebody else is pending in this task: positions are not ours to read. */
  foreign = false;
  readonly #settings: NodeSettings;
  readonly #answers = new Map<string, unknown>();
  #position = 0;
  #pause: Promise<never> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #queued: Promise<void> | undefined;

  constructor(pregel: PregelTask, { parts, entry, run, settings }: GraphTaskOptions) {
    this.#settings = settings;
    this.pregel = pregel;
    this.parts = parts;
    this.executorId = parts.id;
    this.entry = entry;
    this.run = run;
    this.id = [pregel.threadId, pregel.namespace];
    const { checkpoint_ns, checkpoint_id } = pregel.address.configurable;
    this.group = JSON.stringify([pregel.threadId, checkpoint_ns, checkpoint_id]);
    this.journal = new TaskJournal(pregel, parts.keys, this.id);
  }

  /** The next position of LangGraph's answers that nothing has been taken from. */
  get position(): number {
    return this.#position;
  }

  /** The pause this attempt has raised, if it has. */
  get raised(): Promise<never> | undefined {
    return this.#pause;
  }

  cannotCarry(members: JsonObject, as: "request" | "edit"): string | undefined {
    const carried = as === "request" ? !isRevived(members) : Object.values(members).every(isCarried);
    return carried
      ? undefined
      : "cannot pass a LangGraph checkpointer: it reads something in them as an object of its own";
  }

  answerTo(binding: string): unknown {
    return this.#answers.get(binding);
  }

  remember(binding: string, answer: unknown): void {
    this.#answers.set(binding, answer);
  }

  /** Consume the next position, or pause on it. */
  take(shown: unknown, check: (value: unknown) => boolean): unknown {
    this.#position += 1;
    return raiseInterrupt(shown, check);
  }

  async mark(mark: Mark): Promise<void> {
    await this.journal.mark(mark);
  }

  /** A claimed call's end is written at once, whatever `durable` says; a plain one's as `durable` says. */
  async keepOutcome(kept: KeptOutcome, claimed: boolean): Promise<void> {
    const { durable, maxEntryBytes } = this.#settings;
    const large = isLarge(kept, maxEntryBytes);
    if (claimed) return this.#writeNow(large ? { ...kept, outcome: { status: "ok-not-kept" } } : kept);
    if (durable === false || large || this.pregel.saver === undefined) return;
    this.entry.unwritten.set(kept.callId, kept);
    if (durable === "call") return this.#writeSoon();
  }

  /** Calls that end while a write is under way share the next one: a hundred of them are a few writes. */
  #writeSoon(): Promise<void> {
    if (this.#queued !== undefined) return this.#queued;
    const write = this.#writeAfter(this.#writing);
    this.#queued = write;
    this.#writing = write;
    return write;
  }

  async #writeAfter(write: Promise<void>): Promise<void> {
    await write;
    this.#queued = undefined;
    await this.writeFinished().catch(() => this.#warnUnwritten());
  }

  #warnUnwritten(): void {
    // The call ran; its result is worth more than the row. Another process will not know how it ended.
    this.parts.logger.warn("the outcome of a call could not be written to the checkpointer");
  }

  /** At once: whoever else calls the tool, now or in another process, must not run it. */
  async keepFirst(kept: KeptOutcome): Promise<void> {
    const { durable, maxEntryBytes } = this.#settings;
    if (durable === false || isLarge(kept, maxEntryBytes) || this.pregel.saver === undefined) return;
    await this.#trying(() => this.journal.keepFirst(kept));
  }

  #writeNow(kept: KeptOutcome): Promise<void> {
    return this.#trying(() => this.journal.keepOutcomes([kept]));
  }

  async #trying(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch {
      this.#warnUnwritten();
    }
  }

  /** Write down what finished in this task run: before a pause, because the next process starts from there. */
  async writeFinished(): Promise<void> {
    const { unwritten } = this.entry;
    const kept = [...unwritten.values()];
    if (kept.length === 0) return;
    await this.journal.keepOutcomes(kept);
    for (const { callId } of kept) unwritten.delete(callId);
  }

  pause(ask: AskRecord): Promise<never> {
    this.#pause ??= this.#raise(ask);
    return this.#pause;
  }

  async #raise(ask: AskRecord): Promise<never> {
    if (this.foreign) {
      throw new ToolUsageError(
        "a raw interrupt() and an approval cannot share one node: ask through the approval port only",
      );
    }
    if (this.pregel.saver === undefined) {
      throw new ToolUsageError("a call needs a human, and the graph was compiled without a checkpointer to pause with");
    }
    await this.writeFinished();
    // A brand-new ask never looks at a value that came before it was shown.
    this.pregel.answers.dropPlain();
    const waiting = [...this.entry.needsHuman].filter((callId) => this.entry.asks.of(callId) === undefined);
    const shown = {
      ...ask,
      position: this.position,
      waiting: waiting.filter((callId) => callId !== ask.request.callId),
    };
    this.entry.asks.remember(shown);
    this.take(this.shownAs(shown), () => false);
    throw new FlowError("internal: LangGraph had an answer for a request that was never shown; nothing was run");
  }

  shownAs(ask: AskRecord): ApprovalInterrupt {
    const { binding, request, askedAt } = ask;
    const aa_state = sealAsk(this.parts.keys, this.id, ask);
    const shown = { type: APPROVAL_TYPE, binding, request, meta: { askedAt }, aa_state } as const;
    return ask.source === "port" ? { ...shown, approvalId: binding } : shown;
  }

  /** @throws FlowError when the sealed record is gone, moved or does not open */
  openShown(interrupt: Readonly<Record<string, unknown>>): AskRecord {
    if (interrupt["aa_state"] === undefined) {
      throw new FlowError("the sealed state of a pending approval is gone from the checkpointer; nothing was run");
    }
    return openAsk(this.parts.keys, this.id, interrupt["aa_state"]);
  }

  /** Was an answer to this request used, here or in another process? */
  isUsed(ask: AskRecord): boolean {
    return this.entry.marks.has(ask.binding) || isClaimed(ask.binding);
  }

  /** An error thrown now would make LangGraph abort the approved calls that run beside this one: let them settle. */
  async refuseUsed(message: string, ask?: AskRecord): Promise<never> {
    await groupSettled(this.group);
    throw new ApprovalAlreadyDecided(
      message,
      ask === undefined ? {} : { tool: ask.request.tool, callId: ask.request.callId },
    );
  }
}

function isLarge({ outcome }: KeptOutcome, maxBytes: number): boolean {
  return outcome.status === "ok" && (outcome.json?.length ?? 0) > maxBytes;
}
