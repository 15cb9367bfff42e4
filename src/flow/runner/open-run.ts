// The options of `runFlow` and `resumeFlow`, settled once, and the run they open.

import type { Answer } from "../../approvals/answer.js";
import { SignedApproval } from "../../approvals/signed-approval.js";
import { KeyRing, type Secrets } from "../../crypto/keys.js";
import { partsOf, type Executor } from "../../executor/executor.js";
import type { ExecutorParts } from "../../executor/parts.js";
import { runEntry } from "../../executor/run-entry.js";
import { countOption, refuseNoFunction, refuseNoSignal, refuseUnknown } from "../../options.js";
import { SealedCheckpoints } from "../checkpoint/sealed-checkpoint.js";
import type { FlowDefinition } from "../definition.js";
import { MAX_STEPS } from "../loops.js";
import { planOf, type FlowPlan } from "../plan.js";
import { checkTools } from "../visit.js";
import { HeldEntries } from "./held-entries.js";
import type { LocalRun } from "./step.js";

/** Where a run stands after a step. */
export interface StepReport<State> {
  /** Finished steps. */
  readonly step: number;
  /** The state after the step. */
  readonly state: State;
  /** Finished visits by node name. */
  readonly visits: Readonly<Record<string, number>>;
  /** Sealed, from which the run can go on; made when it is asked for. */
  checkpoint(): string;
}

/** How a flow goes on. */
export interface ResumeFlowOptions<State> {
  /** Runs the tools and asks the humans. */
  readonly executor: Executor;
  /** Seals checkpoints; `[current, ...older]` to rotate. Default: the executor's root secret. */
  readonly checkpointKey?: Secrets;
  /** Steps a run may take in all, resumes included. Default 100. */
  readonly maxSteps?: number;
  /** Gives up on the run; what finished stays in the checkpoint on the error. Default: none. */
  readonly signal?: AbortSignal;
  /** For node functions and predicates; not kept in checkpoints. Default `{}`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /**
   * Awaited after each step. What it throws ends this call; the run can go on from the checkpoint on the error. Default:
   * nobody is told.
   */
  readonly onStep?: (report: StepReport<State>) => void | Promise<void>;
  /** Refuse a checkpoint of any other run. Default: whichever run it is. */
  readonly runId?: string;
}

/** How a flow starts. */
export interface RunFlowOptions<State> extends ResumeFlowOptions<State> {
  /** Names the run; the same id is the same run, whose finished calls replay. Default: a random one. */
  readonly runId?: string;
  /** Who the run acts for. Kept in checkpoints: whoever resumes lends it nothing. Default: nobody. */
  readonly principal?: string;
}

export interface Settled {
  readonly plan: FlowPlan;
  readonly executor: Executor;
  readonly checkpoints: SealedCheckpoints;
  readonly maxSteps: number;
  readonly signal: AbortSignal | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly onStep: ((report: StepReport<never>) => void | Promise<void>) | undefined;
}

export function settle(
  verb: string,
  definition: FlowDefinition,
  options: Omit<ResumeFlowOptions<never>, "runId">,
): Settled {
  const { executor, checkpointKey, maxSteps = MAX_STEPS, signal, metadata, onStep, ...rest } = options;
  refuseUnknown(verb, rest);
  refuseNoSignal(verb, signal);
  refuseNoFunction(verb, "onStep", onStep);
  const { keys } = partsOf(executor);
  const plan = planOf(definition);
  checkTools(plan, executor);
  const ring = checkpointKey === undefined ? keys : KeyRing.of(checkpointKey, "checkpointKey");
  return {
    plan,
    executor,
    checkpoints: new SealedCheckpoints(ring, plan),
    maxSteps: countOption(verb, "maxSteps", maxSteps),
    signal,
    metadata,
    onStep,
  };
}

export interface OpenRun extends LocalRun, Settled {
  readonly answers: Map<string, Answer>;
}

export function openRun(settled: Settled, names: { readonly runId?: string; readonly principal?: string }): OpenRun {
  const { executor, signal, metadata } = settled;
  const parts = partsOf(executor);
  const context = executor.context({
    ...names,
    ...(signal === undefined ? {} : { signal }),
    ...(metadata === undefined ? {} : { metadata }),
  });
  const held = new HeldEntries(runEntry(parts, context));
  const port = parts.port ?? flowPort(parts);
  return { ...settled, parts, port, context, answers: new Map(), used: new Set(), held };
}

const PORTS = new WeakMap<ExecutorParts, SignedApproval>();

/** An executor without a port: decisions passed to `resumeFlow` count, signed under its root secret while they wait. */
function flowPort(parts: ExecutorParts): SignedApproval {
  const known = PORTS.get(parts);
  if (known !== undefined) return known;
  const port = new SignedApproval();
  port.attach({ ...parts, tool: (name) => parts.registry.get(name) });
  PORTS.set(parts, port);
  return port;
}
