// A contract that nothing can fail is worth nothing: every fault that stores in the wild have had is planted here, and the
// contract must name it.
import { describe, expect, test } from "vitest";
import { approve, type ApprovalDecision } from "agent-adapter";
import { MemoryApprovalStore } from "../../src/approvals/memory-store.js";
import { MemoryClaimStore } from "../../src/approvals/memory-claim-store.js";
import type { ApprovalFilter, ApprovalRecord } from "../../src/approvals/store.js";
import { MemoryCache } from "../../src/cache/memory-cache.js";
import { MemoryLedger } from "../../src/ledger/memory-ledger.js";
import {
  approvalStoreContract,
  cacheContract,
  claimContract,
  ledgerContract,
  type ContractCase,
} from "../../src/testing/index.js";

async function broken(cases: readonly ContractCase[]): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of cases) await run().catch(() => failed.push(name));
  return failed;
}

const pause = () => new Promise((resolve) => setImmediate(resolve));
const isRecord = (value: unknown): value is ApprovalRecord => typeof value === "object" && value !== null;

/** Looks, waits, and answers from what it saw: the classic lost race. */
class LateStore extends MemoryApprovalStore {
  readonly late: "consume" | "decide" | "supersede";
  readonly used = new Map<string, ApprovalRecord>();

  constructor(late: "consume" | "decide" | "supersede") {
    super();
    this.late = late;
  }

  override async consume(id: string, token: string): Promise<ApprovalRecord> {
    return this.late === "consume" ? this.#stale(id, () => super.consume(id, token)) : super.consume(id, token);
  }

  override async decide(id: string, decision: ApprovalDecision): Promise<ApprovalRecord> {
    return this.late === "decide" ? this.#stale(id, () => super.decide(id, decision)) : super.decide(id, decision);
  }

  override async supersede(id: string, by: string): Promise<ApprovalRecord> {
    return this.late === "supersede" ? this.#stale(id, () => super.supersede(id, by)) : super.supersede(id, by);
  }

  async #stale(id: string, act: () => Promise<ApprovalRecord>): Promise<ApprovalRecord> {
    const before = await this.get(id);
    await pause();
    return act().catch((error: unknown) => {
      const free = before !== undefined && ["pending", "approved", "denied"].includes(before.status);
      if (free && isRecord(before)) return before;
      throw error;
    });
  }
}

class UncheckedStore extends MemoryApprovalStore {
  override async decide(id: string, decision: ApprovalDecision): Promise<ApprovalRecord> {
    return super.decide(id, approve({ ...decision, by: "whoever" }));
  }
}

class ForgivingStore extends MemoryApprovalStore {
  override async consume(id: string, token: string): Promise<ApprovalRecord> {
    const record = await this.get(id);
    return record?.status === "used" ? record : super.consume(id, token);
  }
}

class ForgetfulStore extends MemoryApprovalStore {
  override async consume(id: string): Promise<ApprovalRecord> {
    return super.consume(id, crypto.randomUUID());
  }
}

class SortedStore extends MemoryApprovalStore {
  override async list(filter?: ApprovalFilter): Promise<readonly ApprovalRecord[]> {
    return (await super.list(filter)).toSorted((a, b) => b.createdAt - a.createdAt || a.id.localeCompare(b.id));
  }
}

class JoiningStore extends MemoryApprovalStore {
  override async list(filter: ApprovalFilter = {}): Promise<readonly ApprovalRecord[]> {
    const { runId, ...rest } = filter;
    const found = await super.list(rest);
    return found.filter(({ request }) => runId === undefined || request.runId.toLowerCase() === runId.toLowerCase());
  }
}

class PlainStore extends MemoryApprovalStore {
  readonly #given = new Map<string, ApprovalRecord>();

  override async get(id: string): Promise<ApprovalRecord | undefined> {
    const record = await super.get(id);
    if (record === undefined) return undefined;
    const known = this.#given.get(id);
    if (known !== undefined) return known;
    this.#given.set(id, structuredClone(record));
    return this.#given.get(id);
  }

  override async list(filter?: ApprovalFilter): Promise<readonly ApprovalRecord[]> {
    return Promise.all((await super.list(filter)).map(async (record) => (await this.get(record.id)) ?? record));
  }
}

class TimelessStore extends MemoryApprovalStore {
  constructor() {
    super({ clock: { now: () => 0, sleep: () => Promise.resolve() } });
  }
}

