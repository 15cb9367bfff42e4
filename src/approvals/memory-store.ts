// `MemoryApprovalStore`: the approvals of one process. Atomic because nothing waits between looking and writing.

import { systemClock, type Clock } from "../async/clock.js";
import { refuseUnknown } from "../options.js";
import type { OneAnswer } from "./answer.js";
import type { ApprovalRequest } from "./request.js";
import { signersOf, type SignerOptions, type Signers } from "./signers.js";
import {
  assertToken,
  changeRecord,
  decisionAbout,
  hasRunOut,
  limitOf,
  newRecord,
  unknownApproval,
  type ApprovalFilter,
  type ApprovalRecord,
  type ApprovalStore,
  type RecordChange,
} from "./store.js";

/** Whose signatures are checked, and which time it is. */
export interface MemoryApprovalStoreOptions extends SignerOptions {
  /** Dates of records, and when a request has run out. Default: the system's. */
  readonly clock?: Clock;
}

/**
 * Keeps every record for the life of the object.
 *
 * @example
 * const store = new MemoryApprovalStore();
 * const executor = new Executor(registry, { approval: new DeferredApproval(store), secret });
 * const [waiting] = await store.list({ status: "pending" });
 * if (waiting !== undefined) await store.decide(waiting.id, approve({ by: "ana" }));
 */
export class MemoryApprovalStore implements ApprovalStore {
  /** In the order in which they were created. */
  readonly #records = new Map<string, ApprovalRecord>();
  readonly #clock: Clock;
  readonly #signers: Signers | undefined;

  /** @throws ToolUsageError naming the option that cannot be used */
  constructor(options: MemoryApprovalStoreOptions = {}) {
    const { clock = systemClock, key: _key, approvers: _approvers, ...rest } = options;
    refuseUnknown("MemoryApprovalStore", rest);
    this.#clock = clock;
    this.#signers = signersOf("MemoryApprovalStore", options);
  }

  async create(request: ApprovalRequest): Promise<ApprovalRecord> {
    const made = newRecord(request, this.#clock.now());
    const known = this.#records.get(made.id);
    if (known !== undefined) return known;
    this.#records.set(made.id, made);
    return made;
  }

  async get(id: string): Promise<ApprovalRecord | undefined> {
    return this.#records.get(id);
  }

  async list(filter: ApprovalFilter = {}): Promise<readonly ApprovalRecord[]> {
    const limit = limitOf(filter);
    const newestFirst = [...this.#records.values()].toReversed();
    const from = filter.before === undefined ? 0 : newestFirst.findIndex(({ id }) => id === filter.before) + 1;
    if (from === 0 && filter.before !== undefined) throw unknownApproval();
    const found = newestFirst.slice(from).filter((record) => fits(record, filter));
    return Object.freeze(found.slice(0, limit));
  }

  async decide(id: string, decision: OneAnswer): Promise<ApprovalRecord> {
    const at = this.#clock.now();
    const record = this.#known(id);
    const given = decisionAbout(record, decision, this.#signers, at);
    if (hasRunOut(record, at)) this.#change(id, { event: "expire" });
    return this.#change(id, { event: "decide", ...given, at });
  }

  async consume(id: string, token: string): Promise<ApprovalRecord> {
    assertToken(token);
    return this.#change(id, { event: "consume", token, at: this.#clock.now() });
  }

  async expire(id: string): Promise<ApprovalRecord> {
    return this.#change(id, { event: "expire" });
  }

  async supersede(id: string, by: string): Promise<ApprovalRecord> {
    return this.#change(id, { event: "supersede", by });
  }

  #known(id: string): ApprovalRecord {
    const known = this.#records.get(id);
    if (known === undefined) throw unknownApproval();
    return known;
  }

  #change(id: string, change: RecordChange): ApprovalRecord {
    const changed = changeRecord(this.#known(id), change);
    this.#records.set(id, changed);
    return changed;
  }
}

function fits({ status, request }: ApprovalRecord, filter: ApprovalFilter): boolean {
  return (
    (filter.status === undefined || filter.status === status) &&
    (filter.runId === undefined || filter.runId === request.runId) &&
    (filter.threadId === undefined || filter.threadId === request.threadId)
  );
}
