// The nodes of one step in one invocation of one process: what they tell each other. Owns nothing that lasts; LangGraph gives all
// tasks of a step the same signal, which is what names the step here.

import type { JsonObject } from "../../../index.js";
import { asCarrier, isDenial, isHostSignal } from "../../../spi.js";
import { stepSignal, type NodeConfig } from "../pregel-internals.js";

/** How a gate came out for whoever stands beside it. */
export type GateEnd =
  | { readonly status: "passed"; readonly edit: JsonObject | undefined }
  /** It waits, was denied or failed: nothing beside it runs. */
  | { readonly status: "closed" };

/** The nodes of a step, each list in name order. */
export interface StepNames {
  /** What the flow led to. */
  readonly scheduled: readonly string[];
  /** Without the joins that put themselves off. */
  readonly running: readonly string[];
  /** Those of the running ones that have a gate. */
  readonly gated: readonly string[];
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

const nothing = () => undefined;
const FAILED = new WeakMap<object, string>();

/** The node whose visit failed with this error. */
export function failedNodeOf(error: object): string | undefined {
  return FAILED.get(error);
}

const STEPS = new WeakMap<AbortSignal, StepRun>();

export function stepRunOf(config: NodeConfig): StepRun {
  const signal = stepSignal(config);
  const step = STEPS.get(signal) ?? new StepRun();
  STEPS.set(signal, step);
  return step;
}

export class StepRun {
  readonly #gates = new Map<string, Deferred<GateEnd>>();
  readonly #started = new Set<string>();
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #failures = new Map<string, object>();
  readonly #queue: (() => void)[] = [];
  #busy = 0;
  #names: { readonly progress: string; readonly names: StepNames } | undefined;

  /** The names of the step, found out once for all of its nodes: of so many there are, each would look at as many. */
  namesFor(progress: string, find: () => StepNames): StepNames {
    if (this.#names?.progress !== progress) this.#names = { progress, names: find() };
    return this.#names.names;
  }

  /** Called before anything of a node is awaited, so that the others know of it. */
  start(node: string): void {
    this.#started.add(node);
  }

  hasStarted(node: string): boolean {
    return this.#started.has(node);
  }

  /** How the gate of a node that runs in this invocation comes out. */
  gateOf(node: string): Promise<GateEnd> {
    return this.#deferred(node).promise;
  }

  closeGate(node: string, end: GateEnd): void {
    this.#deferred(node).resolve(end);
  }

  /**
   * Run a visit beside the others. One that fails waits for them, because LangGraph aborts them as soon as it hears of an error; then
   * all of them fail with the same one: in node-name order, the first that can be tried again, else the first denial.
   */
  async beside<T>(node: string, visit: () => Promise<T>): Promise<T> {
    const running = visit();
    this.#running.set(
      node,
      running.catch(() => undefined),
    );
    try {
      return await running;
    } catch (error) {
      this.closeGate(node, { status: "closed" });
      // A pause stops nobody.
      if (isHostSignal(error)) throw error;
      // LangGraph writes on what is thrown.
      const thrown = asCarrier(error);
      this.#failures.set(node, thrown);
      await Promise.all(this.#running.values());
      throw this.#failure() ?? thrown;
    }
  }

  /** Run a visit when fewer than that many run. */
  async within<T>(cap: number, visit: () => Promise<T>): Promise<T> {
    while (this.#busy >= cap) await new Promise<void>((free) => this.#queue.push(free));
    this.#busy += 1;
    try {
      return await visit();
    } finally {
      this.#busy -= 1;
      this.#queue.shift()?.();
    }
  }

  #failure(): object | undefined {
    const failures = [...this.#failures].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const [node, error] = failures.find(([, failure]) => !isDenial(failure)) ?? failures[0] ?? [];
    if (node !== undefined && error !== undefined) FAILED.set(error, node);
    return error;
  }

  #deferred(node: string): Deferred<GateEnd> {
    const known = this.#gates.get(node);
    if (known !== undefined) return known;
    let resolve: Deferred<GateEnd>["resolve"] = nothing;
    const promise = new Promise<GateEnd>((done) => {
      resolve = done;
    });
    const made = { promise, resolve };
    this.#gates.set(node, made);
    return made;
  }
}
