// The surroundings of a visit in a local run: a pause ends the attempt, and everything that must outlive the process goes into
// the checkpoint with the entry of the task run.

import type { AskRecord } from "../../approvals/ask.js";
import { NOT_SHOWN } from "../../approvals/ask.js";
import type { Mark } from "../../approvals/mark.js";
import type { ApprovalPort } from "../../approvals/port.js";
import type { TaskHost } from "../../journal/task-run.js";
import type { TaskEntry } from "../../journal/process-state.js";

/** Ends an attempt that waits for a human. Has the shape of a host's control flow, so that nothing wraps or retries it. */
class FlowPause extends Error {
  override readonly name = "FlowPause";
  readonly is_bubble_up = true;
  readonly interrupts: readonly unknown[] = [];
}

export interface FlowHostOptions {
  readonly executorId: string;
  readonly port: ApprovalPort;
  readonly entry: TaskEntry;
  /** By binding; shared by all visits of the run. */
  readonly answers: ReadonlyMap<string, unknown>;
  /** Bindings whose answers this run has used; shared as well. */
  readonly used: Set<string>;
}

export class FlowHost implements TaskHost {
  readonly pauses = true;
  readonly executorId: string;
  readonly fallbackPort: ApprovalPort;
  readonly #entry: TaskEntry;
  readonly #answers: ReadonlyMap<string, unknown>;
  readonly #used: Set<string>;
  #shown: AskRecord | undefined;
  #pause: Promise<never> | undefined;

  constructor({ executorId, port, entry, answers, used }: FlowHostOptions) {
    this.executorId = executorId;
    this.fallbackPort = port;
    this.#entry = entry;
    this.#answers = answers;
    this.#used = used;
  }

  get raised(): Promise<never> | undefined {
    return this.#pause;
  }

  /** The ask this attempt has paused for, if it has: whatever becomes of it meanwhile, this attempt waits for it. */
  get shown(): AskRecord | undefined {
    return this.#shown;
  }

  cannotCarry(): undefined {
    // Checkpoints are JSON, and give back what was put in.
  }

  answerTo(binding: string): unknown {
    return this.#answers.get(binding);
  }

  /** In the entry, and so in the checkpoint. */
  mark({ record }: Mark): Promise<void> {
    this.#used.add(record.binding);
    return Promise.resolve();
  }

  keepOutcome(): void {
    // In the entry, and so in the checkpoint.
  }

  keepFirst(): void {
    // In the entry of the run, and so in the checkpoint.
  }

  pause(ask: AskRecord): Promise<never> {
    this.#pause ??= this.#raise(ask);
    return this.#pause;
  }

  #raise(ask: AskRecord): Promise<never> {
    if (this.#entry.asks.bound(ask.binding) === undefined) {
      this.#entry.asks.remember(ask.position === NOT_SHOWN ? { ...ask, position: this.#entry.asks.size } : ask);
    }
    this.#shown = this.#entry.asks.bound(ask.binding) ?? ask;
    const pause = Promise.reject(new FlowPause("waits for a human"));
    // Whoever asked hears of it; nobody else need.
    pause.catch(() => undefined);
    return pause;
  }
}
