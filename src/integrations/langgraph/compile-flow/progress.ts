// What a compiled run needs to know about its past: steps, visits, loop counts, first results of tools that run once per run. Owns
// the reserved key `aa_visits`. Whoever can write to the graph can write to it, so that it is sealed: each node writes what its
// visit adds, bound to the progress it read; the channel opens, adds up and seals.
//   P1  an addition that does not open, or was made for another progress, does not count; each run has progress of its own
//   P2  progress that does not open, or belongs to another thread or graph, fails closed
//   P3  what comes next is in it: a node that nothing of the flow led to does not run

import { BaseChannel, EmptyChannelError } from "@langchain/langgraph";
import { FlowError } from "../../../index.js";
import {
  digest,
  openSeal,
  keptFromJson,
  keptToJson,
  reached,
  seal,
  twoWriters,
  type FlowPlan,
  type JsonValue,
  type KeptOutcome,
  type KeyRing,
} from "../../../spi.js";
import { membersOf } from "../members.js";

/** The reserved state key. Hidden from input and output. */
export const PROGRESS_KEY = "aa_visits";

/** Where a run of a graph is kept: its thread, and its namespace within it. */
export interface Home {
  readonly thread: string;
  readonly namespace: string;
}

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
  /** All nodes of its step: only when all of them have ended does any of it count. LangGraph also looks at half a step. */
  readonly step: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly once: readonly KeptOutcome[];
  /** State fields without a merge rule that it wrote. */
  readonly singles: readonly string[];
  readonly begins: Beginning | null;
  /** Where it leads to. */
  readonly next: readonly string[];
}

export const NO_PROGRESS = { steps: 0, visits: {}, counts: {}, once: [], ready: [], joins: [] } as const;

type What = "progress" | "addition";

/** How many sealed texts are remembered with what is in them, so that they need not be opened again in this process. */
const REMEMBERED = 256;

/** Seals and opens for one flow and key. */
export class ProgressSeals {
  readonly plan: FlowPlan;
  readonly #ring: KeyRing;
  readonly #known = new Map<string, Addition | FlowProgress>();

  constructor(ring: KeyRing, plan: FlowPlan) {
    this.#ring = ring;
    this.plan = plan;
  }

  sealBeginning(after: string | null, begins: Beginning): string {
    const next = [this.plan.start];
    return this.#sealAddition({ after, node: null, step: [], counts: {}, once: [], singles: [], begins, next });
  }

  sealAddition(visit: Omit<Addition, "begins">): string {
    return this.#sealAddition({ ...visit, begins: null });
  }

  #sealAddition(addition: Addition): string {
    const { once, counts, begins, singles, step, next } = addition;
    const lists = { once: once.map(keptToJson), singles: [...singles], step: [...step], next: [...next] };
    return this.#seal("addition", addition, {
      ...addition,
      ...lists,
      counts: { ...counts },
      begins: begins && { ...begins },
    });
  }

  /** P1. `undefined`: it does not count. */
  openAddition(sealed: unknown): Addition | undefined {
    if (typeof sealed !== "string") return undefined;
    try {
      // It was written by `sealAddition`: the seal vouches for it, and its version was looked at.
      return this.#open("addition", sealed) as Addition;
    } catch {
      return undefined;
    }
  }

  sealProgress(progress: FlowProgress): string {
    const { visits, counts, once, ready, joins } = progress;
    return this.#seal("progress", progress, {
      ...progress,
      visits: { ...visits },
      counts: { ...counts },
      once: once.map(keptToJson),
      ready: [...ready],
      joins: [...joins],
    });
  }

  /** @throws FlowError: P2 */
  openProgress(sealed: unknown): FlowProgress {
    // As above.
    return this.#open("progress", sealed) as FlowProgress;
  }

  #seal(what: What, value: Addition | FlowProgress, json: { readonly [member: string]: JsonValue }): string {
    const sealed = seal(this.#ring, this.#context(what), { v: 1, ...json });
    this.#remember(`${what} ${sealed}`, value);
    return sealed;
  }

  #open(what: What, sealed: unknown): unknown {
    const key = `${what} ${String(sealed)}`;
    const known = typeof sealed === "string" ? this.#known.get(key) : undefined;
    if (known !== undefined) return known;
    const { v, once, ...rest } = membersOf(openSeal(this.#ring, this.#context(what), sealed));
    if (v !== 1) throw unreadable();
    // It was written by one of the two above, in this version.
    const opened = { ...rest, once: keptIn(once) } as unknown as Addition | FlowProgress;
    this.#remember(key, opened);
    return opened;
  }

  #remember(key: string, value: Addition | FlowProgress): void {
    const oldest = this.#known.size < REMEMBERED ? undefined : this.#known.keys().next().value;
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, value);
  }

  #context(what: What) {
    const { name, fingerprint } = this.plan;
    return { purpose: "checkpoint", owner: ["compiled", name, fingerprint, what] } as const;
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
  if (first === undefined || !isWhole(additions)) return undefined;
  refuseTwoWriters(additions);
  const { begins } = first;
  const base = begins === null ? current : begun(current, begins);
  if (base === undefined) return undefined;
  const { thread, namespace, runId, nonce, steps } = base;
  const ended = new Set(additions.map(({ node }) => node));
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

function isWhole(additions: readonly Addition[]): boolean {
  const ended = new Set(additions.map(({ node }) => node));
  return additions.every(({ step }) => step.every((name) => ended.has(name)));
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
