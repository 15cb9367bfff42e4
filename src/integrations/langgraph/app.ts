// A compiled LangGraph app as `resume`, `pendingApprovals` and `assertSafe` see it: the parts they need, by shape.

import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { ToolUsageError, type Executor } from "../../index.js";
import { membersOf } from "./members.js";
import { executorsOf } from "./node-settings.js";

/** A config of LangGraph, with the thread in `configurable`. */
export interface AppConfig {
  /** At least `thread_id`. */
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly [option: string]: unknown;
}

/** A task of a thread, as `getState` gives it. */
export interface AppTask {
  readonly id: string;
  readonly name: string;
  readonly interrupts: readonly { readonly id?: string; readonly value?: unknown }[];
  readonly result?: unknown;
  readonly state?: unknown;
}

export interface AppSnapshot {
  readonly config: AppConfig;
  readonly tasks: readonly AppTask[];
  readonly values: unknown;
}

/** Any compiled graph: of yours, a parent of it, a prebuilt agent. */
export interface GraphApp<Output> {
  /** Runs the graph, or goes on with it. */
  invoke(input: never, config: never): Promise<Output>;
  /** What the checkpointer has of a thread. */
  getState(config: never, options?: never): Promise<unknown>;
  /** Where pauses are kept; without one nothing can be resumed. */
  readonly checkpointer?: BaseCheckpointSaver | boolean | undefined;
  /** The graph it was compiled from, whose nodes tell which executors are in it. */
  readonly builder?: unknown;
}

/** @throws ToolUsageError when the app was compiled without one */
export function saverOf(app: GraphApp<unknown>, verb: string): BaseCheckpointSaver {
  const { checkpointer } = app;
  if (typeof checkpointer === "object") return checkpointer;
  throw new ToolUsageError(
    `${verb}: the app was compiled without a checkpointer, so nothing of it can wait or be resumed`,
  );
}

/**
 * Where a thread stands, as it was saved: of the step that waits nothing is merged yet. Without a checkpoint id LangGraph merges what
 * the finished nodes of that step wrote, which nobody may have agreed to, and which may fail.
 */
export async function snapshotOf(
  app: GraphApp<unknown>,
  saver: BaseCheckpointSaver,
  config: AppConfig,
): Promise<AppSnapshot> {
  const keys = membersOf(config.configurable);
  const named = typeof keys["thread_id"] === "string" && keys["checkpoint_id"] === undefined;
  const tuple = named ? await saver.getTuple({ configurable: { ...keys } }) : undefined;
  const id = membersOf(membersOf(tuple?.config)["configurable"])["checkpoint_id"];
  const at = id === undefined ? config : { ...config, configurable: { ...keys, checkpoint_id: id } };
  // The methods of a compiled graph are typed by its state; these arguments fit every one of them.
  return asSnapshot(await app.getState(at as never, { subgraphs: true } as never));
}

export function asSnapshot(value: unknown): AppSnapshot {
  const { config, tasks, values } = membersOf(value);
  // What a compiled graph's getState gives has these members, typed by LangGraph.
  return { config: membersOf(config), tasks: Array.isArray(tasks) ? (tasks as AppTask[]) : [], values };
}

/** What the nodes of a graph are made of, its subgraphs included. */
export interface NodeView {
  readonly name: string;
  /** The function or Runnable that was added. */
  readonly action: unknown;
  readonly cachePolicy: unknown;
  readonly errorHandlerNode: unknown;
}

/** The nodes of a graph builder or a compiled app. */
export function nodesOf(graph: unknown): NodeView[] {
  const builder = membersOf(membersOf(graph)["builder"] ?? graph);
  return Object.entries(membersOf(builder["nodes"])).flatMap(([name, spec]) => {
    const { runnable, cachePolicy, errorHandlerNode } = membersOf(spec);
    const inner = membersOf(runnable);
    const action = inner["func"] ?? runnable;
    const own = executorsOf(runnable).length === 0 ? action : runnable;
    return [
      { name, action: own, cachePolicy, errorHandlerNode },
      ...(inner["builder"] === undefined ? [] : nodesOf(runnable)),
    ];
  });
}

/** The one executor of an app's nodes. @throws ToolUsageError when there is none or more than one */
export function executorIn(app: unknown, verb: string): Executor {
  const found = new Set(nodesOf(app).flatMap(({ action }) => executorsOf(action)));
  const [executor] = found;
  if (executor !== undefined && found.size === 1) return executor;
  throw new ToolUsageError(
    `${verb}: give it the \`executor\` whose approvals it answers (the app has ${found.size} it could be)`,
  );
}
