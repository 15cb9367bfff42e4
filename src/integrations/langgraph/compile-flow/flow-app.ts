// The app of a compiled flow. Owns one thing: a cap on concurrency is kept by the flow's own steps, not by LangGraph, which runs one
// node and stops when that one waits (`maxConcurrency: 1`): the gate that it waits for would never be asked.

import { CompiledStateGraph } from "@langchain/langgraph";
import { currentConfig } from "../../langchain-core/call-context.js";
import { membersOf } from "../members.js";

/** In `configurable`: how many visits of a step may run at once. */
const CAP_KEY = "aa_concurrency";

/** More than a step has nodes. */
const ALL_AT_ONCE = 1_000_000;

const CHECKS = new WeakMap<object, (input: unknown) => void>();

/** Look at what the apps of a graph are given, before LangGraph keeps it. */
export function checkInputs(graph: object, check: (input: unknown) => void): void {
  CHECKS.set(graph, check);
}

// What it is made of is known to `FlowGraph` and to whoever calls it; in here nothing depends on it.
export class FlowApp extends CompiledStateGraph<never, never, string> {
  override _streamIterator(
    ...[input, options]: Parameters<CompiledStateGraph<never, never, string>["_streamIterator"]>
  ): AsyncGenerator<never> {
    const builder: object = this.builder;
    CHECKS.get(builder)?.(input);
    const cap = options?.maxConcurrency ?? this.config?.maxConcurrency ?? ambientCap();
    const more =
      cap === undefined
        ? options
        : { ...options, maxConcurrency: ALL_AT_ONCE, configurable: { ...options?.configurable, [CAP_KEY]: cap } };
    return super._streamIterator(input, more as never) as AsyncGenerator<never>; // the options it came with, and these two
  }
}

/** Of the node around it, when it is called without a config. */
function ambientCap(): number | undefined {
  const { maxConcurrency } = membersOf(currentConfig());
  return typeof maxConcurrency === "number" ? maxConcurrency : undefined;
}

/** @returns infinity when there is none */
export function capOf(configurable: Readonly<Record<string, unknown>> | undefined): number {
  const cap = configurable?.[CAP_KEY];
  return typeof cap === "number" && cap >= 1 ? cap : Number.POSITIVE_INFINITY;
}
