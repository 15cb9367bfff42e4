// `Hook` port: code that runs around every call. Order and unwinding are dispatch.ts's business.

import type { ApprovalRequest } from "../approvals/request.js";
import type { RunContext } from "../context/run-context.js";
import { ToolUsageError } from "../errors.js";
import type { Ledger } from "../ledger/ledger.js";

/** A call as hooks see it. The arguments are the parsed ones and frozen. */
export interface HookCall {
  /** The tool's name. */
  readonly tool: string;
  /** The call's id within its run. */
  readonly callId: string;
  /** The parsed arguments, frozen. */
  readonly arguments: unknown;
  /** The run the call belongs to. */
  readonly context: RunContext;
  /** What one attempt costs, in the budget's unit; `undefined` when only the result tells. */
  readonly cost: number | undefined;
  /** How many attempts the call may make. */
  readonly maxAttempts: number;
  /** Where the executor records calls and costs. */
  readonly ledger: Ledger;
}

/** What `beforeTool` may answer. */
export interface BeforeAnswer {
  /** Other arguments, which must already be what the tool's schema would make of them. */
  readonly arguments?: unknown;
  /** Called once when this run of the call is over, however it ended: also by a pause or an abort. What it throws is logged. */
  readonly finally?: () => void;
}

/** A question to a human, or its answer. */
export type ApprovalEvent =
  | { readonly state: "asked"; readonly binding: string; readonly request: ApprovalRequest }
  | {
      readonly state: "approved" | "denied";
      readonly binding: string;
      readonly decidedBy: string | undefined;
      /** When it was asked, perhaps by another process. Milliseconds since the epoch. */
      readonly askedAt: number;
    };

/** Code around every call. What `beforeTool` throws refuses the call and spends no answer. */
export interface Hook {
  /**
   * Before anything is asked or run. On a re-run of a call that was already asked it runs again (budgets, kill
   * switches), and arguments it returns are ignored: the reviewer has seen the ones that run.
   */
  beforeTool(call: HookCall): BeforeAnswer | undefined | void | Promise<BeforeAnswer | undefined | void>;
  /** After the tool returned; sees the result. Not called for replays, refusals, failures and pauses. */
  afterTool(call: HookCall, result: unknown): void | Promise<void>;
  /** When the call failed after this hook's `beforeTool` had run. Not called for pauses and aborts. What it throws is logged. */
  onError(call: HookCall, error: unknown): void | Promise<void>;
  /** When a human is asked (before the pause) and when an answer is used. What it throws stops the call; nothing is spent by asking. */
  onApproval(call: HookCall, event: ApprovalEvent): void | Promise<void>;
}

const METHODS: readonly string[] = ["beforeTool", "afterTool", "onError", "onApproval"];

/**
 * The hook with what was left out doing nothing.
 *
 * @throws ToolUsageError when it has none of the methods: a misspelt kill switch must not be one that never runs
 */
export function completeHook(hook: Partial<Hook>): Hook {
  if (!METHODS.some((name) => name in hook))
    throw new ToolUsageError(`a hook has at least one of ${METHODS.join(", ")}`);
  return {
    beforeTool: (call) => hook.beforeTool?.(call),
    afterTool: (call, result) => hook.afterTool?.(call, result),
    onError: (call, error) => hook.onError?.(call, error),
    onApproval: (call, event) => hook.onApproval?.(call, event),
  };
}
