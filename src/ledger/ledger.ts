// `Ledger` port and `LedgerEntry`: one entry per call whatever happens to it. Holds digests, not arguments.

import type { JsonObject } from "../crypto/canonical-json.js";

/** How a call stands or ended. */
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
  /** The run the call belongs to. */
  readonly runId: string;
  /** The conversation, when there is one. */
  readonly threadId: string | undefined;
  /** The tool's name, as it was called: there may be no such tool. */
  readonly tool: string;
  /** The call's id within its run. */
  readonly callId: string;
  /** Who the run acts for. */
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
  /** How the call stands now. */
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
  /** Who decided, when it was signed by an approver or the decision says so. */
  readonly decidedBy: string | undefined;
  /** What the reviewer changed the arguments to; digest always, the arguments for ledgers that keep them. */
  readonly edit: { readonly digest: string; readonly arguments: JsonObject } | undefined;
}

/** What is known of one call. */
export interface LedgerEntry extends Omit<LedgerOpening, "arguments">, Omit<LedgerClosing, "edit"> {
  /** SHA-256 of what a reviewer changed the arguments to; `undefined` without an edit. */
  readonly editDigest: string | undefined;
  /** The arguments as they came; only in ledgers that were told to keep them. */
  readonly arguments?: unknown;
  /** What a reviewer changed them to; only in ledgers that were told to keep them. */
  readonly editedArguments?: JsonObject;
}

/** Nothing but the same call over again comes after these. */
export const FINAL_STATUSES: readonly LedgerStatus[] = ["ok", "cached", "denied", "expired"];

/** Sums over entries. */
export interface LedgerTotals {
  /** Calls whose function was started at least once: replays, refusals and cached results do not count. */
  readonly calls: number;
  /** Times a tool's function was started. */
  readonly attempts: number;
  /** In the unit of the tools' `cost`. */
  readonly cost: number;
  /** Milliseconds that functions ran; waiting for humans does not count. */
  readonly durationMs: number;
}

/** Where calls are recorded: one entry for each, refused and replayed ones too. Every method is atomic. */
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
  /** Sums over the entries that fit; what budgets read. */
  totals(filter?: { readonly runId?: string; readonly tool?: string }): Promise<LedgerTotals>;
}
