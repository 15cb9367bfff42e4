// What this process remembers about task runs: finished and running calls, asks, used answers. One structure per process,
// shared by every copy of the package in it; a new process starts without it.
//   P1  a task run is forgotten only when nobody is in it; used answers (claims) are never forgotten early
//   P2  bounded: 10 000 task runs, 24 hours, 64 MiB, whichever comes first

import type { Mark } from "../approvals/mark.js";
import { randomId } from "../crypto/random.js";
import { Asks } from "./asks.js";
import type { KeptOutcome, Outcome, Settled } from "./outcome.js";

/** Whoever started a call. It is gone when its attempt has settled or its signal is aborted. */
export interface AttemptOwner {
  readonly alive: boolean;
}

export interface RunningCall {
  readonly approved: boolean;
  /** Replaced when a re-run adopts a call that its first owner left behind. */
  owner: AttemptOwner;
  /** Never rejects. */
  readonly settled: Promise<Settled>;
}

export interface CallEntry {
  readonly rawDigest: string;
  outcome: Outcome | undefined;
  running: RunningCall | undefined;
  /** Its result was there already: nothing ran for it. */
  fromCache?: boolean;
}

/** Everything remembered about one task run. */
export interface TaskEntry {
  /** By call id: what runs and what has finished. */
  readonly calls: Map<string, CallEntry>;
  /** The newest ask of each call. */
  readonly asks: Asks;
  /** Ids of calls whose rule said yes: it is not asked again, not even for a call that waits behind another. */
  readonly needsHuman: Set<string>;
  /** Used answers by binding. */
  readonly marks: Map<string, Mark>;
  /** Digests of plain resume values that were refused. */
  readonly refused: Set<string>;
  /** Finished calls that nobody has written beside the task run yet. */
  readonly unwritten: Map<string, KeptOutcome>;
  /** Ids of sealed rows that were opened: what they say is in here, and a hundred of them are not opened on every re-run. */
  readonly opened: Set<string>;
  /** A gate was passed, and what it guards runs now, or has finished: no other run of it is let through. */
  behindGate?: "running" | "over" | undefined;
  /** What it is remembered under; `undefined` for a run that nobody can name. */
  readonly key: string | undefined;
  /** Attempts that are in it now. */
  attempts: number;
  /** False for a run that nobody can name, or whose entry was forgotten: it lives and dies with whoever holds it. */
  shared: boolean;
  /** How much it holds, roughly. */
  bytes: number;
  /** When it was last used, in milliseconds since the epoch. */
  touchedAt: number;
}

/** One used answer. `retry`: its claim was interrupted; the same token may go on. */
export interface ClaimEntry {
  readonly token: string;
  state: "held" | "retry";
  readonly guardUntil: number;
}

interface ProcessState {
  readonly id: string;
  readonly tasks: Map<string, TaskEntry>;
  readonly claims: Map<string, ClaimEntry>;
  /** Approved calls running now, by the group of task runs that LangGraph aborts together. */
  readonly busy: Map<string, Set<Promise<unknown>>>;
  bytes: number;
  /** When old task runs were last looked for. */
  sweptAt?: number;
}

export const JOURNAL_LIMITS = { tasks: 10_000, ageMs: 24 * 60 * 60 * 1000, bytes: 64 * 1024 * 1024 } as const;
/** How often task runs are looked for that are too old. */
const SWEEP_MS = 60 * 1000;
/** So many more may be there for a while: a walk to the oldest entries passes all that was deleted, so it must be rare. */
const SPARE_TASKS = 100;

// `Symbol.for` is not typed as unique; the cast says what it is.
const KEY: unique symbol = Symbol.for("agent-adapter/process/v1") as never;
type Shared = typeof globalThis & { [KEY]?: ProcessState };

