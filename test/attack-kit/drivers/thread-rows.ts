// All that a checkpointer keeps about a thread, as text that an attacker can read, change, and put back under any thread.
import type { BaseCheckpointSaver, Checkpoint, CheckpointMetadata } from "@langchain/langgraph";
import type { JsonValue } from "agent-adapter";

interface Row {
  readonly namespace: string;
  readonly id: string;
  readonly parent: string | null;
  readonly checkpoint: string;
  readonly metadata: string;
  readonly writes: readonly (readonly [task: string, channel: string, value: string])[];
}

export async function saveThread(saver: BaseCheckpointSaver, thread: string): Promise<JsonValue> {
  const rows: Row[] = [];
  for await (const tuple of saver.list({ configurable: { thread_id: thread } })) {
    const { config, parentConfig, checkpoint, metadata, pendingWrites = [] } = tuple;
    rows.push({
      namespace: textOf(config.configurable?.["checkpoint_ns"]),
      id: checkpoint.id,
      parent: (parentConfig?.configurable?.["checkpoint_id"] as string | undefined) ?? null,
      checkpoint: await dump(saver, checkpoint),
      metadata: await dump(saver, metadata),
      writes: await Promise.all(
        pendingWrites.map(async ([task, channel, value]) => [task, channel, await dump(saver, value)] as const),
      ),
    });
  }
  // Oldest first: each one names the one before.
  return JSON.parse(JSON.stringify(rows.toReversed()));
}

export async function loadThread(saver: BaseCheckpointSaver, thread: string, saved: JsonValue): Promise<void> {
  await saver.deleteThread(thread);
  for (const row of saved as unknown as Row[]) {
    const place = { thread_id: thread, checkpoint_ns: row.namespace };
    const before = row.parent === null ? place : { ...place, checkpoint_id: row.parent };
    const checkpoint = (await read(saver, row.checkpoint)) as Checkpoint;
    const metadata = (await read(saver, row.metadata)) as CheckpointMetadata;
    await saver.put({ configurable: before }, checkpoint, metadata, checkpoint.channel_versions);
    for (const [task, channel, value] of row.writes) {
      const write = [channel, await read(saver, value)] as [string, unknown];
      await saver.putWrites({ configurable: { ...place, checkpoint_id: row.id } }, [write], task);
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

async function dump(saver: BaseCheckpointSaver, value: unknown): Promise<string> {
  const [type, bytes] = await saver.serde.dumpsTyped(value);
  if (type !== "json") throw new Error(`a value of type ${type} cannot be shown as text`);
  return new TextDecoder().decode(bytes);
}

function read(saver: BaseCheckpointSaver, text: string): Promise<unknown> {
  return Promise.resolve(saver.serde.loadsTyped("json", text));
}
