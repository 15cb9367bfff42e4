// Waits until an approval is decided. Owns when to look again: as soon as somebody tells, and now and then in any case,
// because what is told can be lost with a connection.

import type { Clock } from "../../index.js";
import { hasRunOut, unknownApproval, type ApprovalRecord, type ApprovalStore } from "../../spi.js";

/** How long to wait for a decision. */
export interface WaitOptions {
  /** Ends the wait with its reason. Default: none. */
  readonly signal?: AbortSignal;
  /** Milliseconds to wait. Default: until it is decided. */
  readonly timeoutMs?: number;
}

/** Tells when something about an approval has changed. */
export interface DecisionNews {
  /** Call `wake` on every change of this approval until the returned function is called. */
  subscribe(id: string, wake: () => void): () => void;
  /** Is somebody told at once? Else the waiting looks more often. */
  readonly isLive: boolean;
}

interface Wait {
  readonly store: ApprovalStore;
  readonly id: string;
  readonly clock: Clock;
  readonly news: DecisionNews | undefined;
}

const FIRST_LOOK_MS = 20;
const LOOK_MS = 500;
/** In between, news come by themselves. */
const LIVE_LOOK_MS = 5000;

export async function waitUntilDecided(wait: Wait, { signal, timeoutMs }: WaitOptions): Promise<ApprovalRecord> {
  const { id, clock, news } = wait;
  const until = clock.now() + (timeoutMs ?? Number.POSITIVE_INFINITY);
  let round = new AbortController();
  const wake = () => round.abort();
  const unsubscribe = news?.subscribe(id, wake);
  signal?.addEventListener("abort", wake, { once: true });
  try {
    for (let pauseMs = FIRST_LOOK_MS; ; pauseMs *= 2) {
      // News that come while the record is read end the pause after it.
      round = new AbortController();
      signal?.throwIfAborted();
      const record = await look(wait);
      const left = until - clock.now();
      if (record.status !== "pending" || left <= 0) return record;
      const most = Math.min(news?.isLive === true ? LIVE_LOOK_MS : Math.min(pauseMs, LOOK_MS), left);
      await pause(clock, Math.min(most, untilItRunsOut(record, clock)), round.signal);
    }
  } finally {
    signal?.removeEventListener("abort", wake);
    unsubscribe?.();
  }
}

async function look({ store, id, clock }: Wait): Promise<ApprovalRecord> {
  const record = await store.get(id);
  if (record === undefined) throw unknownApproval();
  return hasRunOut(record, clock.now()) ? store.expire(id) : record;
}

function untilItRunsOut({ request }: ApprovalRecord, clock: Clock): number {
  return request.expiresAt === null ? Number.POSITIVE_INFINITY : request.expiresAt - clock.now() + 1;
}

async function pause(clock: Clock, ms: number, woken: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, woken);
  } catch (error) {
    if (!woken.aborted) throw error;
  }
}
