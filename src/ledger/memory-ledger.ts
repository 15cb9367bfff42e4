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
  readonly #entries = new Map<string, LedgerEntry>();
  readonly #keepsArguments: boolean;

  /** @throws ToolUsageError naming the option that does not exist */
  constructor(options: MemoryLedgerOptions = {}) {
    const { arguments: keepsArguments = false, ...rest } = options;
    refuseUnknown("MemoryLedger", rest);
    this.#keepsArguments = keepsArguments === true;
  }

  open(opening: LedgerOpening): Promise<void> {
    const known = this.#entries.get(opening.id);
    if (known === undefined) this.#entries.set(opening.id, this.#fresh(opening));
    else if (known.status === "pending") this.#entries.set(opening.id, { ...known, status: "running" });
    return Promise.resolve();
  }

  close(id: string, closing: LedgerClosing): Promise<void> {
    const known = this.#entries.get(id);
    if (known !== undefined) this.#entries.set(id, this.#closed(known, closing));
    return Promise.resolve();
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

  #fresh({ arguments: args, ...opening }: LedgerOpening): LedgerEntry {
    const blank = {
      errorKind: undefined,
      attempts: 0,
      durationMs: 0,
      cost: 0,
      binding: undefined,
      decidedBy: undefined,
    };
    const entry = { ...opening, ...blank, status: "running", editDigest: undefined } as const;
    return this.#keepsArguments ? { ...entry, arguments: copyOf(args) } : entry;
  }

  #closed(known: LedgerEntry, closing: LedgerClosing): LedgerEntry {
    const late = closing.status === "pending" && FINAL_STATUSES.includes(known.status);
    const { status, errorKind } = late ? known : closing;
    return {
      ...known,
      status,
      errorKind,
      attempts: known.attempts + closing.attempts,
      durationMs: known.durationMs + closing.durationMs,
      cost: known.cost + closing.cost,
      binding: closing.binding ?? known.binding,
      decidedBy: closing.decidedBy ?? known.decidedBy,
      editDigest: closing.edit?.digest ?? known.editDigest,
      ...(this.#keepsArguments && closing.edit !== undefined ? { editedArguments: closing.edit.arguments } : {}),
    };
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
