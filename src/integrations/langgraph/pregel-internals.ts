// The only file that touches LangGraph's internal keys (peer range >=1.7.0 <2). Reads defensively: a missing key is either
// "not in a graph" or an error that says so, never a guess.

import { Runnable, RunnableSequence, type RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { ToolUsageError } from "../../index.js";
import { membersOf } from "./members.js";

/** The part of a node's config that is read; everything in it may be missing. */
export interface NodeConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly executionInfo?: { readonly nodeAttempt?: number | undefined } | undefined;
}

/** Where the rows of a task are kept; the same on every re-run of the task. */
export interface TaskAddress {
  readonly configurable: {
    readonly thread_id: string;
    readonly checkpoint_ns: string;
    readonly checkpoint_id: string | undefined;
  };
}

/** One visit of one node, as LangGraph describes it. */
export interface PregelTask {
  /** Empty without a checkpointer. */
  readonly threadId: string;
  /** Names every task on the path to this one; the same on every re-run, another for a fork, a lap, a Send. */
  readonly namespace: string;
  readonly taskId: string;
  readonly address: TaskAddress;
  readonly saver: BaseCheckpointSaver | undefined;
  /** Is this a re-run of something that paused or failed? On a first visit there is nothing to read back. */
  readonly resuming: boolean;
  /** Above 1 when LangGraph's retry policy runs the node again within one invocation. */
  readonly attempt: number;
  /** One per attempt of a task: whoever runs in the same attempt sees the same object. */
  readonly attemptKey: object;
  readonly answers: AnswerSlots;
}

/** The resume values LangGraph holds for a task, by position. */
export interface AnswerSlots {
  /** How many positions have a value. */
  readonly count: number;
  at(position: number): unknown;
  /** Was this very value delivered by id in this invocation? Stored values were parsed from the checkpoint. */
  isFresh(value: unknown): boolean;
  /** Forget the values from this position on. */
  cut(position: number): void;
  /** Was a map of answers by id delivered in this invocation? */
  readonly byId: boolean;
  /** Did the caller say (`configurable.aa_resume: "none"`) that no plain value is meant for this invocation? */
  readonly noPlain: boolean;
  /** A value that names no interrupt, from this invocation or left over from an earlier one. */
  readonly plain: unknown;
  dropPlain(): void;
}

interface Scratchpad {
  readonly resume: unknown[];
  readonly nullResume?: unknown;
  consumeNullResume(): unknown;
}

/** Is this the config of something that runs inside a LangGraph node? */
export function isInTask(config: NodeConfig): boolean {
  return attemptKeyOf(config) !== undefined;
}

/** One object per attempt of a task; `undefined` outside a node. */
export function attemptKeyOf(config: NodeConfig): object | undefined {
  const scratchpad = config.configurable?.["__pregel_scratchpad"];
  return isScratchpad(scratchpad) ? scratchpad : undefined;
}

/** @throws ToolUsageError when the config is not one of a LangGraph node */
export function readTask(config: NodeConfig): PregelTask {
  const keys = config.configurable ?? {};
  const namespace = keys["checkpoint_ns"];
  const taskId = keys["__pregel_task_id"];
  const scratchpad = keys["__pregel_scratchpad"];
  if (typeof namespace !== "string" || typeof taskId !== "string" || !isScratchpad(scratchpad)) {
    throw new ToolUsageError(
      "not inside a LangGraph node (or a LangGraph outside >=1.7.0 <2): pass the node's config on",
    );
  }
  const attempt = config.executionInfo?.nodeAttempt ?? 1;
  const { thread: threadId, namespace: parent } = homeOf(config);
  const saver = asSaver(keys["__pregel_checkpointer"]);
  const checkpointId: unknown = Object.getOwnPropertyDescriptor(membersOf(keys["checkpoint_map"]), parent)?.value;
  return {
    threadId,
    namespace,
    taskId,
    address: {
      configurable: {
        thread_id: threadId,
        checkpoint_ns: parent,
        checkpoint_id: typeof checkpointId === "string" ? checkpointId : undefined,
      },
    },
    saver,
    resuming: keys["__pregel_resuming"] === true || attempt > 1,
    attempt,
    attemptKey: scratchpad,
    answers: answerSlots(scratchpad, keys["__pregel_resume_map"], keys[CONTINUE_KEY] === "none"),
  };
}

