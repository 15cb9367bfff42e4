// `Ledger` port and `LedgerEntry`: one entry per call whatever happens to it. Holds digests, not arguments.

import type { JsonObject } from "../crypto/canonical-json.js";

export type LedgerStatus =
  | "running"
  /** Waits for a human. */
  | "pending"
  | "ok"
  /** The result was there already; nothing ran. */
  | "cached"
  | "failed"
  | "timeout"
  | "denied"
  | "expired"
  | "cancelled"
  /** An answer was used and nobody knows how the tool ended. */
  | "unknown";

/** What is known when a call is first seen. */
export interface LedgerOpening {
  /** Digest of task run and call id: a re-run of the call opens the same entry. */
  readonly id: string;
  readonly runId: string;
  readonly threadId: string | undefined;
  readonly tool: string;
  readonly callId: string;
  readonly principal: string | undefined;
  /** SHA-256 of the arguments as they came. */
  readonly argumentsDigest: string;
  /** The arguments themselves, for ledgers that were told to keep them. */
  readonly arguments: unknown;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** What one run, re-run or replay of a call adds. */
export interface LedgerClosing {
  readonly status: LedgerStatus;
  /** The error's kind; `undefined` when there is none. */
  readonly errorKind: string | undefined;
  /** Times the tool's function was started just now. */
  readonly attempts: number;
  /** Milliseconds the tool's function ran just now; waiting for a human does not count. */
  readonly durationMs: number;
  /** What the attempts made just now cost, in the unit of the tools' `cost`. */
  readonly cost: number;
  /** Of the request this call waits for or was approved under. */
  readonly binding: string | undefined;
  readonly decidedBy: string | undefined;
  /** What the reviewer changed the arguments to; digest always, the arguments for ledgers that keep them. */
  readonly edit: { readonly digest: string; readonly arguments: JsonObject } | undefined;
}

export interface LedgerEntry extends Omit<LedgerOpening, "arguments">, Omit<LedgerClosing, "edit"> {
  readonly editDigest: string | undefined;
  readonly arguments?: unknown;
  readonly editedArguments?: JsonObject;
}

/** Nothing but the same call over again comes after these. */
export const FINAL_STATUSES: readonly LedgerStatus[] = ["ok", "cached", "denied", "expired"];

/** Sums over entries. */
export interface LedgerTotals {
  /** Calls whose function was started at least once: replays, refusals and cached results do not count. */
  readonly calls: number;
  readonly attempts: number;
  readonly cost: number;
  readonly durationMs: number;
}

export interface Ledger {
  /** Insert the entry; one that waits (`pending`) is running again; any other stays as it is. A ledger in memory need not promise. */
  open(opening: LedgerOpening): Promise<void> | void;
  /**
   * Set the status and add attempts and duration. A `pending` that comes late changes no status of `FINAL_STATUSES`: another run of
   * the same call has ended it meanwhile.
   */
  close(id: string, closing: LedgerClosing): Promise<void> | void;
  /** In the order in which the calls were first seen. */
  entries(filter?: { readonly runId?: string; readonly threadId?: string }): Promise<readonly LedgerEntry[]>;
  totals(filter?: { readonly runId?: string; readonly tool?: string }): Promise<LedgerTotals>;
}
