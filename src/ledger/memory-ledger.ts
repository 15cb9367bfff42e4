// `MemoryLedger`: the ledger of one process, in memory.

import { jsonCopy } from "../crypto/canonical-json.js";
import { refuseUnknown } from "../options.js";
import {
  FINAL_STATUSES,
  type Ledger,
  type LedgerClosing,
  type LedgerEntry,
  type LedgerOpening,
  type LedgerTotals,
} from "./ledger.js";

/** An entry as it is kept: it changes until its call is over. */
type KeptEntry = { -readonly [Field in keyof LedgerEntry]: LedgerEntry[Field] };

interface MemoryLedgerOptions {
  /** Also keep arguments and edits. They may be personal data: default `false`. */
  readonly arguments?: boolean;
}

/**
 * Keeps every entry for the life of the object.
 *
 * @example const ledger = new MemoryLedger(); new Executor(registry, { ledger });
 */
export class MemoryLedger implements Ledger {
  readonly #entries = new Map<string, KeptEntry>();
  readonly #keepsArguments: boolean;

  /** @throws ToolUsageError naming the option that does not exist */
  constructor(options: MemoryLedgerOptions = {}) {
    const { arguments: keepsArguments = false, ...rest } = options;
    refuseUnknown("MemoryLedger", rest);
    this.#keepsArguments = keepsArguments === true;
  }

  open(opening: LedgerOpening): Promise<void> | void {
    const known = this.#entries.get(opening.id);
    if (known === undefined) this.#entries.set(opening.id, this.#fresh(opening));
    else if (known.status === "pending") known.status = "running";
  }

  close(id: string, closing: LedgerClosing): Promise<void> | void {
    const known = this.#entries.get(id);
    if (known !== undefined) this.#close(known, closing);
  }

  entries(filter: { readonly runId?: string; readonly threadId?: string } = {}): Promise<readonly LedgerEntry[]> {
    const found = [...this.#entries.values()].filter(
      (entry) =>
        (filter.runId === undefined || entry.runId === filter.runId) &&
        (filter.threadId === undefined || entry.threadId === filter.threadId),
    );
    // Copies: whoever writes on what it was given changes no entry.
    return Promise.resolve(found.map((entry) => Object.freeze({ ...entry })));
  }

  totals(filter: { readonly runId?: string; readonly tool?: string } = {}): Promise<LedgerTotals> {
    let [calls, attempts, durationMs, cost] = [0, 0, 0, 0];
    for (const entry of this.#entries.values()) {
      if (filter.runId !== undefined && entry.runId !== filter.runId) continue;
      if (filter.tool !== undefined && entry.tool !== filter.tool) continue;
      calls += entry.attempts > 0 ? 1 : 0;
      attempts += entry.attempts;
      durationMs += entry.durationMs;
      cost += entry.cost;
    }
    return Promise.resolve({ calls, attempts, durationMs, cost });
  }

  #fresh(opening: LedgerOpening): KeptEntry {
    // Written out: thousands of entries of one shape are small and quick.
    const entry: KeptEntry = {
      id: opening.id,
      runId: opening.runId,
      threadId: opening.threadId,
      tool: opening.tool,
      callId: opening.callId,
      principal: opening.principal,
      argumentsDigest: opening.argumentsDigest,
      startedAt: opening.startedAt,
      status: "running",
      errorKind: undefined,
      attempts: 0,
      durationMs: 0,
      cost: 0,
      binding: undefined,
      decidedBy: undefined,
      editDigest: undefined,
    };
    if (this.#keepsArguments) entry.arguments = copyOf(opening.arguments);
    return entry;
  }

  #close(entry: KeptEntry, closing: LedgerClosing): void {
    const late = closing.status === "pending" && FINAL_STATUSES.includes(entry.status);
    if (!late) {
      entry.status = closing.status;
      entry.errorKind = closing.errorKind;
    }
    entry.attempts += closing.attempts;
    entry.durationMs += closing.durationMs;
    entry.cost += closing.cost;
    entry.binding = closing.binding ?? entry.binding;
    entry.decidedBy = closing.decidedBy ?? entry.decidedBy;
    entry.editDigest = closing.edit?.digest ?? entry.editDigest;
    if (this.#keepsArguments && closing.edit !== undefined) entry.editedArguments = closing.edit.arguments;
  }
}

/** Refused arguments may be anything; what is not JSON is not kept. */
function copyOf(args: unknown): unknown {
  try {
    return jsonCopy(args);
  } catch {
    return undefined;
  }
}
