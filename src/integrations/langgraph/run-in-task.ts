// Run a node's work as one attempt at its task run: answers enter, calls find the task, a swallowed pause is raised again.

import { currentContext, type Executor, type RunContext } from "../../index.js";
import {
  currentScope,
  enterScope,
  holding,
  partsOf,
  randomId,
  refuseLate,
  runEntry,
  sameJson,
  taskEntry,
  TaskRun,
  type ExecutorParts,
  type Scope,
} from "../../spi.js";
import { enter } from "./enter.js";
import { GraphTask } from "./graph-task.js";
import { nameIn } from "../langchain-core/call-context.js";
import type { NodeSettings } from "./node-settings.js";
import { readTask, type NodeConfig } from "./pregel-internals.js";

/** What the node's work may need to know about where it runs. */
export interface NodeRun {
  readonly scope: Scope;
  /** The checkpoint namespace of the node. */
  readonly namespace: string;
}

/** How a node of this package runs. */
export interface NodeRunner {
  readonly executor: Executor;
  readonly settings: NodeSettings;
}

/** An attempt that answers have entered. Its task run numbers the calls that have no id of their own. */
interface Entered {
  readonly host: GraphTask;
  readonly task: TaskRun;
}

const ENTERED = new WeakMap<object, { readonly attempt: number; readonly entered: Promise<Entered> }>();

export async function runInTask<T>(
  config: NodeConfig,
  runner: NodeRunner,
  body: (run: NodeRun) => Promise<T>,
): Promise<T> {
  const parts = partsOf(runner.executor);
  const pregel = readTask(config);
  const id = [pregel.threadId, pregel.namespace];
  const around = currentScope();
  // A node of ours inside a node of ours is one task run: answers enter once.
  if (around !== undefined && around.outer === undefined && sameJson(around.task.id, id)) {
    refuseLate(around);
    return body({ scope: around, namespace: pregel.namespace });
  }
  const entry = taskEntry(JSON.stringify(["langgraph", ...id]), parts.clock.now());
  const context = runContextOf(config, parts);
  const run = () => runEntry(parts, context);
  const host = new GraphTask(pregel, { parts, entry, run, settings: runner.settings });
  return holding(entry, async () => {
    const { host: entered, task } = await enterOnce(host, config.signal);
    const scope = { task, context, outer: approvedCallAround(context.threadId) };
    const { namespace } = pregel;
    return task.attempt(() =>
      raisingSwallowedPause(entered, task, () => enterScope(scope, () => body({ scope, namespace }))),
    );
  });
}

/**
 * A node may call several of ours, one after the other or at once: the answers enter once, and all of them use the same ones.
 * LangGraph's retries offer the answers again under the same key.
 */
function enterOnce(host: GraphTask, signal: AbortSignal | undefined): Promise<Entered> {
  const { attemptKey, attempt } = host.pregel;
  const known = ENTERED.get(attemptKey);
  if (known?.attempt === attempt) return known.entered;
  const task = new TaskRun({ id: host.id, group: host.group, entry: host.entry, host, signal });
  const entered = enter(host).then(() => ({ host, task }));
  ENTERED.set(attemptKey, { attempt, entered });
  return entered;
}

/** Code that caught the pause, or that failed afterwards, has not ended the node: the pause has. */
async function raisingSwallowedPause<T>(host: GraphTask, task: TaskRun, body: () => Promise<T>): Promise<T> {
  try {
    const result = await body();
    // Nor has code that did not wait for a call which is about to ask. In a tool's body that call may be waiting for us.
    if (currentScope()?.outer === undefined) await task.allDecided();
    if (host.raised !== undefined) await host.raised;
    return result;
  } catch (error) {
    if (host.raised !== undefined) await host.raised;
    // The next process starts from what is written: what finished before this failure need not run again.
    if (host.entry.asks.size > 0) await host.writeFinished().catch(() => undefined);
    throw error;
  }
}

/** Run id: the adapter run around the graph, else what the caller configured, else the thread. */
export function runContextOf(config: NodeConfig, parts: ExecutorParts): RunContext {
  const keys = config.configurable ?? {};
  const threadId = nameIn(keys["thread_id"]);
  const runId = currentContext()?.runId ?? nameIn(keys["run_id"]) ?? threadId ?? randomId();
  return Object.freeze({ runId, threadId, principal: parts.principal(keys), signal: config.signal, metadata: {} });
}

/** A pause inside an approved body would leave its answer spent and its thread dead: such calls are refused as nested. */
function approvedCallAround(threadId: string | undefined): Scope["outer"] {
  const around = currentScope();
  return around?.outer?.approved === true && around.context.threadId === threadId ? around.outer : undefined;
}
