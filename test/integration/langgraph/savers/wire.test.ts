// W1 for checkpointers: rows of format 1, made once with node:crypto alone, that every later version must open.
import { readFileSync } from "node:fs";
import { MemorySaver, type Checkpoint, type CheckpointMetadata } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { isAgentAdapterError } from "agent-adapter";
import { encryptedSaver } from "agent-adapter/langgraph";
import { failure } from "../../../support/langgraph.js";

interface Fixture {
  readonly secret: string;
  readonly older: string;
  readonly config: { readonly thread_id: string; readonly checkpoint_ns: string; readonly checkpoint_id: string };
  readonly rows: {
    readonly checkpoint: Checkpoint;
    readonly metadata: CheckpointMetadata;
    readonly writes: readonly (readonly [task: string, channel: string, value: unknown])[];
  };
  readonly opened: {
    readonly values: {
      readonly state: unknown;
      readonly old: string;
      readonly bytes: number[];
      readonly set: unknown[];
    };
    readonly metadata: unknown;
    readonly writes: readonly (readonly [task: string, channel: string, value: unknown])[];
  };
}

const text = readFileSync(new URL("../../../fixtures/wire-v1/saver.json", import.meta.url), "utf8");
const { secret, older, config, rows, opened }: Fixture = JSON.parse(text);

/** A checkpointer that holds the rows of the fixture. */
async function kept(): Promise<MemorySaver> {
  const saver = new MemorySaver();
  const { checkpoint_id: _id, ...parent } = config;
  await saver.put({ configurable: parent }, rows.checkpoint, rows.metadata);
  for (const [task, channel, value] of rows.writes) {
    await saver.putWrites({ configurable: config }, [[channel, value]], task);
  }
  return saver;
}

it("R7, W1: rows of format 1 open under the current and the older key, value by value", async () => {
  const saver = encryptedSaver(await kept(), { key: [secret, older] });
  const tuple = await saver.getTuple({ configurable: config });
  const { state, old, bytes, set } = opened.values;
  expect(tuple?.checkpoint.channel_values).toEqual({ state, old, bytes: new Uint8Array(bytes), set: new Set(set) });
  expect(tuple?.metadata).toEqual(opened.metadata);
  const writes = tuple?.pendingWrites ?? [];
  for (const [task, channel, value] of opened.writes) {
    const expected = channel === "answer" ? Uint8Array.from(value as number[]) : value;
    expect(writes).toContainEqual([task, channel, expected]);
  }
});

it("R7, W1: rows of format 1 do not open without their keys", async () => {
  for (const key of [secret, older, "another secret, long enough, 32 b"]) {
    const error = await failure(encryptedSaver(await kept(), { key }).getTuple({ configurable: config }));
    expect(isAgentAdapterError(error, "FlowError")).toBe(true);
  }
});
