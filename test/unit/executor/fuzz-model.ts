// The rules of the executor as a program of its own: no promises, no stages. One run; batches whose calls run one by one.
// What it says about results, ledger entries and bodies is what the executor must do.

export type BodyEnd = "ok" | "fails" | "tells" | "hangs" | "aborts";
export type Answer = "yes" | "no" | "later";

export interface ToolPlan {
  readonly confirm: boolean;
  readonly cached: boolean;
  readonly once: boolean;
  readonly idempotent: boolean;
  readonly attempts: number;
  readonly cost: number;
}

export interface CallPlan {
  readonly id: string;
  readonly tool: string;
  /** Beyond 2 it does not fit the schema. */
  readonly n: number;
  readonly answer: Answer;
  /** How its bodies end, one after the other; then "ok". */
  readonly ends: readonly BodyEnd[];
}

/** A value, or the kind of an error; "abort" is the reason of the abort. */
export type End = { readonly value: string } | { readonly kind: string };
export interface Entry {
  status: string;
  attempts: number;
  cost: number;
}
/** What a batch gives: the ends of its calls, or what it throws. */
export type BatchEnd = { readonly ends: readonly End[] } | { readonly thrown: string };

const VISIBLE = new Set(["ToolArgsInvalid", "ToolError", "ApprovalDenied"]);
const STATUS: Readonly<Record<string, string>> = {
  ApprovalDenied: "denied",
  ApprovalPending: "pending",
  ToolTimeout: "timeout",
};

export class Model {
  readonly entries = new Map<string, Entry>();
  readonly bodies = new Map<string, number>();
  uses = 0;
  readonly #tools: ReadonlyMap<string, ToolPlan>;
  /** Calls that are over: what they give again, and what their entry says. */
  readonly #over = new Map<string, { end: End; status: string }>();
  readonly #first = new Map<string, { n: number; value: string }>();
  readonly #cache = new Map<string, string>();
  readonly #seen = new Map<string, number>();
  #aborted = false;

  constructor(tools: ReadonlyMap<string, ToolPlan>) {
    this.#tools = tools;
  }

  batch(calls: readonly CallPlan[], abortedBefore: boolean): BatchEnd {
    this.#aborted = abortedBefore;
    const ends = new Map<CallPlan, End>();
    for (const call of calls) if (!this.entries.has(call.id)) this.#open(call);
    const settled = new Map(calls.map((call) => [call, this.#prepare(call)]));
    const isOver = (call: CallPlan) => settled.get(call) !== undefined;
    const asking = calls.filter((call) => !isOver(call) && this.#plan(call).confirm);
    const plain = [...calls.filter(isOver), ...calls.filter((call) => !isOver(call) && !asking.includes(call))];
    for (const call of plain) ends.set(call, settled.get(call) ?? this.#perform(call));
    let stop =
      this.#control([...ends.values()]) ??
      (asking.length > 0 ? hidden(plain.map((call) => ends.get(call))) : undefined);
    for (const [index, call] of asking.entries()) {
      if (stop !== undefined) this.#close(call, "cancelled");
      else {
        const end = this.#perform(call);
        ends.set(call, end);
        stop = this.#control([end]) ?? (index < asking.length - 1 ? hidden([end]) : undefined);
      }
    }
    if (stop !== undefined) return { thrown: stop };
    return { ends: calls.map((call) => ends.get(call) ?? { kind: "?" }) };
  }

  #plan(call: CallPlan): ToolPlan {
    const plan = this.#tools.get(call.tool);
    if (plan === undefined) throw new Error(`no plan for ${call.tool}`);
    return plan;
  }

  #open(call: CallPlan): void {
    this.entries.set(call.id, { status: "running", attempts: 0, cost: 0 });
  }

  #close(call: CallPlan, status: string, attempts = 0): void {
    const entry = this.entries.get(call.id);
    if (entry === undefined) return;
    entry.status = status;
    entry.attempts += attempts;
    entry.cost += attempts * this.#plan(call).cost;
  }

  #fail(call: CallPlan, kind: string, attempts = 0): End {
    this.#close(call, STATUS[kind] ?? "failed", attempts);
    return { kind };
  }

  #control(ends: readonly End[]): string | undefined {
    return ends.some((end) => "kind" in end && end.kind === "abort") ? "abort" : undefined;
  }

