// Every promise an `ApprovalStore` makes, as named cases. The life of a record is written out here a second time, on
// purpose: a store that executes a wrong table must not agree with itself.

import { approve, deny, type ApprovalDecision, type ErrorKind } from "../index.js";
import { bindingOf, type ApprovalRecord, type ApprovalStatus, type ApprovalStore } from "../spi.js";
import { approvalStoreData } from "./approval-store-data.js";
import { approvalStoreRaces } from "./approval-store-races.js";
import {
  contract,
  holds,
  refuses,
  same,
  START_MS,
  type CaseBody,
  type ContractCase,
  type ContractOptions,
  type MakeStore,
} from "./contract.js";
import { sampleRequest } from "./sample-request.js";

/**
 * Named cases for a store of approvals: its life table, races from two handles, hostile text, order. Each throws when the
 * store breaks the promise.
 *
 * @example
 * for (const { name, run } of approvalStoreContract((clock) => new MemoryApprovalStore({ clock }))) test(name, run);
 */
export function approvalStoreContract(
  makeStore: MakeStore<ApprovalStore>,
  options: ContractOptions<ApprovalStore> = {},
): ContractCase[] {
  return contract(makeStore, options, {
    ...CREATING,
    ...life(),
    ...DECIDING,
    ...approvalStoreData,
    ...approvalStoreRaces,
  });
}

const CREATING: Readonly<Record<string, CaseBody<ApprovalStore>>> = {
  "a request is kept under its binding, pending, dated by the store's clock": async ({ store, other }) => {
    const request = sampleRequest();
    const record = await store.create(request);
    const { id, status, createdAt, decision, answer, decidedAt, decidedBy, usedAt, usedBy, supersededBy } = record;
    same({ id, status, createdAt }, { id: bindingOf(request), status: "pending", createdAt: START_MS }, "the record");
    const blank = [decision, answer, decidedAt, decidedBy, usedAt, usedBy, supersededBy];
    same(
      blank,
      blank.map(() => null),
      "what nobody has done",
    );
    same(record.request, request, "the request");
    same(await other.get(id), record, "the record read back");
  },

  "creating a request again gives the record that is there, decided or not": async ({ store, other, clock }) => {
    const { id } = await store.create(sampleRequest());
    const decided = await store.decide(id, approve({ by: "ana" }));
    clock.advance(1000);
    same(await other.create(sampleRequest()), decided, "the record created again");
    same((await other.list()).length, 1, "how many there are");
  },

  "another request is another record": async ({ store }) => {
    const ids = new Set<string>();
    for (const change of [{}, { generation: 1 }, { callId: "call-2" }, { arguments: { to: "ana", amount: 6 } }]) {
      ids.add((await store.create(sampleRequest(change))).id);
    }
    same(ids.size, 4, "how many ids");
  },

  "what is not a request is refused, and nothing is kept": async ({ store }) => {
    const { tool: _, ...partial } = sampleRequest();
    const wrong: unknown[] = [{ ...sampleRequest(), v: 2 }, { ...sampleRequest(), more: 1 }, partial, null, "text"];
    wrong.push(sampleRequest({ description: "\uD800" }), sampleRequest({ arguments: { n: Number.NaN } }));
    for (const request of wrong) {
      // What the type forbids is what a store must refuse.
      await refuses("ToolUsageError", store.create(request as never), "a wrong request");
    }
    same(await store.list(), [], "what is kept");
  },

  "an unknown id has no record and nothing can be done to it": async ({ store }) => {
    const known = await store.create(sampleRequest());
    for (const id of [
      "",
      "0",
      "__proto__",
      "constructor",
      `${known.id}x`,
      known.id.toUpperCase(),
      "' OR 1=1 --",
      "%",
    ]) {
      holds((await store.get(id)) === undefined, `there is a record ${id}`);
      await refuses("ToolUsageError", store.decide(id, approve()), "deciding");
      await refuses("ToolUsageError", store.consume(id, "token"), "consuming");
      await refuses("ToolUsageError", store.expire(id), "expiring");
      await refuses("ToolUsageError", store.supersede(id, known.id), "superseding");
    }
    same(await store.list(), [known], "what is kept");
  },

  "a decision about an unknown request is not kept for later": async ({ store }) => {
    const request = sampleRequest();
    await refuses("ToolUsageError", store.decide(bindingOf(request), approve()), "deciding too early");
    same((await store.create(request)).status, "pending", "the status afterwards");
  },
};

