// The two ways to run a parity case, each in one process or in a new one for every turn, and what can be seen of a run.
import { MemorySaver } from "@langchain/langgraph";
import { approve, deny, isAgentAdapterError, type ApprovalDecision } from "../../src/index.js";
import { checkpointOf, resumeFlow, runFlow } from "../../src/flow/index.js";
import { SealedCheckpoints } from "../../src/flow/checkpoint/sealed-checkpoint.js";
import { definitionOf } from "../../src/flow/definition.js";
import { planOf } from "../../src/flow/plan.js";
import { partsOf } from "../../src/executor/executor.js";
import { compileFlow, runCompiled } from "../../src/integrations/langgraph/index.js";
import { standing } from "../support/flow-compiled.js";
import { forgetProcess } from "../support/process.js";
import { World, type ParityCase, type Said, type State } from "./world.js";

/** A request as a human sees it. */
interface Asked {
  readonly node: string;
  readonly tool: string;
  readonly kind: string;
  readonly callId: string;
  readonly arguments: unknown;
}

/** Everything that can be seen of a run. */
export interface Seen {
  readonly status: "done" | "denied" | "thrown";
  readonly state: unknown;
  readonly steps: number;
  readonly visits: Readonly<Record<string, number>>;
  /** Of a denied run: the node. */
  readonly node: string | undefined;
  /** Errors on the way and at the end. */
  readonly errors: readonly string[];
  /** Per pause its requests, with the state, steps and visits that were shown. */
  readonly pauses: readonly unknown[];
  readonly asked: readonly (readonly Asked[])[];
  readonly ran: readonly string[];
  readonly ledger: readonly unknown[];
}

interface Turned {
  readonly status: "done" | "denied" | "paused";
  readonly state: State;
  readonly steps: number;
  readonly visits: Readonly<Record<string, number>>;
  readonly node?: string;
  readonly error?: unknown;
  readonly pendings?: readonly Pending[];
}

interface Pending {
  readonly node: string;
  readonly binding: string;
  readonly request: Omit<Asked, "node">;
}

type Answers = Readonly<Record<string, ApprovalDecision>> | ApprovalDecision | null;
type Stand = Pick<Turned, "state" | "steps" | "visits">;

/** A run of a case by one of the runners. */
interface Runner {
  start(): Promise<Turned>;
  go(answers: Answers): Promise<Turned>;
  /** Where a run stands that has thrown. */
  standing(error: unknown): Promise<Partial<Stand>>;
}

export type Where = "in one process" | "in a new process for every turn";

export function runLocally(one: ParityCase, where: Where): Promise<Seen> {
  return observe(one, (world) => {
    const program = programOf(world, one, where);
    const options = () => ({ executor: program().executor, ...stepsOf(one) });
    let checkpoint = "";
    const kept = async (run: Promise<Turned & { readonly checkpoint?: string }>) => {
      try {
        const turned = await run;
        checkpoint = turned.checkpoint ?? "";
        return turned;
      } catch (error) {
        checkpoint = checkpointOf(error) ?? "";
        throw error;
      }
    };
    return {
      start: () => kept(runFlow(program().flow, one.input ?? {}, { ...options(), runId: "run" })),
      go: (answers) => kept(resumeFlow(program().flow, checkpoint, answers, options())),
      standing: (error) => {
        const sealed = checkpointOf(error);
        if (sealed === undefined) return Promise.resolve({});
        const { executor, flow } = program();
        const { progress } = new SealedCheckpoints(partsOf(executor).keys, planOf(definitionOf(flow))).open(sealed);
        const { state, steps, visits } = progress;
        // The state of a checkpoint of this flow.
        return Promise.resolve({ state: state as unknown as State, steps, visits: Object.fromEntries(visits) });
      },
    };
  });
}

