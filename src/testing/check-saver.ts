// `checkSaver`: can a LangGraph checkpointer keep approvals? Uses and outcomes lie beside a task as writes under task ids and
// channels that no graph knows; of two such writes under one id the first must stay, whoever wrote it. Knows no checkpointer:
// only the four methods that are used, and what they must do.

import { ToolUsageError } from "../index.js";
import { randomId } from "../spi.js";
import { holds, same } from "./contract.js";

/** The part of a LangGraph checkpointer that is checked; each of LangGraph's has it. */
export interface CheckedSaver {
  /** Reads the newest checkpoint, with its pending writes. */
  getTuple(config: SaverConfig): Promise<{ readonly pendingWrites?: readonly SavedWrite[] | undefined } | undefined>;
  /** Writes a checkpoint. */
  put(config: SaverConfig, checkpoint: SavedCheckpoint, metadata: SavedMetadata, versions: object): Promise<unknown>;
  /** Writes pending writes of one task. */
  putWrites(config: SaverConfig, writes: [channel: string, value: unknown][], taskId: string): Promise<unknown>;
  /** Removes everything of a thread. */
  deleteThread(threadId: string): Promise<unknown>;
}

/** One promise and whether it was kept. */
export interface SaverFinding {
  /** A sentence about behaviour. */
  readonly name: string;
  /** Was it kept? */
  readonly ok: boolean;
  /** What happened instead; empty when it was kept. */
  readonly detail: string;
}

/** How the check sees the data as another process does. */
export interface CheckSaverOptions<S extends CheckedSaver> {
  /** Another checkpointer on the same data, as another process would have it. Default: the same one. */
  readonly reopen?: (saver: S) => S | Promise<S>;
}

interface SaverConfig {
  readonly configurable: { thread_id: string; checkpoint_ns: string; checkpoint_id?: string };
}
interface SavedCheckpoint {
  readonly v: 4;
  readonly id: string;
  readonly ts: string;
  readonly channel_values: Record<string, unknown>;
  readonly channel_versions: Record<string, number>;
  readonly versions_seen: Record<string, Record<string, number>>;
}
interface SavedMetadata {
  readonly source: "loop";
  readonly step: number;
  readonly parents: Record<string, string>;
}
type SavedWrite = readonly [taskId: string, channel: string, value: unknown];

/**
 * Every promise about private writes, checked on threads of its own that are deleted afterwards. Never rejects: what a
 * checkpointer throws is a finding.
 *
 * @example
 * console.table(await checkSaver(checkpointer));
 */
export async function checkSaver<S extends CheckedSaver>(
  saver: S,
  options: CheckSaverOptions<S> = {},
): Promise<readonly SaverFinding[]> {
  const findings: SaverFinding[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    const detail = await whatIsWrong(async () => {
      const other = options.reopen === undefined ? saver : await options.reopen(saver);
      await onThread(saver, other, check);
    });
    findings.push({ name, ok: detail === "", detail });
  }
  return findings;
}

/**
 * Runs `checkSaver`, for a test or the start of a program.
 *
 * @throws ToolUsageError that names the checkpointer and every promise it breaks
 * @example await assertSaver(checkpointer);
 */
export async function assertSaver<S extends CheckedSaver>(saver: S, options?: CheckSaverOptions<S>): Promise<void> {
  const broken = (await checkSaver(saver, options)).filter(({ ok }) => !ok);
  if (broken.length === 0) return;
  const list = broken.map(({ name, detail }) => `not true: ${name} (${detail})`).join("; ");
  throw new ToolUsageError(`${saver.constructor.name} cannot keep approvals: ${list}`);
}

/** Shaped like the ids that LangGraph gives. */
const TASK = "0e6c1f3a-52d7-5b0c-9d6e-3f1a2b4c5d6e";
const BINDING = "b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78";
const SPENT_ID = `aa:${TASK}:s:${BINDING}`;
const SPENT = "aa:spent";
const DONE = "aa:done";
const ROUNDS = 16;
const WRITERS = 4;
const BIG = 256 * 1024;

/** One thread of the saver, from two sides. */
interface Bench {
  readonly saver: CheckedSaver;
  readonly other: CheckedSaver;
  readonly thread: string;
}

/** Where rows are attached. */
interface Spot {
  readonly n: number;
  readonly namespace?: string;
}

