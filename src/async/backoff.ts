// How long to wait before the next attempt: exponential, capped, with jitter (the semantics of common retry libraries).

interface BackoffOptions {
  readonly initialDelayMs: number;
  readonly factor: number;
  readonly maxDelayMs: number;
  /** Spread waits over 50 to 100 % of the delay, so that many callers do not come back at once. */
  readonly jitter: boolean;
}

/**
 * Milliseconds before attempt `attempt + 1`.
 *
 * @param random a number in [0, 1)
 */
export function backoffMs(options: BackoffOptions, attempt: number, random: number): number {
  // The power may overflow to Infinity, and 0 times that is no number: cap the power first.
  const growth = Math.min(options.factor ** (attempt - 1), Number.MAX_SAFE_INTEGER);
  const full = Math.min(options.maxDelayMs, options.initialDelayMs * growth);
  return options.jitter ? full * (0.5 + random / 2) : full;
}
