// A process that runs a local flow whose `pay` asks a human, as a tool call or as a gate: one message is one call of `runFlow` or
// `resumeFlow`, everything is built anew for it. Effects are lines of a file outside of the process; told to, it kills itself right
// after one.
import { appendFileSync } from "node:fs";
// First, because it repairs how `pg` is loaded.
import { poolOf } from "../postgres.js";
import { z } from "zod";
import {
  approve,
  defineTool,
  DeferredApproval,
  deny,
  Executor,
  isAgentAdapterError,
  Registry,
  type DecisionFields,
} from "agent-adapter";
import { checkpointOf, Flow, resumeFlow, runFlow, type FlowResult } from "agent-adapter/flow";
import { openPostgres } from "agent-adapter/postgres";
import { openSqlite, type SqlStores } from "agent-adapter/sqlite";

export interface FlowWorld {
  readonly engine: "sqlite" | "postgres";
  /** A file or a connection string. */
  readonly place: string;
  /** Of PostgreSQL. */
  readonly schema?: string;
  readonly effects: string;
}

export interface FlowStep {
  readonly [key: string]: unknown;
  readonly kind: "tool" | "gate";
  readonly runId: string;
  /** Who decides: what is passed in, or the store. */
  readonly port: "passed" | "store";
  readonly claims: boolean;
  /** From where; else from the start. */
  readonly checkpoint?: string;
  readonly decision?: DecisionFields | null;
  /** End this process right after the effect. */
  readonly dies?: boolean;
}

export interface FlowTurn {
  readonly [key: string]: unknown;
  /** A status of a result, or the kind of an error. */
  readonly ended: string;
  readonly checkpoint: string;
  readonly state: unknown;
  readonly generation: number | undefined;
  readonly binding: string;
}

const SECRET = "a secret that all processes of a test share";

function build(stores: SqlStores, effects: string, { kind, runId, port, claims, dies }: FlowStep) {
  const effect = (what: string) => {
    appendFileSync(effects, `${runId} ${what}\n`);
    if (dies === true && what.startsWith("pay")) process.kill(process.pid, "SIGKILL");
  };
  const inputSchema = z.object({ n: z.number() });
  const pay = defineTool({
    name: "pay",
    description: "pays",
    inputSchema,
    confirm: true,
    execute: ({ n }) => {
      effect(`pay ${n}`);
      return `paid ${n}`;
    },
  });
  const read = defineTool({
    name: "read",
    description: "reads",
    inputSchema,
    effects: "read",
    execute: ({ n }) => {
      effect(`read ${n}`);
      return n;
    },
  });
  const executor = new Executor(new Registry([pay, read]), {
    secret: SECRET,
    ledger: stores.ledger,
    ...(port === "store" ? { approval: new DeferredApproval(stores.approvals) } : {}),
    ...(claims ? { claims: stores.claims } : {}),
  });
  const drawn = new Flow("processes", { state: z.object({ n: z.number(), receipt: z.string().default("") }) });
  const flow =
    kind === "tool"
      ? drawn
          .node("pay", async ({ n }, ctx) => {
            await ctx.run(read, { n }, { callId: "read" });
            return { receipt: await ctx.run(pay, { n }, { callId: "pay" }) };
          })
          .end("pay")
      : drawn
          .node(
            "pay",
            async ({ n }, ctx) => {
              await ctx.run(read, { n }, { callId: "read" });
              effect(`pay ${n}`);
              return { receipt: `paid ${n}` };
            },
            { pause: ({ n }) => ({ n }) },
          )
          .end("pay");
  return { executor, flow };
}

function decisionOf(fields: DecisionFields) {
  const { approved, ...remarks } = fields;
  return approved ? approve(remarks) : deny(remarks);
}

async function call({ executor, flow }: ReturnType<typeof build>, step: FlowStep): Promise<FlowResult<unknown>> {
  const { checkpoint, decision = null, runId } = step;
  if (checkpoint === undefined) return runFlow(flow, { n: 1 }, { executor, runId });
  return resumeFlow(flow, checkpoint, decision === null ? null : decisionOf(decision), { executor });
}

async function turn(stores: SqlStores, effects: string, step: FlowStep): Promise<FlowTurn> {
  const nothing = { checkpoint: "", state: null, generation: undefined, binding: "" };
  try {
    const result = await call(build(stores, effects, step), step);
    const { status: ended, state } = result;
    if (result.status !== "paused") return { ...nothing, ended, state };
    const { checkpoint, pending } = result;
    return { ended, state, checkpoint, generation: pending.request.generation, binding: pending.binding };
  } catch (error) {
    const ended = isAgentAdapterError(error) ? error.kind : String(error);
    return { ...nothing, ended, checkpoint: checkpointOf(error) ?? "" };
  }
}

async function main(): Promise<void> {
  const { engine, place, schema = "public", effects }: FlowWorld = JSON.parse(process.argv[2] ?? "null");
  const stores =
    engine === "sqlite"
      ? await openSqlite(place, { synchronous: "normal" })
      : await openPostgres(poolOf(place, 2), { schema });
  process.on("message", (step: FlowStep) => {
    void turn(stores, effects, step).then((answer) => process.send?.(answer));
  });
  process.on("disconnect", () => process.exit());
  process.send?.({ ready: true });
}

await main();
