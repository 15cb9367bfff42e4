// Properties proved: one text per JSON value and one JSON value per text; what is not JSON is refused and user code never
// runs; work is bounded; a copy is plain data and reaches no prototype.
import { createRequire } from "node:module";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  canonicalJson,
  DEFAULT_JSON_LIMITS,
  isJson,
  jsonCopy,
  NotJson,
  orderedJson,
  sameJson,
  type JsonObject,
  type JsonLimits,
} from "../../../src/crypto/canonical-json.js";

const reference: (value: unknown) => string = createRequire(import.meta.url)("canonicalize");

/** Strings that break writers: escapes, separators, controls, astral and private characters, look-alike keys. */
const hostileText = fc.oneof(
  fc.constantFrom(
    "",
    "0",
    "1",
    "10",
    "9",
    "-0",
    "__proto__",
    "constructor",
    "toJSON",
    "length",
    "a",
    "A",
    "é",
    "e\u0301",
  ),
  fc.constantFrom("\u0000", "\n", '"', "\\", "\u2028", "\u007f", "\ue000", "😀", "\ufb33", "\ud7ff", '","', "]", "{}"),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 1e21, 1e-7, 2 ** 53, 5e-324, 1.7976931348623157e308),
);

/** JSON values with own members made by definition, so that `__proto__` is data. */
const { tree: json } = fc.letrec<{ tree: unknown; list: unknown; object: unknown; leaf: unknown }>((tie) => ({
  leaf: fc.oneof(fc.constantFrom(null, true, false), number, hostileText),
  list: fc.array(tie("tree"), { maxLength: 4 }),
  object: fc
    .uniqueArray(fc.tuple(hostileText, tie("tree")), { maxLength: 5, selector: ([key]) => key })
    .map((entries) => Object.fromEntries(entries)),
  tree: fc.oneof({ maxDepth: 4 }, tie("leaf"), tie("list"), tie("object")),
}));

/** Equality of JSON values written without text: the other side of "equal text means equal value". */
function equal(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return left.size === right.size && [...left].every(([key, value]) => right.has(key) && equal(value, right.get(key)));
}

function shuffled(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(shuffled);
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, shuffled(inner)]),
  );
}

