// What this process remembers of the step that runs now, held: it must not be forgotten between two looks at it, whatever else the
// process remembers meanwhile.

import { hold, leave, release, taskEntry, type TaskEntry } from "../../journal/process-state.js";

export class HeldEntries {
  readonly #held = new Map<string, TaskEntry>();
  /** What is remembered about the run as a whole; held to the end. */
  readonly run: TaskEntry;
  #isClosed = false;

  constructor(run: TaskEntry) {
    this.run = run;
    hold(run);
  }

  /** The entry of that key, held until the step is over. */
  entry(key: string, now: number): TaskEntry {
    const known = this.#held.get(key);
    if (known !== undefined) return known;
    const entry = taskEntry(key, now);
    if (!this.#isClosed) {
      hold(entry);
      this.#held.set(key, entry);
    }
    return entry;
  }

  /** A step is over. */
  release(): void {
    for (const entry of this.#held.values()) leave(entry);
    this.#held.clear();
  }

  /** The call of `runFlow` or `resumeFlow` is over. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.release();
    release(this.run);
  }
}
