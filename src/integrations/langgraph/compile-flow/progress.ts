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

export interface FlowProgress extends Home {
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
  readonly node: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly once: readonly KeptOutcome[];
  /** State fields without a merge rule that it wrote. */
  readonly singles: readonly string[];
  /** The first visit of a new run. */
  readonly begins: Home | null;
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

  sealAddition(addition: Addition): string {
    const { once, counts, begins, singles } = addition;
    const json = {
      ...addition,
      counts: { ...counts },
      once: once.map(keptToJson),
      singles: [...singles],
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
  if (first === undefined) return undefined;
  refuseTwoWriters(additions);
  const base = first.begins === null ? current : { ...first.begins, ...NO_PROGRESS };
  if (base === undefined) return undefined;
  const visits = { ...base.visits };
  for (const { node } of additions) visits[node] = (visits[node] ?? 0) + 1;
  return {
    thread: base.thread,
    namespace: base.namespace,
    id: digest("agent-adapter/row/v1", [
      // Of another thread no addition is for this progress, however alike the two runs are.
      [base.thread, base.namespace, current?.id ?? null],
      additions.map(({ node, counts }) => [node, { ...counts }]),
    ]),
    steps: base.steps + 1,
    visits,
    counts: Object.assign({}, base.counts, ...additions.map(({ counts }) => counts)),
    once: [...base.once, ...additions.flatMap(({ once }) => once)],
  };
}

/** The channel of a field does not see who writes to it. */
function refuseTwoWriters(additions: readonly Addition[]): void {
  const writers = new Map<string, string>();
  for (const { node, singles } of additions) {
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
