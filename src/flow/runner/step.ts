// One step of a local run: its gates, then its visits side by side. Owns what a step can come to.
//   T1  nothing of the step runs until every gate of it is passed
//   T2  what finished stays finished: a visit that paused or failed runs again, its siblings do not
//   T3  nothing is thrown, and nothing is sealed, while a visit of the step or a call of one is still running

import type { AskRecord } from "../../approvals/ask.js";
import type { ApprovalPort } from "../../approvals/port.js";
import { ApprovalAlreadyDecided, isAgentAdapterError, type AgentAdapterError } from "../../errors.js";
import type { Executor } from "../../executor/executor.js";
import type { ExecutorParts } from "../../executor/parts.js";
import { ownerOf } from "../../executor/run-entry.js";
import type { Scope } from "../../executor/scope.js";
import type { RunContext } from "../../context/run-context.js";
import { GATE_CALL } from "../../executor/run-gate.js";
import type { TaskEntry } from "../../journal/process-state.js";
import { TaskRun } from "../../journal/task-run.js";
import { gateSpec, passGate } from "../gate.js";
import { nodeOf, type FlowPlan, type PlanNode } from "../plan.js";
import type { FlowState } from "../state.js";
import { visitNode, type Visited } from "../visit.js";
import { FlowHost } from "./flow-host.js";
import type { HeldEntries } from "./held-entries.js";
import type { Progress } from "./progress.js";

/** A run of a flow in this process. */
export interface LocalRun {
  readonly plan: FlowPlan;
  readonly executor: Executor;
  readonly parts: ExecutorParts;
  readonly port: ApprovalPort;
  readonly context: RunContext;
  /** Given and not used yet, by binding. */
  readonly answers: ReadonlyMap<string, unknown>;
  /** Bindings whose answers this run has used. What another run used is not its own, though this process remembers it. */
  readonly used: Set<string>;
  readonly held: HeldEntries;
}

/** A step that is being run, or waits. */
export interface Step {
  readonly from: Progress;
  /** In name order. */
  readonly names: readonly string[];
  readonly finished: Map<string, Visited>;
}

export type StepEnd =
  /** `state`: with the edits of its gates, which its writes go on top of. */
  | { readonly status: "done"; readonly state: FlowState }
  | { readonly status: "paused"; readonly waiting: readonly WaitingAsk[] }
  | { readonly status: "denied"; readonly node: string; readonly error: AgentAdapterError }
  | { readonly status: "failed"; readonly error: unknown };

export interface WaitingAsk {
  readonly node: string;
  readonly ask: AskRecord;
}

/** What this process remembers about the visit of a node in this step, for executors with the same secret. */
export function visitEntry({ plan, parts, context, held }: LocalRun, from: Progress, node: string): TaskEntry {
  const key = ["flow", ownerOf(parts), ...visitId(plan, context.runId, { from, node })];
  return held.entry(JSON.stringify(key), parts.clock.now());
}

function visitId(
  plan: FlowPlan,
  runId: string,
  { from, node }: { readonly from: Progress; readonly node: string },
): string[] {
  return [runId, plan.name, node, String((from.visits.get(node) ?? 0) + 1)];
}

interface At {
  readonly node: PlanNode;
  readonly entry: TaskEntry;
  readonly host: FlowHost;
  readonly scope: Scope;
}

export async function runStep(run: LocalRun, step: Step): Promise<StepEnd> {
  const visits = step.names.map((name) => visitAt(run, step.from, name));
  const gated = await passGates(run, step, visits);
  if ("status" in gated) return gated;
  const left = visits.filter(({ node }) => !step.finished.has(node.name));
  const ends = await Promise.allSettled(left.map((at) => visitOnce(run, { ...step, state: gated.state }, at)));
  return endOf(left, ends, gated.state);
}

function visitAt(run: LocalRun, from: Progress, name: string): At {
  const { plan, parts, port, context, answers, used } = run;
  const entry = visitEntry(run, from, name);
  const host = new FlowHost({ executorId: parts.id, port, entry, answers, used });
  const id = visitId(plan, context.runId, { from, node: name });
  const group = JSON.stringify(["flow", context.runId, plan.name, from.steps]);
  const task = new TaskRun({ id, group, entry, host, signal: context.signal });
  return { node: nodeOf(plan, name), entry, host, scope: { task, context, outer: undefined } };
}

