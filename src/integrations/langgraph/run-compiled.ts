// `runCompiled`: run or go on with a compiled flow, and get a `FlowResult` back. Never guesses what something is for.

import { Command, INTERRUPT, Overwrite, type BaseCheckpointSaver } from "@langchain/langgraph";
import { ToolUsageError, type Executor } from "../../index.js";
import type { FlowDenied, FlowDone } from "../../flow/index.js";
import { fieldValue, isAnswers, isDenial, parseInput, refuseUnknown, type Answers } from "../../spi.js";
import { saverOf, snapshotOf, type AppConfig, type GraphApp } from "./app.js";
import { refuseRevived } from "./compile-flow/field-channel.js";
import { compiledOf } from "./compile-flow/compile-flow.js";
import type { Compiled } from "./compile-flow/compiled-node.js";
import { NO_PROGRESS, PROGRESS_KEY } from "./compile-flow/progress.js";
import { failedNodeOf } from "./compile-flow/step-run.js";
import { membersOf } from "./members.js";
import { pendingApprovals, type PendingApproval } from "./pending-approvals.js";
import { resume } from "./resume.js";

/** Whose approvals are answered. */
export interface RunCompiledOptions {
  /** Whose approvals are answered. Default: the executor that the flow was compiled with. */
  readonly executor?: Executor;
}

/** A compiled flow that waits. LangGraph's checkpointer keeps it, so there is no checkpoint to carry. */
export interface CompiledPaused<State> {
  /** Tells the results apart. */
  readonly status: "paused";
  /** The state before the step that waits. */
  readonly state: State;
  /** Finished steps. */
  readonly steps: number;
  /** Finished visits by node name. */
  readonly visits: Readonly<Record<string, number>>;
  /** The first of `pendings`. */
  readonly pending: PendingApproval;
  /** Everything that can be decided now. */
  readonly pendings: readonly PendingApproval[];
  /** Always `null`: the checkpointer has it. */
  readonly checkpoint: null;
}

/** How a run of a compiled flow came back. */
export type CompiledResult<State> = FlowDone<State> | FlowDenied<State> | CompiledPaused<State>;

/** A compiled flow; LangGraph's own apps name the types of what they take and give. */
export interface FlowApp<State, Input> extends GraphApp<unknown> {
  /** Never there at run time: it only carries a type. */
  readonly "~RunInput": Input;
  /** Never there at run time: it only carries a type. */
  readonly "~RunOutput": State;
}

/**
 * Start a compiled flow, or go on with it: with a decision or signed answer for what waits (several by binding or interrupt id),
 * with a `Command`, or with `null` after a store decided or a failure.
 *
 * @throws ToolUsageError when the app is no compiled flow, has no checkpointer, nothing waits, or an answer is for none of what
 * waits: nothing ran; ApprovalAlreadyDecided when it was answered before; FlowError, FlowLoopExceeded, and whatever a node throws
 * @example
 * const paused = await runCompiled(app, { item: "laptop" }, config);
 * const done = await runCompiled(app, approve({ by: "ana" }), config);
 */
export async function runCompiled<State, Input>(
  app: FlowApp<State, Input>,
  input: NoInfer<Input> | Answers | Command | null,
  config: AppConfig,
  options: RunCompiledOptions = {},
): Promise<CompiledResult<State>> {
  const { executor, ...rest } = options;
  refuseUnknown("runCompiled", rest);
  const saver = saverOf(app, "runCompiled");
  const compiled = compiledOf(app);
  if (compiled === undefined)
    throw new ToolUsageError("runCompiled: the app is not made by compileFlow(); use resume() for other apps");
  const keys = { ...config.configurable };
  if (typeof keys["thread_id"] !== "string")
    throw new ToolUsageError("runCompiled: give the thread as config.configurable.thread_id");
  if (input === null && (await saver.getTuple({ configurable: keys })) === undefined)
    throw new ToolUsageError("runCompiled: nothing has run on this thread that could go on");
  const run: CompiledRun = { app, compiled, saver, config, executor: executor ?? compiled.executor };
  try {
    // What the app gives has the state that its flow describes.
    return (await resultOf(run, await send(run, input))) as CompiledResult<State>;
  } catch (error) {
    if (!isDenial(error)) throw error;
    const denied = { ...(await standingOf(run)), node: failedNodeOf(error) ?? "", error };
    return { status: "denied", ...denied } as CompiledResult<State>; // as above
  }
}

