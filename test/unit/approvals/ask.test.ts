// Ask records and marks: sealed for one task run. What was changed, moved, cut or sealed for something else does not open.

import { describe, expect, it } from "vitest";
import { askFromJson, askRecord, isAskRecord, openAsk, sealAsk } from "../../../src/approvals/ask.js";
import { openMark, sealMark, type Mark } from "../../../src/approvals/mark.js";
import { bindingOf } from "../../../src/approvals/request.js";
import type { JsonValue } from "../../../src/crypto/canonical-json.js";
import { KeyRing } from "../../../src/crypto/keys.js";
import { seal } from "../../../src/crypto/seal.js";
import { FlowError } from "../../../src/errors.js";
import { mark, record, request, RING, TASK_RUN } from "./requests.js";

const full = { previousAttempt: { outcome: "unknown", claimedAt: 5 }, supersedes: "s", expiresAt: 9 } as const;

describe("A2: the ask record", () => {
  it("has the binding of its request, and no position until it is shown", () => {
    const first = record();
    expect(first.binding).toBe(bindingOf(first.request));
    expect(askRecord(first)).toEqual({ ...first, position: -1, waiting: [] });
  });

  it.each([
    ["first", record()],
    ["with everything set", record(full)],
    ["never shown", askRecord(record())],
    ["of a store", { ...record(), source: "port" as const }],
  ])("J3/ask-record: opens as it was sealed: %s", (_what, ask) => {
    expect(openAsk(RING, TASK_RUN, sealAsk(RING, TASK_RUN, ask))).toEqual(ask);
  });

  it("J3/ask-record: shows nothing of the request, and looks different each time", () => {
    const sealed = sealAsk(RING, TASK_RUN, record());
    expect(sealed).not.toContain("ana");
    expect(Buffer.from(sealed.split(".")[2] ?? "", "base64url").toString("latin1")).not.toContain("ana");
    expect(sealAsk(RING, TASK_RUN, record())).not.toBe(sealed);
  });
});

const SEALS = [
  ["ask record", (ring: KeyRing, run: readonly string[]) => sealAsk(ring, run, record()), openAsk],
  ["mark", (ring: KeyRing, run: readonly string[]) => sealMark(ring, run, mark()), openMark],
] as const;

describe("A2: nobody can write on what was opened", () => {
  it.each([
    ["an ask record", () => openAsk(RING, TASK_RUN, sealAsk(RING, TASK_RUN, record()))],
    ["the record of a mark", () => openMark(RING, TASK_RUN, sealMark(RING, TASK_RUN, mark())).record],
  ])("%s (invariant A1)", (_what, open) => {
    const { request: opened } = open();
    for (const part of [opened, opened.arguments, opened.taskRun]) expect(Object.isFrozen(part)).toBe(true);
  });
});

describe.each(SEALS)("J3/ask-record: a sealed %s does not open", (_what, sealed, open) => {
  it("in another task run", () => {
    const text = sealed(RING, TASK_RUN);
    for (const run of [
      [],
      ["thread"],
      ["thread", "tools:2"],
      ["thread2", "tools:1"],
      ["thread,tools:1"],
      ["thread", "tools", "1"],
      ["tools:1", "thread"],
    ]) {
      expect(() => open(RING, run, text)).toThrow(FlowError);
    }
  });

  it("with any character changed, cut or added", () => {
    const text = sealed(RING, TASK_RUN);
    const step = Math.max(1, Math.floor(text.length / 60));
    for (let at = 0; at < text.length; at += step) {
      const other = text[at] === "A" ? "B" : "A";
      expect(() => open(RING, TASK_RUN, text.slice(0, at) + other + text.slice(at + 1))).toThrow(FlowError);
      expect(() => open(RING, TASK_RUN, text.slice(0, at))).toThrow(FlowError);
    }
    for (const more of [`${text}A`, `${text}=`, ` ${text}`, `${text}\n`]) {
      expect(() => open(RING, TASK_RUN, more)).toThrow(FlowError);
    }
  });

  it.each([[undefined], [null], [""], [0], [{}], [[]], ["v1"], ["v1.."], ["v2.00000000.AAAA"]])(
    "when it is %j",
    (value) => {
      expect(() => open(RING, TASK_RUN, value)).toThrow(FlowError);
    },
  );

  it("under another key; and opens again when the key is behind the current one", () => {
    const text = sealed(KeyRing.of("the older secret, long enough", "secret"), TASK_RUN);
    expect(() => open(RING, TASK_RUN, text)).toThrow(FlowError);
    const rotated = KeyRing.of(["the newer secret, long enough", "the older secret, long enough"], "secret");
    expect(() => open(rotated, TASK_RUN, text)).not.toThrow();
  });

  it("as one of the other kind", () => {
    const text = sealed(RING, TASK_RUN);
    const others = [openAsk, openMark].filter((other) => other !== open);
    for (const other of others) expect(() => other(RING, TASK_RUN, text)).toThrow(FlowError);
  });
});

describe("W1/asks: what is authentic and not of a known form is refused", () => {
  const sealedAsk = (value: unknown) => seal(RING, { purpose: "ask", owner: [...TASK_RUN] }, value as JsonValue);
  const sealedMark = (value: unknown) => seal(RING, { purpose: "spent", owner: [...TASK_RUN] }, value as JsonValue);

  it.each([
    ["another version", { v: 2 }],
    ["a request of another version", { request: { ...request(), v: 2 } }],
    ["another binding", { binding: "0".repeat(64) }],
    ["another source", { source: "user" }],
    ["no position", { position: null }],
    ["half a position", { position: 0.5 }],
    ["an unknown field", { note: "x" }],
    ["a raw digest that is no text", { rawDigest: 1 }],
    ["a date as text", { askedAt: "now" }],
  ])("a record with %s", (_what, changes) => {
    const changed = { ...record(), ...changes };
    expect(isAskRecord(changed)).toBe(false);
    expect(() => askFromJson(JSON.parse(JSON.stringify(changed)))).toThrow(FlowError);
    expect(() => openAsk(RING, TASK_RUN, sealedAsk(changed))).toThrow(FlowError);
    expect(() => openMark(RING, TASK_RUN, sealedMark({ ...mark(), record: changed }))).toThrow(FlowError);
  });

  it.each([
    ["another version", { v: 2 }],
    ["no decision", { decision: { approved: "yes" } }],
    ["more of a decision", { decision: { approved: true, extra: 1 } }],
    ["no token", { token: 1 }],
    ["no process", { process: null }],
    ["a date as text", { claimedAt: "now" }],
    ["an unknown field", { note: "x" }],
  ])("a mark with %s", (_what, changes) => {
    expect(() => openMark(RING, TASK_RUN, sealedMark({ ...mark(), ...changes }))).toThrow(FlowError);
  });

  it.each([
    mark(),
    mark({ decidedBy: null, decision: { approved: false, reason: "no" } }),
    mark({ decision: { approved: true, editedArgs: { "10": 1, "9": 2 } }, record: record(full) }),
  ] satisfies Mark[])("a mark opens as it was sealed %#", (one) => {
    expect(openMark(RING, TASK_RUN, sealMark(RING, TASK_RUN, one))).toEqual(one);
  });
});
