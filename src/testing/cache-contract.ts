// Every promise a `ResultCache` makes, as named cases. How much it holds is each cache's own business.

import type { ResultCache } from "../spi.js";
import {
  contract,
  holds,
  race,
  RACERS,
  same,
  START_MS,
  winners,
  type CaseBody,
  type ContractCase,
  type ContractOptions,
  type MakeStore,
} from "./contract.js";
import { bigText, hostileObject, HOSTILE_TEXTS } from "./hostile.js";

/**
 * Named cases for a cache of results. Each throws when the cache breaks the promise.
 *
 * @example
 * for (const { name, run } of cacheContract((clock) => new MemoryCache({ clock }))) test(name, run);
 */
export function cacheContract(
  makeCache: MakeStore<ResultCache>,
  options: ContractOptions<ResultCache> = {},
): ContractCase[] {
  return contract(makeCache, options, CASES);
}

const CASES: Readonly<Record<string, CaseBody<ResultCache>>> = {
  "what was set is given back, also through another handle": async ({ store, other }) => {
    await store.set("key", '{"n":1}', undefined);
    same([await store.get("key"), await other.get("key")], ['{"n":1}', '{"n":1}'], "the text");
  },

  "an unknown key gives nothing": async ({ store }) => {
    await store.set("key", "1", undefined);
    for (const key of ["", "KEY", "key ", "__proto__", "constructor", "%"]) {
      holds((await store.get(key)) === undefined, `there is something under ${JSON.stringify(key)}`);
    }
  },

  "the newer text and its time take the place of the older": async ({ store, other, clock }) => {
    await store.set("key", "1", START_MS + 10);
    await other.set("key", "2", START_MS + 20);
    clock.advance(10);
    same(await store.get("key"), "2", "the text");
    await store.set("key", "3", undefined);
    clock.advance(1_000_000);
    same(await other.get("key"), "3", "the text without an end");
  },

  "a text is gone from its end on, and not before": async ({ store, clock }) => {
    await store.set("key", "1", START_MS + 1000);
    clock.advance(999);
    same(await store.get("key"), "1", "the text just before");
    clock.advance(1);
    same(await store.get("key"), undefined, "the text at its end");
  },

  "a text whose time was over when it came is not given back, nor the one before": async ({ store }) => {
    await store.set("key", "1", undefined);
    await store.set("key", "2", START_MS);
    same(await store.get("key"), undefined, "the text");
  },

  "falsy results are results": async ({ store }) => {
    for (const json of ["null", "false", "0", '""', "[]", ""]) {
      await store.set("key", json, undefined);
      same(await store.get("key"), json, "the text");
    }
  },

  "hostile keys and texts come back as they went in": async ({ store, other }) => {
    for (const [index, text] of HOSTILE_TEXTS.entries()) await store.set(text, `${index}${text}`, undefined);
    for (const [index, text] of HOSTILE_TEXTS.entries()) same(await other.get(text), `${index}${text}`, "the text");
    const json = JSON.stringify([hostileObject(), bigText()]);
    await store.set("big", json, undefined);
    same(await other.get("big"), json, "a large text");
  },

  "many who set one key at once leave one of their texts, whole": async (bench) => {
    const results = await race(bench, (cache, n) => cache.set("key", `"${String(n).repeat(1000)}"`, undefined));
    same(winners(results, "StoreUnavailable").length, RACERS, "how many were taken");
    const texts = Array.from({ length: RACERS }, (_, n) => `"${String(n).repeat(1000)}"`);
    const kept = await bench.store.get("key");
    holds(kept !== undefined && texts.includes(kept), "a text that nobody set");
    same(await bench.other.get("key"), kept, "what the other handle sees");
  },
};
