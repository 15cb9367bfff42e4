// A ledger that also traces calls which were over before any hook was called. Everything else is the inner ledger's.

import { context } from "@opentelemetry/api";
import type { Ledger, LedgerClosing, LedgerEntry, LedgerOpening, LedgerTotals } from "../../index.js";
import { startStopwatch, type Stopwatch } from "../../spi.js";
import { MODEL_VISIBLE, TOOL_NAME } from "./names.js";
import type { TracedCalls } from "./open-calls.js";
import { quietly, type CallNames, type Telemetry } from "./telemetry.js";

/** Decided before hooks are called, see `executor/stages.ts`. */
const REFUSALS: ReadonlySet<string> = new Set(["ToolArgsInvalid", "ToolNotFound"]);
/** Entries that are never closed (a crash) are forgotten, the oldest first. */
const MAX_OPEN = 10_000;
const MAX_NAME = 64;
const UNKNOWN_TOOL = "(unknown)";

interface Opened {
  readonly names: CallNames;
  readonly watch: Stopwatch;
}

interface RefusedOptions {
  readonly traced: TracedCalls;
  /** Write names that models made up. */
  readonly values: boolean;
}

export class RefusedCalls implements Ledger {
  readonly #inner: Ledger;
  readonly #telemetry: Telemetry;
  readonly #traced: TracedCalls;
  readonly #values: boolean;
  readonly #opened = new Map<string, Opened>();

  constructor(inner: Ledger, telemetry: Telemetry, { traced, values }: RefusedOptions) {
    this.#inner = inner;
    this.#telemetry = telemetry;
    this.#traced = traced;
    this.#values = values;
  }

  async open(opening: LedgerOpening): Promise<void> {
    const { id, tool, callId, runId, threadId } = opening;
    this.#opened.set(id, { names: { tool, callId, runId, threadId }, watch: startStopwatch() });
    const [oldest] = this.#opened.keys();
    if (this.#opened.size > MAX_OPEN && oldest !== undefined) this.#opened.delete(oldest);
    await this.#inner.open(opening);
  }

  async close(id: string, closing: LedgerClosing): Promise<void> {
    const opened = this.#opened.get(id);
    const kind = closing.errorKind;
    this.#opened.delete(id);
    if (opened !== undefined && kind !== undefined && REFUSALS.has(kind) && !this.#traced.has(opened.names)) {
      quietly(() => this.#write(opened, kind));
    }
    await this.#inner.close(id, closing);
  }

  entries(filter?: { readonly runId?: string; readonly threadId?: string }): Promise<readonly LedgerEntry[]> {
    return this.#inner.entries(filter);
  }

  totals(filter?: { readonly runId?: string; readonly tool?: string }): Promise<LedgerTotals> {
    return this.#inner.totals(filter);
  }

  #write({ names: called, watch }: Opened, errorType: string): void {
    const parent = context.active();
    // A name that no tool has comes from a model, who may put anything into it: a value like arguments are, and bounded; neither the
    // name of a span nor of a time series.
    const names = errorType === "ToolNotFound" ? { ...called, tool: UNKNOWN_TOOL } : called;
    const span = this.#telemetry.startCall(names, watch, { parent, link: undefined });
    const name = this.#values ? called.tool.slice(0, MAX_NAME) : names.tool;
    span.setAttributes({ [MODEL_VISIBLE]: true, [TOOL_NAME]: name });
    this.#telemetry.endCall(span, names, { watch, parent, errorType });
  }
}
