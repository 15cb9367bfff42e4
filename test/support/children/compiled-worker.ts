// A process that runs a compiled flow on a shared checkpointer: one message is one call, everything is built anew for it. Tools append to
// a file outside of the process, and so do rows of finished calls. Told to, it kills itself at the n-th moment.
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
// First, because it repairs how `pg` is loaded.
import { Moments, openSaver, type SaverPlace } from "./moments.js";
import { Command, INTERRUPT, type BaseCheckpointSaver } from "@langchain/langgraph";
import { z } from "zod";
import { defineTool, Executor, isAgentAdapterError, Registry, type Answer } from "agent-adapter";
import { Flow, join, Merge } from "agent-adapter/flow";
import { compileFlow, LangGraphApproval, pendingApprovals, resume, runCompiled } from "agent-adapter/langgraph";
import { openSqlite, type SqlStores } from "agent-adapter/sqlite";

export interface CompiledWorld {
  readonly saver: SaverPlace;
  readonly stores: string;
  readonly effects: string;
  readonly secret: string;
}

export interface CompiledStep {
  readonly [key: string]: unknown;
  readonly thread: string;
  readonly durability: "sync" | "async" | "exit";
  readonly claims: boolean;
  readonly maxConcurrency?: number;
  readonly secret?: string;
  readonly bodyMs?: number;
  readonly op:
    | { readonly do: "start" | "null" | "raw-null" | "pending" }
    | { readonly do: "answer"; readonly values: Readonly<Record<string, Answer>>; readonly raw?: boolean };
  /** Die at this moment: counted from 1, or the first of that name. */
  readonly killAt?: number | string;
}

export interface CompiledWaiting {
  readonly id: string;
  readonly node: string;
  readonly status: "waiting" | "used";
  readonly interrupt: { readonly id: string; readonly value: unknown };
}

export interface CompiledTurn {
  /** `done`, `paused`, `denied`, or the kind of an error. */
  readonly ended: string;
  readonly message: string;
  readonly waiting: readonly CompiledWaiting[];
  /** Nodes of the step that the flow stands at: none when it is over. */
  readonly unfinished: readonly string[];
  readonly state: Readonly<Record<string, unknown>>;
  readonly steps: number;
}

/** One line of the file. */
export interface CompiledEffect {
  readonly thread: string;
  /** What ran; none for a row. */
  readonly call?: string;
  /** Which answer let it run. */
  readonly nonce?: string;
  readonly key?: string;
  /** The row of finished calls that was written. */
  readonly row?: string;
}

interface Around {
  readonly saver: BaseCheckpointSaver;
  readonly stores: SqlStores;
  readonly moments: Moments;
  readonly note: (effect: CompiledEffect) => void;
  readonly secret: string;
}

async function open(world: CompiledWorld): Promise<Around> {
  const moments = new Moments(world.effects);
  const note = (effect: CompiledEffect) => appendFileSync(world.effects, `${JSON.stringify(effect)}\n`);
  const saver = await openSaver(world.saver);
  const write = saver.putWrites.bind(saver);
  saver.putWrites = async (...args) => {
    await write(...args);
    const [config, writes, taskId] = args;
    const thread = String(config.configurable?.["thread_id"]);
    if (writes.some(([channel]) => channel === "aa:done")) note({ thread, row: taskId });
  };
  const stores = await openSqlite(world.stores, { synchronous: "normal" });
  moments.watch(saver, ["getTuple", "put", "putWrites"]);
  return { saver, stores, moments, note, secret: world.secret };
}

