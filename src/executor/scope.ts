// Where a call happens: the task run around it, the run it belongs to, and the call it is nested in. Follows the
// asynchronous flow of control, so that `executor.run` inside a node or a tool body finds the task run by itself.

import { contextStore } from "../context/current-context.js";
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
}

export interface Scope {
  readonly task: TaskRun;
  readonly context: RunContext;
  readonly outer: OuterCall | undefined;
}

const scopes = contextStore<Scope>();

export const currentScope = scopes.current;
export const enterScope = scopes.enter;

/** The run and call of the tool body that asks; `undefined` outside one. */
export function currentContext(): CallContext | undefined {
  const scope = currentScope();
  if (scope?.outer === undefined) return undefined;
  return { ...scope.context, tool: scope.outer.tool, callId: scope.outer.callId };
}
