// `encryptedSaver`: a checkpointer in front of any other one, so that nobody can read, change or move what is in the rows.
// Owns what is hidden and where each value belongs; how rows are kept, found and ordered stays with the saver behind it.
//   S1  values of channels, values of writes and metadata of users never reach the saver behind it
//   S2  ids, names and versions of channels, number and order of writes reach it unchanged: its own rules still hold, first
//       writer wins above all
//   S3  a value opens in its thread, namespace and channel only; a write also in its task only, metadata in its checkpoint only.
//       A channel's value is not bound to a checkpoint: savers keep one copy for many checkpoints

import {
  BaseCheckpointSaver,
  copyCheckpoint,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
} from "@langchain/langgraph";
import { ToolUsageError } from "../../index.js";
import { isJson, KeyRing, refuseUnknown, sameJson, type Secrets } from "../../spi.js";
import { SaverSeals } from "./saver-seals.js";

/** The key, and what is read during a migration. */
export interface EncryptedSaverOptions {
  /** At least 16 bytes, 32 recommended. A list: the first encrypts, the older ones still open what they encrypted. */
  readonly key: Secrets;
  /**
   * For migrating: also read rows that were written before encryption. What is written is encrypted. Turn it off when no old
   * thread is left: while it is on, whoever can write to the storage can put values there. Default: false.
   */
  readonly allowPlaintext?: boolean;
}

/**
 * A checkpointer that encrypts (AES-256-GCM) what it gives to `saver` and decrypts what comes back. Any saver will do; it
 * keeps ids, names of channels and the order of things, and cannot read values.
 *
 * @throws ToolUsageError when an option cannot be used or there is no checkpointer
 * @example
 * const saver = PostgresSaver.fromConnString(process.env.DATABASE_URL ?? "");
 * const app = graph.compile({ checkpointer: encryptedSaver(saver, { key: process.env.CHECKPOINT_KEY ?? "" }) });
 */
export function encryptedSaver<V extends string | number = number>(
  saver: BaseCheckpointSaver<V>,
  options: EncryptedSaverOptions,
): EncryptedSaver<V> {
  const { key, allowPlaintext = false, ...rest } = options;
  refuseUnknown("encryptedSaver", rest);
  // Callers without types may give anything.
  if (typeof saver?.getTuple !== "function" || typeof saver.putWrites !== "function") {
    throw new ToolUsageError("`encryptedSaver` needs a LangGraph checkpointer to stand in front of");
  }
  return new EncryptedSaver(saver, new SaverSeals(KeyRing.of(key, "key"), saver.serde, allowPlaintext));
}

type Saver<V extends string | number> = BaseCheckpointSaver<V>;
type Config = Parameters<BaseCheckpointSaver["getTuple"]>[0];
type Writes = Parameters<BaseCheckpointSaver["putWrites"]>[1];
type Versions = Parameters<BaseCheckpointSaver["put"]>[3];
type ListOptions = Parameters<BaseCheckpointSaver["list"]>[1];
type PendingWrite = NonNullable<CheckpointTuple["pendingWrites"]>[number];
type HistoryOptions = Parameters<BaseCheckpointSaver["getDeltaChannelHistory"]>[0];
type Histories = Awaited<ReturnType<BaseCheckpointSaver["getDeltaChannelHistory"]>>;
type Values = Checkpoint["channel_values"];

/** Metadata that savers filter and order by; all of it is sealed as well, and the sealed copy is what counts. */
const READABLE_METADATA: ReadonlySet<string> = new Set(["source", "step", "parents", "thread_id", "checkpoint_ns"]);
/** The metadata key that holds the sealed rest. */
const SEALED_METADATA = "aa_sealed";

interface Home {
  readonly thread: string;
  readonly namespace: string;
}

/** What `encryptedSaver` gives: a checkpointer like the one behind it. */
export class EncryptedSaver<V extends string | number = number> extends BaseCheckpointSaver<V> {
  readonly #saver: Saver<V>;
  readonly #seals: SaverSeals;

  constructor(saver: Saver<V>, seals: SaverSeals) {
    super(saver.serde);
    this.#saver = saver;
    this.#seals = seals;
  }