/** Where a run of a graph is kept: its thread, and its namespace within it. */
export interface Home {
  /** Empty without a checkpointer. */
  readonly thread: string;
  readonly namespace: string;
}

/** The home of the graph that a node is in. */
export function homeOf({ configurable }: NodeConfig): Home {
  const { thread_id: thread, checkpoint_ns: own } = configurable ?? {};
  const namespace = typeof own === "string" ? own.slice(0, Math.max(0, own.lastIndexOf("|"))) : "";
  return { thread: typeof thread === "string" ? thread : "", namespace };
}

/** Rows that LangGraph itself writes for a task that has not finished; any other row is output. */
export const UNFINISHED_CHANNELS: ReadonlySet<string> = new Set([
  "__error__",
  "__error_source_node__",
  "__interrupt__",
  "__resume__",
  "__scheduled__",
]);
export const INTERRUPT_CHANNEL = "__interrupt__";
/** Makes LangGraph refuse an answer to an interrupt that is not pending, before anything is written. */
export const STRICT_RESUME_KEY = "__pregel_strict_resume";
/** Ours: `"none"` says that no plain value is meant for this invocation. */
export const CONTINUE_KEY = "aa_resume";

function answerSlots(scratchpad: Scratchpad, resumeMap: unknown, noPlain: boolean): AnswerSlots {
  const delivered = Object.values(membersOf(resumeMap));
  return {
    get count() {
      return scratchpad.resume.length;
    },
    at: (position) => scratchpad.resume[position],
    isFresh: (value) => delivered.includes(value),
    cut(position) {
      scratchpad.resume.length = position;
    },
    byId: typeof resumeMap === "object" && resumeMap !== null,
    noPlain,
    get plain() {
      return scratchpad.nullResume;
    },
    dropPlain() {
      if (scratchpad.nullResume !== undefined) scratchpad.consumeNullResume();
    },
  };
}

function isScratchpad(value: unknown): value is Scratchpad {
  return (
    typeof value === "object" &&
    value !== null &&
    "resume" in value &&
    Array.isArray(value.resume) &&
    "consumeNullResume" in value &&
    typeof value.consumeNullResume === "function"
  );
}

function asSaver(value: unknown): BaseCheckpointSaver | undefined {
  // By shape: two copies of the checkpoint package have two classes.
  const fits = typeof value === "object" && value !== null && "getTuple" in value && "putWrites" in value;
  // What has these two methods under this key is the saver LangGraph was compiled with.
  return fits ? (value as BaseCheckpointSaver) : undefined;
}

/** A channel that is written when a node is to run, in the step before. */
const TRIGGER = "branch:to:";

/** Which of these nodes run in the step that this config belongs to. LangGraph's own schedule: no state that anybody can write. */
export function scheduledOf(config: NodeConfig, nodes: readonly string[]): string[] {
  const triggers = nodes.map((node) => TRIGGER + node);
  const written = readState(config, triggers);
  return nodes.filter((node) => Object.hasOwn(written, TRIGGER + node));
}

const SENT = "__pregel_push";

/** Was this task sent to its node? Otherwise a way led there. */
export function wasSent({ metadata }: NodeConfig): boolean {
  const path: unknown = metadata?.["langgraph_path"];
  if (!Array.isArray(path)) throw new ToolUsageError("this LangGraph does not say how a node was started");
  return path[0] === SENT;
}

