// A program whose approvals wait in a store: it throws `ApprovalPending`, somebody decides, it runs again. Proved: one use per
// decision in this process and in others, nothing lost and nothing granted when the store fails, no decision but the store's.
import { afterEach, describe, expect, test } from "vitest";
import { approve, deny, type Hook } from "agent-adapter";
import { ManualClock } from "agent-adapter/testing";
import { DeferredApproval } from "../../../src/approvals/deferred-approval.js";
import { MemoryApprovalStore } from "../../../src/approvals/memory-store.js";
import type { Shown, Verdict } from "../../../src/approvals/port.js";
import { bindingOf } from "../../../src/approvals/request.js";
import type { ApprovalRecord } from "../../../src/approvals/store.js";
import { sampleRequest } from "../../../src/testing/sample-request.js";
import { asking, failure } from "../../support/langgraph.js";
import { forgetProcess } from "../../support/process.js";
import { FlakyStore, Plain } from "./rig.js";

afterEach(forgetProcess);

describe("A8/ports: DeferredApproval in a plain program", () => {
  test("a call waits in the store, and runs once when it was decided and run again", async () => {
    const program = new Plain();
    expect(await failure(program.send())).toMatchObject({ kind: "ApprovalPending", tool: "send", callId: "call-1" });
    const { request } = await program.waiting();
    expect(request).toMatchObject({ arguments: { n: 1 }, requestedBy: "requester", generation: 0, expiresAt: null });
    expect(await failure(program.send())).toMatchObject({ kind: "ApprovalPending" });
    expect(program.ran).toEqual([]);
    const { id } = await program.decide(approve({ by: "ana" }));
    expect(await program.send()).toBe("send 1");
    expect(await program.send()).toBe("send 1");
    expect(program.ran).toEqual(["send 1"]);
    expect(await program.store.get(id)).toMatchObject({ status: "used", decidedBy: "ana" });
    expect(await program.ledger.entries()).toMatchObject([
      { status: "ok", binding: id, decidedBy: "ana", attempts: 1 },
    ]);
  });

  test("a denial is an answer for the model, is used up, and is given again", async () => {
    const program = new Plain();
    await failure(program.send());
    const { id } = await program.decide(deny({ by: "ana", reason: "not today" }));
    for (let n = 0; n < 2; n += 1) {
      const denied = await failure(program.send());
      expect(denied).toMatchObject({ kind: "ApprovalDenied", modelVisible: true });
      expect(String(denied)).toContain("not today");
    }
    expect(program.ran).toEqual([]);
    expect(await program.store.get(id)).toMatchObject({ status: "used" });
  });

  test("A7: an edit runs instead of what was asked", async () => {
    const program = new Plain();
    await failure(program.send());
    await program.decide(approve({ editedArgs: { n: 2 } }));
    expect(await program.send()).toBe("send 2");
    expect(program.ran).toEqual(["send 2"]);
  });

  test("A7: an edit that does not fit the tool runs nothing, and the reviewer is asked once more", async () => {
    const program = new Plain();
    await failure(program.send());
    const { id } = await program.decide(approve({ editedArgs: { n: "nine" } }));
    expect(await failure(program.send())).toMatchObject({ kind: "ApprovalPending" });
    const second = await program.waiting();
    expect(second.request).toMatchObject({ supersedes: id, arguments: { n: 1 } });
    expect(await program.store.get(id)).toMatchObject({ status: "superseded", supersededBy: second.id });
    await program.decide(approve());
    expect(await program.send()).toBe("send 1");
    expect(program.ran).toEqual(["send 1"]);
  });

  test("B59: a decision that comes before anybody waits is not lost", async () => {
    const store = new FlakyStore();
    const program = new Plain({ store });
    store.created = ({ id }) => store.decide(id, approve());
    // The store still said "pending" when it was asked; the next look finds the decision.
    await program.send().catch(() => program.send());
    expect(program.ran).toEqual(["send 1"]);
  });

  test("B59: a hook that decides as soon as it hears of the request makes the call run at once", async () => {
    const store = new MemoryApprovalStore();
    const hook: Partial<Hook> = {
      onApproval: async (_call, event) => {
        if (event.state === "asked") await store.decide(event.binding, approve());
      },
    };
    const program = new Plain({ store, hooks: [hook] });
    expect(await program.send()).toBe("send 1");
  });

  test("a decision about one call does nothing for another", async () => {
    const program = new Plain();
    await failure(program.send(1, "call-1"));
    await program.decide(approve());
    expect(await failure(program.send(1, "call-2"))).toMatchObject({ kind: "ApprovalPending" });
    expect(await failure(program.send(2, "call-3"))).toMatchObject({ kind: "ApprovalPending" });
    expect(program.ran).toEqual([]);
    expect(await program.store.list({ status: "approved" })).toHaveLength(1);
  });

  test("a request that somebody replaced in the store is asked anew, and its decision is never used", async () => {
    const program = new Plain();
    await failure(program.send());
    const { id } = await program.decide(approve());
    await program.store.supersede(id, "another program's request");
    expect(await failure(program.send())).toMatchObject({ kind: "ApprovalPending" });
    expect((await program.waiting()).request).toMatchObject({ supersedes: id, generation: 0 });
    expect(program.ran).toEqual([]);
    await program.decide(approve());
    expect(await program.send()).toBe("send 1");
  });

  test("every value a host may be resumed with is taken out of the way, and none is a decision", async () => {
    const port = new DeferredApproval(new MemoryApprovalStore());
    const request = sampleRequest();
    const shown = { binding: bindingOf(request), request };
    for (const value of [undefined, "yes", approve(), { approved: true }]) {
      expect(port.verify()).toBe("ok");
      // The port takes no answer; a host hands it over all the same.
      const decide: (shown: Shown, answer: unknown) => Promise<Verdict> = port.decide.bind(port);
      expect(await decide(shown, value)).toEqual({ status: "pending" });
    }
  });

  test("G1: options that cannot be used are refused by name", () => {
    const store = new MemoryApprovalStore();
    expect(() => new DeferredApproval(store, { requestTtlMs: 0 })).toThrow(/requestTtlMs/);
    expect(() => new DeferredApproval(store, { unknownAfterMs: Number.NaN })).toThrow(/unknownAfterMs/);
    // A caller without types may misspell.
    expect(() => new DeferredApproval(store, { ttl: 1 } as object)).toThrow(/"ttl"/);
  });
});

