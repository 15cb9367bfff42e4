// `checkSaver` names what a broken checkpointer does wrong, and finds nothing in one that works.
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { isAgentAdapterError } from "agent-adapter";
import { assertSaver, checkSaver } from "agent-adapter/testing";
import { failure, sleep } from "../../support/langgraph.js";

type Config = Parameters<BaseCheckpointSaver["getTuple"]>[0];
type Writes = Parameters<BaseCheckpointSaver["putWrites"]>[1];

const KEEPS = "a private write comes back with its task id, its channel and its value";
const LATER = "a private write on a checkpoint that is saved later comes back with it";
const FIRST = "of two private writes under one task id the first stays";
const FIRST_LATER = "the first stays as well when the checkpoint is saved after both";
const RACE = "of writers at the same time exactly one reads its own value back, and it stays";
const IDS = "task ids that differ in anything are different";
const OWN = "writes of the task itself and private ones leave each other alone";
const APART = "checkpoints, namespaces and threads have rows of their own";
const KEPT = "later checkpoints take nothing away";
const LONG = "long values come back whole";

class DropsUnknownChannels extends MemorySaver {
  override putWrites(config: Config, writes: Writes, taskId: string, path?: string) {
    const known = writes.filter(([channel]) => !channel.startsWith("aa:"));
    return known.length === 0 ? Promise.resolve() : super.putWrites(config, known, taskId, path);
  }
}

class DropsWritesWithoutCheckpoint extends MemorySaver {
  override async putWrites(config: Config, writes: Writes, taskId: string, path?: string) {
    if ((await this.getTuple(config)) !== undefined) await super.putWrites(config, writes, taskId, path);
  }
}

class LastWriterWins extends MemorySaver {
  override async putWrites(config: Config, writes: Writes, taskId: string, path?: string) {
    for (const rows of Object.values(this.writes)) {
      for (const [id, row] of Object.entries(rows)) if (row[0] === taskId) Reflect.deleteProperty(rows, id);
    }
    await super.putWrites(config, writes, taskId, path);
  }
}

class OneTaskForAll extends MemorySaver {
  override putWrites(config: Config, writes: Writes, _taskId: string, path?: string) {
    return super.putWrites(config, writes, "task", path);
  }
}

class LowerCaseIds extends MemorySaver {
  override putWrites(config: Config, writes: Writes, taskId: string, path?: string) {
    return super.putWrites(config, writes, taskId.toLowerCase(), path);
  }
}

class OneNamespace extends MemorySaver {
  override putWrites(config: Config, writes: Writes, taskId: string, path?: string) {
    return super.putWrites({ configurable: { ...config.configurable, checkpoint_ns: "" } }, writes, taskId, path);
  }
}

class ForgetsOldWrites extends MemorySaver {
  override put(...given: Parameters<MemorySaver["put"]>) {
    if (given[0].configurable?.["checkpoint_id"] !== undefined) this.writes = {};
    return super.put(...given);
  }
}

class CutsLongValues extends MemorySaver {
  override putWrites(config: Config, writes: Writes, taskId: string, path?: string) {
    const cut = writes.map(([channel, value]): Writes[number] => [
      channel,
      typeof value === "string" ? value.slice(0, 65_535) : value,
    ]);
    return super.putWrites(config, cut, taskId, path);
  }
}

/** Looks first and writes a while later: in between another writer does the same, and both believe that they won. */
class LooksThenWrites extends MemorySaver {
  readonly #firstIsLast: boolean;
  readonly #turns = new Map<string, number>();

  constructor(firstIsLast = true) {
    super();
    this.#firstIsLast = firstIsLast;
  }

  override async putWrites(config: Config, writes: Writes, taskId: string, path?: string) {
    if (!taskId.startsWith("aa:")) return super.putWrites(config, writes, taskId, path);
    const key = JSON.stringify(["thread_id", "checkpoint_ns", "checkpoint_id"].map((id) => config.configurable?.[id]));
    if (this.writes[key]?.[`${taskId},0`] !== undefined) return;
    const turn = this.#turns.get(key) ?? 0;
    this.#turns.set(key, turn + 1);
    await sleep(2 * (this.#firstIsLast ? 3 - turn : turn));
    Reflect.deleteProperty(this.writes[key] ?? {}, `${taskId},0`);
    await super.putWrites(config, writes, taskId, path);
  }
}

class Fails extends MemorySaver {
  override putWrites(): Promise<void> {
    return Promise.reject(new Error("disk full"));
  }
}

async function brokenBy(saver: BaseCheckpointSaver): Promise<string[]> {
  return (await checkSaver(saver)).filter(({ ok }) => !ok).map(({ name }) => name);
}

describe("checkSaver", () => {
  it("J4/check-saver: finds nothing in a checkpointer that works, and leaves nothing behind", async () => {
    const saver = new MemorySaver();
    const findings = await checkSaver(saver);
    expect(findings.length).toBeGreaterThanOrEqual(10);
    expect(findings.map(({ ok, detail }) => [ok, detail])).toEqual(findings.map(() => [true, ""]));
    expect([Object.keys(saver.storage), Object.keys(saver.writes)]).toEqual([[], []]);
  });

  it.each([
    [DropsUnknownChannels, [KEEPS, LATER, FIRST, RACE, IDS, OWN, APART, KEPT, LONG]],
    [DropsWritesWithoutCheckpoint, [LATER]],
    [LastWriterWins, [FIRST, FIRST_LATER]],
    [OneTaskForAll, [KEEPS, IDS, OWN]],
    [LowerCaseIds, [IDS]],
    [OneNamespace, [APART]],
    [ForgetsOldWrites, [KEPT]],
    [CutsLongValues, [LONG]],
    [LooksThenWrites, [RACE]],
    [Fails, [KEEPS, LATER, FIRST, RACE, IDS, OWN, APART, KEPT, LONG]],
  ])("J4/check-saver: names what %o breaks", async (Saver, expected) => {
    const broken = await brokenBy(new Saver());
    expect(broken).toEqual(expect.arrayContaining(expected));
  });

  it("J4/check-saver: a checkpointer with one fault is blamed for that fault alone", async () => {
    expect(await brokenBy(new DropsWritesWithoutCheckpoint())).toEqual([LATER, FIRST_LATER]);
    expect(await brokenBy(new LooksThenWrites(true))).toEqual([RACE]);
    expect(await brokenBy(new LooksThenWrites(false))).toEqual([RACE]);
    expect(await brokenBy(new LowerCaseIds())).toEqual([IDS]);
    expect(await brokenBy(new CutsLongValues())).toEqual([LONG]);
    expect(await brokenBy(new ForgetsOldWrites())).toEqual([KEPT]);
  });

  it("J4/check-saver: another checkpointer that does not see the same data is found", async () => {
    const findings = await checkSaver(new MemorySaver(), { reopen: () => new MemorySaver() });
    expect(findings.filter(({ ok }) => ok)).toEqual([]);
  });
});

describe("assertSaver", () => {
  it("J4/check-saver: passes one that works and refuses one that does not by its name", async () => {
    await assertSaver(new MemorySaver());
    const error = await failure(assertSaver(new Fails()));
    expect(isAgentAdapterError(error, "ToolUsageError")).toBe(true);
    expect(String(error)).toContain("Fails cannot keep approvals");
    expect(String(error)).toContain(FIRST);
    expect(String(error)).toContain("disk full");
  });
});
