// `MemoryClaimStore`: uses of one process, bounded. For tests and for executors that share a process.
//   M1  a use is kept until every answer it guards has expired; at the cap new ones are refused, old ones never dropped

import { systemClock, type Clock } from "../async/clock.js";
import { ApprovalAlreadyDecided, StoreUnavailable } from "../errors.js";
import { countOption, refuseUnknown } from "../options.js";
import type { ClaimStore } from "./claim-store.js";
import { CLOCK_SKEW_MS, MAX_CLAIMS } from "./claims.js";
import { assertClaim } from "./store.js";

/** How much a claim store of this process holds. */
export interface MemoryClaimStoreOptions {
  /** Tells which claims have run out. Default: the system's. */
  readonly clock?: Clock;
  /** Uses kept at once. Default 1 000 000. */
  readonly maxClaims?: number;
}

interface Use {
  readonly token: string;
  readonly guardUntil: number;
}

const FIRST_SWEEP = 4096;

/**
 * A claims store in memory. It ends with the process: give a store on disk to executors in several processes.
 *
 * @example new Executor(registry, { approval, claims: new MemoryClaimStore() })
 */
export class MemoryClaimStore implements ClaimStore {
  readonly #uses = new Map<string, Use>();
  readonly #clock: Clock;
  readonly #maxClaims: number;
  #sweepAt: number;
  /** Nothing that is kept expires before this time: sweeping earlier finds nothing. */
  #firstExpiry = Number.POSITIVE_INFINITY;

  /** @throws ToolUsageError naming the option that cannot be used */
  constructor(options: MemoryClaimStoreOptions = {}) {
    const { clock = systemClock, maxClaims = MAX_CLAIMS, ...rest } = options;
    refuseUnknown("MemoryClaimStore", rest);
    this.#clock = clock;
    this.#maxClaims = countOption("MemoryClaimStore", "maxClaims", maxClaims);
    this.#sweepAt = Math.min(FIRST_SWEEP, maxClaims);
  }

  async claim(binding: string, token: string, guardUntil: number): Promise<void> {
    assertClaim(binding, token, guardUntil);
    const first = this.#uses.get(binding);
    if (first === undefined) this.#makeRoom();
    else if (first.token !== token) throw new ApprovalAlreadyDecided("this approval was used before");
    const until = Math.max(guardUntil, first?.guardUntil ?? guardUntil);
    this.#uses.set(binding, { token, guardUntil: until });
    this.#firstExpiry = Math.min(this.#firstExpiry, until + CLOCK_SKEW_MS);
  }

  #makeRoom(): void {
    if (this.#uses.size < this.#sweepAt) return;
    if (this.#clock.now() > this.#firstExpiry) this.#sweep();
    this.#sweepAt = Math.min(this.#maxClaims, Math.max(FIRST_SWEEP, this.#uses.size * 2));
    if (this.#uses.size < this.#maxClaims) return;
    throw new StoreUnavailable("the claims store is full: new answers are refused until old ones have expired");
  }

  #sweep(): void {
    const now = this.#clock.now();
    this.#firstExpiry = Number.POSITIVE_INFINITY;
    for (const [binding, { guardUntil }] of this.#uses) {
      const expiry = guardUntil + CLOCK_SKEW_MS;
      if (expiry < now) this.#uses.delete(binding);
      else this.#firstExpiry = Math.min(this.#firstExpiry, expiry);
    }
  }
}
