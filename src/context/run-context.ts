// What a run is: ids, who it acts for, and its signal. Data only.

/** A run as tools, hooks and predicates see it. Made by `executor.context()`, or by a framework adapter. */
export interface RunContext {
  /** The run's id. */
  readonly runId: string;
  /** The conversation it belongs to, when the host knows one. */
  readonly threadId: string | undefined;
  /** Who the run acts for. */
  readonly principal: string | undefined;
  /** Aborted when the run is given up. */
  readonly signal: AbortSignal | undefined;
  /** What `context()` was given, or the framework's metadata of the run. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The run of the tool body that asks for it, with the call it is in. */
export interface CallContext extends RunContext {
  /** The tool that runs. */
  readonly tool: string;
  /** The id of its call. */
  readonly callId: string;
}
