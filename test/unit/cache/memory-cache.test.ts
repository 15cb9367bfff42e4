// Properties proved: bounds in entries and bytes, least recently used goes first, nothing over its time is kept alive.
import { describe, expect, test } from "vitest";
import { MemoryCache } from "../../../src/cache/memory-cache.js";
import { ManualClock } from "../../../src/testing/index.js";

const present = async (cache: MemoryCache, ...keys: readonly string[]): Promise<string[]> => {
  const found: string[] = [];
  for (const key of keys) if ((await cache.get(key)) !== undefined) found.push(key);
  return found;
};

describe("E7: MemoryCache", () => {
  test("never holds more entries than it may, and what was not asked for longest goes first", async () => {
    const cache = new MemoryCache({ maxEntries: 3 });
    for (const key of ["a", "b", "c"]) await cache.set(key, "1", undefined);
    await cache.get("a");
    await cache.set("b", "2", undefined);
    await cache.set("d", "1", undefined);
    expect(cache.size).toBe(3);
    expect(await present(cache, "a", "b", "c", "d")).toEqual(["a", "b", "d"]);
  });

  test("never holds more bytes than it may, and gives back the room of what is gone", async () => {
    const cache = new MemoryCache({ maxBytes: 100 });
    // Two bytes a unit, the key included: 22 each.
    for (const key of ["a", "b", "c", "d", "e"]) await cache.set(key, "x".repeat(10), undefined);
    expect(await present(cache, "a", "b", "c", "d", "e")).toEqual(["b", "c", "d", "e"]);
    await cache.set("e", "y", undefined);
    await cache.set("f", "x".repeat(16), undefined);
    expect(await present(cache, "b", "c", "d", "e", "f")).toEqual(["c", "d", "e", "f"]);
    for (let n = 0; n < 1000; n += 1) await cache.set("f", "x".repeat(n % 17), undefined);
    expect(await present(cache, "c", "d", "e", "f")).toEqual(["c", "d", "e", "f"]);
  });

  test("a text too large to be kept pushes nothing out, and takes the place of the older one", async () => {
    const cache = new MemoryCache({ maxBytes: 100 });
    await cache.set("a", "1", undefined);
    await cache.set("b", "1", undefined);
    await cache.set("b", "x".repeat(50), undefined);
    expect(await present(cache, "a", "b")).toEqual(["a"]);
  });

  test("what is over its time makes room when it is met", async () => {
    const clock = new ManualClock(0);
    const cache = new MemoryCache({ clock });
    await cache.set("a", "1", 10);
    clock.advance(10);
    expect(await cache.get("a")).toBeUndefined();
    expect(cache.size).toBe(0);
    await cache.set("b", "1", Number.NaN);
    expect(cache.size).toBe(0);
  });

  test("G1: options that cannot be used are refused by name", () => {
    expect(() => new MemoryCache({ maxEntries: 0 })).toThrow(/maxEntries/);
    expect(() => new MemoryCache({ maxBytes: 1.5 })).toThrow(/maxBytes/);
    expect(() => new MemoryCache({ ttl: 1 } as object)).toThrow(/"ttl"/);
  });
});
