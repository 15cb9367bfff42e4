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

async function told(stores: SqlStores, { role, id, as }: Task): Promise<Told> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      if (role === "decide")
        await stores.approvals.decide(id, Number(as.at(-1)) % 2 === 0 ? approve({ by: as }) : deny({ by: as }));
      if (role === "consume") await stores.approvals.consume(id, as);
      if (role === "claim") await stores.claims.claim(id, as, Date.now() + 3_600_000);
      return { role, as, outcome: role === "idle" ? "idle" : "won" };
    } catch (error) {
      if (isAgentAdapterError(error, "ApprovalAlreadyDecided")) return { role, as, outcome: "lost" };
      // A decision is made once: whoever made it may not know. A use may be repeated under its token.
      if (isAgentAdapterError(error, "StoreUnavailable") && role === "decide") return { role, as, outcome: "open" };
      const mayRepeat = isAgentAdapterError(error, "StoreUnavailable") || isAgentAdapterError(error, "ToolUsageError");
      if (!mayRepeat) return { role, as, outcome: "open", error: String(error) };
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
