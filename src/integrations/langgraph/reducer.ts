// `reducer`: a channel that applies a merge rule to all writes of a superstep at once, in LangGraph's order. LangGraph's own
// reducers see them pair by pair.

import { BaseChannel, EmptyChannelError } from "@langchain/langgraph";
import { ToolUsageError } from "../../index.js";
import { refuseUnknown } from "../../spi.js";
import type { MergeRule } from "../../flow/index.js";

/** How a channel begins. */
export interface ReducerOptions<Value> {
  /** The value before anything is written. Default: the channel is empty. */
  readonly initial?: () => Value;
}

/**
 * A channel factory for `Annotation.Root({...})`.
 *
 * @throws ToolUsageError when it is given no rule
 * @example const State = Annotation.Root({ rates: reducer(Merge.append<number>()) });
 */
export function reducer<Value, Write>(
  rule: MergeRule<Value, Write>,
  options: ReducerOptions<Value> = {},
): () => BaseChannel<Value, Write> {
  const { initial, ...rest } = options;
  refuseUnknown("reducer", rest);
  // `Merge.append` is a function too, and has an `apply` of its own.
  if (typeof rule !== "object" || typeof rule.apply !== "function") {
    throw new ToolUsageError("reducer: a merge rule is needed; rules like append are called: Merge.append()");
  }
  return () => new RuleChannel(rule, initial);
}

class RuleChannel<Value, Write> extends BaseChannel<Value, Write> {
  // LangGraph compares and names channels by these.
  override lc_graph_name = "AgentAdapterRule";
  readonly #rule: MergeRule<Value, Write>;
  readonly #initial: (() => Value) | undefined;
  #held: { readonly value: Value } | undefined;

  constructor(rule: MergeRule<Value, Write>, initial: (() => Value) | undefined) {
    super();
    this.#rule = rule;
    this.#initial = initial;
    if (initial !== undefined) this.#held = { value: initial() };
  }

  override fromCheckpoint(checkpoint?: Value): this {
    const channel = new RuleChannel(this.#rule, this.#initial);
    if (checkpoint !== undefined) channel.#held = { value: checkpoint };
    // A channel of the same class and rule, which is all that `this` says here.
    return channel as this;
  }

  override update(writes: Write[]): boolean {
    if (writes.length === 0) return false;
    this.#held = { value: this.#rule.apply(this.#held?.value, writes) };
    return true;
  }

  override get(): Value {
    if (this.#held === undefined) throw new EmptyChannelError();
    return this.#held.value;
  }

  override checkpoint(): Value {
    return this.get();
  }

  /** Two factories of one rule make the same channel: nodes with their own input schemas may share it. */
  override equals(other: BaseChannel): boolean {
    return other instanceof RuleChannel && other.#rule === this.#rule;
  }
}