/** T1 */
async function passGates(
  run: LocalRun,
  { from, finished }: Step,
  visits: readonly At[],
): Promise<{ readonly state: FlowState } | StepEnd> {
  const gated = visits.filter(({ node }) => node.pause !== undefined);
  // Before any answer is used: of two gates the first must not be passed for nothing.
  for (const { node, entry } of gated)
    if (!finished.has(node.name) && entry.behindGate !== undefined)
      return { status: "failed", error: spentGrant(node.name) };
  let { state } = from;
  for (const { node, entry, host, scope } of gated) {
    try {
      state = await passGate({ plan: run.plan, node, state }, run.executor, scope);
      if (!isOwnGrant(run, entry)) throw spentGrant(node.name);
    } catch (error) {
      if (host.shown !== undefined) return { status: "paused", waiting: [{ node: node.name, ask: host.shown }] };
      return isDenial(error) ? { status: "denied", node: node.name, error } : { status: "failed", error };
    }
  }
  return { state };
}

/**
 * Did this run, here or before its checkpoint, pass the gate? The process also remembers what other runs of the same checkpoint did,
 * and a grant is good for one of them.
 */
export function isOwnGrant({ used }: Pick<LocalRun, "used">, { asks, marks }: TaskEntry): boolean {
  const ask = asks.of(GATE_CALL);
  // A call of the node's own may have that id where there is no gate.
  if (ask === undefined || ask.request.kind !== "gate") return true;
  return !marks.has(ask.binding) || used.has(ask.binding);
}

function spentGrant(gate: string): ApprovalAlreadyDecided {
  return new ApprovalAlreadyDecided(
    `gate "${gate}": its grant was used by another run of this step; go on from that run's newest checkpoint`,
    { tool: gate, callId: GATE_CALL },
  );
}

/** How one visit came back: what it waits for, if it waits. */
async function visitOnce(
  run: LocalRun,
  step: Step & { readonly state: FlowState },
  at: At,
): Promise<WaitingAsk | undefined> {
  const waiting = stillWaits(run, at);
  if (waiting !== undefined) return waiting;
  const { node, entry, host } = at;
  if (node.pause !== undefined && entry.behindGate !== undefined) throw spentGrant(node.name);
  if (node.pause !== undefined) entry.behindGate = "running";
  try {
    const visited = await visitNode(visitOf(run, step, node), run.executor, at.scope);
    // Code that caught the pause has not ended the visit: the pause has.
    if (host.shown === undefined) step.finished.set(node.name, visited);
  } catch (error) {
    if (host.shown === undefined) throw error;
  } finally {
    if (node.pause !== undefined) entry.behindGate = step.finished.has(node.name) ? "over" : undefined;
  }
  return host.shown === undefined ? undefined : { node: node.name, ask: host.shown };
}

function visitOf(run: LocalRun, { from, state }: Step & { readonly state: FlowState }, node: PlanNode) {
  return { plan: run.plan, node, number: (from.visits.get(node.name) ?? 0) + 1, state, counts: from.counts };
}

/** What it waits for when nothing new has come and the request still stands: then it waits on, without running its code. */
function stillWaits(run: LocalRun, { entry, node }: At): WaitingAsk | undefined {
  const [waiting] = waitingOf(node.name, entry);
  if (waiting === undefined || waiting.ask.source === "port" || waiting.ask.source !== run.port.source)
    return undefined;
  const { binding, request } = waiting.ask;
  const spec = request.kind === "gate" ? gateSpec(run.plan, node) : run.parts.registry.get(request.tool);
  const stands = !run.answers.has(binding) && spec?.definitionDigest === request.definitionDigest;
  return stands ? waiting : undefined;
}

/** The newest request of a visit, when nobody has used an answer to it and its call has not ended. */
export function waitingOf(
  node: string,
  { asks, marks, calls }: Pick<TaskEntry, "asks" | "marks" | "calls">,
): WaitingAsk[] {
  const ask = asks.newest;
  if (ask === undefined || marks.has(ask.binding)) return [];
  return calls.get(ask.request.callId)?.outcome === undefined ? [{ node, ask }] : [];
}

function endOf(
  visits: readonly At[],
  ends: readonly PromiseSettledResult<WaitingAsk | undefined>[],
  state: FlowState,
): StepEnd {
  const failures = ends.flatMap((end, index) => {
    if (end.status === "fulfilled") return [];
    const { reason }: { readonly reason: unknown } = end;
    return [{ node: visits[index]?.node.name ?? "", error: reason }];
  });
  // A failure may be tried again; a denial is the end of the run. In node-name order.
  for (const { error } of failures) if (!isDenial(error)) return { status: "failed", error };
  for (const { node, error } of failures) if (isDenial(error)) return { status: "denied", node, error };
  const waiting = ends.flatMap((end) => (end.status === "fulfilled" && end.value !== undefined ? [end.value] : []));
  return waiting.length > 0 ? { status: "paused", waiting } : { status: "done", state };
}

/** Does this end a run as denied? */
export function isDenial(error: unknown): error is AgentAdapterError {
  return isAgentAdapterError(error, "ApprovalDenied") || isAgentAdapterError(error, "ApprovalExpired");
}
