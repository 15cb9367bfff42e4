// Requests, records and marks for the tests of this folder, and hostile JSON for the properties.

import * as fc from "fast-check";
import { askRecord, type AskRecord } from "../../../src/approvals/ask.js";
import type { Mark } from "../../../src/approvals/mark.js";
import type { ApprovalRequest } from "../../../src/approvals/request.js";
import { KeyRing } from "../../../src/crypto/keys.js";
import { isJson, type JsonObject, type JsonValue } from "../../../src/crypto/canonical-json.js";

export const RING = KeyRing.of("a key for these tests, 32 bytes!", "key");
export const TASK_RUN = ["thread", "tools:1"] as const;

export function request(changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    v: 1,
    kind: "tool",
    runId: "run",
    threadId: "thread",
    taskRun: TASK_RUN,
    tool: "pay",
    description: "Pays.",
    effects: "destructive",
    definitionDigest: "d".repeat(64),
    arguments: { to: "ana", amount: 5 },
    callId: "call",
    generation: 0,
    requestedBy: "bob",
    expiresAt: null,
    supersedes: null,
    previousAttempt: null,
    ...changes,
  };
}

export function record(changes: Partial<ApprovalRequest> = {}): AskRecord {
  const ask = { request: request(changes), rawDigest: "a".repeat(64), askedAt: 1000, source: "resume" } as const;
  return { ...askRecord(ask), position: 0 };
}

export function mark(changes: Partial<Mark> = {}): Mark {
  return {
    v: 1,
    record: record(),
    decision: { approved: true },
    decidedBy: "ana",
    token: "token",
    process: "process",
    claimedAt: 2000,
    ...changes,
  };
}

/** Strings that have broken somebody's hashing: separators, quotes, numbers, prototypes, other planes. */
const nasty = fc.constantFrom(
  "",
  "0",
  "1",
  "10",
  "9",
  "-0",
  "01",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "true",
  ",",
  '"',
  "\\",
  "\\u0000",
  "\u0000",
  "\u2028",
  "|",
  ":",
  "[]",
  "{}",
  '","',
  "é",
  "e\u0301",
  "ﬁ",
  "😀",
  "\uFFFF",
  "\uE000",
);
const text = fc.oneof(
  nasty,
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.string({ unit: "binary", maxLength: 6 }),
);

export const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom<JsonValue>(null, true, false, 0, 1, -1, 1e21, 1e-7, 0.1, 2 ** 53),
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
})).value;

const jsonObject = fc
  .dictionary(text, json, { maxKeys: 5 })
  .filter((value): value is JsonObject => isJson(value)) as fc.Arbitrary<JsonObject>;

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const count = fc.oneof(fc.nat({ max: 3 }), fc.maxSafeNat());

export const requests: fc.Arbitrary<ApprovalRequest> = fc.record({
  v: fc.constant(1 as const),
  kind: fc.constantFrom("tool" as const, "gate" as const),
  runId: text,
  threadId: maybe(text),
  taskRun: fc.array(text, { maxLength: 3 }),
  tool: text,
  description: text,
  effects: fc.constantFrom("read" as const, "write" as const, "destructive" as const),
  definitionDigest: text,
  arguments: jsonObject,
  callId: text,
  generation: count,
  requestedBy: maybe(text),
  expiresAt: maybe(count),
  supersedes: maybe(text),
  previousAttempt: maybe(fc.record({ outcome: fc.constant("unknown" as const), claimedAt: count })),
});

/** The same value with every object's members in another order. */
export function shuffled<T>(value: T, seed = 1): T {
  if (Array.isArray(value)) return value.map((item: unknown) => shuffled(item, seed + 1)) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, shuffled(member, seed + 1)] as const);
  const at = entries.length === 0 ? 0 : seed % entries.length;
  return Object.fromEntries([...entries.slice(at), ...entries.slice(0, at)].toReversed()) as T;
}