// ---- the life of a record

type Step = (store: ApprovalStore, id: string) => Promise<ApprovalRecord>;

const STEPS = {
  approve: (store, id) => store.decide(id, approve()),
  deny: (store, id) => store.decide(id, deny()),
  consume: (store, id) => store.consume(id, "another token"),
  expire: (store, id) => store.expire(id),
  supersede: (store, id) => store.supersede(id, "the newer one"),
} satisfies Record<string, Step>;

const WAYS: Readonly<Record<ApprovalStatus, readonly Step[]>> = {
  pending: [],
  approved: [STEPS.approve],
  denied: [STEPS.deny],
  used: [STEPS.approve, (store, id) => store.consume(id, "the token")],
  expired: [STEPS.expire],
  superseded: [STEPS.supersede],
};

const USED = "ApprovalAlreadyDecided";
const LIFE: Readonly<Record<ApprovalStatus, Readonly<Record<keyof typeof STEPS, ApprovalStatus | ErrorKind>>>> = {
  pending: {
    approve: "approved",
    deny: "denied",
    consume: "ToolUsageError",
    expire: "expired",
    supersede: "superseded",
  },
  approved: { approve: USED, deny: USED, consume: "used", expire: "approved", supersede: "superseded" },
  denied: { approve: USED, deny: USED, consume: "used", expire: "denied", supersede: "superseded" },
  used: { approve: USED, deny: USED, consume: USED, expire: "used", supersede: USED },
  expired: { approve: USED, deny: USED, consume: USED, expire: "expired", supersede: "expired" },
  superseded: { approve: USED, deny: USED, consume: USED, expire: "superseded", supersede: "superseded" },
};

function life(): Record<string, CaseBody<ApprovalStore>> {
  const cases: Record<string, CaseBody<ApprovalStore>> = {};
  for (const [status, row] of Object.entries(LIFE)) {
    for (const [step, expected] of Object.entries(row)) {
      // `Object.entries` forgets that the keys are those of the tables.
      const [from, act] = [WAYS[status as ApprovalStatus], STEPS[step as keyof typeof STEPS]];
      cases[`what is ${status} meets ${step}: ${expected}`] = (bench) => walk(bench.store, from, act, expected);
    }
  }
  return cases;
}

async function walk(store: ApprovalStore, way: readonly Step[], act: Step, expected: string): Promise<void> {
  const { id } = await store.create(sampleRequest());
  for (const step of way) await step(store, id);
  const before = await store.get(id);
  if (!expected.startsWith("Approval") && expected !== "ToolUsageError") {
    const after = await act(store, id);
    same(after.status, expected, "the status");
    same(await store.get(id), after, "the record read back");
    if (before?.status === after.status) same(after, before, "a record that stays");
    return;
  }
  // It is one of the two error kinds of the table.
  await refuses(expected as ErrorKind, act(store, id), "the step");
  same(await store.get(id), before, "the record after a refusal");
}

