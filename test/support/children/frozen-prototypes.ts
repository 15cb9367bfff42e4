// A program whose built-in prototypes are frozen when it is told so. Prints what it came to.
import { z } from "zod";
import { approve, CallbackApproval, Executor, MemoryLedger, Registry } from "agent-adapter";
import { Flow, resumeFlow, runFlow } from "agent-adapter/flow";

const [mode] = process.argv.slice(2);
const registry = new Registry();
const ran: unknown[] = [];
// Plain JSON Schema: zod itself assigns over what it inherits.
const inputSchema = {
  type: "object",
  properties: {
    toString: { type: "string" },
    constructor: { type: "string" },
    valueOf: { type: "string" },
    arguments: { type: "string" },
  },
} as never;
registry.tool({
  name: "pay",
  description: "P.",
  inputSchema,
  confirm: true,
  execute: (args: unknown) => void ran.push(args),
});
registry.tool({
  name: "get",
  description: "G.",
  inputSchema,
  effects: "read",
  cache: { ttlMs: 1000, scope: "run" },
  execute: (args: unknown) => ({ got: args }),
});
const ledger = new MemoryLedger({ arguments: true });
const executor = new Executor(registry, {
  secret: "a secret of at least 32 bytes, for tests",
  ledger,
  approval: new CallbackApproval(() => approve({ by: "ana" })),
  hooks: [{ beforeTool: async () => undefined }],
});
const flow = new Flow("f", { state: z.object({ n: z.number().default(0), list: z.array(z.unknown()).default([]) }) })
  .node("a", async (_s, ctx) => ({ n: 1, list: [await ctx.run("get", { toString: "x" })] }))
  .node("b", () => ({ n: 2 }), { pause: (state) => ({ n: state.n, toString: "shown" }) })
  .edge("a", "b")
  .end("b");
const paused = executor;

if (mode === "frozen")
  for (const kind of [Object, Array, Function, Map, Set, Promise, String, Number, Error]) Object.freeze(kind.prototype);
async function main(): Promise<unknown> {
  const args = JSON.parse('{"toString":"x","constructor":"y","valueOf":"z","arguments":"w"}') as object;
  const context = executor.context({ runId: "r" });
  await executor.run("pay", args, { context, callId: "c" });
  await executor.run("pay", args, { context, callId: "c" });
  const got = await executor.run("get", args, { context });
  const batch = await executor.runMany(
    [
      { tool: "get", args },
      { tool: "pay", args: {} },
    ],
    { context },
  );
  const bad: unknown = await executor
    .run("pay", { n: Number.NaN }, { context })
    .catch((error: unknown) => (error as { kind?: string }).kind ?? String(error));
  const result = await runFlow(flow, {}, { executor: paused });
  const end =
    result.status === "paused" ? await resumeFlow(flow, result.checkpoint, approve(), { executor: paused }) : result;
  return {
    ran,
    got,
    batch: batch.map(({ status }) => status),
    bad,
    end: [end.status, end.state],
    entries: (await ledger.entries()).map(({ status }) => status),
  };
}

main().then(
  (value) => process.stdout.write(JSON.stringify({ value })),
  (error: unknown) =>
    process.stdout.write(
      JSON.stringify({
        error: String(error),
        stack: (error as Error).stack,
        cause: String((error as Error).cause),
      }),
    ),
);