/** The structure of this process, made on first use. */
export function processState(): ProcessState {
  const shared: Shared = globalThis;
  shared[KEY] ??= { id: randomId(), tasks: new Map(), claims: new Map(), busy: new Map(), bytes: 0 };
  return shared[KEY];
}

/** An entry for a run that nobody can name again. */
export function privateTaskEntry(): TaskEntry {
  return emptyTaskEntry(0, undefined);
}

function emptyTaskEntry(now: number, key: string | undefined): TaskEntry {
  return {
    key,
    calls: new Map(),
    asks: new Asks(),
    needsHuman: new Set(),
    marks: new Map(),
    refused: new Set(),
    unwritten: new Map(),
    opened: new Set(),
    attempts: 0,
    shared: key !== undefined,
    bytes: 0,
    touchedAt: now,
  };
}

/** The entry of a task run, made on first use and moved to the young end. */
export function taskEntry(key: string, now: number): TaskEntry {
  const { tasks } = processState();
  const known = tasks.get(key);
  if (known !== undefined && isOld(known, now)) forget(key, known);
  const entry = tasks.get(key) ?? emptyTaskEntry(now, key);
  tasks.delete(key);
  tasks.set(key, entry);
  entry.touchedAt = now;
  evict(now, entry);
  return entry;
}

/** From now on the entry is not forgotten: P1. */
export function hold(entry: TaskEntry): void {
  entry.attempts += 1;
}

/** It may be forgotten again, unless somebody else holds it. */
export function release(entry: TaskEntry): void {
  entry.attempts -= 1;
}

/** While the body runs, the entry is not forgotten. */
export async function holding<T>(entry: TaskEntry, body: () => Promise<T>): Promise<T> {
  hold(entry);
  try {
    return await body();
  } finally {
    release(entry);
  }
}

/**
 * Release it for an attempt that will not come back: with nothing remembered in it, it makes room for others. Only where all parts
 * of an attempt share one hold: one that comes later would find another entry.
 */
export function leave(entry: TaskEntry): void {
  release(entry);
  if (entry.attempts === 0 && entry.shared && entry.key !== undefined && isEmpty(entry)) forget(entry.key, entry);
}

function isEmpty({ calls, asks, needsHuman, marks, refused, unwritten, opened, behindGate }: TaskEntry): boolean {
  const held = [calls, asks, needsHuman, marks, refused, unwritten, opened];
  return behindGate === undefined && held.every(({ size }) => size === 0);
}

/** Account for what an entry holds. */
export function addBytes(entry: TaskEntry, bytes: number): void {
  if (!entry.shared) return;
  entry.bytes += bytes;
  processState().bytes += bytes;
}

function evict(now: number, wanted: TaskEntry): void {
  const state = processState();
  const { tasks, bytes, ageMs } = JOURNAL_LIMITS;
  const isFull = state.tasks.size > tasks + SPARE_TASKS || state.bytes > bytes;
  // A clock that was set back looks again, too.
  if (!isFull && Math.abs(now - (state.sweptAt ?? 0)) < SWEEP_MS) return;
  state.sweptAt = now;
  for (const [key, entry] of state.tasks) {
    const isCrowded = state.tasks.size > tasks || state.bytes > bytes;
    if (!isCrowded && now - entry.touchedAt <= ageMs) return;
    if (entry !== wanted && !isInUse(entry)) forget(key, entry);
  }
}

function isOld(entry: TaskEntry, now: number): boolean {
  return now - entry.touchedAt > JOURNAL_LIMITS.ageMs && !isInUse(entry);
}

function forget(key: string, entry: TaskEntry): void {
  const state = processState();
  state.tasks.delete(key);
  state.bytes -= entry.bytes;
  // Whoever still holds it may add to it; nobody would take that off again.
  entry.shared = false;
}

/** An attempt is in it, or a call that its attempt left behind still runs. */
function isInUse({ attempts, calls }: TaskEntry): boolean {
  return attempts > 0 || [...calls.values()].some(({ running }) => running !== undefined);
}
