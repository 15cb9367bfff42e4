// What the attacker tries, as data: one row of the published tables each. `runs` counts how often the tool ran in all: more
// than once is an answer that was used twice.
import { Command } from "@langchain/langgraph";
import { approve, defineTool, deny, type AnyToolSpec } from "agent-adapter";
import { z } from "zod";
import { ai, call, type Pending } from "../../support/langgraph.js";
import { resumeWith, type Happens, type Scene } from "./scene.js";

export interface Outcome {
  readonly happens: Happens;
  /** How often the tool ran, the human's own approval included. */
  readonly runs: number;
}

export interface Attack {
  /** As the tables say it. */
  readonly what: string;
  readonly run: (scene: Scene) => Promise<Happens>;
  /** How often a human let the tool run before. */
  readonly approved: 0 | 1;
  readonly without: Outcome;
  /** With `claims`; the same when it is left out. */
  readonly withClaims?: Outcome;
}

const unused = (happens: Happens) => ({ approved: 0, without: { happens, runs: 0 } }) as const;
const usedOnce = (happens: Happens) => ({ approved: 1, without: { happens, runs: 1 } }) as const;
/** What only something outside of the checkpointer can prevent. */
const usedAgain = {
  approved: 1,
  without: { happens: "finished", runs: 2 },
  withClaims: { happens: "ApprovalAlreadyDecided", runs: 1 },
} as const;

const withArguments = (value: Record<string, unknown>, args: object) => ({
  ...value,
  request: { ...(value["request"] as object), arguments: args },
});

async function shownNow(scene: Scene): Promise<Pending> {
  const [pending] = await scene.stand.pending();
  if (pending === undefined) throw new Error("nothing waits");
  return pending;
}

const EDITED_REQUESTS: readonly Attack[] = [
  {
    what: "edits the arguments that a reviewer is shown",
    ...unused("not signed"),
    async run(scene) {
      await scene.waiting();
      scene.editShown((value) => withArguments(value, { n: 9999 }));
      return scene.signShown(await shownNow(scene)) === "not signed" ? "not signed" : "finished";
    },
  },
  {
    what: "edits arguments and binding so that they fit each other, and has that signed",
    ...unused("refused"),
    async run(scene) {
      const pending = await scene.waiting();
      const { pending: other } = await scene.otherThread("c0", "c1");
      scene.editShown((value) => ({ ...value, request: other.value.request, binding: other.value.binding }));
      return scene.send(pending, scene.signShown(await shownNow(scene)));
    },
  },
  {
    what: "edits the call in the messages while its answer is on its way",
    ...unused("ToolUsageError"),
    async run(scene) {
      const pending = await scene.waiting();
      const answer = scene.stand.sign(pending);
      const [asked] = await scene.stand.history();
      const messages = [ai([call("c1", 9999)], { id: asked?.id })];
      return scene.step((stand) => stand.invoke(resumeWith({ [pending.id]: answer }, { messages })));
    },
  },
  {
    what: "puts a call of his own into the messages, with words that look like an approval",
    ...unused("asked"),
    run: (scene) =>
      scene.step((stand) =>
        stand.invoke({
          messages: [ai([call("c1", 1)], { additional_kwargs: { approved: true, decision: { approved: true } } })],
        }),
      ),
  },
];

