// `exportTool`: a spec as a LangChain tool whose every call runs through an executor, for chains and tool nodes that are not
// ours. It cannot pause a graph: that needs a node of ours, or the middleware for agents.

import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { ToolMessage } from "@langchain/core/messages";
import { isAgentAdapterError, Registry, ToolUsageError, type AnyToolSpec, type Executor } from "../../index.js";
import { currentScope, defaultExecutor, partsOf } from "../../spi.js";
import { callIdIn, configurableOf, idsIn } from "../langchain-core/call-context.js";
import { structuredTool } from "../langchain-core/structured-tool.js";
import { errorMessage, resultMessage, singleCall } from "../langchain-core/tool-messages.js";
import { readOutput } from "../langchain-core/tool-output.js";

const STYLE = { announceEdits: true, maxResultChars: Infinity };

/**
 * A `StructuredTool` for `bindTools`, chains and foreign tool nodes. Default executor: one of its own, without an approval port.
 *
 * Invoked with a tool call it gives the ToolMessage that `toolNode` would give: errors that are for the model are part of it,
 * others are thrown. Invoked with plain arguments it gives the result, and every error is thrown. The run is
 * `configurable.run_id`, else `thread_id`: within one run the same call id gives the first result again.
 *
 * A call that needs a human works with ports that decide without pausing (a callback, a store). `LangGraphApproval` pauses a
 * node: use `toolNode`, or `agentAdapterMiddleware` in agents.
 *
 * @throws ToolUsageError when the spec is not registered in the executor's registry
 * @example const tools = [exportTool(sendStatement, executor)]; // for `bindTools`, or `createAgent`
 */
export function exportTool(
  spec: AnyToolSpec,
  executor: Executor = defaultExecutor(new Registry([spec]), () => ({})),
): DynamicStructuredTool {
  if (executor.registry.get(spec.name) !== spec) {
    throw new ToolUsageError(`exportTool: ${spec.name} is not registered in the executor's registry`);
  }
  return structuredTool(spec, async (args, config) => {
    const callId = callIdIn(config);
    const run = { executor, config, signal: "signal" in config ? config.signal : undefined };
    if (callId !== undefined) return messageOf(spec, args, { ...run, callId });
    return readOutput(await executor.run(spec.name, args, optionsOf(run))).content;
  });
}

interface Run {
  readonly executor: Executor;
  readonly config: object;
  readonly signal: unknown;
}

async function messageOf(spec: AnyToolSpec, args: unknown, run: Run & { callId: string }): Promise<ToolMessage> {
  const { callId } = run;
  const call = singleCall({ id: callId, name: spec.name, args }, "");
  if (call.refusal !== undefined) return errorMessage(call, call.refusal);
  const [outcome] = await run.executor.runMany([{ tool: spec.name, args, callId }], optionsOf(run));
  if (outcome?.status === "fulfilled") {
    return resultMessage(call, { value: outcome.value, edited: outcome.editedArguments }, STYLE);
  }
  const reason: unknown = outcome?.reason;
  if (isAgentAdapterError(reason) && reason.modelVisible) return errorMessage(call, reason);
  throw reason;
}

/** Inside a run of ours the call belongs to that run; elsewhere the config names one. */
function optionsOf({ executor, config, signal }: Run) {
  const given = signal instanceof AbortSignal ? { signal } : {};
  if (currentScope() !== undefined) return given;
  const { runId, threadId } = idsIn(config);
  const principal = partsOf(executor).principal(configurableOf(config));
  const context = executor.context({
    ...given,
    ...(runId === undefined ? {} : { runId }),
    ...(threadId === undefined ? {} : { threadId }),
    ...(principal === undefined ? {} : { principal }),
  });
  return { ...given, context };
}
