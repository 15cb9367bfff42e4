// What all drivers of our own stack share: tools, keys, times, and where things are kept. Every option that is set here and that the
// README does not set stands in the driver's name.
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
// First, because it repairs how `pg` is loaded.
import { poolOf } from "../../support/postgres.js";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import {
  defineTool,
  MemoryApprovalStore,
  MemoryClaimStore,
  Registry,
  type Approver,
  type ApprovalStore,
  type ClaimStore,
  type Clock,
  type JsonObject,
  type JsonValue,
} from "agent-adapter";
import { openPostgres } from "agent-adapter/postgres";
import { openSqlite } from "agent-adapter/sqlite";
import type { AttackNeed, AttackTool, AttackWorld } from "agent-adapter/testing";
import { systemClock } from "agent-adapter/spi";

export const KEY = "the key of the attack kit's drivers";
const DAY_MS = 24 * 3_600_000;
/** The default. */
const ANSWER_TTL_MS = DAY_MS;
/** By default they wait for ever: this is for `expired/request`. Answers are over before the requests they answer. */
const REQUEST_TTL_MS = 3 * DAY_MS;

export type Engine = "memory" | "sqlite" | "postgres";

export interface Settings {
  readonly engine: Engine;
  /** Of PostgreSQL. */
  readonly url?: string;
  /** `false`: the executor gets no `claims` store. Default: it gets one. */
  readonly claims?: boolean;
  /** When the work of a process that died counts as lost. Default: that of the package, five minutes. */
  readonly unknownAfterMs?: number;
}

export function settingsOf(settings: JsonValue): Settings {
  return settings as unknown as Settings;
}

/** The driver's name, with every option that is set. */
export function nameOf(what: string, { engine, claims = true, unknownAfterMs }: Settings): string {
  const set = [what, engine, claims ? "claims" : "no claims", "requestTtlMs 3 days"];
  return [...set, ...(unknownAfterMs === undefined ? [] : [`unknownAfterMs ${unknownAfterMs}`])].join(", ");
}

/** What the port is given beside its keys. */
export function timesOf({ unknownAfterMs }: Settings) {
  return { requestTtlMs: REQUEST_TTL_MS, ...(unknownAfterMs === undefined ? {} : { unknownAfterMs }) };
}

/** Why a driver on this engine cannot be restarted, when it cannot. */
export function lacksOf({ engine }: Settings): Partial<Record<AttackNeed, string>> {
  if (engine !== "memory") return {};
  const reason = "everything is kept in the memory of one process";
  return { restart: reason, processes: reason };
}

/** The system's time, and what was added to it. */
export class ShiftedClock implements Clock {
  #byMs = 0;

  now(): number {
    return systemClock.now() + this.#byMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }

  elapse(what: "answer" | "request"): void {
    this.#byMs += (what === "answer" ? ANSWER_TTL_MS : REQUEST_TTL_MS) + 60_000;
  }
}

export function registryOf(tools: readonly AttackTool[]): Registry {
  return new Registry(
    tools.map((tool) => {
      const { name, description, asks, inputSchema, version } = tool;
      return defineTool({
        name,
        description,
        inputSchema,
        version,
        confirm: asks,
        effects: asks ? "destructive" : "read",
        execute: (args) => tool.run(args as JsonObject),
      });
    }),
  );
}

export interface Kept {
  readonly saver: BaseCheckpointSaver;
  readonly approvals: ApprovalStore;
  readonly claims: ClaimStore;
  close(): Promise<void>;
}

/** `approvers`: who may decide in the approval store. */
export async function open(
  { engine, url = "" }: Settings,
  { storage }: AttackWorld,
  { clock, approvers }: { readonly clock: Clock; readonly approvers: readonly Approver[] },
): Promise<Kept> {
  const options = { clock, approvers };
  if (engine === "memory") {
    const [approvals, claims] = [new MemoryApprovalStore(options), new MemoryClaimStore({ clock })];
    return { saver: new MemorySaver(), approvals, claims, close: () => Promise.resolve() };
  }
  if (engine === "sqlite") {
    mkdirSync(storage, { recursive: true });
    const saver = SqliteSaver.fromConnString(join(storage, "checkpoints.db"));
    // Two processes write to it.
    saver.db.exec("PRAGMA busy_timeout=5000");
    const stores = await openSqlite(join(storage, "stores.db"), options);
    return { saver, approvals: stores.approvals, claims: stores.claims, close: () => stores.close() };
  }
  const [pool, schema] = [poolOf(url, 3), basename(storage)];
  const saver = new PostgresSaver(pool, undefined, { schema });
  await saver.setup();
  const stores = await openPostgres(pool, { ...options, schema });
  const close = async () => {
    await stores.close();
    await pool.end();
  };
  return { saver, approvals: stores.approvals, claims: stores.claims, close };
}
