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
  return new Promise<T>((resolve, reject) => {
    const stopWatching = onAbort(signal, () => reject(signal.reason));
    void running.then(resolve, reject).then(stopWatching);
  });
}

/** Who is told when a signal aborts, and the one listener that tells them. */
interface Watch {
  readonly stops: Set<() => void>;
  /** One that follows the watched signal: other listeners of that one can stop its events. */
  readonly follower: AbortSignal;
  readonly listener: () => void;
}

const WATCHES = new WeakMap<AbortSignal, Watch>();

/**
 * Call it when the signal aborts, or now when it has. All who watch a signal share one listener: a hundred calls must not pile
 * theirs onto the one of the run, and a signal of its own for each call costs more than the call.
 */
function onAbort(signal: AbortSignal, stop: () => void): () => void {
  if (signal.aborted) {
    stop();
    return () => undefined;
  }
  const watch = WATCHES.get(signal) ?? newWatch(signal);
  watch.stops.add(stop);
  return () => {
    watch.stops.delete(stop);
    if (watch.stops.size > 0 || WATCHES.get(signal) !== watch) return;
    WATCHES.delete(signal);
    watch.follower.removeEventListener("abort", watch.listener);
  };
}

function newWatch(signal: AbortSignal): Watch {
  const stops = new Set<() => void>();
  const listener = () => {
    WATCHES.delete(signal);
    for (const stop of stops) stop();
  };
  const watch = { stops, follower: AbortSignal.any([signal]), listener };
  WATCHES.set(signal, watch);
  watch.follower.addEventListener("abort", listener, { once: true });
  return watch;
}
