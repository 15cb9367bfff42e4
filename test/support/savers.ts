// LangGraph's own checkpointers on real storage, with what a thief and a forger can do: read every byte that is kept, and
// change it behind the checkpointer's back.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
// First, because it repairs how `pg` is loaded under vitest.
import { poolOf, startPostgres, whyNoPostgres, type PostgresServer } from "./postgres.js";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";

/** One stored piece: a checkpoint with its values, one value, metadata, or a write. */
export interface Piece {
  readonly kind: "checkpoint" | "value" | "metadata" | "write";
  readonly thread: string;
  /** Of values and writes. */
  readonly channel?: string;
  /** Of writes. */
  readonly task?: string;
  readonly text: string;
}

/** A checkpointer and what it keeps. */
export interface Storage {
  readonly saver: BaseCheckpointSaver;
  /** Another checkpointer on the same data. */
  another(): BaseCheckpointSaver;
  /** Every byte that is kept, as Latin-1. */
  bytes(): Promise<string>;
  /** Every piece in turn; what comes back is stored in its place. */
  edit(change: (piece: Piece) => string): Promise<void>;
  close(): Promise<void>;
}

export interface Engine {
  readonly name: "MemorySaver" | "SqliteSaver" | "PostgresSaver";
  readonly open: () => Promise<Storage>;
  stop(): Promise<void>;
}

/** Those that can be had here; `reportSkipped` says when one is missing. */
export function engines(): readonly Engine[] {
  const still = () => Promise.resolve();
  return [
    { name: "MemorySaver", open: () => Promise.resolve(inMemory()), stop: still },
    { name: "SqliteSaver", open: () => Promise.resolve(inSqlite()), stop: still },
    ...(whyNoPostgres() === undefined ? [postgres()] : []),
  ];
}

/** Every piece of a storage. */
export async function piecesOf(storage: Storage): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  await storage.edit((piece) => {
    pieces.push(piece);
    return piece.text;
  });
  return pieces;
}

const utf8 = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8");
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

function inMemory(): Storage {
  const saver = new MemorySaver();
  const edit: Storage["edit"] = async (change) => {
    const changed = (piece: Piece) => new Uint8Array(Buffer.from(change(piece), "utf8"));
    for (const [thread, namespaces] of Object.entries(saver.storage)) {
      for (const row of Object.values(namespaces).flatMap((checkpoints) => Object.values(checkpoints))) {
        row[0] = changed({ kind: "checkpoint", thread, text: utf8(row[0]) });
        row[1] = changed({ kind: "metadata", thread, text: utf8(row[1]) });
      }
    }
    for (const [key, rows] of Object.entries(saver.writes)) {
      const [thread] = JSON.parse(key) as [string];
      for (const row of Object.values(rows)) {
        row[2] = changed({ kind: "write", thread, task: row[0], channel: row[1], text: utf8(row[2]) });
      }
    }
  };
  return {
    saver,
    another: () => Object.assign(new MemorySaver(), { storage: saver.storage, writes: saver.writes }),
    bytes: () => {
      const text = (_key: string, value: unknown) => (value instanceof Uint8Array ? latin1(value) : value);
      return Promise.resolve(JSON.stringify([saver.storage, saver.writes], text));
    },
    edit,
    close: () => Promise.resolve(),
  };
}