/**
 * Write all of a node's output in one go. What a node returns LangGraph writes in two, state first and ways after; when a sibling fails
 * in between, it keeps the state without the ways, and the branch ends there without a word.
 */
export function writeAtOnce(
  config: NodeConfig,
  {
    state,
    next,
  }: { readonly state: readonly (readonly [channel: string, value: unknown])[]; readonly next: readonly string[] },
): void {
  const write = config.configurable?.["__pregel_send"];
  if (typeof write !== "function") throw new ToolUsageError("this LangGraph does not take what a node writes");
  write([...state, ...next.map((node) => [TRIGGER + node, null])]);
}

/** What an app makes of its input. */
type Begin = (input: unknown, config: NodeConfig) => Promise<void>;

class Beginning extends Runnable<unknown, void> {
  override lc_namespace = ["agent-adapter", "langgraph"];
  readonly #begin: Begin;

  constructor(begin: Begin) {
    super();
    this.#begin = begin;
  }

  override invoke(input: unknown, config?: Partial<RunnableConfig>): Promise<void> {
    return this.#begin(input, config ?? {});
  }
}

/** LangGraph merges a new input into the state as it is, and only then lets anybody look at it: instead, do this with it. */
export function replaceBeginning(app: object, begin: Begin): void {
  nodeOf(app, "__start__").writers = [new Beginning(begin)];
}

/** LangGraph's own writers, for what others write in the name of a node that writes for itself (`updateState`). */
class WritersForOthers extends Runnable {
  override lc_namespace = ["agent-adapter", "langgraph"];
  readonly #writers: Runnable;

  constructor(writers: Runnable) {
    super();
    this.#writers = writers;
  }

  override invoke(input: unknown, config?: Partial<RunnableConfig>): Promise<unknown> {
    return input === undefined ? Promise.resolve() : this.#writers.invoke(input, config);
  }
}

/** After a node that returns nothing, because it uses `writeAtOnce`, LangGraph's writers would do nothing; they take longer than it. */
export function skipIdleWriters(app: object, names: Iterable<string>): void {
  for (const name of names) {
    const node = nodeOf(app, name);
    const [first, ...middle] = node.writers;
    const last = middle.pop();
    if (first === undefined || last === undefined) continue;
    node.writers = [new WritersForOthers(new RunnableSequence({ first, middle, last, omitSequenceTags: true }))];
  }
}

/** A node of a compiled graph. */
function nodeOf(app: object, name: string): { writers: Runnable[] } {
  const nodes: unknown = Reflect.get(app, "nodes");
  const node: unknown = Object.getOwnPropertyDescriptor(membersOf(nodes), name)?.value;
  if (typeof node !== "object" || node === null || !Array.isArray(Reflect.get(node, "writers")))
    throw new ToolUsageError("this LangGraph makes nodes in a way this release does not know");
  // LangGraph runs what is in this list after the node.
  return node as { writers: Runnable[] };
}

/** The values of these channels in the step, in an object of their own; those without a value are not there. */
export function readState(config: NodeConfig, channels: readonly string[]): Readonly<Record<string, unknown>> {
  const read = config.configurable?.["__pregel_read"];
  if (typeof read !== "function") throw new ToolUsageError("this LangGraph does not say which nodes run in a step");
  return membersOf(read(channels));
}

/** All tasks of one step in one invocation get this very signal. */
export function stepSignal(config: NodeConfig): AbortSignal {
  if (config.signal !== undefined) return config.signal;
  throw new ToolUsageError("this LangGraph runs nodes without a signal");
}

/** LangGraph refuses a node that is named like a state field; its channels do not clash: a node's has a prefix. */
export function addNamedLikeField(graph: { channels: Record<string, unknown> }, name: string, add: () => void): void {
  const channel = graph.channels[name];
  Reflect.deleteProperty(graph.channels, name);
  try {
    add();
  } finally {
    if (channel !== undefined) graph.channels[name] = channel;
  }
}
