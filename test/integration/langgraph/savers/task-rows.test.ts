// W1 for what is kept beside a task: marks, outcomes, finished plain calls and refused values of format 1, made once with
// node:crypto alone. Every later version must open them, and put its own rows where that one would look for them.
import { readFileSync } from "node:fs";
import { emptyCheckpoint, MemorySaver } from "@langchain/langgraph";
import { beforeEach, describe, expect, it } from "vitest";
import type { Mark } from "../../../../src/approvals/mark.js";
import { digest } from "../../../../src/crypto/digest.js";
import { KeyRing } from "../../../../src/crypto/keys.js";
import type { KeptOutcome } from "../../../../src/journal/outcome.js";
import type { PregelTask } from "../../../../src/integrations/langgraph/pregel-internals.js";
import { TaskJournal } from "../../../../src/integrations/langgraph/task-journal.js";
import { failure } from "../../../support/langgraph.js";

type Row = readonly [taskId: string, channel: string, value: unknown];

interface Fixture {
  readonly secret: string;
  readonly older: string;
  readonly owner: readonly string[];
  readonly taskId: string;
  readonly marks: readonly { readonly name: string; readonly mark: Mark; readonly row: Row }[];
  readonly outcomes: readonly { readonly name: string; readonly kept: KeptOutcome; readonly row: Row }[];
  readonly journal: { readonly calls: readonly KeptOutcome[]; readonly rows: readonly Row[] };
  readonly refused: { readonly value: string; readonly digest: string; readonly row: Row };
}

const text = readFileSync(new URL("../../../fixtures/wire-v1/task-rows.json", import.meta.url), "utf8");
const fixture: Fixture = JSON.parse(text);
const { secret, older, owner, taskId, marks, outcomes, journal, refused } = fixture;
const ring = KeyRing.of([secret, older], "secret");

let saver: MemorySaver;
let address: PregelTask["address"];
beforeEach(async () => {
  saver = new MemorySaver();
  const put = await saver.put({ configurable: { thread_id: "thread-1", checkpoint_ns: "" } }, emptyCheckpoint(), {
    source: "loop",
    step: 0,
    parents: {},
  });
  address = put as PregelTask["address"];
});

function journalUnder(keys: KeyRing, of: readonly string[] = owner): TaskJournal {
  // Of a task the journal reads these three.
  return new TaskJournal({ taskId, saver, address } as unknown as PregelTask, keys, of);
}

/** The rows as that version left them. */
async function keep(...rows: readonly Row[]): Promise<void> {
  const byTask = new Map<string, [string, unknown][]>();
  for (const [id, channel, value] of rows) byTask.set(id, [...(byTask.get(id) ?? []), [channel, value]]);
  for (const [id, writes] of byTask) await saver.putWrites(address, writes, id);
}

async function keptRows(): Promise<readonly Row[]> {
  return (await saver.getTuple(address))?.pendingWrites ?? [];
}

