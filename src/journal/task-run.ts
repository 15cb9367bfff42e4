// `TaskRun`: one attempt at one task run, as the executor sees it: what this process remembers about it, and the host
// that can pause it and keep things elsewhere. Owns call ids and liveness; knows no framework.

import type { AskRecord } from "../approvals/ask.js";
import type { Mark } from "../approvals/mark.js";
import type { ApprovalPort } from "../approvals/port.js";
import type { JsonObject } from "../crypto/canonical-json.js";
import { holding, processState, type AttemptOwner, type TaskEntry } from "./process-state.js";
import type { KeptOutcome } from "./outcome.js";

/** What the surroundings of a task run do for it: LangGraph's pause and checkpointer, or nothing in a plain program. */
export interface TaskHost {
  /** Can this host pause for a human and be resumed? */
  readonly pauses: boolean;
  /** The only executor whose calls may ask here: its port and its keys let answers in. `undefined`: any. */
  readonly executorId: string | undefined;
  /** Where decisions come from for an executor that has no port of its own. `undefined`: nowhere, such calls are refused. */
  readonly fallbackPort: ApprovalPort | undefined;
  /** The pause this attempt has raised, if it has: whatever its code made of it, the attempt waits for a human. */
  readonly raised: Promise<never> | undefined;
  /**
   * Why it cannot take these members to a human, or carry them as an edit of a gate: in words that go on after "the arguments" or
   * "the edit". `undefined`: it can.
   */
  cannotCarry(members: JsonObject, as: "request" | "edit"): string | undefined;
  /** The answer that entered with this attempt for that binding; nothing is spent by looking. */
  answerTo(binding: string): unknown;
  /** Keep the mark of a used answer. Rejects with `ApprovalAlreadyDecided` when another process was first. */
  mark(mark: Mark): Promise<void>;
  /** Keep what a call came to. `claimed`: it used an answer, so this must outlive the process if anything does. */
  keepOutcome(kept: KeptOutcome, claimed: boolean): Promise<void> | void;
  /** Keep the first result of a tool that runs once per run, for every task run of this run; its `callId` is the tool's. */
  keepFirst(kept: KeptOutcome): Promise<void> | void;
  /** Show the ask to a human and stop this attempt; always rejects. One pause per attempt: later asks get the same one. */
  pause(ask: AskRecord): Promise<never>;
}

/** A program without a framework: nothing outlives the process and nothing can pause. */
export const plainHost: TaskHost = {
  pauses: false,
  executorId: undefined,
  fallbackPort: undefined,
  raised: undefined,
  cannotCarry: () => undefined,
  answerTo: () => undefined,
  mark: () => Promise.resolve(),
  keepOutcome: () => undefined,
  keepFirst: () => undefined,
  pause: () => Promise.reject(new Error("a plain program cannot pause")),
};

interface TaskRunOptions {
  /** Names the task run to reviewers and seals. */
  readonly id: readonly string[];
  /** Task runs that the host aborts together when one of them fails. */
  readonly group: string;
  readonly entry: TaskEntry;
  readonly host: TaskHost;
  readonly signal: AbortSignal | undefined;
  /** Whose claims in this process count: of this owner only (runs of two executors may share a name), or everybody's. */
  readonly claimsOf?: string | undefined;
}

/** One attempt at one task run. */
export class TaskRun implements AttemptOwner {
  /** Thread and checkpoint namespace, or the run: what its seals are bound to. */
  readonly id: readonly string[];
  /** Task runs of one group share their `oncePerRun` results. */
  readonly group: string;
  /** What is remembered of it. */
  readonly entry: TaskEntry;
  /** What surrounds it. */
  readonly host: TaskHost;
  /** Aborted when the attempt is given up. */
  readonly signal: AbortSignal | undefined;
  readonly #claimsOf: string | undefined;
  readonly #positions = new Map<string, number>();
  readonly #deciding = new Set<OpenCall>();
  #settled = false;
  #inside = 0;

  constructor(options: TaskRunOptions) {
    this.id = options.id;
    this.group = options.group;
    this.entry = options.entry;
    this.host = options.host;
    this.signal = options.signal;
    this.#claimsOf = options.claimsOf;
  }

  /** Another attempt at the same task run: its calls are numbered from the start, and what finished replays. */
  again(signal: AbortSignal | undefined): TaskRun {
    const { id, group, entry, host } = this;
    return new TaskRun({ id, group, entry, host, signal, claimsOf: this.#claimsOf });
  }

  /** What an answer to that binding is claimed under in this process. */
  claimKey(binding: string): string {
    return this.#claimsOf === undefined ? binding : JSON.stringify([this.#claimsOf, binding]);
  }

  get alive(): boolean {
    return !this.#settled && this.signal?.aborted !== true;
  }

  /** Has its attempt ended, in all its parts? A plain program's never does. */
  get over(): boolean {
    return this.#settled;
  }

  /** The attempt ends now, for an owner who has just seen that nothing of it runs any more. */
  close(): void {
    this.#settled = true;
  }

  /**
   * Run one attempt, or a part of one: while any part runs its entry is not forgotten, afterwards its calls are nobody's.
   */
  async attempt<T>(body: () => Promise<T>): Promise<T> {
    this.#inside += 1;
    this.#settled = false;
    try {
      return await holding(this.entry, body);
    } finally {
      this.#inside -= 1;
      this.#settled ||= this.#inside === 0;
    }
  }

  /**
   * A call that may still ask, until it says that it is decided or ends: code that does not wait for its calls must not end
   * before they have asked.
   */
  async deciding<T>(call: (decided: () => void) => Promise<T>): Promise<T> {
    const open = new OpenCall();
    this.#deciding.add(open);
    const decided = () => {
      this.#deciding.delete(open);
      open.close();
    };
    try {
      return await call(decided);
    } finally {
      decided();
    }
  }

  /** None of the calls that have begun can ask any more. */
  async allDecided(): Promise<void> {
    while (this.#deciding.size > 0) await Promise.all([...this.#deciding].map((open) => open.closed()));
  }

  /** The id of a call that was given none: its position among the calls of the same tool and arguments. */
  nextCallId(tool: string, rawDigest: string): string {
    const kind = `${tool}/${rawDigest.slice(0, 16)}`;
    const position = this.#positions.get(kind) ?? 0;
    this.#positions.set(kind, position + 1);
    return `#${kind}/${position}`;
  }

  /** The newest ask of a call. */
  askOf(callId: string): AskRecord | undefined {
    return this.entry.asks.of(callId);
  }

  /** How many answers a call has used. */
  generationOf(callId: string): number {
    return [...this.entry.marks.values()].filter((mark) => mark.record.request.callId === callId).length;
  }
}

/** A call that may still ask. */
class OpenCall {
  readonly #waiting: (() => void)[] = [];

  close(): void {
    for (const goOn of this.#waiting.splice(0)) goOn();
  }

  /** Ask before it is closed: a closed one says nothing any more. */
  closed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

/** Let the approved calls of a group settle: an error thrown now would make LangGraph abort them. */
export async function groupSettled(group: string): Promise<void> {
  const { busy } = processState();
  for (let running = busy.get(group); running !== undefined && running.size > 0; running = busy.get(group)) {
    await Promise.allSettled(running);
  }
}