describe("A11/memory: the approval store contract catches a store that", () => {
  test.each([
    ["answers a use from what it saw before", () => new LateStore("consume"), "of many tokens"],
    ["answers a decision from what it saw before", () => new LateStore("decide"), "of many decisions"],
    ["answers a replacement from what it saw before", () => new LateStore("supersede"), "a use and a newer request"],
    ["takes any object for a decision", () => new UncheckedStore(), "only what approve() or deny() made"],
    ["lets every token use a decision", () => new ForgivingStore(), "the token that used a decision"],
    ["does not know its own token again", () => new ForgetfulStore(), "one token that comes many times"],
    ["sorts what was made in one millisecond", () => new SortedStore(), "a list is newest first"],
    ["compares ids without case", () => new JoiningStore(), "a list gives what fits"],
    ["hands out what it keeps", () => new PlainStore(), "a record is a copy"],
    ["reads another clock", () => new TimelessStore(), "a request whose time is over"],
  ])("%s", async (_fault, make, caught) => {
    const failed = await broken(approvalStoreContract(make));
    expect(failed.some((name) => name.startsWith(caught))).toBe(true);
  });
});

describe("A11/memory: the other contracts catch", () => {
  test("a ledger that loses what raced", async () => {
    class Losing extends MemoryLedger {
      readonly #busy = new Set<string>();
      override async close(...args: Parameters<MemoryLedger["close"]>): Promise<void> {
        if (this.#busy.has(args[0])) return;
        this.#busy.add(args[0]);
        await pause();
        this.#busy.delete(args[0]);
        await super.close(...args);
      }
    }
    expect(await broken(ledgerContract(() => new Losing()))).toEqual([
      "of many who open one call at once there is one entry, and no end is lost",
    ]);
  });

  test("a ledger that keeps arguments without being told to, and one that does not keep them", async () => {
    const keeping = await broken(ledgerContract(() => new MemoryLedger({ arguments: true })));
    expect(keeping).toContain("arguments and edits are not kept, their digests are");
    const forgetting = await broken(ledgerContract(() => new MemoryLedger(), { keepsArguments: true }));
    expect(forgetting).toContain("arguments and edits are kept when the ledger was told to");
  });

  test("a cache whose time is another one's", async () => {
    const failed = await broken(cacheContract(() => new MemoryCache()));
    expect(failed).toContain("a text is gone from its end on, and not before");
  });

  test("a cache on a plain object", async () => {
    class OnObject extends MemoryCache {
      readonly kept: Record<string, string> = {};
      override async get(key: string): Promise<string | undefined> {
        return this.kept[key];
      }
      override async set(key: string, json: string): Promise<void> {
        this.kept[key] = json;
      }
    }
    expect(await broken(cacheContract(() => new OnObject()))).toEqual(
      expect.arrayContaining(["an unknown key gives nothing", "hostile keys and texts come back as they went in"]),
    );
  });

  test("claims that make room by dropping old ones", async () => {
    class Dropping extends MemoryClaimStore {
      #inner = new MemoryClaimStore();
      #count = 0;
      override async claim(...args: Parameters<MemoryClaimStore["claim"]>): Promise<void> {
        this.#count += 1;
        if (this.#count % 3 === 0) this.#inner = new MemoryClaimStore();
        await this.#inner.claim(...args);
      }
    }
    const failed = await broken(claimContract(() => new Dropping(), { makeBounded: () => new Dropping() }));
    expect(failed).toContain("of many tokens that claim at once exactly one wins");
    expect(failed).toContain("a full store refuses new claims and keeps every old one");
  });

  test("two handles that do not share what they keep", async () => {
    const reopen = () => new MemoryApprovalStore();
    const failed = await broken(approvalStoreContract((clock) => new MemoryApprovalStore({ clock }), { reopen }));
    expect(failed).toContain("of many who create one request at once all get the same record");
  });
});

test("every handle is closed when its case is over, also after a failure", async () => {
  let open = 0;
  const made = () => {
    open += 1;
    return new MemoryApprovalStore();
  };
  const cases = approvalStoreContract(made, {
    reopen: made,
    close: () => {
      open -= 1;
    },
  });
  expect((await broken(cases)).length).toBeGreaterThan(0);
  expect(open).toBe(0);
});

test("cases are found by name: no two share one", () => {
  for (const cases of [
    approvalStoreContract(() => new MemoryApprovalStore()),
    ledgerContract(() => new MemoryLedger()),
    cacheContract(() => new MemoryCache()),
    claimContract(() => new MemoryClaimStore(), { makeBounded: () => new MemoryClaimStore() }),
  ]) {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  }
});
