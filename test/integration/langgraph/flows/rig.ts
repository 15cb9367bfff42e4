// A compiled flow on its thread, and whoever answers. `elsewhere` builds everything anew on the same checkpointer, keys, ledger and
// claims, in a process that remembers nothing; `ran` is what had an effect, wherever it ran.
import type { INTERRUPT } from "@langchain/langgraph";
import { Command, MemorySaver, type BaseCheckpointSaver, type CompiledStateGraph } from "@langchain/langgraph";
import { z } from "zod";
import {
  approve,
  defineTool,
  Executor,
  MemoryLedger,
  Registry,
  type ApprovalDecision,
  type ApprovalPort,
  type ClaimStore,
  type ExecutorOptions,
} from "agent-adapter";
import { call, Flow, join, Merge } from "agent-adapter/flow";
import {
  compileFlow,
  LangGraphApproval,
  pendingApprovals,
  runCompiled,
  type CompiledResult,
  type CompileFlowOptions,
  type PendingApproval,
} from "agent-adapter/langgraph";
import { forgetProcess } from "../../../support/process.js";
import { KEY, one, type Durability, type Pending } from "../../../support/langgraph.js";

/** What a flow is drawn with. */
export interface Ink {
  readonly ran: string[];
  readonly tools: ReturnType<typeof toolsOf>;
}

export type AnyFlow = Parameters<typeof compileFlow>[0];
type State = Readonly<Record<string, unknown>>;
type App = CompiledStateGraph<never, never, string>;

export interface FlowStandOptions extends Pick<ExecutorOptions, "hooks" | "clock"> {
  readonly flow: (ink: Ink) => unknown;
  readonly saver?: BaseCheckpointSaver;
  /** Of a restarted process. */
  readonly another?: () => BaseCheckpointSaver;
  readonly port?: () => ApprovalPort;
  readonly secret?: string | readonly [string, ...string[]];
  readonly claims?: ClaimStore;
  readonly compile?: Omit<CompileFlowOptions, "executor">;
  /** What another tool, `whisper`, gives. */
  readonly whisper?: string;
  readonly thread?: string;
  readonly durability?: Durability;
  readonly maxConcurrency?: number;
  /** Around the compiled flow: what `app` is then. Default: the flow itself. */
  readonly around?: (graph: ReturnType<typeof compileFlow>, saver: BaseCheckpointSaver) => unknown;
}

/** `pay` asks, `read` does not, `once` runs once per run; each is counted. */
export function toolsOf(ran: string[], whispered = "") {
  const tool = (name: string, more: object) =>
    defineTool({
      name,
      description: `the ${name} tool`,
      inputSchema: z.object({ n: z.number() }),
      ...more,
      execute: ({ n }) => {
        ran.push(`${name} ${n}`);
        return `${name} ${n}`;
      },
    });
  const whisper = defineTool({
    name: "whisper",
    description: "the whisper tool",
    inputSchema: z.object({ n: z.number() }),
    execute: () => whispered,
  });
  return {
    whisper,
    pay: tool("pay", { confirm: true, effects: "destructive" }),
    read: tool("read", { effects: "read" }),
    note: tool("note", { effects: "write" }),
    once: tool("once", { oncePerRun: true }),
  };
}

let threads = 0;

export class FlowStand {
  readonly options: FlowStandOptions;
  readonly ran: string[] = [];
  readonly ledger = new MemoryLedger();
  readonly desk = new LangGraphApproval({ key: KEY });
  readonly thread: string;
  readonly keyOfTests = KEY;
  saver: BaseCheckpointSaver;
  executor!: Executor;
  app!: App;

  constructor(options: FlowStandOptions) {
    this.options = options;
    this.thread = options.thread ?? `flow-${(threads += 1)}`;
    this.saver = options.saver ?? new MemorySaver();
    this.build();
  }

  build(changes: Partial<FlowStandOptions> = {}): this {
    const { flow, port, secret = KEY, claims, compile, around, hooks = [], clock } = { ...this.options, ...changes };
    const tools = toolsOf(this.ran, this.options.whisper);
    const executor = new Executor(new Registry(Object.values(tools)), {
      approval: port?.() ?? new LangGraphApproval({ key: KEY }),
      secret,
      ledger: this.ledger,
      hooks,
      ...(claims === undefined ? {} : { claims }),
      ...(clock === undefined ? {} : { clock }),
    });
    this.executor = executor;
    // Flows of the tests differ in their states; the app is only ever called with input that fits.
    const graph = compileFlow(flow({ ran: this.ran, tools }) as AnyFlow, { ...compile, executor });
    this.app = (around?.(graph, this.saver) ?? graph.compile({ checkpointer: this.saver })) as App;
    return this;
  }

  /** The same program in another process. */
  elsewhere(changes: Partial<FlowStandOptions> = {}): this {
    forgetProcess();
    if (this.options.another !== undefined) this.saver = this.options.another();
    return this.build(changes);
  }

  get config(): { readonly configurable: Record<string, unknown>; readonly [option: string]: unknown } {
    const { durability, maxConcurrency } = this.options;
    return {
      configurable: { thread_id: this.thread },
      ...(durability === undefined ? {} : { durability }),
      ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    };
  }

