// The stores in memory keep every promise of their contracts, also when the second handle is all that differs.
import { describe, expect, test } from "vitest";
import { MemoryApprovalStore } from "../../src/approvals/memory-store.js";
import { MemoryClaimStore } from "../../src/approvals/memory-claim-store.js";
import { MemoryCache } from "../../src/cache/memory-cache.js";
import { MemoryLedger } from "../../src/ledger/memory-ledger.js";
import {
  approvalStoreContract,
  cacheContract,
  claimContract,
  ledgerContract,
  type ContractCase,
} from "../../src/testing/index.js";

function keeps(cases: readonly ContractCase[]): void {
  test.each(cases.map(({ name, run }) => [name, run] as const))("%s", async (_name, run) => {
    await expect(run()).resolves.toBeUndefined();
  });
}

describe("A11/memory, A8, B50, B59: MemoryApprovalStore", () => {
  keeps(approvalStoreContract((clock) => new MemoryApprovalStore({ clock })));
});

describe("A11/memory, A4/use-records, A5: MemoryClaimStore", () => {
  keeps(
    claimContract((clock) => new MemoryClaimStore({ clock }), {
      makeBounded: (clock, maxClaims) => new MemoryClaimStore({ clock, maxClaims }),
    }),
  );
});

describe("A11/memory, E1: MemoryLedger", () => {
  keeps(ledgerContract(() => new MemoryLedger()));
});

describe("A11/memory, E1: MemoryLedger that keeps arguments", () => {
  keeps(ledgerContract(() => new MemoryLedger({ arguments: true }), { keepsArguments: true }));
});

describe("A11/memory, E7: MemoryCache", () => {
  keeps(cacheContract((clock) => new MemoryCache({ clock })));
});
