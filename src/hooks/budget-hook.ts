// `BudgetHook`: stop a run at a number of calls or a cost, per run and per tool. What was spent is in the ledger; what is
// running now is reserved here.
//   B1  a reservation is taken before the call runs, in the same turn in which the sums were compared
//   B2  sums that were read before a reservation was let go are read again: nothing falls between ledger and reservations
//   B3  a reservation is for the most the call may cost: all its attempts

import { BudgetExceeded, ToolUsageError } from "../errors.js";
import type { LedgerTotals } from "../ledger/ledger.js";
import type { BeforeAnswer, Hook, HookCall } from "./hook.js";

/** At least one of the two. */
export interface BudgetLimit {
  /** Calls whose function runs. Replays, refusals and cached results are free. */
  readonly maxCalls?: number;
  /** In the unit of the tools' `cost`. Every attempt counts. */
  readonly maxCost?: number;
}

/** Limits for everything together, and for single tools. */
export interface BudgetHookOptions extends BudgetLimit {
  /** Limits for single tools, on top. Default: none. */
  readonly tools?: Readonly<Record<string, BudgetLimit>>;
  /**
   * What one attempt of a call may cost at most; needed for tools whose `cost` is a function. Without it such a tool is a
   * `ToolUsageError`.
   */
  readonly estimate?: (call: HookCall) => number | undefined;
}

interface Reservation {
  readonly runId: string;
  readonly tool: string;
  readonly cost: number;
}

/** One limit that a call must fit under: of its run, or of its tool within the run. */
interface Bound {
  readonly limit: BudgetLimit;
  readonly filter: { readonly runId: string; readonly tool?: string };
}

/**
 * Refuses calls that would overdraw the budget of their run with `BudgetExceeded`, before anybody is asked. Exact within one
 * process; processes that share a ledger see each other's finished calls.
 *
 * @example new Executor(registry, { hooks: [new BudgetHook({ maxCost: 10, tools: { pay: { maxCalls: 1 } } })] });
 */
export class BudgetHook implements Pick<Hook, "beforeTool"> {
  readonly #limit: BudgetLimit;
  readonly #tools: ReadonlyMap<string, BudgetLimit>;
  readonly #estimate: (call: HookCall) => number | undefined;
  readonly #reserved = new Set<Reservation>();
  #released = 0;

  /** @throws ToolUsageError when a limit is not a number from 0 */
  constructor({ tools = {}, estimate = () => undefined, ...limit }: BudgetHookOptions) {
    this.#limit = checked("the run", limit);
    this.#tools = new Map(Object.entries(tools).map(([tool, ofTool]) => [tool, checked(tool, ofTool)]));
    this.#estimate = estimate;
  }

  /**
   * @throws BudgetExceeded; nothing ran and no approval was spent
   * @throws ToolUsageError when the cost is known only afterwards and there is no `estimate`, or it gives no number from 0
   */
  async beforeTool(call: HookCall): Promise<BeforeAnswer> {
    const wanted: Reservation = { runId: call.context.runId, tool: call.tool, cost: this.#costOf(call) };
    const bounds = this.#boundsOf(wanted);
    for (;;) {
      const seen = this.#released;
      const totals = await Promise.all(bounds.map(({ filter }) => call.ledger.totals(filter)));
      if (seen !== this.#released) continue;
      bounds.forEach((bound, index) => this.#compare(call, bound, { wanted, spent: totals[index] }));
      this.#reserved.add(wanted);
      return { finally: () => this.#release(wanted) };
    }
  }

  #boundsOf({ runId, tool }: Reservation): Bound[] {
    const ofTool = this.#tools.get(tool);
    const ofRun: Bound = { limit: this.#limit, filter: { runId } };
    return ofTool === undefined ? [ofRun] : [ofRun, { limit: ofTool, filter: { runId, tool } }];
  }

  #compare(
    call: HookCall,
    { limit, filter }: Bound,
    sums: { wanted: Reservation; spent: LedgerTotals | undefined },
  ): void {
    const held = [...this.#reserved].filter(
      ({ runId, tool }) => runId === filter.runId && (filter.tool === undefined || tool === filter.tool),
    );
    const calls = (sums.spent?.calls ?? 0) + held.length + 1;
    const cost = (sums.spent?.cost ?? 0) + held.reduce((sum, one) => sum + one.cost, 0) + sums.wanted.cost;
    const over = limit.maxCalls !== undefined && calls > limit.maxCalls ? "calls" : "cost";
    if (over === "cost" && (limit.maxCost === undefined || cost <= limit.maxCost)) return;
    const whose = filter.tool === undefined ? "this run" : `${filter.tool} in this run`;
    throw new BudgetExceeded(`the budget of ${whose} (${over}) is used up`, { tool: call.tool, callId: call.callId });
  }

  #costOf(call: HookCall): number {
    const perAttempt = this.#estimate(call) ?? call.cost;
    if (perAttempt !== undefined && Number.isFinite(perAttempt) && perAttempt >= 0)
      return perAttempt * call.maxAttempts;
    if (this.#limit.maxCost === undefined && this.#tools.get(call.tool)?.maxCost === undefined) return 0;
    throw new ToolUsageError(`BudgetHook: the cost of ${call.tool} is known only afterwards; give an \`estimate\``, {
      tool: call.tool,
      callId: call.callId,
    });
  }

  #release(reservation: Reservation): void {
    this.#reserved.delete(reservation);
    this.#released += 1;
  }
}

const LIMITS: ReadonlySet<string> = new Set(["maxCalls", "maxCost"]);

function checked(whose: string, limit: BudgetLimit): BudgetLimit {
  for (const [name, value] of Object.entries<unknown>({ ...limit })) {
    if (!LIMITS.has(name)) throw new ToolUsageError(`BudgetHook: there is no limit ${JSON.stringify(name)} (${whose})`);
    if (value !== undefined && !(typeof value === "number" && value >= 0)) {
      throw new ToolUsageError(`BudgetHook: ${name} of ${whose} must be a number from 0`);
    }
  }
  return limit;
}
