// `Clock` port and the system clock. Nothing else in the package reads the time or sets a timer.

/** Where time comes from; tests pass one they move by hand. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolve after that many milliseconds; reject with the signal's reason as soon as it aborts, leaving no timer behind. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(reasonOf(signal));
        return;
      }
      const stop = () => {
        clearTimeout(timer);
        reject(reasonOf(signal));
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", stop);
        resolve();
      }, ms);
      signal.addEventListener("abort", stop, { once: true });
    }),
};

/** An abort reason may be anything; it propagates as it is. */
function reasonOf(signal: AbortSignal): Error {
  return signal.reason;
}

/** What measures how long something takes, finer than the clock and unmoved when the clock is set. */
export interface Stopwatch {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds since then. */
  elapsedMs(): number;
}

/** Starts to measure, by a clock that never goes back. */
export function startStopwatch(): Stopwatch {
  const begin = performance.now();
  return { startedAt: Date.now(), elapsedMs: () => performance.now() - begin };
}