  /** Calls `setup` of the saver behind it; does nothing when it has none. */
  async setup(): Promise<void> {
    if ("setup" in this.#saver && typeof this.#saver.setup === "function") await this.#saver.setup();
  }

  override async getTuple(config: Config): Promise<CheckpointTuple | undefined> {
    const tuple = await this.#saver.getTuple(config);
    return tuple === undefined ? undefined : this.#openTuple(tuple);
  }

  override async *list(config: Config, options: ListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { filter = {}, limit, ...rest } = options;
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
    const hidden = wanted.filter(([key]) => !READABLE_METADATA.has(key));
    const readable = wanted.filter(([key]) => READABLE_METADATA.has(key));
    const behind: ListOptions = readable.length === 0 ? rest : { ...rest, filter: Object.fromEntries(readable) };
    // What the saver cannot filter it cannot count either.
    if (hidden.length === 0 && limit !== undefined) behind.limit = limit;
    let left = hidden.length === 0 ? Number.POSITIVE_INFINITY : (limit ?? Number.POSITIVE_INFINITY);
    if (left <= 0) return;
    for await (const sealed of this.#saver.list(config, behind)) {
      const tuple = await this.#openTuple(sealed);
      const metadata: Readonly<Record<string, unknown>> = { ...tuple.metadata };
      if (!hidden.every(([key, value]) => sameJson(metadata[key], value))) continue;
      yield tuple;
      left -= 1;
      if (left <= 0) return;
    }
  }

  override async put(
    config: Config,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    versions: Versions,
  ): Promise<Config> {
    const home = homeOf(config);
    // Known fields only: a field of a later LangGraph could hold anything (S1).
    const copy = copyCheckpoint(checkpoint);
    const [values, sealed] = await Promise.all([
      this.#sealValues(home, copy.channel_values),
      this.#sealMetadata(home, copy.id, metadata),
    ]);
    return this.#saver.put(config, { ...copy, channel_values: values }, sealed, versions);
  }

  override async putWrites(config: Config, writes: Writes, taskId: string, taskPath?: string): Promise<void> {
    const home = homeOf(config);
    const sealed = writes.map(async ([channel, value]): Promise<Writes[number]> => [
      channel,
      await this.#seals.seal(writePlace(home, taskId, channel), value),
    ]);
    await this.#saver.putWrites(config, await Promise.all(sealed), taskId, taskPath);
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#saver.deleteThread(threadId);
  }

  override getNextVersion(current: V | undefined): V {
    return this.#saver.getNextVersion(current);
  }

  override async getDeltaChannelHistory(options: HistoryOptions): Promise<Histories> {
    // A saver over an older copy of LangGraph's base class: walk the tuples.
    if (typeof this.#saver.getDeltaChannelHistory !== "function") return super.getDeltaChannelHistory(options);
    const home = homeOf(options.config);
    const found = await this.#saver.getDeltaChannelHistory(options);
    const opened = Object.entries(found).map(async ([channel, history]) => {
      const writes = await this.#openWrites(home, history.writes);
      if (history.seed === undefined) return [channel, { ...history, writes }] as const;
      return [channel, { writes, seed: await this.#openValue(home, channel, history.seed) }] as const;
    });
    return Object.fromEntries(await Promise.all(opened));
  }

  async #openTuple(tuple: CheckpointTuple): Promise<CheckpointTuple> {
    const { checkpoint, metadata, pendingWrites } = tuple;
    const home = homeOf(tuple.config);
    const [values, openedMetadata, writes] = await Promise.all([
      this.#openValues(home, checkpoint.channel_values ?? {}),
      this.#openMetadata(home, checkpoint.id, metadata),
      pendingWrites === undefined ? undefined : this.#openWrites(home, pendingWrites),
    ]);
    return {
      ...tuple,
      checkpoint: { ...checkpoint, channel_values: values },
      ...(openedMetadata === undefined ? {} : { metadata: openedMetadata }),
      ...(writes === undefined ? {} : { pendingWrites: writes }),
    };
  }

  async #sealValues(home: Home, values: Values): Promise<Values> {
    // Nothing to hide in `undefined`, and savers tell it from a value.
    const sealed = Object.entries(values).map(async ([channel, value]) => [
      channel,
      value === undefined ? undefined : await this.#seals.seal(valuePlace(home, channel), value),
    ]);
    return Object.fromEntries(await Promise.all(sealed));
  }

  async #openValues(home: Home, values: Values): Promise<Values> {
    const opened = Object.entries(values).map(async ([channel, stored]) => [
      channel,
      stored === undefined ? undefined : await this.#openValue(home, channel, stored),
    ]);
    return Object.fromEntries(await Promise.all(opened));
  }

  #openValue(home: Home, channel: string, stored: unknown): Promise<unknown> {
    return this.#seals.open(valuePlace(home, channel), stored);
  }

  #openWrites(home: Home, writes: readonly PendingWrite[]): Promise<PendingWrite[]> {
    const opened = writes.map(async ([taskId, channel, stored]): Promise<PendingWrite> => [
      taskId,
      channel,
      await this.#seals.open(writePlace(home, taskId, channel), stored),
    ]);
    return Promise.all(opened);
  }

  async #sealMetadata(home: Home, checkpointId: string, metadata: CheckpointMetadata): Promise<CheckpointMetadata> {
    const readable = Object.entries(metadata).filter(([key]) => READABLE_METADATA.has(key));
    const sealed = await this.#seals.seal(metadataPlace(home, checkpointId), metadata);
    // What is readable keeps its types; what is not is one more key.
    return Object.fromEntries([...readable, [SEALED_METADATA, sealed]]) as CheckpointMetadata;
  }

  async #openMetadata(
    home: Home,
    checkpointId: string,
    metadata: CheckpointMetadata | undefined,
  ): Promise<CheckpointMetadata | undefined> {
    const fields: Readonly<Record<string, unknown>> = { ...metadata };
    const sealed = fields[SEALED_METADATA];
    const stored = sealed === undefined ? metadata : sealed;
    // Opened, it is what LangGraph gave to `put`; plain, it is what the saver says it is.
    return (await this.#seals.open(metadataPlace(home, checkpointId), stored)) as CheckpointMetadata | undefined;
  }
}

function valuePlace({ thread, namespace }: Home, channel: string): readonly string[] {
  return ["value", thread, namespace, channel];
}

function writePlace({ thread, namespace }: Home, taskId: string, channel: string): readonly string[] {
  return ["write", thread, namespace, taskId, channel];
}

function metadataPlace({ thread, namespace }: Home, checkpointId: string): readonly string[] {
  return ["metadata", thread, namespace, checkpointId];
}

function homeOf({ configurable }: Config): Home {
  const thread: unknown = configurable?.["thread_id"];
  const namespace: unknown = configurable?.["checkpoint_ns"] ?? "";
  if (typeof thread !== "string" || typeof namespace !== "string" || !isJson([thread, namespace])) {
    throw new ToolUsageError("an encrypted checkpointer needs a `thread_id` that is well-formed text");
  }
  return { thread, namespace };
}