describe("A4/requests: a request with an end", () => {
  test("is expired when nobody decided in time, for good, and not denied", async () => {
    const program = new Plain({ port: { requestTtlMs: 1000 } });
    await failure(program.send());
    const { id, request } = await program.waiting();
    expect(request.expiresAt).toBe(program.clock.now() + 1000);
    program.clock.advance(1000);
    expect(await failure(program.send())).toMatchObject({ kind: "ApprovalPending" });
    program.clock.advance(1);
    expect(await failure(program.send())).toMatchObject({ kind: "ApprovalExpired", modelVisible: true });
    expect(await program.store.get(id)).toMatchObject({ status: "expired" });
    expect(await failure(program.store.decide(id, approve()))).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(await failure(program.send())).toMatchObject({ kind: "ApprovalExpired" });
    expect(program.ran).toEqual([]);
  });

  test("A8: is found again by another process, and by every one after it", async () => {
    const program = new Plain({ port: { requestTtlMs: 60_000 } });
    const again = () => {
      forgetProcess();
      program.clock.advance(7);
      return new Plain({ port: { requestTtlMs: 60_000 }, store: program.store, clock: program.clock });
    };
    await failure(program.send());
    expect(await failure(again().send())).toMatchObject({ kind: "ApprovalPending" });
    const { id } = await program.decide(approve());
    expect(await program.store.list()).toHaveLength(1);
    expect(await again().send()).toBe("send 1");
    expect(await program.store.get(id)).toMatchObject({ status: "used" });
    const late = again();
    expect(await failure(late.send())).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(late.ran).toEqual([]);
  });

  test("A4: that another process finds still ends when it did", async () => {
    const program = new Plain({ port: { requestTtlMs: 60_000 } });
    await failure(program.send());
    forgetProcess();
    program.clock.advance(60_001);
    const next = new Plain({ port: { requestTtlMs: 60_000 }, store: program.store, clock: program.clock });
    expect(await failure(next.send())).toMatchObject({ kind: "ApprovalExpired" });
  });

  test("that was decided in time is good when it is used late", async () => {
    const program = new Plain({ port: { requestTtlMs: 1000 } });
    await failure(program.send());
    await program.decide(approve());
    program.clock.advance(1_000_000);
    expect(await program.send()).toBe("send 1");
  });

  test("is run when the decision came just before the store could expire it", async () => {
    const clock = new ManualClock(1_000_000);
    // By the store's own clock the reviewer was in time.
    const store = new FlakyStore({ clock: new ManualClock(1_000_000) });
    const program = new Plain({ store, clock, port: { requestTtlMs: 1000 } });
    await failure(program.send());
    const { id } = await program.waiting();
    const expire = store.expire.bind(store);
    store.expire = async (late) => {
      await store.decide(id, approve());
      return expire(late);
    };
    clock.advance(2000);
    expect(await program.send()).toBe("send 1");
  });
});

