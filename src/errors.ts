// The whole error taxonomy. Owns what every failure is called and whether the model may read it; decides nothing.
// A message says what happened, to which tool or call, and what to do. It never holds arguments, keys or results.
// Errors stay extensible: LangGraph writes task ids on whatever is thrown through it.

/** The name of a failure: the class name, the `kind` field and the word the model reads are the same string. */
export type ErrorKind =
  | "ToolArgsInvalid"
  | "ToolNotFound"
  | "ToolError"
  | "ApprovalDenied"
  | "ApprovalExpired"
  | "BudgetExceeded"
  | "ToolTimeout"
  | "ToolFailed"
  | "ApprovalPending"
  | "ApprovalAlreadyDecided"
  | "ToolUsageError"
  | "FlowError"
  | "FlowCompileError"
  | "FlowLoopExceeded"
  | "StoreUnavailable";

/** What an error is about, for programs; all of it is safe to log. */
export interface ErrorDetails {
  readonly cause?: unknown;
  /** The tool's registered name. */
  readonly tool?: string;
  readonly callId?: string;
}

// Shared by every copy of the package in a process, so that `isAgentAdapterError` works across copies.
// (`Symbol.for` is not typed as unique; the cast says what it is.)
const BRAND: unique symbol = Symbol.for("agent-adapter/error/v1") as never;

/** The base of every error this package throws. */
export abstract class AgentAdapterError extends Error {
  readonly [BRAND] = true;
  /** The class by name: it survives JSON and other copies of the package, where `instanceof` does not. */
  abstract readonly kind: ErrorKind;
  /** True when the error is an answer for the model (`{"error": {"kind", "message"}}`) instead of a failure of the program. */
  abstract readonly modelVisible: boolean;
  /** The tool it is about, when there is one. */
  readonly tool: string | undefined;
  /** The call it is about, when there is one. */
  readonly callId: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    // Assigned, it fails where the prototypes of errors are frozen.
    Object.defineProperty(this, "name", {
      value: new.target.name,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    this.tool = details.tool;
    this.callId = details.callId;
  }
}

/**
 * Is this one of our errors (of this kind)? Works for errors of another copy of the package.
 *
 * @example
 * try {
 *   await executor.run(sendStatement, { period: "2026-Q1" });
 * } catch (error) {
 *   if (!isAgentAdapterError(error, "ApprovalDenied")) throw error;
 *   console.log(error.message); // the reviewer's reason
 * }
 */
export function isAgentAdapterError(error: unknown, kind?: ErrorKind): error is AgentAdapterError {
  if (typeof error !== "object" || error === null || !isBranded(error)) return false;
  return kind === undefined || error.kind === kind;
}

/** The word for a failure in ledgers, journals and logs: the error's kind, or just that something threw. */
export function failureKind(error: unknown): string {
  return isAgentAdapterError(error) ? error.kind : "Error";
}

function isBranded(error: object): error is AgentAdapterError {
  try {
    return BRAND in error;
  } catch {
    // A proxy that lets nobody look is none of ours.
    return false;
  }
}

// ---- visible to the model ------------------------------------------------------------------------------------------

/** The arguments do not fit the tool's schema, are not a JSON object, or are too deep or too large. Nothing ran. */
export class ToolArgsInvalid extends AgentAdapterError {
  readonly kind = "ToolArgsInvalid";
  readonly modelVisible = true;
}

/** No tool of that name is registered. */
export class ToolNotFound extends AgentAdapterError {
  readonly kind = "ToolNotFound";
  readonly modelVisible = true;
}

/** Thrown by a tool to tell the model something: its message is shown to the model as it is. */
export class ToolError extends AgentAdapterError {
  readonly kind = "ToolError";
  readonly modelVisible = true;
}

/** A human said no. The tool did not run and never will for this request. */
export class ApprovalDenied extends AgentAdapterError {
  readonly kind = "ApprovalDenied";
  readonly modelVisible = true;
}

/** The request ran out before a human decided. Not a denial. */
export class ApprovalExpired extends AgentAdapterError {
  readonly kind = "ApprovalExpired";
  readonly modelVisible = true;
}

/** The run has used up its calls or its cost; nothing ran and no approval was spent. */
export class BudgetExceeded extends AgentAdapterError {
  readonly kind = "BudgetExceeded";
  readonly modelVisible = true;
}

// ---- for the program -----------------------------------------------------------------------------------------------

/** An attempt took longer than `timeoutMs`. The function may still be at work: it is retried only when `idempotent`. */
export class ToolTimeout extends AgentAdapterError {
  readonly kind = "ToolTimeout";
  readonly modelVisible = false;
}

/** The tool's function threw; the original is `cause`. An approval it ran under is spent. */
export class ToolFailed extends AgentAdapterError {
  readonly kind = "ToolFailed";
  readonly modelVisible = false;
}

/** A human has not decided yet and this host cannot pause. Decide, then run again. */
export class ApprovalPending extends AgentAdapterError {
  readonly kind = "ApprovalPending";
  readonly modelVisible = false;
}

/** This answer was used before (or another one won). The tool does not run a second time. */
export class ApprovalAlreadyDecided extends AgentAdapterError {
  readonly kind = "ApprovalAlreadyDecided";
  readonly modelVisible = false;
}

/** The library is used in a way that cannot work; the message says what to change. */
export class ToolUsageError extends AgentAdapterError {
  readonly kind = "ToolUsageError";
  readonly modelVisible = false;
}

/** Sealed state is missing, moved, tampered with or under another key; or a flow is not built as flows must be. Nothing runs. */
export class FlowError extends AgentAdapterError {
  readonly kind = "FlowError";
  readonly modelVisible = false;
}

/** The flow runs locally and LangGraph cannot run it; the message says which name or option to change. */
export class FlowCompileError extends AgentAdapterError {
  readonly kind = "FlowCompileError";
  readonly modelVisible = false;
}

/** A loop was taken more often than its cap, or the flow took more steps than it may. The state before is kept. */
export class FlowLoopExceeded extends AgentAdapterError {
  readonly kind = "FlowLoopExceeded";
  readonly modelVisible = false;
}

/** A store cannot be reached or is full. Nothing was spent unless a claim had already won. */
export class StoreUnavailable extends AgentAdapterError {
  readonly kind = "StoreUnavailable";
  readonly modelVisible = false;
}
