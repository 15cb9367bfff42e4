// `Executor`: runs registered tools. Owns the task runs of plain programs; the order of things is in stages.ts.

import { isWellFormed } from "../crypto/canonical-json.js";
import { randomId } from "../crypto/random.js";
import { ToolUsageError } from "../errors.js";
import type { RunContext } from "../context/run-context.js";
import { privateTaskEntry, taskEntry } from "../journal/process-state.js";
import { plainHost, TaskRun } from "../journal/task-run.js";
import type { Ledger } from "../ledger/ledger.js";
import { refuseUnknown } from "../options.js";
import type { Registry } from "../tools/registry.js";
import type { AnyToolSpec, ToolSpec } from "../tools/spec.js";
import { explain as explainCall, type Explanation } from "./explain.js";
import { settleParts, type ExecutorOptions, type ExecutorParts } from "./parts.js";
import { runCall, signalOf } from "./run-call.js";
import { runBatch, type CallOutcome } from "./run-many.js";
import { currentScope, refuseLate, type Scope } from "./scope.js";

/** What a run is named by and told. */
export interface ContextOptions {
  /** Names the run: the same id is the same run, whose finished calls replay. Default: a random one. */
  readonly runId?: string;
  /** The conversation; two threads may use the same run ids. Default: none. */
  readonly threadId?: string;
  /** Who the run acts for: in requests, in the ledger, in tools. Default: nobody. */
  readonly principal?: string;
  /** Aborts every call of the run. Default: none. */
  readonly signal?: AbortSignal;
  /** For tools, predicates and hooks. Default `{}`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** How one call runs. */
export interface RunOptions {
  /** Default: the run around the caller, else a new one. */
  readonly context?: RunContext;
  /** Stable name of the call within its run. Default: its position among the calls of this tool with these arguments. */
  readonly callId?: string;
  /** Gives up on this call. Default: the run's. */
  readonly signal?: AbortSignal;
}

/** One call of a batch. */
export interface BatchCall {
  /** The tool's name, as the model wrote it. */
  readonly tool: string;
  /** Its arguments, not yet parsed. */
  readonly args: unknown;
  /** Stable name of the call within its run. Default: its position among the calls of this tool with these arguments. */
  readonly callId?: string;
}

/** How a batch runs. */
export interface BatchRunOptions {
  /** The run it belongs to. Default: the run around the caller, else a new one. */
  readonly context?: RunContext;
  /** How many calls that need no human run at once. Default: the executor's. */
  readonly concurrency?: number;
  /** Gives up on what has not finished. Default: the run's. */
  readonly signal?: AbortSignal;
}

const PARTS = new WeakMap<Executor, ExecutorParts>();

/** For framework adapters: what the executor is made of. */
export function partsOf(executor: Executor): ExecutorParts {
  const parts = PARTS.get(executor);
  if (parts === undefined) throw new ToolUsageError("not an Executor of this copy of agent-adapter");
  return parts;
}

/**
 * Runs registered tools: arguments checked, hooks called, humans asked, each call once, everything in the ledger.
 *
 * @example
 * const executor = new Executor(registry, { approval, secret });
 * const rate = await executor.run(shippingRate, { item: "laptop" });
 */
export class Executor<Names extends string = string> {
  /** The tools this executor runs; no others. */
  readonly registry: Registry;
  /** Where calls and costs are recorded: the one that was given, else a `MemoryLedger`. */
  readonly ledger: Ledger;
  readonly #parts: ExecutorParts;
  readonly #tasks = new WeakMap<RunContext, TaskRun>();