  /** By the package's verb. */
  run(input: unknown, config: object = this.config): Promise<CompiledResult<State>> {
    return runCompiled(this.app as never, input as never, config as never);
  }

  /** By LangGraph's own. */
  async invoke(input: unknown, config: object = this.config): Promise<State & { readonly [INTERRUPT]?: Pending[] }> {
    return (await this.app.invoke(input as never, config as never)) as never;
  }

  pendings(): Promise<PendingApproval[]> {
    return pendingApprovals(this.app as never, this.config);
  }

  /** What waits, by node. */
  async waiting(): Promise<string> {
    return (await this.pendings())
      .map(({ node }) => node)
      .toSorted()
      .join(" ");
  }

  async only(): Promise<PendingApproval> {
    return one(await this.pendings());
  }

  sign(
    pending: { readonly interrupt: { readonly id: string; readonly value: unknown } },
    decision = approve({ by: "ana" }),
  ) {
    return this.desk.resumeValue(pending.interrupt as never, decision);
  }

  /** An id map with a signed answer to the one request that waits. */
  async signed(decision?: ApprovalDecision): Promise<Record<string, unknown>> {
    const pending = await this.only();
    return { [pending.id]: this.sign(pending, decision) };
  }

  /** Approve one after the other what waits, until nothing does. */
  async finish(renewed = false): Promise<CompiledResult<State>> {
    for (let turn = 0; turn < 20; turn += 1) {
      if (renewed) this.elsewhere();
      const { binding } = await this.firstWaiting();
      const result = await this.run({ [binding]: approve({ by: "ana" }) });
      if (result.status !== "paused") return result;
    }
    throw new Error("it asked twenty times");
  }

  private async firstWaiting(): Promise<PendingApproval> {
    const first = (await this.pendings()).find(({ status }) => status === "waiting");
    if (first === undefined) throw new Error("nothing waits");
    return first;
  }

  async entries(): Promise<string[]> {
    return (await this.ledger.entries()).map(({ tool, status }) => `${tool} ${status}`).toSorted();
  }
}

export const resumeWith = (values: unknown, more: object = {}): Command =>
  new Command({ resume: values, ...more } as never);

export function paused(result: CompiledResult<State>): CompiledResult<State> & { readonly status: "paused" } {
  if (result.status === "paused") return result;
  throw new Error(`expected a pause, found ${result.status}`);
}

const inks = { n: z.number(), seen: z.array(z.string()).default([]) };

/** start, then `a` and `c` behind gates beside `b` which has none and `r` that calls `read`, then all of them meet. */
export function twoGates({ ran, tools }: Ink) {
  const does =
    (name: string) =>
    ({ n }: { readonly n: number }) => {
      ran.push(`${name} ${n}`);
      return { seen: [name] };
    };
  return new Flow("gates", { state: z.object({ ...inks, got: z.string().default("") }), merge: { seen: Merge.append } })
    .node("start", does("start"))
    .node("a", does("a"), { pause: ({ n }) => ({ n }) })
    .node("b", does("b"))
    .node("c", does("c"), { pause: ({ n }) => ({ n }) })
    .node("r", call(tools.read, { args: ({ n }) => ({ n }), into: "got" }))
    .node("all", join(does("all")))
    .edge("start", "a")
    .edge("start", "b")
    .edge("start", "c")
    .edge("start", "r")
    .edge("a", "all")
    .edge("b", "all")
    .edge("c", "all")
    .edge("r", "all")
    .end("all");
}

/** `before` reads, `send` (behind a gate) notes it, `after` ends. */
export function oneGate({ ran, tools }: Ink) {
  return new Flow("gate", { state: z.object({ ...inks, got: z.string().default("") }), merge: { seen: Merge.append } })
    .node("before", async ({ n }, ctx) => ({ got: await ctx.run(tools.read, { n }, { callId: "read" }) }))
    .node(
      "send",
      async ({ n }, ctx) => {
        ran.push(`send ${n}`);
        return { seen: [await ctx.run(tools.note, { n }, { callId: "note" })] };
      },
      { pause: ({ n }) => ({ n }) },
    )
    .node("after", ({ n }) => {
      ran.push(`after ${n}`);
      return { seen: ["after"] };
    })
    .edge("before", "send")
    .edge("send", "after")
    .end("after");
}

/** `work` reads and then pays, which asks; `last` ends. */
export function oneAsk({ ran, tools }: Ink) {
  return new Flow("ask", {
    state: z.object({ ...inks, got: z.string().default(""), receipt: z.string().default("") }),
    merge: { seen: Merge.append },
  })
    .node("first", async ({ n }, ctx) => ({ got: await ctx.run(tools.note, { n }, { callId: "note" }) }))
    .node("work", async ({ n }, ctx) => {
      await ctx.run(tools.read, { n }, { callId: "read" });
      return { receipt: await ctx.run(tools.pay, { n }, { callId: "pay" }) };
    })
    .node("last", ({ n }) => {
      ran.push(`last ${n}`);
      return { seen: ["last"] };
    })
    .edge("first", "work")
    .edge("work", "last")
    .end("last");
}