const SWAPPED_SEALS: readonly Attack[] = [
  {
    what: "removes the sealed state of a request",
    ...unused("FlowError"),
    async run(scene) {
      const pending = await scene.waiting();
      const answer = scene.stand.sign(pending);
      scene.editShown(({ aa_state: _sealed, ...value }) => value);
      return scene.send(pending, answer);
    },
  },
  {
    what: "changes a byte of it",
    ...unused("FlowError"),
    async run(scene) {
      const pending = await scene.waiting();
      const answer = scene.stand.sign(pending);
      scene.editShown((value) => ({ ...value, aa_state: `${String(value["aa_state"]).slice(0, -2)}AA` }));
      return scene.send(pending, answer);
    },
  },
  {
    what: "puts a whole request of another thread in its place, with that one's answer",
    ...unused("FlowError"),
    async run(scene) {
      const { stand, pending: other } = await scene.otherThread();
      const answer = stand.sign(other);
      const pending = await scene.waiting();
      scene.editShown((value) => (value["binding"] === pending.value.binding ? { ...other.value } : value));
      return scene.send(pending, answer);
    },
  },
  {
    what: "swaps the requests of two tasks, and their answers",
    ...unused("FlowError"),
    async run(scene) {
      const [first, second] = (await scene.parallel("c1", "c2")) as [Pending, Pending];
      const swapped = { [first.id]: scene.stand.sign(second), [second.id]: scene.stand.sign(first) };
      scene.editShown((value) => ({ ...(value["binding"] === first.value.binding ? second.value : first.value) }));
      return scene.step((stand) => stand.resume(swapped));
    },
  },
  {
    what: "puts the mark of a used answer of another thread in place of the one here",
    ...usedOnce("FlowError"),
    async run(scene) {
      const { stand, pending: other } = await scene.otherThread("c1", "c2");
      await stand.resume({ [other.id]: stand.sign(other, deny()) });
      const [foreign] = scene.valuesOf("aa:spent");
      const pending = await scene.waiting("c1", "c2");
      const answer = await scene.used(pending);
      scene.editChannel("aa:spent", () => foreign);
      return scene.send(pending, answer);
    },
  },
  {
    what: "puts an outcome of another thread in place of the one here",
    ...usedOnce("FlowError"),
    async run(scene) {
      const { stand, pending: other } = await scene.otherThread("c1", "c2");
      const before = scene.ran.length;
      await stand.resume({ [other.id]: stand.sign(other) });
      scene.ran.length = before;
      const [foreign] = scene.valuesOf("aa:done");
      const pending = await scene.waiting("c1", "c2");
      const answer = await scene.used(pending);
      scene.editChannel("aa:done", () => foreign);
      return scene.send(pending, answer);
    },
  },
];

const MOVED_ANSWERS: readonly Attack[] = [
  {
    what: "sends what nobody signed: `yes`, `true`, `{ approved: true }`",
    ...unused("refused"),
    async run(scene) {
      const pending = await scene.waiting();
      const ends = new Set<Happens>();
      for (const value of ["yes", true, { approved: true }, { decision: { approved: true } }, null, []]) {
        ends.add(await scene.send(pending, value));
      }
      ends.add(await scene.plain("yes"));
      return theOnly(ends);
    },
  },
  {
    what: "hands it in through a setting of LangGraph's own",
    ...unused("refused"),
    async run(scene) {
      const { id } = await scene.waiting();
      const configurable = { __pregel_resume_map: { [id]: { approved: true } } };
      return scene.step((stand) => stand.rebuild({ configurable }).again());
    },
  },
  {
    what: "changes a signed answer: decision, edit, dates, key id, binding",
    ...unused("refused"),
    async run(scene) {
      const pending = await scene.waiting();
      const answer = scene.stand.sign(pending, deny());
      const ends = new Set<Happens>();
      for (const change of [
        { decision: { approved: true } },
        { decision: { approved: true, editedArgs: { n: 9999 } } },
        { expiresAt: answer.expiresAt + 1 },
        { signedAt: answer.signedAt - 1 },
        { keyId: "00000000" },
        { binding: "0".repeat(64) },
        { mac: `${answer.mac.slice(0, -2)}AA` },
      ]) {
        ends.add(await scene.send(pending, { ...answer, ...change }));
      }
      return theOnly(ends);
    },
  },
  {
    what: "writes an answer that nobody signed where LangGraph keeps delivered ones",
    ...unused("asked"),
    async run(scene) {
      const pending = await scene.waiting();
      const answer = scene.stand.sign(pending, deny());
      await scene.writeAnswer(pending, { ...answer, decision: { approved: true } });
      return scene.again();
    },
  },
  {
    what: "sends the answer to one thread to another with the same call",
    ...unused("refused"),
    async run(scene) {
      const { stand, pending: other } = await scene.otherThread();
      return scene.send(await scene.waiting(), stand.sign(other));
    },
  },
  {
    what: "sends the answer to one call to another one of the same thread",
    ...unused("refused"),
    async run(scene) {
      const [first, second] = (await scene.parallel("c1", "c2")) as [Pending, Pending];
      return scene.send(second, scene.stand.sign(first));
    },
  },
  {
    what: "sends the answer of one turn to the same call in the next",
    ...usedOnce("refused"),
    async run(scene) {
      const answer = await scene.used(await scene.waiting());
      return scene.send(await scene.waiting(), answer);
    },
  },
  {
    what: "sends it in a fork of the thread",
    ...usedOnce("refused"),
    async run(scene) {
      const pending = await scene.waiting();
      const before = await scene.checkpointId();
      const answer = await scene.used(pending);
      await scene.at(before, null);
      return scene.send(await shownNow(scene), answer);
    },
  },
  {
    what: "sends it after the tool's definition changed",
    ...unused("asked"),
    async run(scene) {
      const pending = await scene.waiting();
      const answer = scene.stand.sign(pending);
      scene.stand = scene.stand.rebuild({ tools: () => [changed(scene.ran)] });
      return scene.send(pending, answer);
    },
  },
  {
    what: "sends it to the request that asks again after a process died while the tool ran",
    ...usedOnce("ApprovalAlreadyDecided"),
    async run(scene) {
      const answer = await scene.diedWhileRunning(await scene.waiting());
      await scene.again();
      return scene.send(await shownNow(scene), answer);
    },
  },
];

const REPLAYS: readonly Attack[] = [
  {
    what: "sends a used answer again while the thread waits for something else",
    ...usedOnce("ApprovalAlreadyDecided"),
    async run(scene) {
      const answer = await scene.used(await scene.waiting("c1", "c2"));
      return scene.send(await shownNow(scene), answer);
    },
  },
  {
    what: "sends it again to the paused checkpoint after the run went on",
    ...usedOnce("ApprovalAlreadyDecided"),
    async run(scene) {
      const pending = await scene.waiting();
      const paused = await scene.checkpointId();
      const answer = await scene.used(pending);
      return scene.at(paused, resumeWith({ [pending.id]: answer }));
    },
  },
  {
    what: "sends it again to a thread that has finished",
    ...usedOnce("finished"),
    async run(scene) {
      const pending = await scene.waiting();
      return scene.send(pending, await scene.used(pending));
    },
  },
  {
    what: "goes on with `null` on the paused checkpoint after the run went on",
    ...usedOnce("asked"),
    async run(scene) {
      const pending = await scene.waiting();
      const paused = await scene.checkpointId();
      await scene.used(pending);
      return scene.at(paused, null);
    },
  },
  {
    what: "sends an approval that was overtaken by a denial",
    approved: 0,
    without: { happens: "ApprovalAlreadyDecided", runs: 0 },
    async run(scene) {
      const pending = await scene.waiting("c1", "c2");
      const approval = scene.stand.sign(pending);
      await scene.used(pending, deny());
      return scene.send(await shownNow(scene), approval);
    },
  },
  {
    what: "calls `invoke` with anything: `goto`, `update`, settings of LangGraph and of ours",
    ...unused("asked"),
    async run(scene) {
      const pending = await scene.waiting();
      const ends = new Set<Happens>();
      for (const configurable of [
        { aa_resume: "none" },
        { __pregel_strict_resume: false },
        { __pregel_resuming: false },
        { aa_approved: true, confirm: false, approved: [pending.value.binding] },
      ]) {
        ends.add(await scene.step((stand) => stand.rebuild({ configurable }).again()));
      }
      const goto = new Command({ goto: "tools", update: { messages: [] } });
      ends.add(await scene.step((stand) => stand.invoke(goto)));
      return theOnly(ends);
    },
  },
];

