// One step of a local run: its gates, then its visits side by side. Owns what a step can come to.
//   T1  nothing of the step runs until every gate of it is passed
//   T2  what finished stays finished: a visit that paused or failed runs again, its siblings do not
//   T3  nothing is thrown while another visit of the step is still running

import type { AskRecord } from "../../approvals/ask.js";
import type { ApprovalPort } from "../../approvals/port.js";
import { isAgentAdapterError, type AgentAdapterError } from "../../errors.js";
import type { Executor } from "../../executor/executor.js";
import type { ExecutorParts } from "../../executor/parts.js";
import type { Scope } from "../../executor/scope.js";
import type { RunContext } from "../../context/run-context.js";
import { settleAll } from "../../async/limit.js";
import { taskEntry, type TaskEntry } from "../../journal/process-state.js";
import { TaskRun } from "../../journal/task-run.js";
import { gateSpec, passGate } from "../gate.js";
import { nodeOf, type FlowPlan, type PlanNode } from "../plan.js";
import type { FlowState } from "../state.js";
import { visitNode, type Visited } from "../visit.js";
import { FlowHost } from "./flow-host.js";
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

/** What this process remembers about the visit of a node in this step. */
export function visitEntry({ plan, parts, context }: LocalRun, from: Progress, node: string): TaskEntry {
  return taskEntry(JSON.stringify(["flow", ...visitId(plan, context.runId, { from, node })]), parts.clock.now());
}

function visitId(
  plan: FlowPlan,
  runId: string,
  { from, node }: { readonly from: Progress; readonly node: string },
): string[] {
  return [runId, plan.name, node, String((from.visits[node] ?? 0) + 1)];
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
  const ends = await settleAll(
    left.map((at) => () => visitOnce(run, { ...step, state: gated.state }, at)),
    Number.POSITIVE_INFINITY,
  );
  return endOf(left, ends, gated.state);
}

function visitAt(run: LocalRun, from: Progress, name: string): At {
  const { plan, parts, port, context, answers } = run;
  const entry = visitEntry(run, from, name);
  const host = new FlowHost({ executorId: parts.id, port, entry, answers });
  const id = visitId(plan, context.runId, { from, node: name });
  const group = JSON.stringify(["flow", context.runId, plan.name, from.steps]);
  const task = new TaskRun({ id, group, entry, host, signal: context.signal });
  return { node: nodeOf(plan, name), entry, host, scope: { task, context, outer: undefined } };
}

/** T1 */
async function passGates(
  run: LocalRun,
  { from }: Step,
  visits: readonly At[],
): Promise<{ readonly state: FlowState } | StepEnd> {
  let { state } = from;
  for (const { node, entry, host, scope } of visits) {
    if (node.pause === undefined) continue;
    try {
      state = await passGate({ plan: run.plan, node, state }, run.executor, scope);
    } catch (error) {
      if (host.raised !== undefined) return { status: "paused", waiting: waitingOf(node.name, entry) };
      return isDenial(error) ? { status: "denied", node: node.name, error } : { status: "failed", error };
    }
  }
  return { state };
}

/** How one visit came back: `undefined` when it waits. */
async function visitOnce(
  run: LocalRun,
  { from, state, finished }: Step & { readonly state: FlowState },
  at: At,
): Promise<Visited | undefined> {
  const { node, host, scope } = at;
  if (stillWaits(run, at)) return undefined;
  const visit = { plan: run.plan, node, number: (from.visits[node.name] ?? 0) + 1, state, counts: from.counts };
  try {
    const visited = await visitNode(visit, run.executor, scope);
    // Code that caught the pause has not ended the visit: the pause has.
    if (host.raised !== undefined) return undefined;
    finished.set(node.name, visited);
    return visited;
  } catch (error) {
    if (host.raised !== undefined) return undefined;
    throw error;
  }
}

/** Nothing new has come and the request still stands: the visit waits on, without running its code. */
function stillWaits(run: LocalRun, { entry, node }: At): boolean {
  const [waiting] = waitingOf(node.name, entry);
  if (waiting === undefined || waiting.ask.source === "port" || waiting.ask.source !== run.port.source) return false;
  const { binding, request } = waiting.ask;
  const spec = request.kind === "gate" ? gateSpec(run.plan, node) : run.parts.registry.get(request.tool);
  return !run.answers.has(binding) && spec?.definitionDigest === request.definitionDigest;
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
  ends: readonly PromiseSettledResult<Visited | undefined>[],
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
  const waiting = visits.flatMap(({ node, entry }, index) => {
    const end = ends[index];
    return end?.status === "fulfilled" && end.value === undefined ? waitingOf(node.name, entry) : [];
  });
  return waiting.length > 0 ? { status: "paused", waiting } : { status: "done", state };
}

/** Does this end a run as denied? */
export function isDenial(error: unknown): error is AgentAdapterError {
  return isAgentAdapterError(error, "ApprovalDenied") || isAgentAdapterError(error, "ApprovalExpired");
}