function build(around: Around, step: CompiledStep) {
  const { moments, note, stores } = around;
  const tool = (name: string, confirm: boolean) =>
    defineTool({
      name,
      description: name,
      inputSchema: z.object({ call: z.string(), nonce: z.string() }),
      confirm,
      execute: async ({ call, nonce }, { idempotencyKey, threadId = "" }) => {
        moments.pass(`${name}, before its effect`);
        note({ thread: threadId, call, nonce, key: idempotencyKey });
        moments.pass(`${name}, after its effect`);
        if (step.bodyMs !== undefined && step.bodyMs > 0) await sleep(step.bodyMs);
        moments.pass(`${name}, at its end`);
        return `did ${call} ${nonce}`;
      },
    });
  const [plain, pay] = [tool("plain", false), tool("pay", true)];
  const state = z.object({ tag: z.string(), seen: z.array(z.string()).default([]) });
  const flow = new Flow("killed", { state, merge: { seen: Merge.append } })
    .node("first", async ({ tag }, ctx) => {
      const run = (call: string) => ctx.run(plain, { call, nonce: tag }, { callId: call });
      return { seen: [await run("p1"), await run("p2")] };
    })
    .node(
      "gated",
      async ({ tag }, ctx) => ({ seen: [await ctx.run(plain, { call: "g1", nonce: tag }, { callId: "g1" })] }),
      {
        pause: ({ tag }) => ({ tag }),
      },
    )
    .node("asks", async ({ tag }, ctx) => {
      await ctx.run(plain, { call: "p3", nonce: tag }, { callId: "p3" });
      return { seen: [await ctx.run(pay, { call: "a1", nonce: tag }, { callId: "a1" })] };
    })
    .node("beside", async ({ tag }, ctx) => ({
      seen: [await ctx.run(plain, { call: "p4", nonce: tag }, { callId: "p4" })],
    }))
    .node("meet", join())
    .node("last", async ({ tag }, ctx) => ({
      seen: [await ctx.run(plain, { call: "p5", nonce: tag }, { callId: "p5" })],
    }))
    .edge("first", "gated")
    .edge("first", "asks")
    .edge("first", "beside")
    .edge("gated", "meet")
    .edge("asks", "meet")
    .edge("beside", "meet")
    .edge("meet", "last")
    .end("last");
  const executor = new Executor(new Registry([plain, pay]), {
    // Nobody but the dead works on this thread: marks are old at once.
    approval: new LangGraphApproval({ unknownAfterMs: 1 }),
    secret: step.secret ?? around.secret,
    ledger: stores.ledger,
    ...(step.claims ? { claims: { claim: (...use) => stores.claims.claim(...use) } } : {}),
  });
  return { executor, app: compileFlow(flow, { executor }).compile({ checkpointer: around.saver }) };
}

const NOTHING = { message: "", waiting: [], unfinished: [], state: {}, steps: 0 } as const;

async function turn(around: Around, step: CompiledStep): Promise<CompiledTurn> {
  const { thread, durability, maxConcurrency } = step;
  const config = {
    configurable: { thread_id: thread },
    durability,
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
  };
  try {
    const built = build(around, step);
    return step.op.do === "pending" ? await lookAt(built, config) : await go(built, config, step.op);
  } catch (error) {
    return { ...NOTHING, ended: kindOf(error), message: error instanceof Error ? error.message : "" };
  }
}

type Built = ReturnType<typeof build>;
type Config = { readonly configurable: { readonly thread_id: string } };

async function lookAt({ app }: Built, config: Config): Promise<CompiledTurn> {
  const pending = await pendingApprovals(app, config);
  const waiting = pending.map(({ id, node, status, interrupt }) => ({ id, node, status, interrupt }));
  const seen = await app.getState(config);
  const state: CompiledTurn["state"] = seen.values;
  return { ...NOTHING, ended: "pending", waiting, unfinished: seen.tasks.map(({ name }) => name), state };
}

async function go({ app, executor }: Built, config: Config, op: CompiledStep["op"]): Promise<CompiledTurn> {
  if (op.do !== "answer") {
    if (op.do === "raw-null") return turnOf(await app.invoke(null, config));
    const { status, state, steps } = await runCompiled(app, op.do === "start" ? { tag: "model" } : null, config);
    return { ...NOTHING, ended: status, state, steps };
  }
  if (op.raw === true) return turnOf(await app.invoke(new Command({ resume: op.values }) as never, config)); // it fits every graph
  // The verb for any app, for several answers at once.
  if (Object.keys(op.values).length > 1) return turnOf(await resume(app, op.values, config, { executor }));
  const { status, state, steps } = await runCompiled(app, op.values, config);
  return { ...NOTHING, ended: status, state, steps };
}

function turnOf(output: Readonly<Record<PropertyKey, unknown>>): CompiledTurn {
  return { ...NOTHING, ended: output[INTERRUPT] === undefined ? "done" : "paused", state: output };
}

function kindOf(error: unknown): string {
  if (isAgentAdapterError(error)) return error.kind;
  if (error instanceof AggregateError) return [...new Set(error.errors.map(kindOf))].toSorted().join("+");
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

async function main(): Promise<void> {
  const around = await open(JSON.parse(process.argv[2] ?? "null"));
  const answer = async (step: CompiledStep): Promise<void> => {
    around.moments.start(step.killAt);
    const answered = await turn(around, step);
    process.send?.({ turn: answered, moments: around.moments.seen });
  };
  process.on("message", (step: CompiledStep) => void answer(step));
  process.on("disconnect", () => process.exit());
  process.send?.({ ready: true });
}

await main();
