// Run a node's work as one attempt at its task run: answers enter, calls find the task, a swallowed pause is raised again.

import { currentContext, type Executor, type RunContext } from "../../index.js";
import {
  currentScope,
  enterScope,
  partsOf,
  randomId,
  taskEntry,
  TaskRun,
  type ExecutorParts,
  type Scope,
} from "../../spi.js";
import { enter } from "./enter.js";
import { GraphTask } from "./graph-task.js";
import { readTask, type NodeConfig } from "./pregel-internals.js";

/** What the node's work may need to know about where it runs. */
export interface NodeRun {
  readonly scope: Scope;
  /** The checkpoint namespace of the node. */
  readonly namespace: string;
}

export async function runInTask<T>(
  config: NodeConfig,
  executor: Executor,
  body: (run: NodeRun) => Promise<T>,
): Promise<T> {
  const parts = partsOf(executor);
  const pregel = readTask(config);
  const entry = taskEntry(JSON.stringify(["langgraph", pregel.threadId, pregel.namespace]), parts.clock.now());
  const host = new GraphTask(pregel, parts, entry);
  const task = new TaskRun({ id: host.id, group: host.group, entry, host, signal: config.signal });
  const context = contextOf(config, parts);
  const scope = { task, context, outer: approvedCallAround(context.threadId) };
  return task.attempt(async () => {
    await enter(host);
    const result = await enterScope(scope, () => body({ scope, namespace: pregel.namespace }));
    if (host.raised !== undefined) await host.raised;
    return result;
  });
}

/** Run id: the adapter run around the graph, else what the caller configured, else the thread. */
function contextOf(config: NodeConfig, parts: ExecutorParts): RunContext {
  const keys = config.configurable ?? {};
  const threadId = nameIn(keys["thread_id"]);
  const runId = currentContext()?.runId ?? nameIn(keys["run_id"]) ?? threadId ?? randomId();
  return Object.freeze({ runId, threadId, principal: parts.principal(keys), signal: config.signal, metadata: {} });
}

function nameIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A pause inside an approved body would leave its answer spent and its thread dead: such calls are refused as nested. */
function approvedCallAround(threadId: string | undefined): Scope["outer"] {
  const around = currentScope();
  return around?.outer?.approved === true && around.context.threadId === threadId ? around.outer : undefined;
}
