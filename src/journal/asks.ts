// The asks of one task run, newest last. Owns the two ways to find one; a node may ask a hundred times, so neither walks.

import type { AskRecord } from "../approvals/ask.js";

export class Asks {
  readonly #byBinding = new Map<string, AskRecord>();
  readonly #byCall = new Map<string, AskRecord>();
  #newest: AskRecord | undefined;

  /** Remember an ask as the newest of its task run. */
  remember(ask: AskRecord): void {
    this.#byBinding.set(ask.binding, ask);
    this.#byCall.set(ask.request.callId, ask);
    this.#newest = ask;
  }

  get newest(): AskRecord | undefined {
    return this.#newest;
  }

  get size(): number {
    return this.#byBinding.size;
  }

  /** All of them, oldest first. */
  list(): AskRecord[] {
    return [...this.#byBinding.values()];
  }

  /** The newest ask of a call. */
  of(callId: string): AskRecord | undefined {
    return this.#byCall.get(callId);
  }

  /** The ask of that binding; anything else finds nothing. */
  bound(binding: unknown): AskRecord | undefined {
    return typeof binding === "string" ? this.#byBinding.get(binding) : undefined;
  }
}
