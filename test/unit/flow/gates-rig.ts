// A desk that runs flows whose `pay` asks a human: as a tool call in a node, or as a gate before it. Everything that happens is in
// two lists: what node code ran, and what had an effect.
import { z } from "zod";
import {
  defineTool,
  Executor,
  MemoryLedger,
  Registry,
  StoreUnavailable,
  type AnyToolSpec,
  type ClaimStore,
  type ExecutorOptions,
} from "agent-adapter";
import {
  checkpointOf,
  Flow,
  resumeFlow,
  runFlow,
  type FlowPaused,
  type FlowResult,
  type ResumeFlowOptions,
} from "agent-adapter/flow";
import { ManualClock } from "agent-adapter/testing";
import { failure } from "../../support/langgraph.js";

export const SECRET = "a shared secret of 32 bytes, test";
export const KINDS = ["tool", "gate"] as const;
export type Kind = (typeof KINDS)[number];

export interface DeskState {
  readonly n: number;
  readonly receipt: string;
}
export type Result = FlowResult<DeskState>;
export type Answers = Parameters<typeof resumeFlow>[2];
type Options = Omit<ResumeFlowOptions<DeskState>, "executor">;

interface DeskOptions extends Omit<ExecutorOptions, "ledger"> {
  readonly ledger?: MemoryLedger;
  readonly kind: Kind;
  /** The next program with the same lists, ledger and clock. */
  readonly after?: Desk;
  readonly version?: string;
  readonly tools?: readonly AnyToolSpec[];
  /** What `pay` does beside being counted. */
  readonly body?: (n: number, signal: AbortSignal) => unknown;
}

let runs = 0;

/** A program: registry, executor and flow of its own. */
export class Desk {
  readonly code: string[];
  readonly ran: string[];
  readonly ledger: MemoryLedger;
  readonly clock: ManualClock;
  readonly executor: Executor;
  readonly flow;
  readonly runId: string;

  constructor(options: DeskOptions) {
    const { kind, after, version, ledger, tools = [], body = () => undefined, ...rest } = options;
    const shared = after ?? {
      code: [],
      ran: [],
      ledger: new MemoryLedger(),
      clock: new ManualClock(1_000_000),
      runId: `desk-${(runs += 1)}`,
    };
    this.code = shared.code;
    this.ran = shared.ran;
    this.ledger = ledger ?? shared.ledger;
    this.clock = shared.clock;
    this.runId = shared.runId;
    const { code, ran } = this;
    const pay = defineTool({
      name: "pay",
      description: "pays",
      inputSchema: z.object({ n: z.number() }),
      confirm: true,
      ...(version === undefined ? {} : { version }),
      execute: async ({ n }, { signal }) => {
        ran.push(`pay ${n}`);
        await body(n, signal);
        return `paid ${n}`;
      },
    });
    const read = defineTool({
      name: "read",
      description: "reads",
      inputSchema: z.object({}),
      effects: "read",
      execute: () => {
        ran.push("read");
        return 1;
      },
    });
    const registry = new Registry([pay, read, ...tools]);
    this.executor = new Executor(registry, { secret: SECRET, ledger: this.ledger, clock: this.clock, ...rest });
    const drawn = new Flow("desk", { state: z.object({ n: z.number(), receipt: z.string().default("") }) });
    this.flow =
      kind === "tool"
        ? drawn
            .node("pay", async ({ n }, ctx) => {
              code.push("pay");
              await ctx.run(read, {}, { callId: "read" });
              return { receipt: await ctx.run(pay, { n }, { callId: "pay" }) };
            })
            .end("pay")
        : drawn
            .node(
              "pay",
              async ({ n }, { signal }) => {
                code.push("pay");
                ran.push(`pay ${n}`);
                await body(n, signal);
                return { receipt: `paid ${n}` };
              },
              { pause: ({ n }) => ({ n }) },
            )
            .end("pay");
  }

  run(n = 1, options: Options = {}): Promise<Result> {
    return runFlow(this.flow, { n }, { executor: this.executor, runId: this.runId, ...options });
  }

  resume(checkpoint: string, answers: Answers, options: Options = {}): Promise<Result> {
    return resumeFlow(this.flow, checkpoint, answers, { executor: this.executor, ...options });
  }

  /** Run to the first question. */
  async asks(n = 1): Promise<FlowPaused<DeskState>> {
    return paused(await this.run(n));
  }

  /** What had an effect, without what only reads. */
  get paid(): string[] {
    return this.ran.filter((effect) => effect !== "read");
  }
}

export function paused<State>(result: FlowResult<State>): FlowPaused<State> {
  if (result.status === "paused") return result;
  throw new Error(`expected a pause, found ${result.status}`);
}

/** How it failed, and the checkpoint to try again from. */
export async function failed(
  promise: Promise<unknown>,
): Promise<{ readonly error: unknown; readonly checkpoint: string }> {
  const error = await failure(promise);
  const checkpoint = checkpointOf(error);
  if (checkpoint === undefined) throw new Error(`no checkpoint on ${String(error)}`);
  return { error, checkpoint };
}

export const kindOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null ? Reflect.get(error, "kind") : undefined;

/** A claims store that is out of reach for the first claims. */
export function outage(inner: ClaimStore, times = 1): ClaimStore {
  let left = times;
  return {
    claim: (...use) => {
      left -= 1;
      return left >= 0 ? Promise.reject(new StoreUnavailable("out of reach")) : inner.claim(...use);
    },
  };
}
