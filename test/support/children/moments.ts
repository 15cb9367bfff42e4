// What a process of a test dies at, and the checkpointer that it shares with others.
import { appendFileSync } from "node:fs";
// First, because it repairs how `pg` is loaded.
import { poolOf } from "../postgres.js";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";

export type SaverPlace =
  | { readonly engine: "memory" }
  | { readonly engine: "sqlite"; readonly path: string }
  | { readonly engine: "postgres"; readonly url: string; readonly schema: string };

export async function openSaver(place: SaverPlace): Promise<BaseCheckpointSaver> {
  switch (place.engine) {
    case "memory":
      return new MemorySaver();
    case "sqlite": {
      const saver = SqliteSaver.fromConnString(place.path);
      // What a killed process has written is written; only a machine that loses power would tell the difference.
      saver.db.exec("PRAGMA busy_timeout=5000; PRAGMA synchronous=OFF");
      return saver;
    }
    case "postgres":
      return new PostgresSaver(poolOf(place.url, 2), undefined, { schema: place.schema });
  }
}

/** Everything that can be interrupted by a kill, in the order in which it happens. */
export class Moments {
  readonly #file: string;
  #killAt: number | string | undefined;
  seen: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  start(killAt: number | string | undefined): void {
    this.#killAt = killAt;
    this.seen = [];
  }

  pass(name: string): void {
    this.seen.push(name);
    if (name !== this.#killAt && this.seen.length !== this.#killAt) return;
    appendFileSync(`${this.#file}.kills`, `${name}\n`);
    process.kill(process.pid, "SIGKILL");
    // The signal is delivered before anything else of this process runs.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }

  /** The same object, with a moment before and after each of these methods. */
  watch<T extends object>(target: T, methods: readonly (keyof T & string)[]): T {
    for (const name of methods) {
      const method: unknown = target[name];
      if (typeof method !== "function") throw new Error(`there is no ${name}`);
      const watched = async (...args: unknown[]): Promise<unknown> => {
        this.pass(`before ${describeCall(name, args)}`);
        const result: unknown = await Reflect.apply(method, target, args);
        this.pass(`after ${describeCall(name, args)}`);
        return result;
      };
      Reflect.set(target, name, watched);
    }
    return target;
  }
}

/** Which rows a write is about. */
function describeCall(name: string, args: readonly unknown[]): string {
  const channels = name === "putWrites" && Array.isArray(args[1]) ? args[1].map(([channel]) => String(channel)) : [];
  const known = channels.map((channel) => (channel.startsWith("__") || channel.startsWith("aa:") ? channel : "output"));
  return [name, ...new Set(known)].join(" ");
}
