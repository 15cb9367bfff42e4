// Properties proved: equal calls share a key whoever makes it, and whatever differs in definition, arguments or scope does not.
import { describe, expect, test } from "vitest";
import { cacheKey } from "../../../src/cache/key.js";

const BASE = { definitionDigest: "d".repeat(64), arguments: { city: "Rome", days: 2 }, scope: ["principal", "ana"] };

describe("E7: cacheKey", () => {
  test("does not depend on the order of members, and is the same in every process", () => {
    const key = cacheKey(BASE);
    expect(cacheKey({ ...BASE, arguments: { days: 2, city: "Rome" } })).toBe(key);
    expect(key).toBe("f472740cb76f529b177e21038ef84cc103872ea7bc28eb400c94bbd4546044ab");
  });

  test("differs with the definition, the arguments and the scope", () => {
    const others = [
      { definitionDigest: "e".repeat(64) },
      { arguments: { city: "Rome", days: "2" } },
      { arguments: { city: "Rome" } },
      { arguments: { city: "Rome", days: 2, __proto__: null } },
      { arguments: JSON.parse('{"city":"Rome","days":2,"__proto__":1}') },
      { scope: ["principal", "bob"] },
      { scope: ["run", "ana"] },
      { scope: ["shared"] },
      { scope: ["principal", "ana", null] },
      { scope: ["principal", '","ana'] },
    ].map((change) => cacheKey({ ...BASE, ...change }));
    // A null prototype is not a member: that one is the same call.
    expect(others.filter((key) => key === cacheKey(BASE))).toHaveLength(1);
    expect(new Set(others).size).toBe(others.length);
  });

  test("what is not JSON has no key", () => {
    expect(() => cacheKey({ ...BASE, arguments: { when: new Date() } })).toThrow(/JSON/);
    expect(() => cacheKey({ ...BASE, scope: ["principal", "\uD800"] })).toThrow(/surrogate/);
  });
});