function refusal(value: unknown, limits?: JsonLimits): NotJson {
  try {
    canonicalJson(value, limits);
  } catch (error) {
    if (error instanceof NotJson) return error;
    throw error;
  }
  throw new Error("accepted");
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

describe("the text", () => {
  test("A1: numbers are written as RFC 8785 appendix B says", () => {
    const vectors: readonly (readonly [bigint, string])[] = [
      [0x0000000000000000n, "0"],
      [0x8000000000000000n, "0"],
      [0x0000000000000001n, "5e-324"],
      [0x8000000000000001n, "-5e-324"],
      [0x7fefffffffffffffn, "1.7976931348623157e+308"],
      [0xffefffffffffffffn, "-1.7976931348623157e+308"],
      [0x4340000000000000n, "9007199254740992"],
      [0xc340000000000000n, "-9007199254740992"],
      [0x4430000000000000n, "295147905179352830000"],
      [0x44b52d02c7e14af5n, "9.999999999999997e+22"],
      [0x44b52d02c7e14af6n, "1e+23"],
      [0x44b52d02c7e14af7n, "1.0000000000000001e+23"],
      [0x444b1ae4d6e2ef4en, "999999999999999700000"],
      [0x444b1ae4d6e2ef4fn, "999999999999999900000"],
      [0x444b1ae4d6e2ef50n, "1e+21"],
      [0x3eb0c6f7a0b5ed8cn, "9.999999999999997e-7"],
      [0x3eb0c6f7a0b5ed8dn, "0.000001"],
      [0x41b3de4355555553n, "333333333.3333332"],
      [0x41b3de4355555554n, "333333333.33333325"],
      [0x41b3de4355555555n, "333333333.3333333"],
      [0x41b3de4355555556n, "333333333.3333334"],
      [0x41b3de4355555557n, "333333333.33333343"],
      [0xbecbf647612f3696n, "-0.0000033333333333333333"],
      [0x43143ff3c1cb0959n, "1424953923781206.2"],
    ];
    const view = new DataView(new ArrayBuffer(8));
    for (const [bits, text] of vectors) {
      view.setBigUint64(0, bits);
      expect(canonicalJson(view.getFloat64(0))).toBe(text);
    }
  });

  test("A1: the RFC 8785 example of section 3.2.2 gives its published bytes", () => {
    const value = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/",
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test("A1: keys are sorted by UTF-16 code units, as in the RFC 8785 example of section 3.2.3", () => {
    const value = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    expect(Object.keys(JSON.parse(canonicalJson(value)))).toEqual(["1", "\r", "\u0080", "ö", "€", "😀", "\ufb33"]);
  });

  test("A1: integer-like keys are sorted as strings", () => {
    expect(canonicalJson({ 9: 0, 10: 0, b: 0, 1: 0, a: 0 })).toBe('{"1":0,"10":0,"9":0,"a":0,"b":0}');
  });

  test("A1, B25: spellings of one number agree, other values do not", () => {
    expect(canonicalJson({ n: -0 })).toBe(canonicalJson({ n: 0 }));
    expect(canonicalJson(JSON.parse('{"n":1.0}'))).toBe(canonicalJson(JSON.parse('{"n":1e0}')));
    expect(sameJson({ n: 1 }, { n: "1" })).toBe(false);
    expect(sameJson({ a: null }, {})).toBe(false);
    expect(sameJson({ a: undefined }, {})).toBe(true);
  });

  test("A1: what the `canonicalize` package accepts as JSON gets the same text", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(value)).toBe(reference(value));
      }),
      { numRuns: 2000 },
    );
  });

  test("A1: equal text means equal value, and the other way round", () => {
    const pair = fc.oneof(
      fc.tuple(json, json),
      json.map((value): [unknown, unknown] => [value, shuffled(value)]),
      fc.tuple(hostileText, hostileText).map(([a, b]): [unknown, unknown] => [{ [a]: b }, { [b]: a }]),
      fc.tuple(hostileText, hostileText).map(([a, b]): [unknown, unknown] => [[a + b], [a, b]]),
    );
    const check = ([a, b]: readonly [unknown, unknown]): void => {
      expect(canonicalJson(a) === canonicalJson(b)).toBe(equal(a, b));
    };
    fc.assert(fc.property(pair, check), { numRuns: 3000 });
  });

  test("A1: the order of members never matters", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test("A1, B48: a value that was written and read gives the same text", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(canonicalJson(JSON.parse(JSON.stringify(value)))).toBe(text);
      }),
    );
  });

  test("ordered text keeps the members where they are and says the same", () => {
    expect(orderedJson({ b: 1, a: [-0] })).toBe('{"b":1,"a":[0]}');
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(JSON.parse(orderedJson(value)))).toBe(canonicalJson(value));
      }),
    );
  });

  test("shared references that are no cycle are written out", () => {
    const shared = { x: 1 };
    expect(canonicalJson([shared, { y: shared }])).toBe('[{"x":1},{"y":{"x":1}}]');
  });

  test("B51: NUL, combining marks, direction marks and emoji are kept as they are", () => {
    const text = "\u0000 e\u0301 \u202e 😀";
    expect(jsonCopy([text])).toEqual([text]);
    expect(canonicalJson(text)).toBe(`"\\u0000 e\u0301 \u202e 😀"`);
  });
});

