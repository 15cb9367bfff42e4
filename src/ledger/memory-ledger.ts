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

type Sums = { -readonly [Field in keyof LedgerTotals]: LedgerTotals[Field] };

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
  /** By run and tool: a budget asks before every call, and a ledger lives as long as its program. */
  readonly #sums = new Map<string, Map<string, Sums>>();
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
    const runs = filter.runId === undefined ? [...this.#sums.values()] : [this.#sums.get(filter.runId)];
    const sums = { calls: 0, attempts: 0, durationMs: 0, cost: 0 };
    for (const run of runs) {
      const tools = filter.tool === undefined ? [...(run?.values() ?? [])] : [run?.get(filter.tool)];
      for (const tool of tools) if (tool !== undefined) add(sums, tool);
    }
    return Promise.resolve(sums);
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
    return this.#keepsArguments ? { ...entry, arguments: copyOf(opening.arguments) } : entry;
  }

  #sumsOf({ runId, tool }: KeptEntry): Sums {
    const run = this.#sums.get(runId) ?? new Map<string, Sums>();
    this.#sums.set(runId, run);
    const sums = run.get(tool) ?? { calls: 0, attempts: 0, durationMs: 0, cost: 0 };
    run.set(tool, sums);
    return sums;
  }

  #close(entry: KeptEntry, closing: LedgerClosing): void {
    const late = closing.status === "pending" && FINAL_STATUSES.includes(entry.status);
    if (!late) {
      entry.status = closing.status;
      entry.errorKind = closing.errorKind;
    }
    const { attempts, durationMs, cost } = closing;
    // A call counts from its first attempt on.
    const calls = entry.attempts === 0 && attempts > 0 ? 1 : 0;
    add(this.#sumsOf(entry), { calls, attempts, durationMs, cost });
    entry.attempts += attempts;
    entry.durationMs += durationMs;
    entry.cost += cost;
    entry.binding = closing.binding ?? entry.binding;
    entry.decidedBy = closing.decidedBy ?? entry.decidedBy;
    entry.editDigest = closing.edit?.digest ?? entry.editDigest;
    if (this.#keepsArguments && closing.edit !== undefined) entry.editedArguments = closing.edit.arguments;
  }
}

function add(sums: Sums, { calls, attempts, durationMs, cost }: LedgerTotals): void {
  sums.calls += calls;
  sums.attempts += attempts;
  sums.durationMs += durationMs;
  sums.cost += cost;
}

/** Refused arguments may be anything; what is not JSON is not kept. */
function copyOf(args: unknown): unknown {
  try {
    return jsonCopy(args);
  } catch {
    return undefined;
  }
}
