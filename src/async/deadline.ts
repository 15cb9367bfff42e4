// Deadlines and aborts around a promise that may not listen. Every timer and listener is gone when the call returns; what
// the promise does later is dropped.

import type { Clock } from "./clock.js";

interface DeadlineOptions {
  readonly clock: Clock;
  readonly ms: number;
  /** The run's own signal: it aborts the body's, too. */
  readonly signal: AbortSignal | undefined;
  /** What the body's signal is aborted with and the caller gets. */
  readonly expired: () => Error;
}

/** Run the body under a signal that is aborted after `ms`; whoever ignores it is left behind. */
export async function withDeadline<T>(
  { clock, ms, signal, expired }: DeadlineOptions,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const finished = new AbortController();
  const running = body(signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]));
  // After an abort nobody waits for the deadline: its timer goes, and the body alone says when it is over.
  const rest = signal === undefined ? finished.signal : AbortSignal.any([signal, finished.signal]);
  const alarm = clock.sleep(ms, rest).then(
    () => {
      const error = expired();
      over.abort(error);
      throw error;
    },
    () => running,
  );
  // Whichever comes second is dropped, also when it rejects.
  running.catch(() => undefined);
  alarm.catch(() => undefined);
  try {
    return await Promise.race([running, alarm]);
  } finally {
    finished.abort();
  }
}

/** The promise's result, or the signal's reason as soon as it aborts; the promise itself goes on. */
export function untilAborted<T>(signal: AbortSignal | undefined, running: Promise<T>): Promise<T> {
  if (signal === undefined) return running;
  // A signal of its own: a hundred calls must not pile their listeners onto the one of the run.
  const own = AbortSignal.any([signal]);
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(own.reason);
    if (own.aborted) stop();
    else own.addEventListener("abort", stop, { once: true });
    void running.then(resolve, reject).finally(() => own.removeEventListener("abort", stop));
  });
}
