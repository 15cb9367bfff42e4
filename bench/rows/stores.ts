// Approvals a second (create, decide, consume) of several OS processes on one real database, against as many bare transactions.

import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Effort } from "../measure/effort.js";
import { median, spread } from "../measure/statistics.js";
import type { Figure, FigureRow } from "../row.js";
import type { StoreOrder, StoreTarget } from "../workers/store-worker.js";
import { startPostgres, whyNoPostgres } from "../../test/support/postgres.js";

/** Of each side in a round, over all processes. */
const APPROVALS = 800;
const WARM = 40;
const worker = fileURLToPath(new URL("../workers/store-worker.ts", import.meta.url));

interface Database {
  readonly target: StoreTarget;
  stop(): Promise<void>;
}

function sqlite(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), "aa-bench-"));
  const stop = () => Promise.resolve(rmSync(folder, { recursive: true, force: true }));
  return Promise.resolve({ target: { engine: "sqlite", path: join(folder, "bench.db") }, stop });
}

async function postgres(): Promise<Database> {
  const server = await startPostgres({ durable: true });
  return { target: { engine: "postgres", url: server.url }, stop: () => server.stop() };
}

class Team {
  readonly #workers: readonly ChildProcess[];
  #next = 0;

  private constructor(workers: readonly ChildProcess[]) {
    this.#workers = workers;
  }

  static async start(target: StoreTarget, size: number): Promise<Team> {
    const start = async () => {
      const child = fork(worker, [JSON.stringify(target)]);
      await answer(child);
      return child;
    };
    // The first one makes the tables.
    const first = await start();
    return new Team([first, ...(await Promise.all(Array.from({ length: size - 1 }, start)))]);
  }

  /** Approvals a second of all processes together. */
  async rate(who: StoreOrder["who"], total: number): Promise<number> {
    const count = Math.max(1, Math.ceil(total / this.#workers.length));
    const start = performance.now();
    await Promise.all(
      this.#workers.map((child) => {
        const order: StoreOrder = { who, count, from: this.#next };
        this.#next += count;
        const done = answer(child);
        child.send(order);
        return done;
      }),
    );
    return ((count * this.#workers.length) / (performance.now() - start)) * 1000;
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#workers.map((child) => {
        const gone = new Promise((resolve) => child.once("exit", resolve));
        child.disconnect();
        return gone;
      }),
    );
  }
}

function answer(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (code: number | null) => reject(new Error(`a worker ended with ${code}`));
    child.once("exit", failed);
    child.once("message", () => {
      child.off("exit", failed);
      resolve();
    });
  });
}

async function measured(database: Database, wanted: number, effort: Effort): Promise<Figure> {
  const size = Math.min(wanted, effort.processes);
  const total = Math.max(size, Math.round(APPROVALS * effort.share));
  const rounds: { readonly ours: number; readonly peer: number }[] = [];
  const team = await Team.start(database.target, size);
  try {
    await team.rate("ours", WARM * effort.share * size);
    await team.rate("bare", WARM * effort.share * size);
    for (let round = 0; round < Math.ceil(effort.rounds / 3); round += 1) {
      rounds.push({ ours: await team.rate("ours", total), peer: await team.rate("bare", total) });
    }
  } finally {
    await team.stop();
    await database.stop();
  }
  return {
    ours: `${Math.round(median(rounds.map((one) => one.ours)))}/s`,
    peer: `${Math.round(median(rounds.map((one) => one.peer)))}/s`,
    ratio: spread(rounds.map((one) => one.ours / one.peer)),
  };
}

interface Engine {
  readonly name: string;
  readonly shown: string;
  readonly start: () => Promise<Database>;
  readonly missing: () => string | undefined;
}

function rowsOf({ name, shown, start, missing }: Engine): FigureRow[] {
  return [1, 4, 8].map((size) => ({
    kind: "figure",
    name: `stores-${name}-${size}`,
    what: `${shown}: approvals a second, ${size} process${size > 1 ? "es" : ""}`,
    peer: "as many bare transactions (higher is better)",
    goal: null,
    measure: async (effort) => {
      const reason = missing();
      return reason === undefined ? measured(await start(), size, effort) : { ours: "not measured", note: reason };
    },
  }));
}

export const storeRows = [
  ...rowsOf({ name: "sqlite", shown: "SQLite", start: sqlite, missing: () => undefined }),
  ...rowsOf({ name: "postgres", shown: "PostgreSQL", start: postgres, missing: whyNoPostgres }),
];
