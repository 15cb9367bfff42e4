// Where a call happens: the task run around it, the run it belongs to, and the call it is nested in. Follows the
// asynchronous flow of control, so that `executor.run` inside a node or a tool body finds the task run by itself.

import { contextStore } from "../context/current-context.js";
import { ToolUsageError } from "../errors.js";
import type { CallContext, RunContext } from "../context/run-context.js";
import type { TaskRun } from "../journal/task-run.js";

/** The call whose body is running. */
export interface OuterCall {
  readonly tool: string;
  readonly callId: string;
  /** Did it use an approval? */
  readonly approved: boolean;
  /** Aborted when the body is left behind: it may call nothing more, and what it called ends with it. */
  readonly signal: AbortSignal | undefined;
  /** How many calls its body has made. */
  children: number;
  /** Where it runs. */
  readonly task: TaskRun;
  /** Has its body not ended yet? */
  running: boolean;
}

/** What surrounds a call: its task run, its run, and the call it is part of. */
export interface Scope {
  /** The task run that remembers it. */
  readonly task: TaskRun;
  /** The run. */
  readonly context: RunContext;
  /** The call whose body made this one; `undefined` outside of tool bodies. */
  readonly outer: OuterCall | undefined;
}

const scopes = contextStore<Scope>();

/** The scope of the tool body or node that runs now, if any. */
export const currentScope = scopes.current;
/** Runs a function inside a scope. */
export const enterScope = scopes.enter;

/**
 * Nothing starts in a task run whose attempt is over: it would be missing in what was kept of that attempt, and run again. A body
 * that still runs belongs to a call that started in time, and so does what it calls.
 *
 * @throws ToolUsageError
 */
export function refuseLate({ task, outer }: Scope): void {
  if (!task.over || (outer?.task === task && outer.running)) return;
  throw new ToolUsageError("this visit is over: wait for your calls");
}

/**
 * The run and call of the tool body that asks; `undefined` outside one.
 *
 * @example const callId = currentContext()?.callId; // in a function that a tool calls
 */
export function currentContext(): CallContext | undefined {
  const scope = currentScope();
  if (scope?.outer === undefined) return undefined;
  return { ...scope.context, tool: scope.outer.tool, callId: scope.outer.callId };
}
