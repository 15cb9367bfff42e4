// A reviewer and two workers, each an OS process, on one database. Both workers have the same call to make, as when a queue
// delivers a job twice: a human approves it once, and it runs once.

import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { approve, DeferredApproval, defineTool, Executor, isAgentAdapterError, Registry } from "agent-adapter";
import type { SqlStores } from "agent-adapter/sqlite";

type Role = "reviewer" | "worker 1" | "worker 2";

const pay = defineTool({
  name: "pay",
  description: "Pay an invoice.",
  inputSchema: {
    type: "object",
    properties: { invoice: { type: "string" }, euros: { type: "number" } },
    required: ["invoice", "euros"],
  },
  confirm: true, // a human decides
  effects: "destructive",
  execute: () => "paid",
});

// region: worker
async function work({ approvals, ledger, cache }: SqlStores): Promise<string> {
  const approval = new DeferredApproval(approvals);
  const secret = "the same 16 bytes or more in every process";
  const executor = new Executor(new Registry([pay]), { approval, ledger, cache, secret });
  const context = executor.context({ runId: "invoice-7" });
  for (;;) {
    try {
      const result = await executor.run(pay, { invoice: "7", euros: 120 }, { context, callId: "pay-7" });
      return `ran: ${result}`;
    } catch (error) {
      if (isAgentAdapterError(error, "ApprovalAlreadyDecided")) return "refused: the approval was used before";
      if (!isAgentAdapterError(error, "ApprovalPending")) throw error;
      const [waiting] = await approvals.list({ runId: "invoice-7", status: "pending" });
      if (waiting !== undefined) await approvals.waitForDecision(waiting.id, { timeoutMs: 30_000 });
    }
  }
}
// endregion

async function review({ approvals }: SqlStores): Promise<string> {
  for (;;) {
    const [waiting] = await approvals.list({ status: "pending" });
    if (waiting === undefined) {
      await sleep(50);
      continue;
    }
    const { tool, arguments: args } = waiting.request;
    await sleep(500); // reads it, while both workers wait
    await approvals.decide(waiting.id, approve({ by: "ana" }));
    return `approved ${tool} ${JSON.stringify(args)}`;
  }
}

/** In a child: play the role that it was started for. In the parent: start all three and check what became of it. */
export async function play(file: string, open: () => Promise<SqlStores>, argument: string): Promise<void> {
  const role = process.argv[2];
  const stores = await open();
  if (role !== undefined) {
    process.send?.(role === "reviewer" ? await review(stores) : await work(stores));
    await stores.close();
    process.disconnect();
    return;
  }
  const roles: readonly Role[] = ["worker 1", "worker 2", "reviewer"];
  const told = await Promise.all(roles.map((each) => outcomeOf(file, each, argument)));
  console.log(`  reviewer   ${told[2]}`);
  for (const text of told.slice(0, 2).toSorted((a, b) => b.localeCompare(a))) console.log(`  a worker   ${text}`);
  const { calls } = await stores.ledger.totals({ runId: "invoice-7" });
  console.log(`  the ledger of all of them: ${calls} payment`);
  await stores.close();
  if (calls !== 1 || told.filter((text) => text === "ran: paid").length !== 1) throw new Error("it did not run once");
}

function outcomeOf(file: string, role: Role, argument: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = fork(file, [role, argument]);
    child.once("message", (message) => resolve(typeof message === "string" ? message : JSON.stringify(message)));
    child.once("exit", (code) => reject(new Error(`${role} ended with ${code} and said nothing`)));
  });
}
