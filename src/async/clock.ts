// `Clock` port and the system clock. Nothing else in the package reads the time.

/** Where time comes from; tests pass one they move by hand. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };
