// A thread, its tool node and its checkpointer, and an attacker beside them: reads and writes every row, replays every byte he
// has seen, calls `invoke` with anything, and has no key. Each of his steps goes to a process that remembers nothing.
import { Command, MemorySaver } from "@langchain/langgraph";
import { approve, isAgentAdapterError, MemoryClaimStore, type Answer, type ApprovalDecision } from "agent-adapter";
import { isInvalidAnswer } from "agent-adapter/langgraph";
import {
  asking,
  aTaskPerCall,
  call,
  editInterrupts,
  editRows,
  KEY,
  one,
  sleep,
  Stand,
  type Pending,
  type Turn,
} from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";

/** How a step of his ends, in the words of the published tables. */
export type Happens =
  /** LangGraph's invalid resume. */
  | "refused"
  /** A request waits for a human; nothing ran. */
  | "asked"
  /** A human cannot sign what is shown. */
  | "not signed"
  /** The run is at its end, or goes on without the tool. */
  | "finished"
  | "FlowError"
  | "ApprovalAlreadyDecided"
  | "ToolUsageError"
  | `other: ${string}`;

type Row = [taskId: string, channel: string, value: Uint8Array];

let threads = 0;

export class Scene {
  readonly ran: string[] = [];
  readonly saver = new MemorySaver();
  stand: Stand;

  constructor(withClaims: boolean) {
    threads += 1;
    this.stand = new Stand({
      tools: () => [asking(this.ran, "send")],
      saver: this.saver,
      thread: `attacked-${threads}`,
      // Nobody else works on it: a use without an outcome is lost at once.
      approval: { key: KEY, unknownAfterMs: 1 },
      ...(withClaims ? { claims: new MemoryClaimStore() } : {}),
    });
  }

  get thread(): string {
    return this.stand.thread;
  }

  /** The first of the calls waits for a human. */
  async waiting(...ids: readonly string[]): Promise<Pending> {
    return one((await this.stand.start(...callsOf(ids))).interrupts);
  }

  /** Calls of one message in tasks of their own, each with its request. */
  async parallel(...ids: readonly string[]): Promise<readonly Pending[]> {
    this.stand = this.stand.rebuild({ graph: aTaskPerCall });
    return (await this.stand.start(...callsOf(ids))).interrupts;
  }

  /** A human approves, the tool runs, and the attacker has seen the answer. */
  async used(pending: Pending, decision?: ApprovalDecision): Promise<Answer> {
    const answer = this.stand.sign(pending, decision);
    await this.stand.resume({ [pending.id]: answer });
    return answer;
  }

  /** Another thread of the same program, with a request of its own. */
  async otherThread(...ids: readonly string[]): Promise<{ readonly stand: Stand; readonly pending: Pending }> {
    threads += 1;
    const stand = this.stand.rebuild({ thread: `other-${threads}` });
    return { stand, pending: one((await stand.start(...callsOf(ids))).interrupts) };
  }

  // ---- what he does to the program

  /** One step in a process that remembers nothing. */
  async step(go: (stand: Stand) => Promise<Turn>): Promise<Happens> {
    await sleep(2);
    forgetProcess();
    this.stand = this.stand.rebuild();
    try {
      return (await go(this.stand)).interrupts.length > 0 ? "asked" : "finished";
    } catch (error) {
      return nameOf(error);
    }
  }

  send(pending: Pick<Pending, "id">, value: unknown): Promise<Happens> {
    return this.step((stand) => stand.resume({ [pending.id]: value }));
  }

  plain(value: unknown): Promise<Happens> {
    return this.step((stand) => stand.plain(value));
  }

  again(): Promise<Happens> {
    return this.step((stand) => stand.again());
  }

  /** On an older checkpoint. */
  async at(checkpointId: string, input: unknown): Promise<Happens> {
    return this.step((stand) => stand.rebuild({ configurable: { checkpoint_id: checkpointId } }).invoke(input));
  }

  // ---- what a human does with what he was made to see

  /** Signs exactly what is shown, where only the answer key is. */
  signShown(shown: Pending, decision: ApprovalDecision = approve()): Answer | "not signed" {
    const { aa_state: _sealed, ...value } = shown.value;
    try {
      return this.stand.port.resumeValue({ id: shown.id, value }, decision);
    } catch {
      return "not signed";
    }
  }

  // ---- what he does to the rows

  async checkpointId(): Promise<string> {
    const { config } = await this.stand.app.getState({ configurable: { thread_id: this.thread } });
    return (config as { configurable: { checkpoint_id: string } }).configurable.checkpoint_id;
  }

  /** Everything there is, to be put back later. */
  snapshot(): () => void {
    const { storage, writes } = structuredClone({ storage: this.saver.storage, writes: this.saver.writes });
    return () => {
      this.saver.storage = structuredClone(storage);
      this.saver.writes = structuredClone(writes);
    };
  }

  /** A human approved, and the process died while the tool ran: there is the mark of the use, and nothing after it. */
  async diedWhileRunning(pending: Pending): Promise<Answer> {
    const back = this.snapshot();
    const answer = await this.used(pending);
    const marks = this.rows().filter(([, , [, channel]]) => channel === "aa:spent");
    back();
    for (const [where, key, row] of marks) (this.saver.writes[where] ??= {})[key] = row;
    return answer;
  }

  rows(): [where: string, key: string, row: Row][] {
    return Object.entries(this.saver.writes).flatMap(([where, rows]) =>
      Object.entries(rows).map(([key, row]): [string, string, Row] => [where, key, row as Row]),
    );
  }

  /** How many rows were deleted. */
  drop(which: (row: Row) => boolean): number {
    const found = this.rows().filter(([, , row]) => which(row));
    for (const [where, key] of found) delete this.saver.writes[where]?.[key];
    if (found.length === 0) throw new Error("there was nothing to delete");
    return found.length;
  }

  dropChannels(...channels: readonly string[]): number {
    return this.drop(([, channel]) => channels.includes(channel));
  }

  editShown(edit: (value: Record<string, unknown>) => Record<string, unknown>): void {
    editInterrupts(this.saver, edit);
  }

  editChannel(channel: string, edit: (value: unknown) => unknown): void {
    if (editRows(this.saver, channel, edit) === 0) throw new Error(`there was no ${channel}`);
  }

  /** The values of a channel, in the order of their rows. */
  valuesOf(channel: string): unknown[] {
    const values: unknown[] = [];
    this.editChannel(channel, (value) => {
      values.push(value);
      return value;
    });
    return values;
  }

  /** Writes an answer where LangGraph keeps those that were delivered. */
  async writeAnswer(pending: Pending, value: unknown): Promise<void> {
    const { tasks } = await this.stand.app.getState(this.stand.config);
    const task = tasks.find(({ interrupts }) => interrupts.some((each) => (each as Pending).id === pending.id));
    const configurable = { thread_id: this.thread, checkpoint_ns: "", checkpoint_id: await this.checkpointId() };
    await this.saver.putWrites({ configurable }, [["__resume__", [value]]], task?.id ?? "");
  }
}

function callsOf(ids: readonly string[]) {
  return (ids.length === 0 ? ["c1"] : ids).map((id, index) => call(id, index + 1));
}

function nameOf(error: unknown): Happens {
  if (error instanceof AggregateError) {
    const names = new Set(error.errors.map(nameOf));
    const [name] = names;
    return name !== undefined && names.size === 1 ? name : `other: ${[...names].join(", ")}`;
  }
  if (isInvalidAnswer(error)) return "refused";
  if (isAgentAdapterError(error)) {
    const { kind } = error;
    if (kind === "FlowError" || kind === "ApprovalAlreadyDecided" || kind === "ToolUsageError") return kind;
    return `other: ${kind}`;
  }
  return `other: ${error instanceof Error ? error.name : String(error)}`;
}

export const resumeWith = (values: Record<string, unknown>, update?: Record<string, unknown>) =>
  new Command({ resume: values, ...(update === undefined ? {} : { update }) });
