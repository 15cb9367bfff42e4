// `SqlApprovalStore`: approvals in a table. Executes the transition table of `ApprovalStore`; owns no rule of its own.
//   P1  every change is one UPDATE that holds only while the status is the one it was computed from: of racing changes one
//       wins, the others are computed again. No status ever comes back, so this ends.
//   P2  every call may be repeated by the client: a decision knows the call that made it, a use its token

import type { ApprovalRequest, Clock } from "../../index.js";
import {
  assertToken,
  changeRecord,
  decisionAbout,
  hasRunOut,
  limitOf,
  newRecord,
  randomId,
  systemClock,
  unknownApproval,
  type ApprovalFilter,
  type ApprovalRecord,
  type ApprovalStore,
  type OneAnswer,
  type RecordChange,
  type Signers,
} from "../../spi.js";
import { changedColumns, insertedColumns, recordOf } from "./approval-rows.js";
import { numberIn, textOrNullIn } from "./rows.js";
import type { SqlClient, SqlRow, SqlValue } from "./sql-client.js";
import { keyOf } from "./text.js";
import { waitUntilDecided, type DecisionNews, type WaitOptions } from "./wait.js";

// Not plainly `status = $2`: a planner that believes a status to be rare would go through all of its records for one id.
const IN_STATUS = "(status = $2) IS TRUE";

export interface SqlApprovalStoreOptions {
  readonly clock?: Clock | undefined;
  /** Who may sign; without them a signed answer cannot be checked and is refused. */
  readonly signers?: Signers | undefined;
  /** Who tells about decisions; without it `waitForDecision` looks now and then. */
  readonly news?: DecisionNews | undefined;
}

/** An `ApprovalStore` on whose records a worker can wait. */
export class SqlApprovalStore implements ApprovalStore {
  readonly #client: SqlClient;
  readonly #clock: Clock;
  readonly #signers: Signers | undefined;
  readonly #news: DecisionNews | undefined;
  readonly #table: string;

  constructor(client: SqlClient, options: SqlApprovalStoreOptions = {}) {
    this.#client = client;
    this.#clock = options.clock ?? systemClock;
    this.#signers = options.signers;
    this.#news = options.news;
    this.#table = client.dialect.table("approvals");
  }

  async create(request: ApprovalRequest): Promise<ApprovalRecord> {
    const made = newRecord(request, this.#clock.now());
    const columns = Object.entries(insertedColumns(made));
    const names = columns.map(([name]) => name).join(", ");
    const places = columns.map((_, index) => `$${index + 1}`).join(", ");
    const inserted = await this.#client.query(
      `INSERT INTO ${this.#table} (${names}) VALUES (${places}) ON CONFLICT (id) DO NOTHING RETURNING id`,
      columns.map(([, value]) => value),
    );
    if (inserted.length > 0) return made;
    // It was there, unless it was pruned a moment ago.
    return (await this.get(made.id)) ?? this.create(request);
  }

  async get(id: string): Promise<ApprovalRecord | undefined> {
    const row = await this.#row(id);
    return row === undefined ? undefined : recordOf(row);
  }

  async list(filter: ApprovalFilter = {}): Promise<readonly ApprovalRecord[]> {
    const limit = limitOf(filter);
    const conditions: string[] = [];
    const values: SqlValue[] = [];
    const where = (condition: string, value: SqlValue) => {
      values.push(value);
      conditions.push(`${condition} $${values.length}`);
    };
    if (filter.status !== undefined) where("status =", keyOf(filter.status));
    if (filter.runId !== undefined) where("run_key =", keyOf(filter.runId));
    if (filter.threadId !== undefined) where("thread_key =", keyOf(filter.threadId));
    if (filter.before !== undefined) where("seq <", await this.#placeOf(filter.before));
    const text = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
    const rows = await this.#client.query(
      `SELECT * FROM ${this.#table} ${text} ORDER BY seq DESC LIMIT $${values.length + 1}`,
      [...values, limit],
    );
    return Object.freeze(rows.map(recordOf));
  }

  async decide(id: string, decision: OneAnswer): Promise<ApprovalRecord> {
    const at = this.#clock.now();
    const record = await this.get(id);
    if (record === undefined) throw unknownApproval();
    const given = decisionAbout(record, decision, this.#signers, at);
    if (hasRunOut(record, at)) await this.#change(id, { event: "expire" });
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

  /**
   * Wait until the request is decided, used, expired or superseded, and give the record; when the time is over, the record as
   * it is, still pending.
   *
   * @throws ToolUsageError when there is no such record; the signal's reason when it aborts; StoreUnavailable
   * @example
   * const record = await approvals.waitForDecision(binding, { signal, timeoutMs: 60_000 });
   * if (record.status === "approved") await run();
   */
  waitForDecision(id: string, options: WaitOptions = {}): Promise<ApprovalRecord> {
    return waitUntilDecided({ store: this, id, clock: this.#clock, news: this.#news }, options);
  }

  async #row(id: string): Promise<SqlRow | undefined> {
    const [row] = await this.#client.query(`SELECT * FROM ${this.#table} WHERE id = $1`, [keyOf(id)]);
    return row;
  }

  async #placeOf(id: string): Promise<number> {
    const row = await this.#row(id);
    if (row === undefined) throw unknownApproval();
    return numberIn(row, "seq");
  }

  async #change(id: string, change: RecordChange): Promise<ApprovalRecord> {
    const call = change.event === "decide" ? randomId() : null;
    for (;;) {
      const row = await this.#row(id);
      if (row === undefined) throw unknownApproval();
      const record = recordOf(row);
      // The decision is there because this very call made it, and its acknowledgement was lost.
      if (call !== null && textOrNullIn(row, "decided_under") === call) return record;
      const changed = changeRecord(record, change);
      if (changed === record || (await this.#write(record, changed, call))) return changed;
    }
  }

  /** Was it written? Not when the status is another one by now. */
  async #write(before: ApprovalRecord, changed: ApprovalRecord, call: string | null): Promise<boolean> {
    const columns = Object.entries(changedColumns(changed, this.#clock.now()));
    const sets = columns.map(([name], index) => `${name} = $${index + 4}`).join(", ");
    const update = `UPDATE ${this.#table} SET decided_under = COALESCE($3, decided_under), ${sets} WHERE id = $1 AND ${IN_STATUS}`;
    // Nobody waits for a use: whoever waited saw the decision before it.
    const text = changed.status === "used" ? `${update} RETURNING id` : this.#client.dialect.announced(update);
    const written = await this.#client.query(text, [
      before.id,
      before.status,
      call,
      ...columns.map(([, value]) => value),
    ]);
    return written.length > 0;
  }
}