describe("what is not JSON", () => {
  function argumentsOf(_first: number): unknown {
    return arguments;
  }
  class Money {
    readonly amount = 1;
  }
  const sparse: unknown[] = [];
  sparse[1] = 1;
  const hidden = Object.defineProperty({}, "a", { value: 1, enumerable: false });
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const refused: readonly (readonly [string, unknown])[] = [
    ["undefined", undefined],
    ["a function", () => 1],
    ["a symbol", Symbol("a")],
    ["a bigint", 1n],
    ["a symbol key", { [Symbol("a")]: 1 }],
    ["a Map", new Map([["a", 1]])],
    ["a Set", new Set([1])],
    ["a Date", new Date(0)],
    ["a RegExp", /a/],
    ["an Error", new Error("a")],
    ["a Promise", Promise.resolve(1)],
    ["a Buffer", Buffer.from("a")],
    ["a typed array", new Float64Array(1)],
    ["an ArrayBuffer", new ArrayBuffer(1)],
    ["a class instance", new Money()],
    ["an inherited object", Object.create({ a: 1 })],
    ["a boxed string", Object("a")],
    ["a boxed number", Object(1)],
    ["a boxed bigint", Object(1n)],
    ["an array subclass", new (class extends Array {})()],
    ["a sparse array", sparse],
    ["an undefined item", [undefined]],
    ["an array with a member", Object.assign([1], { a: 1 })],
    ["an array with a hidden member", Object.defineProperty([1], "raw", { value: 1 })],
    ["an array with a symbol member", Object.assign([1], { [Symbol("a")]: 1 })],
    ["a match result", /a/.exec("a")],
    ["a hidden member", hidden],
    ["an arguments object", argumentsOf(1)],
    ["a namespace", Math],
    ["a revoked proxy", revoked.proxy],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("secret");
          },
        },
      ),
    ],
  ];

  test.each(refused)("A1, B48: %s is refused at every level", (_name, value) => {
    expect(refusal(value).reason).toBe("type");
    expect(refusal({ a: [value] })).toMatchObject({ reason: "type", path: expect.stringMatching(/^a\[0\]/) });
    expect(isJson([value])).toBe(false);
    expect(() => jsonCopy([value])).toThrow(NotJson);
  });

  test.each([NaN, Infinity, -Infinity])("A1, B25: %s is refused, never null", (value) => {
    expect(refusal({ a: value })).toMatchObject({ reason: "number", path: "a" });
  });

  test("A1, B51: half a surrogate pair is refused in values and keys", () => {
    for (const half of ["\ud83d", "\ude00", "a\ud83d", "\ude00\ud83d", "\ud83d\ud83d\ude00"]) {
      expect(refusal([half]).reason).toBe("surrogate");
      expect(refusal({ [half]: 1 }).reason).toBe("surrogate");
      expect(refusal({ [half]: 1 }).path).not.toMatch(/[\uD800-\uDFFF]/u);
    }
  });

  test("A1: a cycle is refused as one", () => {
    const self: Record<string, unknown> = {};
    self["a"] = [{ b: self }];
    expect(refusal(self)).toMatchObject({ reason: "cycle", path: "a[0].b" });
    const list: unknown[] = [];
    list.push(list);
    expect(refusal(list).reason).toBe("cycle");
  });

  test("A1: getters, setters and toJSON are never called", () => {
    let called = 0;
    const call = (): number => (called += 1);
    const getter = Object.defineProperty({}, "a", { get: call, enumerable: true });
    const item = Object.defineProperty([1], 0, { get: call, enumerable: true });
    const setter = Object.defineProperty({}, "a", { set: call, enumerable: true });
    for (const value of [getter, item, setter, { toJSON: call }, [{ toJSON: call }]]) {
      expect(refusal(value).reason).toBe("type");
    }
    expect(called).toBe(0);
    expect(canonicalJson({ toJSON: 1 })).toBe('{"toJSON":1}');
  });

  test("a proxy is read once, so what it says later does not matter", () => {
    let reads = 0;
    const liar = new Proxy(
      { amount: 1 },
      { getOwnPropertyDescriptor: () => ({ value: (reads += 1), enumerable: true, configurable: true }) },
    );
    expect(canonicalJson(liar)).toBe('{"amount":1}');
    expect(reads).toBe(1);
  });

  test("an array proxy that lies about its length is refused", () => {
    for (const length of [1e9, -1, 0.5, NaN, "1", 1]) {
      const liar = new Proxy([] as unknown[], {
        get: (list, key) => (key === "length" ? length : Reflect.get(list, key)),
      });
      expect(refusal(liar)).toBeInstanceOf(NotJson);
    }
  });

  test("N1: path and message name members only and stay short", () => {
    const error = refusal({ list: [0, { "not an identifier": { secretValue: new Map([["k", "v"]]) } }] });
    expect(error.path).toBe('list[1]["not an identifier"].secretValue');
    expect(error.message).toBe(`${error.path} is not a plain JSON value`);
    expect(refusal(1n).message).toBe("the value is not a plain JSON value");
    let deep: unknown = NaN;
    for (let i = 0; i < 200; i += 1) deep = { ["k".repeat(1000)]: deep };
    expect(refusal(deep).path.length).toBeLessThan(300);
    expect(refusal([{ a: 1, b: [1, 2] }, undefined]).path).toBe("[1]");
  });
});

