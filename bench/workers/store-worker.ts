// One of several processes on the same database. Told "ours" or "bare", it makes so many approvals (create, decide, consume),
// or as many transactions of the plainest kind on a table with one row each.

import { approve, type ApprovalRequest } from "agent-adapter";
import { openPostgres } from "agent-adapter/postgres";
import { openSqlite } from "agent-adapter/sqlite";
import { bareSqlite, type Bare } from "../subjects/bare-sqlite.js";
import { barePostgres } from "../subjects/bare-postgres.js";
import { poolOf } from "../../test/support/postgres.js";

export type StoreTarget =
  | { readonly engine: "sqlite"; readonly path: string }
  | { readonly engine: "postgres"; readonly url: string };

export interface StoreOrder {
  readonly who: "ours" | "bare";
  readonly count: number;
  /** Numbers from here on are this order's own. */
  readonly from: number;
}

async function open(target: StoreTarget) {
  if (target.engine === "sqlite") return { stores: await openSqlite(target.path), bare: await bareSqlite(target.path) };
  const pool = poolOf(target.url, 1);
  return { stores: await openPostgres(pool), bare: await barePostgres(pool) };
}

async function main(): Promise<void> {
  const { stores, bare } = await open(JSON.parse(process.argv[2] ?? "null") as StoreTarget);
  const act: Readonly<Record<StoreOrder["who"], (n: number) => Promise<unknown>>> = {
    ours: async (n) => {
      const { id } = await stores.approvals.create(request(n));
      await stores.approvals.decide(id, approve({ by: "ana" }));
      await stores.approvals.consume(id, `token ${n}`);
    },
    bare: (n) => bareApproval(bare, request(n)),
  };
  const follow = async ({ who, count, from }: StoreOrder) => {
    for (let n = 0; n < count; n += 1) await act[who](from + n);
    process.send?.({ done: true });
  };
  process.on("message", (order: StoreOrder) => {
    // A failure ends this process, and the parent says so.
    void follow(order);
  });
  process.on("disconnect", () => process.exit());
  process.send?.({ ready: true });
}

function request(n: number): ApprovalRequest {
  const names = { runId: `run-${n}`, threadId: `thread-${n % 100}`, taskRun: [`thread-${n}`, "tools:1"] };
  const tool = { tool: "pay", description: "pays somebody", effects: "destructive" } as const;
  const call = { arguments: { to: "ana", amount: n }, callId: `call-${n}`, generation: 0 };
  const rest = { requestedBy: null, expiresAt: null, supersedes: null, previousAttempt: null };
  return { v: 1, kind: "tool", ...names, ...tool, definitionDigest: "0".repeat(64), ...call, ...rest };
}

/** The same three changes, with the request as text. */
async function bareApproval(bare: Bare, about: ApprovalRequest): Promise<void> {
  const id = `${about.threadId} ${about.runId}`;
  await bare.insert(id, JSON.stringify(about));
  await bare.update(id, "approved");
  await bare.update(id, "used");
}

await main();
