// `Hook` port: code that runs around every call. Order and unwinding are dispatch.ts's business.

import type { RunContext } from "../context/run-context.js";

/** A call as hooks see it. The arguments are the parsed ones and frozen. */
export interface HookCall {
  readonly tool: string;
  readonly callId: string;
  readonly arguments: unknown;
  readonly context: RunContext;
}

/** What `beforeTool` may answer: other arguments, which must already be what the tool's schema would make of them. */
export interface Replacement {
  readonly arguments: unknown;
}

/** Code around every call. What it throws refuses the call; before the approval step that spends no answer. */
export interface Hook {
  /**
   * Before anything is asked or run. On a re-run of a call that was already asked it runs again (budgets, kill
   * switches), and what it returns is ignored: the reviewer has seen the arguments.
   */
  beforeTool(call: HookCall): Replacement | undefined | void | Promise<Replacement | undefined | void>;
  /** After the tool returned; sees the result. Not called for replays, refusals, failures and pauses. */
  afterTool(call: HookCall, result: unknown): void | Promise<void>;
}

/** The hook with what was left out doing nothing. */
export function completeHook(hook: Partial<Hook>): Hook {
  return {
    beforeTool: (call) => hook.beforeTool?.(call),
    afterTool: (call, result) => hook.afterTool?.(call, result),
  };
}