describe("limits", () => {
  test("depth counts containers: a scalar is 0, an empty list is 1", () => {
    const limits = (maxDepth: number): JsonLimits => ({ maxDepth, maxBytes: 1000 });
    expect(isJson(1, limits(0))).toBe(true);
    expect(isJson([], limits(0))).toBe(false);
    expect(isJson(nested(64), DEFAULT_JSON_LIMITS)).toBe(true);
    expect(refusal(nested(65), DEFAULT_JSON_LIMITS).reason).toBe("depth");
    expect(isJson(nested(256))).toBe(true);
    expect(refusal(nested(257)).reason).toBe("depth");
  });

  test("A1, G3: input 100 000 deep is refused, whatever the limit", () => {
    const deep = nested(100_000);
    expect(refusal(deep).reason).toBe("depth");
    expect(refusal(deep, { maxDepth: Infinity, maxBytes: Infinity }).reason).toBe("depth");
    expect(isJson(nested(1001), { maxDepth: Infinity, maxBytes: Infinity })).toBe(false);
    expect(isJson(nested(1000), { maxDepth: Infinity, maxBytes: Infinity })).toBe(true);
    expect(jsonCopy(nested(1000), { maxDepth: Infinity, maxBytes: Infinity })).toEqual(nested(1000));
  });

  test("a stack that is nearly used up gives a refusal or a text, never a crash", () => {
    const outcomes = new Set<string>();
    const dive = (): void => {
      try {
        dive();
      } catch {
        // The bottom: from here on every frame has a little more room than the one before.
      }
      if (outcomes.has("string")) return;
      try {
        outcomes.add(typeof canonicalJson(nested(50)));
      } catch (error) {
        outcomes.add(error instanceof NotJson ? error.reason : "overflow");
      }
    };
    dive();
    expect(outcomes).toContain("string");
    expect([...outcomes].filter((outcome) => !["string", "depth", "overflow"].includes(outcome))).toEqual([]);
  });

  test("bytes are those of the UTF-8 text, exactly", () => {
    fc.assert(
      fc.property(json, (value) => {
        const maxBytes = Buffer.byteLength(canonicalJson(value));
        expect(isJson(value, { maxDepth: 64, maxBytes })).toBe(true);
        expect(isJson(value, { maxDepth: 64, maxBytes: maxBytes - 1 })).toBe(false);
      }),
    );
    expect(isJson({ a: 1, b: undefined, c: undefined }, { maxDepth: 1, maxBytes: 7 })).toBe(true);
  });

  test("limits that are no numbers allow nothing", () => {
    expect(isJson([1], { maxDepth: NaN, maxBytes: 100 })).toBe(false);
    expect(isJson([1], { maxDepth: 9, maxBytes: NaN })).toBe(false);
    expect(isJson([1], { maxDepth: 9, maxBytes: -1 })).toBe(false);
  });

  test("G3, B27: work on huge values stops at the limit", () => {
    // 2^64 leaves behind 64 shared lists: finished at all means that the walk stopped.
    let shared: unknown = [];
    for (let i = 0; i < 62; i += 1) shared = [shared, shared];
    expect(refusal(shared, DEFAULT_JSON_LIMITS).reason).toBe("bytes");
    expect(refusal(Array.from({ length: 4_000_000 }), DEFAULT_JSON_LIMITS)).toMatchObject({
      reason: "bytes",
      path: "",
    });
    expect(refusal(Array(2 ** 32 - 1)).reason).toBe("bytes");
    expect(refusal(["😀".repeat(2_000_000)], DEFAULT_JSON_LIMITS).reason).toBe("bytes");
    let read = 0;
    const counted = new Proxy(
      {},
      {
        ownKeys: () => Array.from({ length: 1000 }, (_, i) => `k${i}`),
        getOwnPropertyDescriptor: () => ({ value: (read += 1), enumerable: true, configurable: true }),
      },
    );
    expect(refusal([counted], { maxDepth: 9, maxBytes: 5200 }).reason).toBe("bytes");
    expect(read).toBeLessThan(1000);
  });
});

describe("copies", () => {
  test("B32: a `__proto__` key stays data and reaches no prototype", () => {
    const hostile: unknown = JSON.parse(
      '{"__proto__":{"admin":true},"k":{"constructor":{"prototype":{"admin":true}}}}',
    );
    const copy = jsonCopy(hostile) as JsonObject;
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(Object.keys(copy)).toEqual(["__proto__", "k"]);
    expect(Reflect.get(copy, "admin")).toBeUndefined();
    expect(Reflect.get({}, "admin")).toBeUndefined();
    expect(canonicalJson(copy)).toBe(canonicalJson(hostile));
    expect(canonicalJson(hostile)).not.toBe(canonicalJson({ k: { constructor: { prototype: { admin: true } } } }));
  });

  test("a copy is frozen at every level, keeps member order, and shares nothing with its origin", () => {
    const origin = { b: [{ c: -0, d: undefined }], a: "x", n: Object.assign(Object.create(null), { y: 1 }) };
    const copy = jsonCopy(origin);
    expect(JSON.stringify(copy)).toBe('{"b":[{"c":0}],"a":"x","n":{"y":1}}');
    origin.b.length = 0;
    expect(copy).toHaveProperty("b[0].c", 0);
    const check = (value: unknown): void => {
      expect(Object.isFrozen(value)).toBe(true);
      if (typeof value === "object" && value !== null) Object.values(value).forEach(check);
    };
    check(copy);
  });

  test("a copy of a JSON value is the same JSON value", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(sameJson(jsonCopy(value), value)).toBe(true);
      }),
    );
  });

  test("what is not JSON is the same as nothing", () => {
    expect(sameJson(NaN, NaN)).toBe(false);
    expect(sameJson(new Map(), new Map())).toBe(false);
    expect(sameJson({ a: 1 }, new Map())).toBe(false);
  });
});
