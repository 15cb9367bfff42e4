// Everything on PostgreSQL: checkpoints, uses, ledger, cache. DATABASE_URL says where. One program in two instances, as behind a
// load balancer: the first asks, the second is told the answer. Checks itself.

import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { approve, defineTool, Executor, Registry } from "agent-adapter";
import { encryptedSaver, LangGraphApproval, pendingApprovals, resume, toolNode } from "agent-adapter/langgraph";
import { openPostgres } from "agent-adapter/postgres";
import { Pool } from "pg";
import { z } from "zod";
import { finish, heading, tried } from "./support/page.js";

const url = process.env["DATABASE_URL"] ?? "";
const schema = `deployment_${process.pid}`;
const environment = {
  APPROVAL_KEY: "signs answers: 32 random bytes of yours",
  SEAL_SECRET: "seals what waits: 32 other random bytes",
  CHECKPOINT_KEY: "encrypts the checkpointer: 32 others",
};
const pay = defineTool({
  name: "pay",
  description: "Pay an invoice.",
  inputSchema: z.object({ invoice: z.string() }),
  confirm: true,
  effects: "destructive",
  timeoutMs: 30_000, // also tells the others how long a silent process may still be at work
  execute: ({ invoice }) => `paid ${invoice}`,
});

// region: wiring
/** Once per process. */
async function start(env: typeof environment) {
  const pool = new Pool({ connectionString: url, max: 5 }); // straight to the server: no pooler, because of PostgresSaver
  pool.on("error", (error) => console.error("a connection was lost:", error.message));
  const stores = await openPostgres(pool, { schema });
  const saver = new PostgresSaver(pool, undefined, { schema });
  await saver.setup();

  const port = new LangGraphApproval({ key: env.APPROVAL_KEY });
  const executor = new Executor(new Registry([pay], { strict: true }), {
    approval: port,
    secret: env.SEAL_SECRET, // so that whoever signs need not have it
    claims: stores.claims, // one use everywhere, as long as this database is not restored with the checkpointer
    ledger: stores.ledger,
    cache: stores.cache,
    principal: (configurable) => String(Object(configurable)["user_id"] ?? ""),
  });
  const app = new StateGraph(MessagesAnnotation)
    .addNode("tools", toolNode(executor.registry, { executor }))
    .addEdge(START, "tools")
    .compile({ checkpointer: encryptedSaver(saver, { key: env.CHECKPOINT_KEY }) });
  return { app, port, pool, stores };
}
// endregion

async function main(): Promise<void> {
  const [one, two] = [await start(environment), await start(environment)];
  const config = { configurable: { thread_id: "invoice-7", user_id: "user-7" } };
  const call = { id: "call-1", name: "pay", args: { invoice: "INV-2026-7" } };
  await one.app.invoke({ messages: [new AIMessage({ content: "", tool_calls: [call] })] }, config);

  heading("Two instances on one database");
  const [pending] = await pendingApprovals(two.app, config);
  if (pending === undefined) throw new Error("nothing waits");
  tried("the second sees", JSON.stringify(pending.request.arguments), '{"invoice":"INV-2026-7"}');
  tried("for whom", pending.request.requestedBy ?? "", "user-7");
  const answer = two.port.resumeValue(pending.interrupt, approve({ by: "ana" }));
  const { messages } = await resume(two.app, answer, config);
  tried("it ran", messages.at(-1)?.text ?? "", "paid INV-2026-7");
  tried("the first one's ledger", String((await one.stores.ledger.totals({})).calls), "1");
  const { rows } = await one.pool.query(`SELECT * FROM "${schema}".checkpoint_writes`);
  tried("readable in the checkpointer", String(JSON.stringify(rows).includes("INV-2026-7")), "false");

  heading("Once a day");
  // region: prune
  const pruned = await one.stores.prune();
  // endregion
  tried("pruned", JSON.stringify(pruned), '{"approvals":0,"claims":0,"ledger":0,"results":0}');
  finish();
  await one.pool.query(`DROP SCHEMA "${schema}" CASCADE`);
  for (const { stores, pool } of [one, two]) {
    await stores.close();
    await pool.end();
  }
}

if (url === "") console.log("  skipped: set DATABASE_URL to a PostgreSQL database");
else await main();