  /** An end when the call is over before it is performed. */
  #prepare(call: CallPlan): End | undefined {
    const over = this.#over.get(call.id);
    if (this.#aborted) {
      const failed = over !== undefined && over.status !== "denied";
      this.#close(call, failed ? over.status : "cancelled");
      return { kind: "abort" };
    }
    if (over !== undefined) {
      this.#close(call, over.status);
      return over.end;
    }
    if (call.n > 2) return this.#fail(call, "ToolArgsInvalid");
    return this.#plan(call).once ? this.#again(call) : undefined;
  }

  #again(call: CallPlan): End | undefined {
    const first = this.#first.get(call.tool);
    if (first === undefined) return undefined;
    if (first.n !== call.n) return this.#fail(call, "ToolError");
    this.#close(call, "cached");
    return { value: first.value };
  }

  #perform(call: CallPlan): End {
    if (this.#aborted) {
      this.#close(call, "cancelled");
      return { kind: "abort" };
    }
    const plan = this.#plan(call);
    const again = plan.once ? this.#again(call) : undefined;
    if (again !== undefined) return again;
    if (plan.confirm) {
      const asked = this.#seen.get(call.id) ?? 0;
      this.#seen.set(call.id, asked + 1);
      if (call.answer === "later" && asked === 0) return this.#fail(call, "ApprovalPending");
      this.uses += 1;
      if (call.answer === "no") return this.#keep(call, this.#fail(call, "ApprovalDenied"));
    }
    const end = this.#cached(call) ?? this.#attempts(call);
    if ("value" in end && plan.once) this.#first.set(call.tool, { n: call.n, value: end.value });
    return end;
  }

  #cached(call: CallPlan): End | undefined {
    const hit = this.#plan(call).cached ? this.#cache.get(`${call.tool} ${call.n}`) : undefined;
    if (hit === undefined) return undefined;
    this.#close(call, "cached");
    return this.#keep(call, { value: hit });
  }

  #attempts(call: CallPlan): End {
    const { attempts, idempotent } = this.#plan(call);
    for (let made = 1; ; made += 1) {
      const ran = this.bodies.get(call.id) ?? 0;
      this.bodies.set(call.id, ran + 1);
      const how = call.ends[ran] ?? "ok";
      const again = how === "fails" || (how === "hangs" && idempotent);
      if (!again || made >= attempts) return this.#ended(call, how, { made, value: `${call.id}:${ran}` });
    }
  }

  #ended(call: CallPlan, how: BodyEnd, { made, value }: { made: number; value: string }): End {
    const { confirm, cached } = this.#plan(call);
    switch (how) {
      case "ok":
        if (cached) this.#cache.set(`${call.tool} ${call.n}`, value);
        this.#close(call, "ok", made);
        return this.#keep(call, { value });
      case "tells":
        return this.#keep(call, this.#fail(call, "ToolError", made));
      case "aborts":
        this.#aborted = true;
        // Nobody knows what an approved one did: it is asked about again, as for the first time.
        if (confirm) this.#seen.delete(call.id);
        this.#close(call, confirm ? "unknown" : "cancelled", made);
        return { kind: "abort" };
      case "fails":
      case "hangs": {
        const end = this.#fail(call, how === "fails" ? "ToolFailed" : "ToolTimeout", made);
        // Its answer is spent; a call that needed nobody runs again.
        if (confirm) this.#keep(call, { kind: "ApprovalAlreadyDecided" });
        return end;
      }
    }
  }

  #keep(call: CallPlan, end: End): End {
    this.#over.set(call.id, { end, status: this.entries.get(call.id)?.status ?? "?" });
    return end;
  }
}

function hidden(ends: readonly (End | undefined)[]): string | undefined {
  const found = ends.find((end) => end !== undefined && "kind" in end && !VISIBLE.has(end.kind));
  return found !== undefined && "kind" in found ? found.kind : undefined;
}
