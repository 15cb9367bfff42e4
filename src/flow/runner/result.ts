// `FlowResult`: how a run of a flow came back. Owns the union and how a checkpoint travels on an error.

import type { PendingInterrupt, ReviewRequest } from "../../approvals/review-request.js";
import { FlowError, type AgentAdapterError } from "../../errors.js";

/** A request that waits for a human. */
export interface FlowPending extends ReviewRequest {
  /** The node whose call or gate asks. */
  readonly node: string;
  /** The record to decide, when a store decides. */
  readonly approvalId: string | undefined;
  /** For `resumeValue` and `check` of a port. Copies and JSON leave it out. */
  readonly interrupt: PendingInterrupt;
}

interface Ended<State> {
  readonly state: State;
  /** Finished steps. */
  readonly steps: number;
  /** Finished visits by node. */
  readonly visits: Readonly<Record<string, number>>;
}

/** Nothing is left to run. */
export interface FlowDone<State> extends Ended<State> {
  /** Tells the results apart. */
  readonly status: "done";
}

/** A human is waited for. The state is the one before the step that waits. */
export interface FlowPaused<State, Checkpoint = string> extends Ended<State> {
  /** Tells the results apart. */
  readonly status: "paused";
  /** The first of `pendings`, in node-name order. */
  readonly pending: FlowPending;
  /** Everything that can be decided now. */
  readonly pendings: readonly FlowPending[];
  /** Sealed: everything another process needs to go on. `null` where a framework keeps it. */
  readonly checkpoint: Checkpoint;
}

/** A human said no, or nobody answered in time, and no node caught it. The state is the one before that step. */
export interface FlowDenied<State> extends Ended<State> {
  /** Tells the results apart. */
  readonly status: "denied";
  /** The node whose call or gate was refused. */
  readonly node: string;
  /** `ApprovalDenied` or `ApprovalExpired`. */
  readonly error: AgentAdapterError;
}

/** How a run of a flow came back. */
export type FlowResult<State, Checkpoint = string> =
  | FlowDone<State>
  | FlowPaused<State, Checkpoint>
  | FlowDenied<State>;

const CHECKPOINT = "checkpoint";

/** Whose checkpoint an error carries, by run id. */
const CARRIED_FOR = new WeakMap<object, string>();

/**
 * The same error, carrying the sealed checkpoint from which `resumeFlow(flow, checkpoint, null, ...)` tries again. One that carries
 * another run's already (one abort ends many runs) is the cause of a new one.
 */
export function withCheckpoint(error: unknown, checkpoint: string, runId = ""): unknown {
  if (typeof error === "object" && error !== null && Object.isExtensible(error)) {
    if (checkpointOf(error) !== undefined && CARRIED_FOR.get(error) !== runId) {
      const message = "the run ended by an error that carries another run's checkpoint; it is the cause";
      return withCheckpoint(new FlowError(message, { cause: error }), checkpoint, runId);
    }
    // Not listed: whoever logs the error does not log the checkpoint.
    const carried = { value: checkpoint, configurable: true, writable: true };
    // A proxy, or a member of that name that cannot be written.
    if (!Reflect.defineProperty(error, CHECKPOINT, carried)) return withCheckpoint(carrierOf(error), checkpoint, runId);
    CARRIED_FOR.set(error, runId);
    return error;
  }
  return withCheckpoint(carrierOf(error), checkpoint, runId);
}

/** What a node threw, or where that cannot be written to (a text, a frozen error) an error with it as its cause. */
export function asCarrier(error: unknown): object {
  if (typeof error === "object" && error !== null && Object.isExtensible(error)) return error;
  return carrierOf(error);
}

function carrierOf(error: unknown): FlowError {
  return new FlowError("a node threw something that cannot carry a checkpoint; it is the cause", { cause: error });
}

/**
 * The checkpoint on an error that `runFlow` or `resumeFlow` threw.
 *
 * @example
 * try {
 *   await runFlow(order, { item: "laptop" }, { executor });
 * } catch (error) {
 *   const checkpoint = checkpointOf(error); // keep it, and later: resumeFlow(order, checkpoint, null, { executor })
 * }
 */
export function checkpointOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const carried: unknown = Object.getOwnPropertyDescriptor(error, CHECKPOINT)?.value;
  return typeof carried === "string" ? carried : undefined;
}