  /** @throws ToolUsageError naming the option that cannot be used */
  constructor(registry: Registry<Names>, options: ExecutorOptions<Names> = {}) {
    this.#parts = settleParts(registry, options);
    this.registry = registry;
    this.ledger = this.#parts.ledger;
    PARTS.set(this, this.#parts);
  }

  /**
   * Would this call ask a human, and why? Parses the arguments and evaluates the rules; asks and runs nothing.
   *
   * @throws ToolArgsInvalid, ToolNotFound
   * @throws ToolUsageError when the tool or the context is of another executor, or a `confirm` or a policy misbehaves
   */
  async explain(
    tool: string | AnyToolSpec,
    args: unknown,
    options: { readonly context?: RunContext } = {},
  ): Promise<Explanation> {
    const context = this.#scope(options.context).context;
    return explainCall(this.#parts, context, { tool: this.#registered(tool), args });
  }

  /**
   * Names a run. Calls made under one context share its journal; make one per run or turn, not one per program.
   *
   * @throws ToolUsageError when an id is not well-formed text, or there is no such option
   */
  context(options: ContextOptions = {}): RunContext {
    const { runId, threadId, principal, signal, metadata = {}, ...rest } = options;
    refuseUnknown("context()", rest);
    for (const [name, value] of Object.entries({ runId, threadId, principal })) {
      if (value !== undefined && !isWellFormed(value))
        throw new ToolUsageError(`context(): ${name} must be well-formed text`);
    }
    const context = Object.freeze({ runId: runId ?? randomId(), threadId, principal, signal, metadata });
    this.#tasks.set(context, this.#taskRun(context, runId !== undefined));
    return context;
  }

  /**
   * Run one call. Arguments and result are typed by the spec; by name the result is `unknown`.
   *
   * @throws ToolArgsInvalid, ToolNotFound, ToolError, ApprovalDenied, ApprovalExpired: an answer for the model
   * @throws ToolFailed, ApprovalPending, ApprovalAlreadyDecided, ToolUsageError, FlowError, StoreUnavailable: for the program
   */
  run<In, Out>(tool: ToolSpec<In, Out>, args: NoInfer<In>, options?: RunOptions): Promise<Out>;
  run(tool: string, args: unknown, options?: RunOptions): Promise<unknown>;
  async run(tool: string | ToolSpec<never, unknown>, args: unknown, options: RunOptions = {}): Promise<unknown> {
    const { callId, signal, context, ...rest } = options;
    refuseUnknown("run()", rest);
    const scope = this.#scope(context);
    refuseLate(scope);
    const request = { tool: this.#registered(tool), args, callId, signal };
    if (!scope.task.host.pauses) return await runCall(this.#parts, scope, request);
    return scope.task.deciding((decided) => runCall(this.#parts, scope, { ...request, decided }));
  }

  /**
   * Run a batch: what asks nobody first, up to `concurrency` at once, then the calls that need a human one by one.
   * Settled outcomes in input order, one per call.
   *
   * @throws the control flow a call ended with (a pause, an abort) once the others have settled; a failure the model may not
   * read when calls that need a human had not been asked yet
   * @throws ToolUsageError when there is no such option, or the context is of another executor
   */
  async runMany(calls: readonly BatchCall[], options: BatchRunOptions = {}): Promise<CallOutcome[]> {
    const { context, concurrency = this.#parts.concurrency, signal, ...rest } = options;
    refuseUnknown("runMany()", rest);
    const scope = this.#scope(context);
    refuseLate(scope);
    const batch = () => runBatch(this.#parts, scope, calls, { concurrency, signal: signalOf(scope, signal) });
    return scope.task.host.pauses ? scope.task.deciding(batch) : batch();
  }

  /** A spec counts only if it is the registered one: a tool outside the registry has no gate that anybody checked. */
  #registered(tool: string | ToolSpec<never, unknown>): string {
    if (typeof tool === "string") return tool;
    if (this.registry.get(tool.name) === tool) return tool.name;
    throw new ToolUsageError(`${tool.name} is not registered in this executor's registry`, { tool: tool.name });
  }

  /** The task run around the caller wins over any context: whatever context a call is given, it belongs to its task run. */
  #scope(context: RunContext | undefined): Scope {
    const around = currentScope();
    if (around !== undefined) {
      // A body that was left behind does nothing more.
      around.outer?.signal?.throwIfAborted();
      return { ...around, context: context ?? around.context };
    }
    const run = context ?? this.context();
    const task = this.#tasks.get(run);
    if (task === undefined)
      throw new ToolUsageError("a context is made by the `context()` of the executor that uses it");
    return { task, context: run, outer: undefined };
  }

  #taskRun({ runId, threadId, signal }: RunContext, named: boolean): TaskRun {
    // Two threads may number their turns alike: a run is one of its thread, also to reviewers.
    const id = threadId === undefined ? [runId] : [threadId, runId];
    const key = JSON.stringify(["run", this.#parts.id, ...id]);
    const entry = named ? taskEntry(key, this.#parts.clock.now()) : privateTaskEntry();
    return new TaskRun({ id, group: key, entry, host: plainHost, signal, claimsOf: this.#parts.id });
  }
}