function inSqlite(): Storage {
  const folder = mkdtempSync(join(tmpdir(), "aa-savers-"));
  const opened: SqliteSaver[] = [];
  const open = () => {
    const saver = SqliteSaver.fromConnString(join(folder, "checkpoints.db"));
    saver.db.exec("PRAGMA busy_timeout=5000");
    opened.push(saver);
    return saver;
  };
  const saver = open();
  const edit: Storage["edit"] = (change) => {
    saver.db.pragma("journal_mode=WAL");
    for (const row of saver.db.prepare("SELECT rowid, * FROM checkpoints").all() as SqliteRow[]) {
      const checkpoint = change({ kind: "checkpoint", thread: row.thread_id, text: utf8(row.checkpoint) });
      const metadata = change({ kind: "metadata", thread: row.thread_id, text: utf8(row.metadata) });
      const update = saver.db.prepare("UPDATE checkpoints SET checkpoint = ?, metadata = ? WHERE rowid = ?");
      update.run(Buffer.from(checkpoint), Buffer.from(metadata), row.rowid);
    }
    for (const row of saver.db.prepare("SELECT rowid, * FROM writes").all() as SqliteRow[]) {
      const { thread_id: thread, task_id: task, channel } = row;
      const text = change({ kind: "write", thread, task, channel, text: utf8(row.value) });
      saver.db.prepare("UPDATE writes SET value = ? WHERE rowid = ?").run(Buffer.from(text), row.rowid);
    }
    return Promise.resolve();
  };
  return {
    saver,
    another: open,
    // The file and its log, pages and all.
    bytes: () =>
      Promise.resolve(
        readdirSync(folder)
          .map((name) => latin1(readFileSync(join(folder, name))))
          .join("\n"),
      ),
    edit,
    close: () => {
      for (const each of opened) each.db.close();
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

interface SqliteRow {
  readonly rowid: number;
  readonly thread_id: string;
  readonly task_id: string;
  readonly channel: string;
  readonly checkpoint: Buffer;
  readonly metadata: Buffer;
  readonly value: Buffer;
}

function postgres(): Engine {
  let server: Promise<PostgresServer> | undefined;
  let schemas = 0;
  return {
    name: "PostgresSaver",
    open: async () => {
      server ??= startPostgres();
      schemas += 1;
      return inPostgres((await server).url, `savers_${process.pid}_${schemas}`);
    },
    stop: async () => (await server)?.stop(),
  };
}

async function inPostgres(url: string, schema: string): Promise<Storage> {
  const pools: ReturnType<typeof poolOf>[] = [];
  const open = () => {
    const pool = poolOf(url);
    pools.push(pool);
    return new PostgresSaver(pool, undefined, { schema });
  };
  const saver = open();
  await saver.setup();
  const pool = poolOf(url);
  pools.push(pool);
  // By their keys: an update moves a row.
  const table = async (name: string) =>
    (await pool.query(`SELECT ctid, * FROM "${schema}".${name} ORDER BY 2, 3, 4, 5, 6`)).rows;
  const bytesOf = (row: object) =>
    Object.values(row).map((value) => (value instanceof Uint8Array ? latin1(value) : JSON.stringify(value)));
  const edit: Storage["edit"] = async (change) => {
    for (const row of await table("checkpoints")) {
      const text = change({ kind: "metadata", thread: row.thread_id, text: JSON.stringify(row.metadata) });
      await pool.query(`UPDATE "${schema}".checkpoints SET metadata = $1 WHERE ctid = $2`, [text, row.ctid]);
    }
    for (const row of await table("checkpoint_blobs")) {
      if (row.blob === null) continue;
      const text = change({ kind: "value", thread: row.thread_id, channel: row.channel, text: utf8(row.blob) });
      await pool.query(`UPDATE "${schema}".checkpoint_blobs SET blob = $1 WHERE ctid = $2`, [
        Buffer.from(text),
        row.ctid,
      ]);
    }
    for (const row of await table("checkpoint_writes")) {
      const { thread_id: thread, task_id: task, channel } = row;
      const text = change({ kind: "write", thread, task, channel, text: utf8(row.blob) });
      await pool.query(`UPDATE "${schema}".checkpoint_writes SET blob = $1 WHERE ctid = $2`, [
        Buffer.from(text),
        row.ctid,
      ]);
    }
  };
  return {
    saver,
    another: open,
    bytes: async () => {
      const tables = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"];
      const rows = await Promise.all(tables.map(table));
      return rows.flat().flatMap(bytesOf).join("\n");
    },
    edit,
    close: async () => {
      await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      for (const each of pools) await each.end();
    },
  };
}
