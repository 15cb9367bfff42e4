// `SqlLedger`: one row per call. Texts that a caller names are kept as JSON; keys are only what is looked up.

import type { Ledger, LedgerClosing, LedgerEntry, LedgerOpening, LedgerStatus, LedgerTotals } from "../../index.js";
import { FINAL_STATUSES, jsonCopy, randomId, refuseUnknown } from "../../spi.js";
import { jsonIn, numberIn, textIn, textOrNullIn } from "./rows.js";
import type { SqlClient, SqlRow, SqlValue } from "./sql-client.js";
import { fromColumn, jsonColumn, keyOf, toColumn } from "./text.js";

/** A wait that is written down after another run of the call has ended. */
const LATE = `($3 = 'pending' AND status IN (${FINAL_STATUSES.map((status) => `'${status}'`).join(", ")}))`;

export interface SqlLedgerOptions {
  /** Also keep arguments and edits. They may be personal data: default `false`. */
  readonly arguments?: boolean;
}

type Names = Pick<
  LedgerEntry,
  "id" | "runId" | "threadId" | "tool" | "callId" | "principal" | "argumentsDigest" | "startedAt"
>;

export class SqlLedger implements Ledger {
  readonly #client: SqlClient;
  readonly #table: string;
  readonly #keepsArguments: boolean;

  /** @throws ToolUsageError naming the option that does not exist */
  constructor(client: SqlClient, options: SqlLedgerOptions = {}) {
    const { arguments: keepsArguments = false, ...rest } = options;
    refuseUnknown("ledger", rest);
    this.#client = client;
    this.#table = client.dialect.table("ledger");
    this.#keepsArguments = keepsArguments === true;
  }

  async open(opening: LedgerOpening): Promise<void> {
    const { arguments: args, ...names } = opening;
    await this.#client.query(
      `INSERT INTO ${this.#table} AS kept (id_key, run_key, thread_key, tool_key, names, arguments, started_at,
         status, attempts, duration_ms, cost, ends)
       VALUES ($1, $2, $3, $4, $5, $6, $7, 'running', 0, 0, 0, '')
       ON CONFLICT (id_key) DO UPDATE SET status = 'running' WHERE kept.status = 'pending' RETURNING id_key`,
      [
        keyOf(opening.id),
        keyOf(opening.runId),
        opening.threadId === undefined ? null : keyOf(opening.threadId),
        keyOf(opening.tool),
        jsonColumn(names),
        this.#keepsArguments ? jsonOrNull(args) : null,
        opening.startedAt,
      ],
    );
  }

  async close(id: string, closing: LedgerClosing): Promise<void> {
    const { errorKind, binding, decidedBy, edit } = closing;
    await this.#client.query(
      `UPDATE ${this.#table} SET status = CASE WHEN ${LATE} THEN status ELSE $3 END,
         error_kind = CASE WHEN ${LATE} THEN error_kind ELSE $4 END, attempts = attempts + $5, duration_ms = duration_ms + $6,
         cost = cost + $7, binding = COALESCE($8, binding), decided_by = COALESCE($9, decided_by),
         edit_digest = COALESCE($10, edit_digest), edit = COALESCE($11, edit), ends = ends || $2
       WHERE id_key = $1 AND ends NOT LIKE '%' || $2 || '%' RETURNING id_key`,
      [
        keyOf(id),
        // Closing adds up: sent again after a lost acknowledgement, it is known by this and counts once.
        `${randomId()} `,
        closing.status,
        textOrNull(errorKind),
        closing.attempts,
        closing.durationMs,
        closing.cost,
        textOrNull(binding),
        textOrNull(decidedBy),
        textOrNull(edit?.digest),
        this.#keepsArguments && edit !== undefined ? jsonOrNull(edit.arguments) : null,
      ],
    );
  }

  async entries(filter: { readonly runId?: string; readonly threadId?: string } = {}): Promise<readonly LedgerEntry[]> {
    const { text, values } = where({ run_key: filter.runId, thread_key: filter.threadId });
    const rows = await this.#client.query(`SELECT * FROM ${this.#table} ${text} ORDER BY seq`, values);
    return rows.map((row) => this.#entryOf(row));
  }

  async totals(filter: { readonly runId?: string; readonly tool?: string } = {}): Promise<LedgerTotals> {
    const { text, values } = where({ run_key: filter.runId, tool_key: filter.tool });
    const [row = {}] = await this.#client.query(
      `SELECT COALESCE(sum(CASE WHEN attempts > 0 THEN 1 ELSE 0 END), 0) AS calls, COALESCE(sum(attempts), 0) AS attempts,
         COALESCE(sum(duration_ms), 0) AS duration_ms, COALESCE(sum(cost), 0) AS cost FROM ${this.#table} ${text}`,
      values,
    );
    const [calls, attempts] = [numberIn(row, "calls"), numberIn(row, "attempts")];
    return { calls, attempts, durationMs: numberIn(row, "duration_ms"), cost: numberIn(row, "cost") };
  }

  #entryOf(row: SqlRow): LedgerEntry {
    const { id, runId, threadId, tool, callId, principal, argumentsDigest, startedAt } = namesIn(row);
    const entry = {
      id,
      runId,
      threadId,
      tool,
      callId,
      principal,
      argumentsDigest,
      startedAt,
      // Only `close` writes it, from the same type.
      status: textIn(row, "status") as LedgerStatus,
      errorKind: textOrUndefined(row, "error_kind"),
      attempts: numberIn(row, "attempts"),
      durationMs: numberIn(row, "duration_ms"),
      cost: numberIn(row, "cost"),
      binding: textOrUndefined(row, "binding"),
      decidedBy: textOrUndefined(row, "decided_by"),
      editDigest: textOrUndefined(row, "edit_digest"),
    };
    return Object.freeze(this.#keepsArguments ? { ...entry, ...argumentsIn(row) } : entry);
  }
}

/** What the ledger was told to keep. */
function argumentsIn(row: SqlRow): Pick<LedgerEntry, "arguments" | "editedArguments"> {
  const args = row["arguments"] === null ? undefined : jsonIn(row, "arguments");
  if (row["edit"] === null) return { arguments: args };
  // Only `close` writes it: an object that was copied as JSON.
  return { arguments: args, editedArguments: jsonIn(row, "edit") as NonNullable<LedgerEntry["editedArguments"]> };
}

function namesIn(row: SqlRow): Names {
  // Only `open` writes it, from an opening without its arguments; absent members are undefined ones.
  return jsonIn(row, "names") as Names;
}

function where(keys: Readonly<Record<string, string | undefined>>): { text: string; values: SqlValue[] } {
  const given = Object.entries(keys).flatMap(([column, key]) => (key === undefined ? [] : [{ column, key }]));
  const text = given.map(({ column }, index) => `${column} = $${index + 1}`).join(" AND ");
  return { text: text === "" ? "" : `WHERE ${text}`, values: given.map(({ key }) => keyOf(key)) };
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toColumn(text);
}

function textOrUndefined(row: SqlRow, column: string): string | undefined {
  const text = textOrNullIn(row, column);
  return text === null ? undefined : fromColumn(text);
}

/** Refused arguments may be anything; what is not JSON is not kept. */
function jsonOrNull(value: unknown): string | null {
  try {
    return jsonColumn(jsonCopy(value));
  } catch {
    return null;
  }
}
