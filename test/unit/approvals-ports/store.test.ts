// The life of a record as data: complete, and with no way back from where a decision is over. What a store does with a record
// that somebody changed.
import { describe, expect, test } from "vitest";
import { approve, deny } from "agent-adapter";
import { fieldsOf } from "../../../src/approvals/decision.js";
import { MemoryClaimStore } from "../../../src/approvals/memory-claim-store.js";
import { MemoryApprovalStore } from "../../../src/approvals/memory-store.js";
import { changeRecord, newRecord, RECORD_TRANSITIONS, type RecordChange } from "../../../src/approvals/store.js";
import { ManualClock } from "../../../src/testing/index.js";
import { sampleRequest } from "../../../src/testing/sample-request.js";
import { failure } from "../../support/langgraph.js";

const STATUSES = ["pending", "approved", "denied", "used", "expired", "superseded"] as const;
const EVENTS = ["approve", "deny", "consume", "expire", "supersede"] as const;

describe("A8/ports: the life of a record", () => {
  test("every status says what every event does, and nothing else", () => {
    expect(Object.keys(RECORD_TRANSITIONS)).toEqual(STATUSES);
    for (const row of Object.values(RECORD_TRANSITIONS)) expect(Object.keys(row).toSorted()).toEqual(EVENTS.toSorted());
  });

  test("only a decision that nobody used leads to a use, and nothing leads on from where it is over", () => {
    const rules = STATUSES.flatMap((from) =>
      EVENTS.map((event) => ({ from, event, ...RECORD_TRANSITIONS[from][event] })),
    );
    const stays = rules.filter(({ action }) => action !== "write");
    expect(stays.filter(({ from, to }) => from !== to)).toEqual([]);
    const moves = rules.filter((rule) => !stays.includes(rule)).map(({ from, event, to }) => `${from} ${event} ${to}`);
    expect(moves).toEqual([
      "pending approve approved",
      "pending deny denied",
      "pending expire expired",
      "pending supersede superseded",
      "approved consume used",
      "approved supersede superseded",
      "denied consume used",
      "denied supersede superseded",
    ]);
  });

  test.each<[string, RecordChange]>([
    ["decided", { event: "decide", decision: fieldsOf(approve()), answer: null, at: 1 }],
    ["used", { event: "consume", token: "token", at: 1 }],
    ["expired", { event: "expire" }],
    ["superseded", { event: "supersede", by: "x" }],
  ])("A2: a record whose request was changed where it is kept cannot be %s", (_what, change) => {
    const record = newRecord(sampleRequest(), 0);
    const shown = { ...record, request: { ...record.request, arguments: { to: "mallory", amount: 9999 } } };
    expect(() => changeRecord(shown, change)).toThrow(/binding/);
    // What is kept may not even be a request any more.
    expect(() => changeRecord({ ...record, request: null as never }, change)).toThrow(/binding/);
  });

  test("A2: a request gets the same id in every process", () => {
    const { id } = newRecord(sampleRequest(), 0);
    expect(id).toBe("35b339eab896f62ff5353de168258397d431289192307c1d7f68dab513ba7187");
    expect(newRecord(structuredClone(sampleRequest()), 1).id).toBe(id);
  });

  test("N1: no message holds arguments, ids or tokens", async () => {
    const store = new MemoryApprovalStore();
    const { id } = await store.create(sampleRequest({ arguments: { note: "secret note" } }));
    const errors = [
      await failure(store.consume(id, "secret token")),
      await failure(store.decide("secret id", approve())),
      await failure(store.supersede(id, id)),
    ];
    await store.decide(id, deny({ reason: "secret reason" }));
    errors.push(await failure(store.decide(id, approve())));
    await store.consume(id, "secret token");
    errors.push(await failure(store.consume(id, "secret token 2")));
    for (const error of errors) expect(String(error)).not.toMatch(/secret|[0-9a-f]{64}/);
  });
});

describe("A4/use-records: MemoryClaimStore", () => {
  test("drops what is over when there is much of it, and nothing that still guards an answer", async () => {
    const clock = new ManualClock(0);
    const store = new MemoryClaimStore({ clock, maxClaims: 6000 });
    for (let n = 0; n < 5000; n += 1) await store.claim(`old ${n}`, "a", 1000);
    await store.claim("kept", "a", 1_000_000);
    clock.advance(61_001);
    for (let n = 0; n < 5999; n += 1) await store.claim(`new ${n}`, "a", 1_000_000);
    expect(await failure(store.claim("one more", "a", 1_000_000))).toMatchObject({ kind: "StoreUnavailable" });
    expect(await failure(store.claim("kept", "b", 1))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
  });

  test("G1: options that cannot be used are refused by name", () => {
    expect(() => new MemoryClaimStore({ maxClaims: 0 })).toThrow(/maxClaims/);
    expect(() => new MemoryClaimStore({ max: 1 } as object)).toThrow(/"max"/);
  });
});
