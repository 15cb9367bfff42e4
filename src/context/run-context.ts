// What a run is: ids, who it acts for, and its signal. Data only.

/** A run as tools, hooks and predicates see it. Made by `executor.context()`, or by a framework adapter. */
export interface RunContext {
  readonly runId: string;
  readonly threadId: string | undefined;
  /** Who the run acts for. */
  readonly principal: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The run of the tool body that asks for it, with the call it is in. */
export interface CallContext extends RunContext {
  readonly tool: string;
  readonly callId: string;
}