const CHECKS: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  "a private write comes back with its task id, its channel and its value": async (bench) => {
    await save(bench, { n: 1 });
    await write(bench, { n: 1 }, [SPENT_ID, SPENT, "v1.sealed_text-0"]);
    await write(bench, { n: 1 }, [`aa:${TASK}:n:${BINDING}`, "aa:null", 1]);
    same(
      await rows(bench, { n: 1 }),
      sorted([
        [`aa:${TASK}:n:${BINDING}`, "aa:null", 1],
        [SPENT_ID, SPENT, "v1.sealed_text-0"],
      ]),
      "the rows",
    );
  },

  "a private write on a checkpoint that is saved later comes back with it": async (bench) => {
    await write(bench, { n: 1 }, [SPENT_ID, SPENT, "early"]);
    await save(bench, { n: 1 });
    same(await rows(bench, { n: 1 }), [[SPENT_ID, SPENT, "early"]], "the rows");
  },

  "of two private writes under one task id the first stays": async (bench) => {
    const { saver, other } = bench;
    await save(bench, { n: 1 });
    await write(bench, { n: 1 }, [SPENT_ID, SPENT, "first"]);
    await write({ ...bench, saver: other }, { n: 1 }, [SPENT_ID, SPENT, "second"]);
    await write({ ...bench, saver }, { n: 1 }, [SPENT_ID, SPENT, "third"]);
    same(await rows(bench, { n: 1 }), [[SPENT_ID, SPENT, "first"]], "the rows");
  },

  "the first stays as well when the checkpoint is saved after both": async (bench) => {
    await write(bench, { n: 1 }, [SPENT_ID, SPENT, "first"]);
    await write({ ...bench, saver: bench.other }, { n: 1 }, [SPENT_ID, SPENT, "second"]);
    await save(bench, { n: 1 });
    same(await rows(bench, { n: 1 }), [[SPENT_ID, SPENT, "first"]], "the rows");
  },

  "of writers at the same time exactly one reads its own value back, and it stays": async (bench) => {
    for (let n = 1; n <= ROUNDS; n += 1) await raceOn(bench, { n });
  },

  "task ids that differ in anything are different": async (bench) => {
    const written = LOOKALIKES.map((taskId, index): SavedWrite => [taskId, DONE, `value ${index}`]);
    await save(bench, { n: 1 });
    for (const row of written) await write(bench, { n: 1 }, row);
    same(await rows(bench, { n: 1 }), sorted(written), "the rows");
  },

  "writes of the task itself and private ones leave each other alone": async (bench) => {
    await save(bench, { n: 1 });
    await write(bench, { n: 1 }, [SPENT_ID, SPENT, "private"]);
    await write(bench, { n: 1 }, [TASK, "__interrupt__", [{ value: "question" }]]);
    await write(bench, { n: 1 }, [TASK, "__interrupt__", [{ value: "newer question" }]]);
    await write(bench, { n: 1 }, [TASK, "answer", "output"]);
    await write(bench, { n: 1 }, [`aa:${TASK}:d:${BINDING}`, DONE, "private too"]);
    const expected: SavedWrite[] = [
      [SPENT_ID, SPENT, "private"],
      [TASK, "__interrupt__", [{ value: "newer question" }]],
      [TASK, "answer", "output"],
      [`aa:${TASK}:d:${BINDING}`, DONE, "private too"],
    ];
    same(await rows(bench, { n: 1 }), sorted(expected), "the rows");
  },

  "checkpoints, namespaces and threads have rows of their own": async (bench) => {
    const elsewhere: Bench = { ...bench, thread: `${bench.thread}-2` };
    const spots: [Bench, Spot][] = [
      [bench, { n: 1 }],
      [bench, { n: 2 }],
      [bench, { n: 1, namespace: `sub:${TASK}` }],
      [bench, { n: 1, namespace: `sub:${TASK}|inner:${TASK}` }],
      [elsewhere, { n: 1 }],
    ];
    try {
      for (const [index, [where, spot]] of spots.entries()) {
        await save(where, spot);
        await write(where, spot, [SPENT_ID, SPENT, `value ${index}`]);
      }
      for (const [index, [where, spot]] of spots.entries()) {
        same(await rows(where, spot), [[SPENT_ID, SPENT, `value ${index}`]], `the rows of place ${index}`);
      }
    } finally {
      await bench.saver.deleteThread(elsewhere.thread);
    }
  },

  "later checkpoints take nothing away": async (bench) => {
    await save(bench, { n: 1 });
    await write(bench, { n: 1 }, [SPENT_ID, SPENT, "kept"]);
    for (let n = 2; n <= 4; n += 1) await save(bench, { n }, n - 1);
    same(await rows(bench, { n: 1 }), [[SPENT_ID, SPENT, "kept"]], "the rows of the first");
    same(await rows(bench, { n: 4 }), [], "the rows of the last");
  },

  "long values come back whole": async (bench) => {
    const value = "aA0-_.".repeat(BIG / 6);
    await save(bench, { n: 1 });
    await write(bench, { n: 1 }, [`aa:${TASK}:d:${BINDING}`, DONE, value]);
    const [row] = await rows(bench, { n: 1 });
    holds(row?.[2] === value, `${value.length} characters came back changed`);
  },
};

