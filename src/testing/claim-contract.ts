// Every promise a `ClaimStore` makes, as named cases: one token a binding, whoever races, for as long as an answer is good.

import type { Clock } from "../index.js";
import { CLOCK_SKEW_MS, type ClaimStore } from "../spi.js";
import {
  contract,
  race,
  RACERS,
  refuses,
  same,
  START_MS,
  winners,
  type CaseBody,
  type ContractCase,
  type ContractOptions,
  type MakeStore,
} from "./contract.js";
import { HOSTILE_TEXTS } from "./hostile.js";

/** What the cases about claims need. */
export interface ClaimContractOptions extends ContractOptions<ClaimStore> {
  /** Makes a store that holds no more than this many claims. Default: the cases about a full store are left out. */
  readonly makeBounded?: (clock: Clock, maxClaims: number) => ClaimStore | Promise<ClaimStore>;
}

/**
 * Named cases for a store of claims. Each throws when the store breaks the promise.
 *
 * @example
 * for (const { name, run } of claimContract((clock) => new MemoryClaimStore({ clock }))) test(name, run);
 */
export function claimContract(makeStore: MakeStore<ClaimStore>, options: ClaimContractOptions = {}): ContractCase[] {
  const { makeBounded, ...rest } = options;
  const cases = contract(makeStore, rest, CLAIMS);
  if (makeBounded === undefined) return cases;
  return [...cases, ...contract((clock) => makeBounded(clock, 2), rest, BOUNDED)];
}

const USED = "ApprovalAlreadyDecided";
const SOON = START_MS + 1000;

const CLAIMS: Readonly<Record<string, CaseBody<ClaimStore>>> = {
  "the first token has the claim, and may come back": async ({ store, other }) => {
    await store.claim("binding", "a", SOON);
    await other.claim("binding", "a", SOON);
    await refuses(USED, store.claim("binding", "b", SOON), "another token");
    await refuses(USED, other.claim("binding", "A", SOON), "a token that looks like it");
    await store.claim("binding", "a", SOON);
  },

  "claims of different bindings do not touch each other": async ({ store, other }) => {
    await store.claim("binding", "a", SOON);
    for (const binding of ["BINDING", "binding ", "", "a"]) await other.claim(binding, "b", SOON);
    await refuses(USED, store.claim("BINDING", "a", SOON), "the other binding");
  },

  "of many tokens that claim at once exactly one wins": async (bench) => {
    const results = await race(bench, (store, n) => store.claim("binding", `token ${n}`, SOON));
    same(winners(results, USED).length, 1, "how many won");
    const winner = results.findIndex(({ status }) => status === "fulfilled");
    await bench.other.claim("binding", `token ${winner}`, SOON);
  },

  "one token that comes many times at once is told so every time": async (bench) => {
    const results = await race(bench, (store) => store.claim("binding", "the token", SOON));
    same(winners(results, USED).length, RACERS, "how many were told");
  },

  "a claim is kept until its time and the skew of clocks have passed": async ({ store, other, clock }) => {
    await store.claim("binding", "a", SOON);
    clock.advance(1000 + CLOCK_SKEW_MS);
    await refuses(USED, other.claim("binding", "b", SOON + 1_000_000), "a claim at the last moment");
  },

  "hostile bindings and tokens are told apart": async ({ store, other }) => {
    for (const [index, text] of HOSTILE_TEXTS.entries()) await store.claim(text, `${index}${text}`, SOON);
    for (const [index, text] of HOSTILE_TEXTS.entries()) {
      await other.claim(text, `${index}${text}`, SOON);
      await refuses(USED, other.claim(text, `x${index}${text}`, SOON), "another token");
    }
  },

  "what cannot be a token or a time is refused, and claims nothing": async ({ store }) => {
    for (const token of ["", undefined, null, 1]) {
      // Callers without types may pass anything.
      await refuses("ToolUsageError", store.claim("binding", token as string, SOON), "no token");
    }
    for (const until of [Number.NaN, Number.POSITIVE_INFINITY, 0.5]) {
      await refuses("ToolUsageError", store.claim("binding", "a", until), "no time");
    }
    await store.claim("binding", "b", SOON);
  },
};

const BOUNDED: Readonly<Record<string, CaseBody<ClaimStore>>> = {
  "a full store refuses new claims and keeps every old one": async ({ store }) => {
    await store.claim("one", "a", SOON);
    await store.claim("two", "a", SOON);
    await refuses("StoreUnavailable", store.claim("three", "a", SOON), "a third claim");
    await refuses(USED, store.claim("one", "b", SOON), "another token for an old one");
    await store.claim("two", "a", SOON);
  },

  "room is made by time alone": async ({ store, clock }) => {
    await store.claim("one", "a", SOON);
    await store.claim("two", "a", SOON + 5000);
    clock.advance(1000 + CLOCK_SKEW_MS);
    await refuses("StoreUnavailable", store.claim("three", "a", SOON), "a third claim a moment too early");
    clock.advance(1);
    await store.claim("three", "a", SOON + 5000);
    await refuses(USED, store.claim("two", "b", SOON), "one whose time is not over");
    await refuses("StoreUnavailable", store.claim("four", "a", SOON), "a fourth claim");
  },

  "making room for one claim takes nothing from another that is at its last moment": async ({ store, clock }) => {
    await store.claim("one", "a", SOON - 1);
    await store.claim("two", "a", SOON);
    clock.advance(1000 + CLOCK_SKEW_MS);
    await store.claim("three", "a", SOON);
    await refuses(USED, store.claim("two", "b", SOON), "one at its last moment");
  },

  "a later time extends a claim, an earlier one does not shorten it": async ({ store, clock }) => {
    await store.claim("one", "a", SOON);
    await store.claim("one", "a", SOON + 5000);
    await store.claim("one", "a", SOON);
    await store.claim("two", "a", SOON);
    clock.advance(1001 + CLOCK_SKEW_MS);
    await store.claim("three", "a", SOON + 5000);
    await refuses(USED, store.claim("one", "b", SOON), "one that was extended");
  },
};
