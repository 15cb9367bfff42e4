// One of many workers and reviewers on the same database. Opens the stores, says that it is ready, then does what each
// message says and answers with what it was told.
import { setTimeout as sleep } from "node:timers/promises";
import { approve, deny, isAgentAdapterError } from "../../../src/index.js";
import { openPostgres } from "../../../src/stores/postgres/index.js";
import { openSqlite, type SqlStores } from "../../../src/stores/sqlite/index.js";
import { poolOf } from "../postgres.js";

export type Target =
  | { readonly engine: "sqlite"; readonly path: string; readonly synchronous: "normal" | "full" }
  | { readonly engine: "postgres"; readonly url: string; readonly schema: string };

export interface Task {
  readonly [key: string]: unknown;
  readonly role: "decide" | "consume" | "claim" | "idle";
  readonly id: string;
  /** The token, or who decides. */
  readonly as: string;
}

export interface Told {
  readonly [key: string]: unknown;
  readonly role: Task["role"];
  readonly as: string;
  /** `open`: the store could not say; it may have happened. `undecided`: there was nothing to use. */
  readonly outcome: "won" | "lost" | "open" | "undecided" | "idle";
  readonly error?: string;
}

const ATTEMPTS = 40;

async function act(stores: SqlStores, { role, id, as }: Task): Promise<unknown> {
  switch (role) {
    case "decide":
      return stores.approvals.decide(id, Number(as.at(-1)) % 2 === 0 ? approve({ by: as }) : deny({ by: as }));
    case "consume":
      return stores.approvals.consume(id, as);
    case "claim":
      return stores.claims.claim(id, as, Date.now() + 3_600_000);
    case "idle":
      return undefined;
  }
}

/** What a failure means for whoever acted; `undefined`: it may be tried again. */
function outcomeOf(error: unknown, role: Task["role"]): Told["outcome"] | undefined {
  if (isAgentAdapterError(error, "ApprovalAlreadyDecided")) return "lost";
  // Nobody has decided yet.
  if (isAgentAdapterError(error, "ToolUsageError") && role === "consume") return undefined;
  // A use may be repeated under its token; a decision is made once, and its maker may not know whether it was.
  return isAgentAdapterError(error, "StoreUnavailable") && role !== "decide" ? undefined : "open";
}

async function told(stores: SqlStores, task: Task): Promise<Told> {
  const { role, as } = task;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      await act(stores, task);
      return { role, as, outcome: role === "idle" ? "idle" : "won" };
    } catch (error) {
      const outcome = outcomeOf(error, role);
      const isExpected = isAgentAdapterError(error, "StoreUnavailable") || outcome !== "open";
      if (outcome !== undefined) return { role, as, outcome, ...(isExpected ? {} : { error: String(error) }) };
    }
    await sleep(attempt < 10 ? 1 : 20);
  }
  return { role, as, outcome: "undecided" };
}

async function main(): Promise<void> {
  const target: Target = JSON.parse(process.argv[2] ?? "null");
  const stores =
    target.engine === "sqlite"
      ? await openSqlite(target.path, { synchronous: target.synchronous })
      : await openPostgres(poolOf(target.url, 1), { schema: target.schema });
  process.on("message", (task: Task) => {
    void told(stores, task).then((answer) => process.send?.(answer));
  });
  process.on("disconnect", () => process.exit());
  process.send?.({ ready: true });
}

await main();