const LOOKALIKES: readonly string[] = [
  `aa:${TASK}`,
  `aa:${TASK}:`,
  `aa:${TASK}:s`,
  `aa:${TASK}:s:A`,
  `aa:${TASK}:s:a`,
  `aa:${TASK}:s:a_`,
  `aa:${TASK}:s:a-`,
  `aa:${TASK}:s:aa`,
  `aa:${TASK}:s:${"a".repeat(63)}b`,
  `aa:${TASK}:s:${"a".repeat(63)}c`,
  `AA:${TASK}:s:a`,
];

async function whatIsWrong(run: () => Promise<void>): Promise<string> {
  try {
    await run();
    return "";
  } catch (error) {
    return error instanceof Error && error.message !== "" ? error.message : String(error);
  }
}

async function onThread(saver: CheckedSaver, other: CheckedSaver, check: (bench: Bench) => Promise<void>) {
  const thread = `aa-check-${randomId()}`;
  try {
    await check({ saver, other, thread });
  } finally {
    await saver.deleteThread(thread);
  }
}

async function raceOn(bench: Bench, spot: Spot): Promise<void> {
  await save(bench, spot);
  const writers = Array.from({ length: WRITERS }, async (_, index) => {
    const own = { ...bench, saver: index % 2 === 0 ? bench.saver : bench.other };
    // Not only in step: a saver may await between its check and its write.
    for (let ticks = (index * spot.n) % 7; ticks > 0; ticks -= 1) await Promise.resolve();
    await write(own, spot, [SPENT_ID, SPENT, `writer ${index}`]);
    return [`writer ${index}`, await onlyRow(own, spot)] as const;
  });
  const seen = await Promise.all(writers);
  const winners = seen.filter(([wrote, read]) => wrote === read);
  holds(winners.length === 1, `${winners.length} of ${WRITERS} writers read their own value back`);
  const stays = await onlyRow(bench, spot);
  holds(stays === winners[0]?.[0], "the value that was read back did not stay");
}

async function onlyRow(bench: Bench, spot: Spot): Promise<unknown> {
  const found = await rowsOf(bench.saver, bench.thread, spot);
  holds(found.length === 1, `${found.length} rows under one task id`);
  return found[0]?.[2];
}

async function save({ saver, thread }: Bench, { n, namespace = "" }: Spot, parent?: number): Promise<void> {
  const configurable = { thread_id: thread, checkpoint_ns: namespace };
  const checkpoint: SavedCheckpoint = {
    v: 4,
    id: checkpointId(n),
    ts: "2026-01-01T00:00:00.000Z",
    channel_values: { check: n },
    channel_versions: { check: n },
    versions_seen: {},
  };
  await saver.put(
    { configurable: parent === undefined ? configurable : { ...configurable, checkpoint_id: checkpointId(parent) } },
    checkpoint,
    { source: "loop", step: n, parents: {} },
    { check: n },
  );
}

async function write({ saver, thread }: Bench, spot: Spot, [taskId, channel, value]: SavedWrite): Promise<void> {
  await saver.putWrites(configOf(thread, spot), [[channel, value]], taskId);
}

/** Sorted, because nothing relies on their order; both sides must see the same. */
async function rows({ saver, other, thread }: Bench, spot: Spot): Promise<readonly SavedWrite[]> {
  const found = await rowsOf(saver, thread, spot);
  same(await rowsOf(other, thread, spot), found, "the rows seen from the other side");
  return found;
}

async function rowsOf(saver: CheckedSaver, thread: string, spot: Spot): Promise<readonly SavedWrite[]> {
  const tuple = await saver.getTuple(configOf(thread, spot));
  if (tuple === undefined) throw new Error("a checkpoint that was saved is not found");
  return sorted(tuple.pendingWrites ?? []);
}

function sorted(found: readonly SavedWrite[]): readonly SavedWrite[] {
  const keyed = found.map((row) => ({ row, key: JSON.stringify([row[0], row[1]]) }));
  return keyed
    .toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
    .map(({ row }) => [row[0], row[1], row[2]]);
}

function configOf(thread: string, { n, namespace = "" }: Spot): SaverConfig {
  return { configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: checkpointId(n) } };
}

/** In the order of time, as LangGraph's are. */
function checkpointId(n: number): string {
  return `1f0e0000-0000-6000-8000-${String(n).padStart(12, "0")}`;
}