describe("A5, B09: one use in total", () => {
  test("of ten runs at once one runs the tool", async () => {
    const program = new Plain();
    await failure(program.send());
    await program.decide(approve());
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => program.send()));
    expect(program.ran).toEqual(["send 1"]);
    const refused = results.filter(({ status }) => status === "rejected");
    for (const result of refused) expect(result).toMatchObject({ reason: { kind: "ApprovalAlreadyDecided" } });
    expect(refused.length).toBeLessThan(10);
  });

  test("a decision used by one process is refused to the next", async () => {
    const first = new Plain();
    await failure(first.send());
    await first.decide(approve());
    forgetProcess();
    const second = new Plain({ store: first.store });
    expect(await second.send()).toBe("send 1");
    forgetProcess();
    const third = new Plain({ store: first.store });
    expect(await failure(third.send())).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect([...first.ran, ...second.ran, ...third.ran]).toEqual(["send 1"]);
  });

  test("of two processes that use it at the same moment one does", async () => {
    const store = new FlakyStore();
    const first = new Plain({ store });
    await failure(first.send());
    await first.decide(approve());
    let second: Promise<unknown> = Promise.resolve();
    const consume = store.consume.bind(store);
    const other = new Plain({ store });
    store.consume = async (id, token) => {
      // The first one has its claim and stands in front of the store; a process that knows nothing of it comes by.
      store.consume = consume;
      forgetProcess();
      second = other.send();
      await second;
      return consume(id, token);
    };
    expect(await failure(first.send())).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(await second).toBe("send 1");
    expect([first.ran, other.ran]).toEqual([[], ["send 1"]]);
    // Lost for good, not put back for a retry.
    expect(await failure(first.send())).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(first.ran).toEqual([]);
  });
});

