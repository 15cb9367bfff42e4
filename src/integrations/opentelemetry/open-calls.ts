// The calls that a hook has opened and that are not over. Owns finding the one an event is about: the port gives hooks no object
// that is the call, so it is found by its names and by the run context it was made in.

import type { Context, Span, SpanContext } from "@opentelemetry/api";
import type { HookCall, RunContext } from "../../index.js";
import type { Stopwatch } from "../../spi.js";
import type { CallNames } from "./telemetry.js";

export interface TracedCall {
  readonly names: CallNames;
  readonly context: RunContext;
  /** Active where the call was made. */
  readonly parent: Context;
  /** Since the call began or its answer was used. */
  watch: Stopwatch;
  /** Not before it is needed: a call that pauses has no span. */
  span: Span | undefined;
  /** The wait that its answer ended. */
  waited: SpanContext | undefined;
  /** Its span is written. */
  over: boolean;
}

export class TracedCalls {
  readonly #calls = new Map<string, Set<TracedCall>>();

  add(call: TracedCall): void {
    const key = keyOf(call.names);
    const same = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, same.add(call));
  }

  remove(call: TracedCall): void {
    const key = keyOf(call.names);
    const same = this.#calls.get(key);
    same?.delete(call);
    if (same?.size === 0) this.#calls.delete(key);
  }

  has(names: CallNames): boolean {
    return this.#calls.has(keyOf(names));
  }

  /**
   * The call of that name in that run context. A resume may act for somebody else than the context says, which makes it
   * another object with the same metadata.
   */
  find(names: CallNames, { metadata }: Pick<RunContext, "metadata">): TracedCall | undefined {
    const same = [...(this.#calls.get(keyOf(names)) ?? [])];
    const open = same.filter(({ over }) => !over);
    return open.find(({ context }) => context.metadata === metadata) ?? open[0] ?? same[0];
  }
}

export function namesOf(call: Pick<HookCall, "tool" | "callId">, { runId, threadId }: RunContext): CallNames {
  return { tool: call.tool, callId: call.callId, runId, threadId };
}

function keyOf({ tool, callId, runId, threadId }: CallNames): string {
  return JSON.stringify([threadId ?? null, runId, tool, callId]);
}
