// A sketch as a compiled flow: run at once, and with pauses, raw stops between steps, and new processes in between. What outlives a
// process is the checkpointer, the ledger and the world; executor, port, registry, flow and app are made anew.
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { CallbackApproval, Executor, MemoryLedger, type ApprovalDecision, type ApprovalPort } from "../../src/index.js";
import { compileFlow, LangGraphApproval, runCompiled } from "../../src/integrations/langgraph/index.js";
import { compiledOf } from "../../src/integrations/langgraph/compile-flow/compile-flow.js";
import {
  buildFlow,
  chooser,
  decide,
  endOf,
  observed,
  SECRET,
  someAnswers,
  STOPPED,
  toolsOf,
  World,
  type Observed,
} from "./flow-build.js";
import type { FlowSketch } from "./flow-sketch.js";
import { forgetProcess } from "./process.js";

const KEY = "a shared secret of 32 bytes, test";

interface Standing {
  /** `undefined`: no step has ended, so that there is no state of the flow. */
  readonly state: unknown;
  readonly steps: number;
  readonly visits: Readonly<Record<string, number>>;
}

/** Where a thread of a compiled flow stands, by its newest checkpoint. */
export async function standing(
  app: Pick<App, "getState">,
  saver: BaseCheckpointSaver,
  config: { readonly configurable: Readonly<Record<string, unknown>> },
): Promise<Standing> {
  const tuple = await saver.getTuple(config);
  const sealed = tuple?.checkpoint.channel_values["aa_visits"];
  if (tuple === undefined || sealed === undefined) return { state: undefined, steps: 0, visits: {} };
  const { steps, visits } = compiledOf(app)?.seals.openProgress(sealed) ?? { steps: -1, visits: {} };
  // By its id: without one LangGraph shows what finished nodes of the next step wrote already.
  const { values } = await app.getState(tuple.config);
  return { state: values, steps, visits };
}

class CompiledRig {
  readonly world = new World();
  readonly ledger = new MemoryLedger();
  readonly saver = new MemorySaver();
  readonly config = { configurable: { thread_id: "thread" } };
  readonly sketch: FlowSketch;

  constructor(sketch: FlowSketch) {
    this.sketch = sketch;
    forgetProcess();
  }

  /** What a program that has just been started has. */
  program(approval: ApprovalPort = new LangGraphApproval({ key: KEY })) {
    const { sketch, world, ledger, saver: checkpointer } = this;
    const executor = new Executor(toolsOf(sketch, world), { secret: SECRET, ledger, approval });
    const { maxSteps } = sketch;
    return compileFlow(buildFlow(sketch, world), { executor, maxSteps }).compile({ checkpointer });
  }
}

type App = ReturnType<CompiledRig["program"]>;

/** A port that decides at once; failures go on with null. */
export async function runCompiledAtOnce(sketch: FlowSketch): Promise<Observed> {
  const rig = new CompiledRig(sketch);
  const app = rig.program(new CallbackApproval(({ request }) => decide(sketch, request)));
  return drive(rig, { app: () => app, answer: () => null, stops: () => false });
}

/**
 * Every request pauses the run. `choices` say, turn by turn, which requests are answered, whether the process is a new one, and
 * whether LangGraph is told to stop after each step.
 */
export async function runCompiledWithPauses(sketch: FlowSketch, choices: readonly number[]): Promise<Observed> {
  const rig = new CompiledRig(sketch);
  const choose = chooser(choices);
  let app = rig.program();
  return drive(rig, {
    app: () => {
      if (choose(3) > 0) return app;
      forgetProcess();
      app = rig.program();
      return app;
    },
    answer: (pendings) => someAnswers(sketch, pendings, choose),
    stops: () => choose(4) === 1,
  });
}

interface Driver {
  app(): App;
  answer(pendings: readonly Pending[]): Readonly<Record<string, ApprovalDecision>> | null;
  /** Is LangGraph told to stop after the first step of this turn? */
  stops(): boolean;
}

type Pending = Extract<Awaited<ReturnType<typeof runCompiled>>, { status: "paused" }>["pendings"][number];
type Input = Parameters<typeof runCompiled>[1];

const MOST_TURNS = 1000;

async function drive(rig: CompiledRig, driver: Driver): Promise<Observed> {
  const { config, saver, sketch } = rig;
  // The sketch's input is of its flow.
  let next: Input = sketch.input as never;
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const app = driver.app();
    try {
      if (driver.stops()) await stopAfterStep(app, next, config);
      const result = await runCompiled(app as never, next, config);
      if (result.status !== "paused") {
        const { status, state, steps, visits } = result;
        return await observed(rig, { status, state, steps, visits });
      }
      next = driver.answer(result.pendings);
    } catch (error) {
      const status = endOf(error);
      if (status === undefined) {
        next = null;
        continue;
      }
      const stands = await standing(app, saver, config);
      return observed(rig, { status, ...stands });
    }
  }
  throw new Error("the run does not end");
}

async function stopAfterStep(app: App, next: Input, config: object): Promise<void> {
  if (next !== null && typeof next === "object" && !("total" in next)) return;
  await app.invoke(next as never, { ...config, interruptAfter: "*" } as never);
  throw STOPPED;
}
