// What a compiled run needs to know about its past: steps, visits, loop counts, first results of tools that run once per run. Owns
// the reserved key `aa_visits`. Whoever can write to the graph can write to it, so that it is sealed: each node writes what its
// visit adds, bound to the progress it read; the channel opens, adds up and seals.
//   P1  an addition that does not open, or was made for another progress, does not count; each run has progress of its own
//   P2  progress that does not open, or belongs to another thread or graph, fails closed
//   P3  what comes next is in it: a node that nothing of the flow led to does not run
//   P4  a step counts when all of its nodes have ended: LangGraph also looks at half a step

import { BaseChannel, EmptyChannelError } from "@langchain/langgraph";
import { FlowError } from "../../../index.js";
import {
  digest,
  keptFromJson,
  keptToJson,
  nextStep,
  reached,
  Sealer,
  twoWriters,
  type FlowPlan,
  type JsonValue,
  type KeptOutcome,
  type KeyRing,
} from "../../../spi.js";
import { membersOf } from "../members.js";
import type { Home } from "../pregel-internals.js";

/** The reserved state key. Hidden from input and output. */
export const PROGRESS_KEY = "aa_visits";

/** A run: a thread may have several, one after the other. */
export interface Beginning extends Home {
  readonly runId: string;
  /** Random: what was added to another run of the thread, however alike, was made for another progress. */
  readonly nonce: string;
}

export interface FlowProgress extends Beginning {
  /** Names exactly this progress: what is added says to which. */
  readonly id: string;
  readonly steps: number;
  readonly visits: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
  readonly once: readonly KeptOutcome[];
  /** Nodes of the next step, and joins that a branch has reached, in name order. */
  readonly ready: readonly string[];
  readonly joins: readonly string[];
}

/** What one visit adds. */
export interface Addition {
  /** The id of the progress it was made for; `null`: there was none. */
  readonly after: string | null;
  /** Whose visit it is; `null`: a new run begins. */
  readonly node: string | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly once: readonly KeptOutcome[];
  /** State fields without a merge rule that it wrote. */
  readonly singles: readonly string[];
  readonly begins: Beginning | null;
  /** Where it leads to. */
  readonly next: readonly string[];
}

const NONE = Object.freeze({});
export const NO_PROGRESS = { steps: 0, visits: NONE, counts: NONE, once: [], ready: [], joins: [] } as const;

/** How many sealed texts are remembered with what is in them, so that they need not be opened again in this process. */
const REMEMBERED = 1024;

/** Sealed texts of one kind. */
class Texts<Value extends { readonly once: readonly KeptOutcome[] }> {
  readonly #sealer: Sealer;
  readonly #known = new Map<string, Value>();

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** `json`: what is in `value` as JSON, but for `once`. */
  seal(value: Value, json: { readonly [member: string]: JsonValue }): string {
    const sealed = this.#sealer.seal({ v: 1, ...json, once: value.once.map(keptToJson) });
    this.#remember(sealed, value);
    return sealed;
  }

  /** @throws FlowError */
  open(sealed: unknown): Value {
    const known = typeof sealed === "string" ? this.#known.get(sealed) : undefined;
    if (known !== undefined) return known;
    const { v, once, ...rest } = membersOf(this.#sealer.open(sealed));
    if (v !== 1) throw unreadable();
    // It was written by `seal`: the envelope vouches for it, and its version was looked at.
    const opened = { ...rest, once: keptIn(once) } as unknown as Value;
    // What opens is a text.
    this.#remember(sealed as string, opened);
    return opened;
  }

  #remember(sealed: string, value: Value): void {
    const oldest = this.#known.size < REMEMBERED ? undefined : this.#known.keys().next().value;
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(sealed, value);
  }
}

/** Seals and opens for one flow and key. */
export class ProgressSeals {
  readonly plan: FlowPlan;
  readonly #additions: Texts<Addition>;
  readonly #progress: Texts<FlowProgress>;

  constructor(ring: KeyRing, plan: FlowPlan) {
    const sealer = (what: "progress" | "addition") =>
      new Sealer(ring, { purpose: "checkpoint", owner: ["compiled", plan.name, plan.fingerprint, what] });
    this.plan = plan;
    this.#additions = new Texts(sealer("addition"));
    this.#progress = new Texts(sealer("progress"));
  }

  sealBeginning(after: string | null, begins: Beginning): string {
    const next = [this.plan.start];
    return this.#sealAddition({ after, node: null, counts: {}, once: [], singles: [], begins, next });
  }

  sealAddition(visit: Omit<Addition, "begins">): string {
    return this.#sealAddition({ ...visit, begins: null });
  }

  #sealAddition(addition: Addition): string {
    const { after, node, counts, singles, next, begins } = addition;
    const json = { after, node, next: [...next], counts: { ...counts }, singles: [...singles] };
    return this.#additions.seal(addition, { ...json, begins: begins && { ...begins } });
  }

  /** P1. `undefined`: it does not count. */
  openAddition(sealed: unknown): Addition | undefined {
    try {
      return this.#additions.open(sealed);
    } catch {
      return undefined;
    }
  }

  sealProgress(progress: FlowProgress): string {
    const { visits, counts, once: _, ready, joins, ...names } = progress;
    const json = { visits: { ...visits }, counts: { ...counts }, ready: [...ready], joins: [...joins] };
    return this.#progress.seal(progress, { ...names, ...json });
  }

  /** @throws FlowError: P2 */
  openProgress(sealed: unknown): FlowProgress {
    return this.#progress.open(sealed);
  }
}