describe("W1/task-rows: rows of format 1", () => {
  it("W1/task-rows: there is something to check", () => {
    expect([marks.length, outcomes.length, journal.rows.length]).toEqual([4, 8, 2]);
  });

  it.each(marks)("W1/task-rows: a mark opens: $name", async ({ mark, row }) => {
    await keep(row);
    const found = await journalUnder(ring).read(new Set());
    expect(found.marks).toEqual([mark]);
    // Our own claim of the same binding is late: the row is where this version looks for it.
    const late = { ...mark, token: "another token" };
    expect(await failure(journalUnder(ring).mark(late))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    await journalUnder(ring).mark(mark);
    expect(await keptRows()).toHaveLength(1);
  });

  it.each(outcomes)("W1/task-rows: an outcome opens: $name", async ({ kept, row }) => {
    await keep(row);
    expect((await journalUnder(ring).read(new Set())).outcomes).toEqual([kept]);
    // The first write stays, so this version must write to the same place.
    await journalUnder(ring).keepOutcomes([{ ...kept, outcome: { status: "expired" } }]);
    expect(await keptRows()).toEqual([[...row]]);
  });

  it("W1/task-rows: the calls of one pause open together", async () => {
    await keep(...journal.rows);
    expect((await journalUnder(ring).read(new Set())).outcomes).toEqual(journal.calls);
    await journalUnder(ring).keepOutcomes(journal.calls);
    expect(await keptRows()).toHaveLength(2);
  });

  it("W1/task-rows: a refused plain value is known by its digest", async () => {
    await keep(refused.row);
    expect((await journalUnder(ring).read(new Set())).refused).toEqual([refused.digest]);
    expect(digest("agent-adapter/row/v1", ["json", refused.value])).toBe(refused.digest);
    await journalUnder(ring).refuse(refused.digest);
    expect(await keptRows()).toHaveLength(1);
  });

  it("W1/task-rows: all of them together, in any order", async () => {
    const rows = [...marks, ...outcomes].map(({ row }) => row).concat(journal.rows, [refused.row]);
    await keep(...rows.toReversed());
    const found = await journalUnder(ring).read(new Set());
    expect(found.marks).toHaveLength(4);
    expect(found.outcomes).toHaveLength(10);
    expect([found.refused, found.finished, found.interrupt]).toEqual([[refused.digest], false, undefined]);
  });
});

describe("J3/task-rows: tampered, moved, truncated or under another key", () => {
  const sealed = [...marks, ...outcomes].map(({ name, row }) => ({ name, row }));

  /** The same row with another sealed value. */
  const changed = ([id, channel, value]: Row, change: (value: string) => unknown): Row => [
    id,
    channel,
    change(String(value)),
  ];

  const CHANGES: Readonly<Record<string, (value: string) => unknown>> = {
    "its last character changed": (value) => value.slice(0, -1) + (value.endsWith("A") ? "B" : "A"),
    "a character in the middle changed": (value) => value.replace(/.(?=.{60}$)/, (c) => (c === "A" ? "B" : "A")),
    truncated: (value) => value.slice(0, -8),
    "of another version": (value) => value.replace("v1.", "v2."),
    "naming another key": (value) => value.replace(/^v1\.\w+/, "v1.00000000"),
    "not sealed at all": () => ({ v: 1, approved: true }),
    empty: () => "",
    null: () => null,
  };

  for (const [what, change] of Object.entries(CHANGES)) {
    it(`J3/task-rows: a row ${what} is a FlowError, whatever else is good`, async () => {
      for (const { row } of sealed) {
        const other = row[1] === "aa:spent" ? sealed.at(-1) : sealed[0];
        if (other === undefined) throw new Error("no other row");
        await saver.deleteThread("thread-1");
        const put = await saver.put({ configurable: { thread_id: "thread-1", checkpoint_ns: "" } }, emptyCheckpoint(), {
          source: "loop",
          step: 0,
          parents: {},
        });
        address = put as PregelTask["address"];
        await keep(other.row, changed(row, change));
        expect(await failure(journalUnder(ring).read(new Set()))).toMatchObject({ kind: "FlowError" });
      }
    });
  }

  it.each(sealed)("J3/task-rows: of another task run, or without its key, it does not open: $name", async ({ row }) => {
    await keep(row);
    for (const wrong of [["thread-2", owner[1] ?? ""], [owner[0] ?? "", "tools:other"], [...owner].toReversed(), []]) {
      expect(await failure(journalUnder(ring, wrong).read(new Set()))).toMatchObject({ kind: "FlowError" });
    }
    const foreign = KeyRing.of("another secret of 16+ bytes", "secret");
    expect(await failure(journalUnder(foreign).read(new Set()))).toMatchObject({ kind: "FlowError" });
  });

  it.each([
    ["an outcome for a mark", marks[0]?.row[0], "aa:spent", outcomes[0]?.row[2]],
    ["a mark for an outcome", outcomes[0]?.row[0], "aa:done", marks[0]?.row[2]],
  ])("J3/task-rows: %s does not open", async (_what, id, channel, value) => {
    await keep([id ?? "", channel, value]);
    expect(await failure(journalUnder(ring).read(new Set()))).toMatchObject({ kind: "FlowError" });
  });
});
