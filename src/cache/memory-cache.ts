// `MemoryCache`: results of this process, bounded. What was not asked for longest goes first.
//   M1  what has expired is never given back
//   M2  never more entries or bytes than allowed, whatever is set

import { systemClock, type Clock } from "../async/clock.js";
import { countOption, refuseUnknown } from "../options.js";
import type { ResultCache } from "./cache.js";

/** How much a cache of this process holds. */
export interface MemoryCacheOptions {
  /** Tells which results are too old. Default: the system's. */
  readonly clock?: Clock;
  /** Default 10 000. */
  readonly maxEntries?: number;
  /** Of keys and texts together, two per UTF-16 unit. Default 64 MiB. */
  readonly maxBytes?: number;
}

interface Kept {
  readonly json: string;
  readonly expiresAt: number | undefined;
}

const MAX_ENTRIES = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * A cache of this process.
 *
 * @example new Executor(registry, { cache: new MemoryCache({ maxEntries: 500 }) })
 */
export class MemoryCache implements ResultCache {
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>();
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  #bytes = 0;

  /** @throws ToolUsageError naming the option that cannot be used */
  constructor(options: MemoryCacheOptions = {}) {
    const { clock = systemClock, maxEntries = MAX_ENTRIES, maxBytes = MAX_BYTES, ...rest } = options;
    refuseUnknown("MemoryCache", rest);
    this.#clock = clock;
    this.#maxEntries = countOption("MemoryCache", "maxEntries", maxEntries);
    this.#maxBytes = countOption("MemoryCache", "maxBytes", maxBytes);
  }

  /** How many texts are kept now. */
  get size(): number {
    return this.#kept.size;
  }

  get(key: string): Promise<string | undefined> {
    const found = this.#kept.get(key);
    if (found === undefined) return Promise.resolve(undefined);
    this.#drop(key, found);
    if (this.#isOver(found)) return Promise.resolve(undefined);
    this.#keep(key, found);
    return Promise.resolve(found.json);
  }

  set(key: string, json: string, expiresAt: number | undefined): Promise<void> {
    const older = this.#kept.get(key);
    if (older !== undefined) this.#drop(key, older);
    const kept = { json, expiresAt };
    // One that would push everything else out is not worth it.
    if (this.#isOver(kept) || bytesOf(key, kept) > this.#maxBytes) return Promise.resolve();
    this.#keep(key, kept);
    for (const [oldest, entry] of this.#kept) {
      if (this.#kept.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest, entry);
    }
    return Promise.resolve();
  }

  /** Written so that a NaN is over. */
  #isOver({ expiresAt }: Kept): boolean {
    return expiresAt !== undefined && !(this.#clock.now() < expiresAt);
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.set(key, kept);
    this.#bytes += bytesOf(key, kept);
  }

  #drop(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#bytes -= bytesOf(key, kept);
  }
}

function bytesOf(key: string, { json }: Kept): number {
  return (key.length + json.length) * 2;
}
