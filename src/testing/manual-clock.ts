// A clock that tests move by hand.

import type { Clock } from "../index.js";

interface Sleeper {
  readonly wakeAt: number;
  readonly wake: () => void;
}

/**
 * Stands still until it is told to move; whoever sleeps wakes when it has moved far enough.
 *
 * @example
 * const clock = new ManualClock(Date.UTC(2026, 0, 1));
 * new Executor(registry, { approval, clock });
 * clock.advance(24 * 60 * 60 * 1000);
 */
export class ManualClock implements Clock {
  #now: number;
  readonly #sleepers = new Set<Sleeper>();

  /** @param startMs milliseconds since the epoch; default 0 */
  constructor(startMs = 0) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  /** How many are waiting for this clock to move. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#sleepers.delete(sleeper);
        signal.removeEventListener("abort", stop);
      };
      const stop = () => {
        leave();
        reject(signal.reason);
      };
      const wake = () => {
        leave();
        resolve();
      };
      const sleeper: Sleeper = { wakeAt: this.#now + ms, wake };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      this.#sleepers.add(sleeper);
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  /** Move forward by this many milliseconds and wake whoever is due, the earliest first. */
  advance(byMs: number): void {
    this.#now += byMs;
    const due = [...this.#sleepers].filter((sleeper) => sleeper.wakeAt <= this.#now);
    for (const sleeper of due.toSorted((a, b) => a.wakeAt - b.wakeAt)) sleeper.wake();
  }
}