export function runCompiledFlow(one: ParityCase, where: Where): Promise<Seen> {
  return observe(one, (world) => {
    const program = programOf(world, one, where);
    const saver = new MemorySaver();
    const config = { configurable: { thread_id: "run" } };
    const app = () => {
      const { executor, flow } = program();
      return compileFlow(flow, { executor, ...stepsOf(one) }).compile({ checkpointer: saver });
    };
    return {
      start: () => runCompiled(app(), one.input ?? {}, config),
      go: (answers) => runCompiled(app(), answers, config),
      standing: async () => {
        const { state, steps, visits } = await standing(app(), saver, config);
        // The values of this flow's fields.
        return state === undefined ? {} : { state: state as State, steps, visits };
      },
    };
  });
}

const stepsOf = ({ maxSteps }: ParityCase) => (maxSteps === undefined ? {} : { maxSteps });

/** Executor and flow of the program that runs now. */
function programOf(world: World, one: ParityCase, where: Where) {
  const start = () => ({ executor: world.executor(), flow: one.flow(world) });
  let program = start();
  return () => {
    if (where === "in a new process for every turn") {
      forgetProcess();
      program = start();
    }
    return program;
  };
}

async function observe(one: ParityCase, runnerFor: (world: World) => Runner): Promise<Seen> {
  forgetProcess();
  const world = new World();
  const runner = runnerFor(world);
  const said = saying(one, world);
  const errors: string[] = [];
  const asked: Asked[][] = [];
  const pauses: unknown[] = [];
  let go = () => runner.start();
  let tries = one.tries ?? 0;
  for (let turn = 0; turn < 200; turn += 1) {
    let turned: Turned;
    try {
      turned = await go();
    } catch (error) {
      errors.push(textOf(error));
      if (tries === 0) {
        const stand = { state: undefined, steps: 0, visits: {}, ...(await runner.standing(error)) };
        return { status: "thrown", ...stand, node: undefined, errors, pauses, asked, ...(await outside(world)) };
      }
      tries -= 1;
      go = () => runner.go(null);
      continue;
    }
    const { status, state, steps, visits, node, pendings = [] } = turned;
    if (status !== "paused") {
      if (turned.error !== undefined) errors.push(textOf(turned.error));
      return { status, state, steps, visits, node, errors, pauses, asked, ...(await outside(world)) };
    }
    asked.push(pendings.map(({ node: name, request }) => ({ node: name, ...shown(request) })));
    pauses.push({ state, steps, visits });
    const answers = said(pendings);
    go = () => runner.go(answers);
  }
  throw new Error("the run does not end");
}

function shown({ tool, kind, callId, arguments: args }: Pending["request"]): Omit<Asked, "node"> {
  return { tool, kind, callId, arguments: args };
}

/** What the human says to the requests of this turn. */
function saying({ says = {}, order = "all" }: ParityCase, world: World): (pendings: readonly Pending[]) => Answers {
  const turns = new Map<string, number>();
  const toOne = ({ node }: Pending): Said => {
    const turn = turns.get(node) ?? 0;
    turns.set(node, turn + 1);
    const all = says[node] ?? "yes";
    const list: readonly Said[] = Array.isArray(all) ? all : [all as Said]; // what is no list is one of them
    return list[Math.min(turn, list.length - 1)] ?? "yes";
  };
  return (pendings) => {
    const chosen = order === "all" ? pendings : order === "first" ? pendings.slice(0, 1) : pendings.slice(-1);
    const answers = chosen.map((pending): [string, ApprovalDecision] => {
      const said = toOne(pending);
      if (said === "late") world.wait();
      return [pending.binding, decisionOf(said)];
    });
    const [first] = answers;
    if (first === undefined) return null;
    return pendings.length === 1 ? first[1] : Object.fromEntries(answers);
  };
}

function decisionOf(said: Said): ApprovalDecision {
  if (said === "yes" || said === "late") return approve({ by: "ana" });
  return said === "no" ? deny({ by: "ana", reason: "no" }) : approve({ by: "ana", editedArgs: said.edit as never }); // JSON
}

function textOf(error: unknown): string {
  if (isAgentAdapterError(error)) return `${error.kind}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

async function outside({ ran, ledger }: World) {
  const entries = await ledger.entries();
  const counted = entries.map(({ tool, status, attempts, cost }) => JSON.stringify([tool, status, attempts, cost]));
  return { ran: ran.toSorted(), ledger: counted.toSorted() };
}
