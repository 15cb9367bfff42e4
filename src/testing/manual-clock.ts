// A clock that tests move by hand.

import type { Clock } from "../index.js";

/**
 * Stands still until it is told to move.
 *
 * @example
 * const clock = new ManualClock(Date.UTC(2026, 0, 1));
 * new Executor(registry, { approval, clock });
 * clock.advance(24 * 60 * 60 * 1000);
 */
export class ManualClock implements Clock {
  #now: number;

  /** @param startMs milliseconds since the epoch; default 0 */
  constructor(startMs = 0) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  /** Move forward by this many milliseconds. */
  advance(byMs: number): void {
    this.#now += byMs;
  }
}
