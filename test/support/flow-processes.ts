// Local flows in several OS processes on one database, and whoever answers in this one.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DecisionFields } from "agent-adapter";
import type { SqlStores } from "agent-adapter/sqlite";
import { startChild, type Child } from "./child.js";
import type { FlowStep, FlowTurn, FlowWorld } from "./children/flow-worker.js";

type Program = Pick<FlowStep, "kind" | "port" | "claims">;
type More = Pick<FlowStep, "checkpoint" | "decision" | "dies">;

let runs = 0;

/** Several processes on one world. */
export class FlowProcesses {
  readonly #folder = mkdtempSync(join(tmpdir(), "aa-flows-"));
  readonly #world: FlowWorld;
  readonly #children: Child[] = [];

  constructor(database: { readonly place?: string; readonly schema?: string } = {}) {
    const { place, ...schema } = database;
    const effects = join(this.#folder, "effects");
    this.#world =
      place === undefined
        ? { engine: "sqlite", place: join(this.#folder, "stores.db"), effects }
        : { engine: "postgres", place, ...schema, effects };
  }

  /** The SQLite file. */
  get file(): string {
    return this.#world.place;
  }

  async start(): Promise<Child> {
    const child = startChild("flow-worker.ts", this.#world);
    this.#children.push(child);
    if ((await child.next())?.["ready"] !== true) throw new Error("a process ended before it was ready");
    return child;
  }

  effectsOf(runId: string): string[] {
    const { effects } = this.#world;
    const lines = existsSync(effects) ? readFileSync(effects, "utf8").split("\n") : [];
    return lines.filter((line) => line.startsWith(`${runId} `)).map((line) => line.slice(runId.length + 1));
  }

  async stop(): Promise<void> {
    for (const child of this.#children) child.kill();
    await Promise.all(this.#children.map((child) => child.ended()));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** One run, wherever its parts are run. */
export class ProcessRun {
  readonly runId = `run-${process.pid}-${(runs += 1)}`;
  readonly #processes: FlowProcesses;
  readonly #program: Program;

  constructor(processes: FlowProcesses, program: Program) {
    this.#processes = processes;
    this.#program = program;
  }

  /** `undefined` when the process died over it. */
  async tryIn(child: Child, more: More = {}): Promise<FlowTurn | undefined> {
    child.send({ ...this.#program, runId: this.runId, ...more });
    // What the worker answers with.
    return (await child.next()) as FlowTurn | undefined;
  }

  async in(child: Child, more: More = {}): Promise<FlowTurn> {
    const turn = await this.tryIn(child, more);
    if (turn === undefined) throw new Error("the process ended");
    return turn;
  }

  get paid(): string[] {
    return this.effects.filter((effect) => effect.startsWith("pay"));
  }

  get effects(): string[] {
    return this.#processes.effectsOf(this.runId);
  }

  /** The ledger's entries of this run, by tool. */
  async entries(stores: SqlStores): Promise<string[]> {
    const entries = await stores.ledger.entries({ runId: this.runId });
    return entries.map(({ tool, status }) => `${tool} ${status}`).toSorted();
  }
}

export const yes: DecisionFields = { approved: true, by: "ana" };
export const no: DecisionFields = { approved: false, by: "ben" };
