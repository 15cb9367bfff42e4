// What every contract is made of: named cases that throw on a violation, each on a store of its own. No test runner needed.

import { isAgentAdapterError, type Clock, type ErrorKind } from "../index.js";
import { canonicalJson, isJson } from "../spi.js";
import { ManualClock } from "./manual-clock.js";

/** One promise of a contract. */
export interface ContractCase {
  /** A sentence about behaviour. */
  readonly name: string;
  /** Rejects when the promise is broken. */
  readonly run: () => Promise<void>;
}

/** Makes an empty store whose times come from this clock. Called once a case. */
export type MakeStore<Store> = (clock: Clock) => Store | Promise<Store>;

/** How a case gets at the same data twice, and cleans up. */
export interface ContractOptions<Store> {
  /** Another handle on what this one keeps: a second connection or a fresh object on the same file. Default: the same one. */
  readonly reopen?: (store: Store) => Store | Promise<Store>;
  /** Called for every handle when a case is over. Default: nothing is closed. */
  readonly close?: (store: Store) => void | Promise<void>;
}

/** What a case works on. */
export interface Bench<Store> {
  readonly store: Store;
  /** A second handle on the same data. */
  readonly other: Store;
  readonly clock: ManualClock;
}

export type CaseBody<Store> = (bench: Bench<Store>) => Promise<void>;

/** 2026-01-01, so that times are neither 0 nor now. */
export const START_MS = Date.UTC(2026, 0, 1);
/** How many callers race. */
export const RACERS = 50;

export function contract<Store>(
  make: MakeStore<Store>,
  { reopen, close }: ContractOptions<Store>,
  bodies: Readonly<Record<string, CaseBody<Store>>>,
): ContractCase[] {
  return Object.entries(bodies).map(([name, body]) => ({ name, run: () => onBench(body) }));

  async function onBench(body: CaseBody<Store>): Promise<void> {
    const clock = new ManualClock(START_MS);
    const store = await make(clock);
    const other = reopen === undefined ? store : await reopen(store);
    try {
      await body({ store, other, clock });
    } finally {
      for (const handle of new Set([other, store])) await close?.(handle);
    }
  }
}

/** Start the same thing many times at once, from both handles in turn; rejections are results. */
export function race<Store, T>(
  { store, other }: Bench<Store>,
  start: (handle: Store, index: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  const racers = Array.from({ length: RACERS }, (_, index) => start(index % 2 === 0 ? store : other, index));
  return Promise.allSettled(racers);
}

/** What came back from those that succeeded, after a check that the others were refused in this way. */
export function winners<T>(results: readonly PromiseSettledResult<T>[], refusedAs: ErrorKind): T[] {
  return results.flatMap((result) => {
    if (result.status === "fulfilled") return [result.value];
    if (!isAgentAdapterError(result.reason, refusedAs)) throw violation(`expected ${refusedAs}`, result.reason);
    return [];
  });
}

/** @throws Error with the sentence when it does not hold */
export function holds(condition: boolean, sentence: string): void {
  if (!condition) throw new Error(sentence);
}

/** Equal as JSON: undefined members do not count. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [is, shouldBe] = [textOf(actual), textOf(expected)];
  if (is !== shouldBe) throw new Error(`${what}: ${cut(is)} instead of ${cut(shouldBe)}`);
}

/** The call must reject with one of our errors of this kind. */
export async function refuses(kind: ErrorKind, call: Promise<unknown>, what: string): Promise<void> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    if (isAgentAdapterError(error, kind)) return;
    throw violation(`${what}: expected ${kind}`, error);
  }
  throw new Error(`${what}: expected ${kind}, but it gave ${isJson(value) ? cut(canonicalJson(value)) : typeof value}`);
}

function violation(what: string, cause: unknown): Error {
  const got = isAgentAdapterError(cause) ? cause.kind : String(cause);
  return new Error(`${what}, but it was ${cut(got)}`, { cause });
}

function textOf(value: unknown): string {
  if (value === undefined) return "undefined";
  if (isJson(value)) return canonicalJson(value);
  throw new Error(`a ${typeof value} that is not JSON`);
}

function cut(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