function keptIn(list: unknown): KeptOutcome[] {
  if (!Array.isArray(list)) throw unreadable();
  return list.map((item: unknown) => {
    const kept = keptFromJson(item);
    if (kept === undefined) throw unreadable();
    return kept;
  });
}

function unreadable(): FlowError {
  return new FlowError("sealed progress is not of a version this release can read");
}

/** The channel of `aa_visits`: whoever reads it gets the sealed text. */
export class ProgressChannel extends BaseChannel<string, unknown> {
  override lc_graph_name = "AgentAdapterProgress";
  readonly #seals: ProgressSeals;
  #value: FlowProgress | undefined;
  #sealed: unknown;

  constructor(seals: ProgressSeals) {
    super();
    this.#seals = seals;
  }

  override fromCheckpoint(checkpoint?: unknown): this {
    const channel = new ProgressChannel(this.#seals);
    channel.#sealed = checkpoint;
    // A channel of the same class and seals, which is all that `this` says here.
    return channel as this;
  }

  override update(writes: unknown[]): boolean {
    const current = this.#held();
    const additions = writes
      .map((write) => this.#seals.openAddition(write))
      .filter((addition) => addition !== undefined)
      .filter(({ after }) => after === (current?.id ?? null));
    const next = added(this.#seals.plan, current, additions);
    if (next === undefined) return false;
    this.#value = next;
    this.#sealed = undefined;
    return true;
  }

  override get(): string {
    const held = this.#held();
    if (held === undefined) throw new EmptyChannelError();
    this.#sealed ??= this.#seals.sealProgress(held);
    // It was given as text, or made above.
    return this.#sealed as string;
  }

  /** Without sealing anything; what does not open is found by whoever reads it. */
  override isAvailable(): boolean {
    return this.#value !== undefined || this.#sealed !== undefined;
  }

  override checkpoint(): string {
    return this.get();
  }

  override equals(other: BaseChannel): boolean {
    return other instanceof ProgressChannel && other.#seals === this.#seals;
  }

  /** @throws FlowError: P2 */
  #held(): FlowProgress | undefined {
    if (this.#value === undefined && this.#sealed !== undefined) this.#value = this.#seals.openProgress(this.#sealed);
    return this.#value;
  }
}

/** One step's additions at once. */
function added(
  plan: FlowPlan,
  current: FlowProgress | undefined,
  additions: readonly Addition[],
): FlowProgress | undefined {
  const [first] = additions;
  const ended = new Set(additions.map(({ node }) => node));
  if (first === undefined || !isWhole(plan, current, ended)) return undefined;
  refuseTwoWriters(additions);
  const { begins } = first;
  const base = begins === null ? current : begun(current, begins);
  if (base === undefined) return undefined;
  const { thread, namespace, runId, nonce, steps } = base;
  const left = base.joins.filter((join) => !ended.has(join));
  const visits = { ...base.visits };
  for (const { node } of additions) if (node !== null) visits[node] = (visits[node] ?? 0) + 1;
  return {
    thread,
    namespace,
    runId,
    nonce,
    id: digest("agent-adapter/row/v1", [
      // Of another thread or run no addition is for this progress, however alike the two runs are.
      [thread, namespace, nonce, current?.id ?? null],
      additions.map(({ node, counts }) => [node, { ...counts }]),
    ]),
    steps: begins === null ? steps + 1 : 0,
    visits,
    counts: Object.assign({}, base.counts, ...additions.map(({ counts }) => counts)),
    once: distinct([...base.once, ...additions.flatMap(({ once }) => once)]),
    ...reached(
      plan,
      left,
      additions.flatMap(({ next }) => next),
    ),
  };
}

/** P4 */
function isWhole(plan: FlowPlan, current: FlowProgress | undefined, ended: ReadonlySet<string | null>): boolean {
  const isBeginning = ended.size === 1 && ended.has(null);
  return isBeginning || (current !== undefined && nextStep(plan, current).every((name) => ended.has(name)));
}

/** What ran once per run is kept by whoever goes on under the same run id. */
function begun(current: FlowProgress | undefined, begins: Beginning): Omit<FlowProgress, "id"> {
  return { ...begins, ...NO_PROGRESS, once: current?.runId === begins.runId ? current.once : [] };
}

/** Two visits of a step may both know the first result of a third. */
function distinct(once: readonly KeptOutcome[]): KeptOutcome[] {
  const first = new Map<string, KeptOutcome>();
  for (const kept of once) if (!first.has(kept.callId)) first.set(kept.callId, kept);
  return [...first.values()];
}

/** The channel of a field does not see who writes to it. */
function refuseTwoWriters(additions: readonly Addition[]): void {
  const writers = new Map<string, string>();
  for (const { node, singles } of additions) {
    if (node === null) continue;
    for (const field of singles) {
      const other = writers.get(field);
      if (other !== undefined) throw twoWriters(field, other, node);
      writers.set(field, node);
    }
  }
}
