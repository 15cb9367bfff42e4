// Waiting for a decision: told at once, found by looking, ended by time or by the caller; nothing stays behind.
import { beforeEach, describe, expect, test } from "vitest";
import { MemoryApprovalStore } from "../../../../src/approvals/memory-store.js";
import { approve, deny } from "../../../../src/index.js";
import { waitUntilDecided, type DecisionNews, type WaitOptions } from "../../../../src/stores/sql/wait.js";
import { ManualClock } from "../../../../src/testing/index.js";
import { request } from "../../../support/store-races.js";

class News implements DecisionNews {
  isLive = true;
  readonly wakes = new Set<() => void>();
  subscribe(_id: string, wake: () => void): () => void {
    this.wakes.add(wake);
    return () => this.wakes.delete(wake);
  }
  tell(): void {
    for (const wake of this.wakes) wake();
  }
}

let clock: ManualClock;
let store: MemoryApprovalStore;
let news: News;
let looks: number;

beforeEach(() => {
  clock = new ManualClock(1_000_000);
  store = new MemoryApprovalStore({ clock });
  news = new News();
  looks = 0;
});

function waitFor(id: string, options: WaitOptions = {}, told: DecisionNews | null = news) {
  const counted = Object.assign(Object.create(store) as MemoryApprovalStore, {
    get: (which: string) => {
      looks += 1;
      return store.get(which);
    },
    expire: (which: string) => store.expire(which),
  });
  return waitUntilDecided({ store: counted, id, clock, news: told ?? undefined }, options);
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("A11/wait", () => {
  test("a record that was decided before is given at once", async () => {
    const { id } = await store.create(request(1));
    await store.decide(id, deny());
    expect((await waitFor(id)).status).toBe("denied");
    expect([clock.sleeping, news.wakes.size]).toEqual([0, 0]);
  });

  test("who is told looks at once, without any time passing", async () => {
    const { id } = await store.create(request(1));
    const waiting = waitFor(id);
    await settled();
    await store.decide(id, approve({ by: "ana" }));
    news.tell();
    expect((await waiting).decidedBy).toBe("ana");
    expect([clock.sleeping, news.wakes.size, looks]).toEqual([0, 0, 2]);
  });

  test("news that come while the record is read are not missed", async () => {
    const { id } = await store.create(request(1));
    const read = store.get.bind(store);
    store.get = async (which) => {
      const before = await read(which);
      if (before?.status === "pending") {
        await store.decide(id, approve());
        news.tell();
      }
      return before;
    };
    expect((await waitFor(id)).status).toBe("approved");
  });

  test("news about something else than a decision are looked at once, and the wait goes on", async () => {
    const { id } = await store.create(request(1));
    const waiting = waitFor(id);
    await settled();
    for (let n = 0; n < 3; n += 1) {
      news.tell();
      await settled();
    }
    expect([looks, clock.sleeping]).toEqual([4, 1]);
    await store.decide(id, approve());
    news.tell();
    expect((await waiting).status).toBe("approved");
  });

  test("who is not told looks more and more seldom", async () => {
    const { id } = await store.create(request(1));
    const waiting = waitFor(id, {}, null);
    await settled();
    for (let n = 0; n < 10; n += 1) {
      clock.advance(500);
      await settled();
    }
    await store.decide(id, approve());
    clock.advance(500);
    expect((await waiting).status).toBe("approved");
    expect(looks).toBeLessThan(14);
  });

  test("who is told looks now and then all the same, because what is told can be lost", async () => {
    const { id } = await store.create(request(1));
    const waiting = waitFor(id);
    await settled();
    await store.decide(id, approve());
    clock.advance(5000);
    expect((await waiting).status).toBe("approved");
  });

  test("when the time is over the record comes as it is", async () => {
    const { id } = await store.create(request(1));
    const waiting = waitFor(id, { timeoutMs: 100 });
    await settled();
    clock.advance(100);
    expect((await waiting).status).toBe("pending");
    expect((await waitFor(id, { timeoutMs: 0 })).status).toBe("pending");
    expect([clock.sleeping, news.wakes.size]).toEqual([0, 0]);
  });

  test("a request that runs out meanwhile is expired", async () => {
    const { id } = await store.create({ ...request(1), expiresAt: 1_000_050 });
    const waiting = waitFor(id);
    await settled();
    clock.advance(51);
    expect((await waiting).status).toBe("expired");
  });

  test("an abort ends the wait with its reason and leaves nothing behind", async () => {
    const { id } = await store.create(request(1));
    const abort = new AbortController();
    const waiting = waitFor(id, { signal: abort.signal });
    await settled();
    abort.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
    expect([clock.sleeping, news.wakes.size]).toEqual([0, 0]);
    await expect(waitFor(id, { signal: abort.signal })).rejects.toThrow("stop");
  });

  test("an id of no record is refused", async () => {
    await expect(waitFor("unknown")).rejects.toMatchObject({ kind: "ToolUsageError" });
  });
});