interface CompiledRun {
  readonly app: GraphApp<unknown>;
  readonly compiled: Compiled;
  readonly saver: BaseCheckpointSaver;
  readonly config: AppConfig;
  readonly executor: Executor;
}

async function send({ app, compiled, config, executor }: CompiledRun, input: unknown): Promise<unknown> {
  const { fields } = compiled.plan;
  // The progress is hidden from the output unless it is asked for.
  const asked = { ...config, outputKeys: [...fields.keys(), PROGRESS_KEY] };
  if (input === null || isAnswers(input)) return resume(app, input, asked, { executor });
  if (input instanceof Command) checkUpdate(compiled, input);
  else await parseInput(fields, input);
  // The input was checked; a Command fits every graph.
  return app.invoke(input as never, asked as never);
}

/**
 * LangGraph keeps an update before anything looks at it, and what cannot be read back would be in the way of every later call.
 *
 * @throws FlowError; nothing was sent
 */
function checkUpdate({ plan }: Compiled, { update }: Command): void {
  const writes: readonly unknown[] = Array.isArray(update) ? update : Object.entries(update ?? {});
  for (const write of writes) {
    const [field, value]: unknown[] = Array.isArray(write) ? write : [];
    if (typeof field === "string" && plan.fields.has(field))
      refuseRevived(field, fieldValue(field, unwrapped(value), "an update"));
  }
}

function unwrapped(value: unknown): unknown {
  return value instanceof Overwrite ? value.value : value;
}

async function resultOf(run: CompiledRun, output: unknown, again = true): Promise<CompiledResult<unknown>> {
  const { [PROGRESS_KEY]: progress, [INTERRUPT]: interrupts, ...state } = membersOf(output);
  if (interrupts === undefined) {
    const { steps, visits } = progress === undefined ? NO_PROGRESS : run.compiled.seals.openProgress(progress);
    // What is remembered of sealed progress stays here: the caller may write on what it gets.
    return { status: "done", state, steps, visits: { ...visits } };
  }
  if (Array.isArray(interrupts) && interrupts.length === 0)
    throw new ToolUsageError(
      "runCompiled: the graph stopped at a breakpoint of its own (interruptBefore, interruptAfter); go on with app.invoke(null, config)",
    );
  // One whose answer was used waits for nobody: a gate that is passed while another of its step is not.
  const pendings = (await pendingApprovals(run.app, run.config)).filter(({ status }) => status === "waiting");
  const [pending] = pendings;
  if (pending !== undefined)
    return { status: "paused", ...(await standingOf(run)), pending, pendings, checkpoint: null };
  // It was answered by somebody else meanwhile, or it waits for nothing that is known here.
  if (again) return resultOf(run, await send(run, null), false);
  throw new ToolUsageError("runCompiled: the flow waits for something that is no approval; nothing here can answer it");
}

/** Before the step that pauses or was denied: LangGraph's own output has in it what other nodes of that step wrote already. */
async function standingOf({ app, compiled, saver, config }: CompiledRun) {
  const { values, config: at } = await snapshotOf(app, saver, config);
  const tuple = await saver.getTuple({ configurable: { ...at.configurable } });
  const sealed = membersOf(tuple?.checkpoint.channel_values)[PROGRESS_KEY];
  const { steps, visits } = sealed === undefined ? NO_PROGRESS : compiled.seals.openProgress(sealed);
  return { state: membersOf(values), steps, visits: { ...visits } };
}
