// What a compiled run needs to know about its past: steps, visits, loop counts, first results of tools that run once per run. Owns
// the reserved key `aa_visits`. Whoever can write to the graph can write to it, so that it is sealed: each node writes what its
// visit adds, bound to the progress it read; the channel opens, adds up and seals.
//   P1  an addition that does not open, or was made for another progress, does not count
//   P2  progress that does not open, or belongs to another thread or graph, fails closed

import { BaseChannel, EmptyChannelError } from "@langchain/langgraph";
import { FlowError } from "../../../index.js";
import {
  digest,
  openSeal,
  outcomeFromJson,
  outcomeToJson,
  seal,
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
}

export interface FlowProgress extends Beginning {
  /** Names exactly this progress: what is added says to which. */
  readonly id: string;
  readonly steps: number;
  readonly visits: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
  readonly once: readonly KeptOutcome[];
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
}

export const NO_PROGRESS = { steps: 0, visits: {}, counts: {}, once: [] } as const;

type What = "progress" | "addition";

/** Seals and opens for one flow and key. */
export class ProgressSeals {
  readonly #ring: KeyRing;
  readonly #owner: readonly string[];
  /** Additions made in this process, so that their channel need not open them. */
  readonly #made = new Map<string, Addition>();

  constructor(ring: KeyRing, { name, fingerprint }: FlowPlan) {
    this.#ring = ring;
    this.#owner = ["compiled", name, fingerprint];
  }

  sealBeginning(after: string | null, begins: Beginning): string {
    return this.#sealed({ after, node: null, step: [], counts: {}, once: [], singles: [], begins });
  }

  sealAddition(visit: Omit<Addition, "begins">): string {
    return this.#sealed({ ...visit, begins: null });
  }

  #sealed(addition: Addition): string {
    const { once, counts, begins, singles, step } = addition;
    const json = {
      ...addition,
      counts: { ...counts },
      once: once.map(keptToJson),
      singles: [...singles],
      step: [...step],
      begins: begins && { ...begins },
    };
    const sealed = this.#seal("addition", json);
    this.#made.set(sealed, addition);
    return sealed;
  }

  /** P1. `undefined`: it does not count. */
  openAddition(sealed: unknown): Addition | undefined {
    if (typeof sealed !== "string") return undefined;
    const made = this.#made.get(sealed);
    this.#made.delete(sealed);
    return made ?? this.#parsedAddition(sealed);
  }

  /** The same, for somebody other than the channel. */
  readAddition(sealed: unknown): Addition | undefined {
    if (typeof sealed !== "string") return undefined;
    return this.#made.get(sealed) ?? this.#parsedAddition(sealed);
  }

  sealProgress(progress: FlowProgress): string {
    const { visits, counts, once } = progress;
    return this.#seal("progress", {
      ...progress,
      visits: { ...visits },
      counts: { ...counts },
      once: once.map(keptToJson),
    });
  }

  /** @throws FlowError: P2 */
  openProgress(sealed: unknown): FlowProgress {
    const { once, ...rest } = membersOf(this.#open("progress", sealed));
    // It was written by `sealProgress`: the seal vouches for it.
    return { ...(rest as unknown as Omit<FlowProgress, "once">), once: keptFromJson(once) };
  }

  #parsedAddition(sealed: string): Addition | undefined {
    try {
      const { once, ...rest } = membersOf(this.#open("addition", sealed));
      // It was written by `sealAddition`: the seal vouches for it.
      return { ...(rest as unknown as Omit<Addition, "once">), once: keptFromJson(once) };
    } catch {
      return undefined;
    }
  }

  #seal(what: What, value: JsonValue): string {
    return seal(this.#ring, { purpose: "checkpoint", owner: [...this.#owner, what] }, value);
  }

  #open(what: What, sealed: unknown): JsonValue {
    return openSeal(this.#ring, { purpose: "checkpoint", owner: [...this.#owner, what] }, sealed);
  }
}

function keptToJson({ callId, rawDigest, outcome }: KeptOutcome): JsonValue {
  return { callId, rawDigest, outcome: outcomeToJson(outcome) };
}

function keptFromJson(list: unknown): KeptOutcome[] {
  if (!Array.isArray(list)) throw new FlowError("sealed progress is not of a version this release can read");
  return list.map((item: unknown) => {
    const { callId, rawDigest, outcome: json } = membersOf(item);
    const outcome = outcomeFromJson(json);
    if (typeof callId === "string" && typeof rawDigest === "string" && outcome !== undefined)
      return { callId, rawDigest, outcome };
    throw new FlowError("sealed progress is not of a version this release can read");
  });
}

/** The channel of `aa_visits`: its value is the progress, its checkpoint the sealed text. */
export class ProgressChannel extends BaseChannel<FlowProgress, unknown> {
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
    const next = added(current, additions);
    if (next === undefined) return false;
    this.#value = next;
    this.#sealed = undefined;
    return true;
  }

  override get(): FlowProgress {
    const held = this.#held();
    if (held === undefined) throw new EmptyChannelError();
    return held;
  }

  override checkpoint(): FlowProgress {
    const held = this.get();
    this.#sealed ??= this.#seals.sealProgress(held);
    // LangGraph types a checkpoint as the value; it is only ever given back to `fromCheckpoint`.
    return this.#sealed as never;
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
function added(current: FlowProgress | undefined, additions: readonly Addition[]): FlowProgress | undefined {
  const [first] = additions;
  if (first === undefined || !isWhole(additions)) return undefined;
  refuseTwoWriters(additions);
  const { begins } = first;
  const base = begins === null ? current : begun(current, begins);
  if (base === undefined) return undefined;
  const { thread, namespace, runId, steps } = base;
  const visits = { ...base.visits };
  for (const { node } of additions) if (node !== null) visits[node] = (visits[node] ?? 0) + 1;
  return {
    thread,
    namespace,
    runId,
    id: digest("agent-adapter/row/v1", [
      // Of another thread no addition is for this progress, however alike the two runs are.
      [thread, namespace, current?.id ?? null],
      additions.map(({ node, counts }) => [node, { ...counts }]),
    ]),
    steps: begins === null ? steps + 1 : 0,
    visits,
    counts: Object.assign({}, base.counts, ...additions.map(({ counts }) => counts)),
    once: distinct([...base.once, ...additions.flatMap(({ once }) => once)]),
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
      if (other !== undefined)
        throw new FlowError(
          `field "${field}" was written by "${other}" and by "${node}" in one step, and has no merge rule`,
        );
      writers.set(field, node);
    }
  }
}