describe("B11: a store that fails", () => {
  test.each(["get", "create"] as const)(
    "at %s: nothing is granted, the cause is kept, and the next run goes on",
    async (at) => {
      const store = new FlakyStore().failAt(at);
      const program = new Plain({ store });
      const error = await failure(program.send());
      expect(error).toMatchObject({ kind: "StoreUnavailable", cause: new TypeError("fetch failed") });
      expect(await failure(program.send())).toMatchObject({ kind: "ApprovalPending" });
      await program.decide(approve());
      store.failAt("get");
      expect(await failure(program.send())).toMatchObject({ kind: "StoreUnavailable" });
      expect(program.ran).toEqual([]);
      expect(await program.send()).toBe("send 1");
    },
  );

  test.each([
    ["before it wrote", "before", "approved"],
    ["after it wrote", "after", "used"],
  ] as const)(
    "at the use, %s: the answer is kept, and this process goes on without asking",
    async (_when, when, status) => {
      const store = new FlakyStore();
      const program = new Plain({ store });
      await failure(program.send());
      const { id } = await program.decide(approve());
      store.failAt("consume", when);
      expect(await failure(program.send())).toMatchObject({ kind: "StoreUnavailable" });
      expect(program.ran).toEqual([]);
      expect(await store.get(id)).toMatchObject({ status });
      expect(await program.send()).toBe("send 1");
      expect(program.ran).toEqual(["send 1"]);
      expect(await store.list()).toMatchObject([{ id, status: "used" }]);
    },
  );

  test("at the use, and the process is gone: the decision stays used, nothing runs", async () => {
    const store = new FlakyStore();
    const first = new Plain({ store });
    await failure(first.send());
    await first.decide(approve());
    store.failAt("consume", "after");
    await failure(first.send());
    forgetProcess();
    const second = new Plain({ store });
    expect(await failure(second.send())).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect([...first.ran, ...second.ran]).toEqual([]);
  });

  test("when the request ran out: it is not expired, and not granted either", async () => {
    const clock = new ManualClock();
    const store = new FlakyStore({ clock });
    const program = new Plain({ store, clock, port: { requestTtlMs: 10 } });
    await failure(program.send());
    clock.advance(11);
    store.failAt("expire");
    expect(await failure(program.send())).toMatchObject({ kind: "StoreUnavailable" });
    expect(await failure(program.send())).toMatchObject({ kind: "ApprovalExpired" });
  });

  test("before the use by a hook that throws once: the answer is kept", async () => {
    let throws = false;
    const hook: Partial<Hook> = {
      beforeTool: () => {
        if (throws) throw new Error("the provider is down");
      },
    };
    const program = new Plain({ hooks: [hook] });
    await failure(program.send());
    const { id } = await program.decide(approve());
    throws = true;
    await failure(program.send());
    expect(await program.store.get(id)).toMatchObject({ status: "approved" });
    throws = false;
    expect(await program.send()).toBe("send 1");
    expect(program.ran).toEqual(["send 1"]);
  });

  test("after the use the tool fails: the decision is spent", async () => {
    const ran: string[] = [];
    const program = new Plain({
      tools: [
        asking(ran, "send", {
          body: () => {
            throw new Error("card refused");
          },
        }),
      ],
    });
    await failure(program.send());
    await program.decide(approve());
    expect(await failure(program.send())).toMatchObject({ kind: "ToolFailed" });
    expect(await failure(program.send())).toMatchObject({ kind: "ApprovalAlreadyDecided" });
    expect(ran).toEqual(["send 1"]);
  });
});

describe("A2, N1: a store that somebody wrote into", () => {
  const tampered = (change: (record: ApprovalRecord) => ApprovalRecord) => {
    class Tampered extends MemoryApprovalStore {
      override async get(id: string): Promise<ApprovalRecord | undefined> {
        const record = await super.get(id);
        return record === undefined ? undefined : change(record);
      }
    }
    return new Tampered();
  };

  const approved = (record: ApprovalRecord) =>
    ({ ...record, status: "approved", decision: { approved: true } }) as const;

  test.each<[string, (record: ApprovalRecord) => ApprovalRecord]>([
    ["another request", (r) => ({ ...approved(r), request: { ...r.request, arguments: { n: 9999 } } })],
    // What the type does not allow is the point.
    ["no request", (r) => ({ ...approved(r), request: null as never })],
    ["another id", (r) => ({ ...approved(r), id: "0".repeat(64) })],
    ["no decision", (r) => ({ ...r, status: "approved", decision: null })],
    ["a denial that says approved", (r) => ({ ...r, status: "approved", decision: { approved: false } })],
    ["an approval that says denied", (r) => ({ ...r, status: "denied", decision: { approved: true } })],
    // What the type does not allow is the point.
    ["something that is no decision", (r) => ({ ...r, status: "approved", decision: { approved: "yes" } as never })],
    ["a decision with more in it", (r) => ({ ...r, status: "approved", decision: { approved: true, x: 1 } as never })],
  ])("and that holds %s runs nothing", async (_what, change) => {
    const program = new Plain({ store: tampered(change) });
    await failure(program.send());
    expect(await failure(program.send())).toMatchObject({ kind: "FlowError" });
    expect(program.ran).toEqual([]);
  });
});