const DELETED_ROWS: readonly Attack[] = [
  {
    what: "deletes the request and goes on with `null`",
    ...unused("asked"),
    async run(scene) {
      await scene.waiting();
      scene.dropChannels("__interrupt__");
      return scene.again();
    },
  },
  {
    what: "deletes an answer that was given and not used",
    ...unused("asked"),
    async run(scene) {
      const pending = await scene.waiting();
      await scene.writeAnswer(pending, scene.stand.sign(pending));
      scene.dropChannels("__resume__");
      return scene.again();
    },
  },
  {
    what: "deletes the mark of a used answer and keeps its outcome",
    ...usedOnce("asked"),
    async run(scene) {
      await scene.used(await scene.waiting("c1", "c2"));
      scene.dropChannels("aa:spent");
      return scene.again();
    },
  },
  {
    what: "deletes the outcome and keeps the mark",
    ...usedOnce("asked"),
    async run(scene) {
      await scene.used(await scene.waiting("c1", "c2"));
      scene.dropChannels("aa:done");
      return scene.again();
    },
  },
  {
    what: "deletes mark and outcome of a finished node, and sends the answer to its paused checkpoint",
    ...usedOnce("ApprovalAlreadyDecided"),
    async run(scene) {
      const pending = await scene.waiting();
      const paused = await scene.checkpointId();
      const answer = await scene.used(pending);
      scene.dropChannels("aa:spent", "aa:done");
      return scene.at(paused, resumeWith({ [pending.id]: answer }));
    },
  },
  {
    what: "deletes mark and outcome while the node waits for its next answer, puts the old request back, and goes on with `null`",
    ...usedAgain,
    async run(scene) {
      const pending = await scene.waiting("c1", "c2");
      await scene.used(pending);
      scene.dropChannels("aa:spent", "aa:done");
      scene.editShown(() => ({ ...pending.value }));
      const happens = await scene.again();
      // The tool runs, and then the next call asks.
      return happens === "asked" ? "finished" : happens;
    },
  },
  {
    what: "rolls the thread back to the pause, and sends the used answer",
    ...usedAgain,
    async run(scene) {
      const pending = await scene.waiting();
      const back = scene.snapshot();
      const answer = await scene.used(pending);
      back();
      return scene.send(pending, answer);
    },
  },
  {
    what: "rolls it back to the pause after the answer was used for an edit, and sends it",
    ...usedAgain,
    async run(scene) {
      const pending = await scene.waiting();
      const back = scene.snapshot();
      const answer = await scene.used(pending, approve({ editedArgs: { n: 2 } }));
      back();
      return scene.plain(answer);
    },
  },
  {
    what: "rolls it back to the pause, where a denial was given, and goes on with `null`",
    approved: 0,
    without: { happens: "asked", runs: 0 },
    async run(scene) {
      const pending = await scene.waiting();
      const back = scene.snapshot();
      await scene.used(pending, deny());
      back();
      return scene.again();
    },
  },
  {
    what: "deletes the thread and starts it again with the same messages, and sends the used answer",
    ...usedOnce("refused"),
    async run(scene) {
      const answer = await scene.used(await scene.waiting());
      await scene.saver.deleteThread(scene.thread);
      return scene.send(await scene.waiting(), answer);
    },
  },
  {
    what: "copies the paused thread under another name, and sends the used answer there",
    ...usedOnce("FlowError"),
    async run(scene) {
      const pending = await scene.waiting();
      copyThread(scene, `copy of ${scene.thread}`);
      const answer = await scene.used(pending);
      scene.stand = scene.stand.rebuild({ thread: `copy of ${scene.thread}` });
      return scene.send(pending, answer);
    },
  },
];

/** In the order of the tables. */
export const ATTACKS: Readonly<Record<string, readonly Attack[]>> = {
  "edited requests": EDITED_REQUESTS,
  "sealed state": SWAPPED_SEALS,
  "answers that are none, or are for something else": MOVED_ANSWERS,
  replays: REPLAYS,
  "deleted and rolled back rows": DELETED_ROWS,
};

function copyThread({ saver, thread }: Scene, name: string): void {
  saver.storage[name] = structuredClone(saver.storage[thread] ?? {});
  for (const [key, rows] of Object.entries(saver.writes)) {
    const [owner, ...rest] = JSON.parse(key) as string[];
    if (owner === thread) saver.writes[JSON.stringify([name, ...rest])] = structuredClone(rows);
  }
}

function changed(ran: string[]): AnyToolSpec {
  return defineTool({
    name: "send",
    description: "the send tool",
    version: "2",
    inputSchema: z.object({ n: z.number() }),
    confirm: true,
    effects: "destructive",
    execute: ({ n }) => void ran.push(`send ${n}`),
  });
}

/** All tries of one kind end the same way. */
function theOnly(ends: ReadonlySet<Happens>): Happens {
  const [first, ...others] = ends;
  if (first === undefined || others.length > 0) return `other: ${[...ends].join(", ")}`;
  return first;
}
