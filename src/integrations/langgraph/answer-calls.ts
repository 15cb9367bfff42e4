// Tool calls in, ToolMessages out, inside a task run: the part that `toolNode` and hosts with a node of their own share. Owns
// which options of theirs mean what; reads no messages.

import type { ToolMessage } from "@langchain/core/messages";
import { ToolUsageError, type Executor, type Registry } from "../../index.js";
import { hiddenFailure, partsOf, runBatch, type CallOutcome } from "../../spi.js";
import { errorMessage, resultMessage, type OpenCall, type ResultStyle } from "../langchain-core/tool-messages.js";
import { graphExecutor } from "./graph-executor.js";
import { settleNode, type Durable } from "./node-settings.js";
import type { NodeRun, NodeRunner } from "./run-in-task.js";

/** What was given of the options that say how calls are answered. */
export interface AnswerOptions {
  readonly executor?: Executor | undefined;
  readonly announceEdits?: boolean | undefined;
  readonly maxResultChars?: number | undefined;
  readonly durable?: Durable | undefined;
  readonly maxEntryBytes?: number | undefined;
}

/** How calls are answered. */
export interface Answering extends NodeRunner {
  /** Which tools there are: it may hold fewer than the executor's. */
  readonly registry: Registry;
  readonly style: ResultStyle;
}

/** @throws ToolUsageError naming the function and the option */
export function settleAnswering(name: string, registry: Registry, options: AnswerOptions): Answering {
  // A program without types may have forgotten it.
  if (!("list" in Object(registry))) throw new ToolUsageError(`${name}: registry must be a Registry`);
  const { executor = graphExecutor(registry), announceEdits = true, maxResultChars = Infinity, ...durable } = options;
  if (!(maxResultChars > 0)) throw new ToolUsageError(`${name}: maxResultChars must be a number above 0`);
  if (typeof announceEdits !== "boolean") throw new ToolUsageError(`${name}: announceEdits must be true or false`);
  const strayed = registry.list().find((spec) => executor.registry.get(spec.name) !== spec);
  if (strayed !== undefined)
    throw new ToolUsageError(`${name}: ${strayed.name} is not registered in the executor's registry`);
  const settings = settleNode(name, { durable: durable.durable, maxEntryBytes: durable.maxEntryBytes });
  return { executor, registry, settings, style: { announceEdits, maxResultChars } };
}

/**
 * One message per call, in order.
 *
 * @throws what is not for the model, once the others have settled: pauses, invalid answers, failures
 */
export async function answerCalls(
  calls: readonly OpenCall[],
  { scope }: NodeRun,
  { executor, registry, style, concurrency }: Answering & { readonly concurrency: number },
): Promise<ToolMessage[]> {
  const runnable = calls.filter((call) => call.refusal === undefined);
  const requests = runnable.map((call) => ({ tool: call.name, args: call.args, callId: call.id, registry }));
  const outcomes = await runBatch(partsOf(executor), scope, requests, { concurrency, signal: scope.context.signal });
  const failure = hiddenFailure(outcomes);
  if (failure !== undefined) throw failure.reason;
  const byCall = new Map(runnable.map((call, index) => [call, outcomes[index]]));
  return calls.map((call) => messageFor(call, byCall.get(call), style));
}

function messageFor(call: OpenCall, outcome: CallOutcome | undefined, style: ResultStyle): ToolMessage {
  if (outcome === undefined) return errorMessage(call, call.refusal);
  if (outcome.status === "rejected") return errorMessage(call, outcome.reason);
  return resultMessage(call, { value: outcome.value, edited: outcome.editedArguments }, style);
}