const DECIDING: Readonly<Record<string, CaseBody<ApprovalStore>>> = {
  "a decision is kept as it was made, with its time and who made it": async ({ store, other, clock }) => {
    const first = await store.create(sampleRequest());
    const second = await store.create(sampleRequest({ callId: "call-2" }));
    clock.advance(5000);
    const editedArgs = { to: "ana", amount: 4 };
    await store.decide(first.id, approve({ editedArgs, reason: "less", by: "bob" }));
    await store.decide(second.id, deny({ reason: "no" }));
    const approved = await other.get(first.id);
    const decision = { approved: true, editedArgs, reason: "less", by: "bob" };
    same(
      { ...approved },
      { ...first, status: "approved", decision, decidedBy: "bob", decidedAt: START_MS + 5000 },
      "approved",
    );
    const denied = await other.get(second.id);
    same(denied?.decision, { approved: false, reason: "no" }, "the denial");
    same(denied?.decidedBy, null, "who denied");
  },

  "only what approve() or deny() made is a decision": async ({ store }) => {
    const { id } = await store.create(sampleRequest());
    const parsed: unknown = JSON.parse(JSON.stringify(approve({ by: "ana" })));
    for (const value of [parsed, true, "yes", null, undefined, {}]) {
      // What came over the wire has no brand, whatever a caller makes the compiler believe.
      await refuses("ToolUsageError", store.decide(id, value as ApprovalDecision), "a decision without the brand");
    }
    same((await store.get(id))?.status, "pending", "the status");
  },

  "without keys to check it with, a signed answer is no decision either": async ({ store }) => {
    const { id } = await store.create(sampleRequest());
    const answer = { binding: id, decision: { approved: true }, signedAt: 0, expiresAt: START_MS * 2, keyId: "ana" };
    for (const signed of [
      { ...answer, mac: "x" },
      { ...answer, signature: "x" },
    ] as const) {
      await refuses("ToolUsageError", store.decide(id, signed), "a signature that nobody can check");
    }
    same((await store.get(id))?.status, "pending", "the status");
  },

  "the first decision stays, whatever the second one says": async ({ store, other }) => {
    const { id } = await store.create(sampleRequest());
    const first = await store.decide(id, deny({ by: "ana" }));
    await refuses(USED, other.decide(id, approve({ by: "bob" })), "the second decision");
    await refuses(USED, store.decide(id, deny({ by: "ana" })), "the same decision again");
    same(await store.get(id), first, "the record");
  },

  "a request whose time is over cannot be decided and is expired from then on": async ({ store, clock }) => {
    const inTime = await store.create(sampleRequest({ expiresAt: START_MS + 1000 }));
    const late = await store.create(sampleRequest({ expiresAt: START_MS + 1000, callId: "call-2" }));
    clock.advance(1000);
    await store.decide(inTime.id, approve());
    clock.advance(1);
    await refuses(USED, store.decide(late.id, approve()), "deciding too late");
    same((await store.get(late.id))?.status, "expired", "the late one");
    same((await store.consume(inTime.id, "token")).status, "used", "one decided in time and used late");
  },

  "the token that used a decision may come back, and only that one": async ({ store, other, clock }) => {
    const { id } = await store.create(sampleRequest());
    await store.decide(id, approve());
    clock.advance(10);
    const used = await store.consume(id, "the token");
    same([used.status, used.usedAt, used.decision], ["used", START_MS + 10, { approved: true }], "the used record");
    clock.advance(10);
    same(await other.consume(id, "the token"), used, "the record for the same token");
    await refuses(USED, other.consume(id, "the token "), "a token that looks like it");
    // Whoever reads the store must not find the token there.
    holds(!JSON.stringify(await store.get(id)).includes("the token"), "the record holds the token");
    await refuses(USED, store.consume(id, used.usedBy ?? "none"), "what the record says instead of the token");
    for (const token of ["", undefined]) {
      // A caller without types may pass anything.
      await refuses("ToolUsageError", store.consume(id, token as string), "no token");
    }
  },

  "a superseded request names the newer one, and cannot supersede itself": async ({ store }) => {
    const { id } = await store.create(sampleRequest());
    await refuses("ToolUsageError", store.supersede(id, id), "superseding itself");
    same((await store.supersede(id, "newer")).supersededBy, "newer", "the newer one");
    same((await store.supersede(id, "another")).supersededBy, "newer", "the first one stays");
  },
};
