// Claims in this process.
//   C1  taking is synchronous: of two callers one gets it
//   C2  an interrupted claim goes on under its token
//   C3  a use is remembered until every answer it guards has expired; when full, new answers are refused, old uses kept

import { beforeEach, describe, expect, it } from "vitest";
import { CLOCK_SKEW_MS, isClaimed, letClaimBeRetried, MAX_CLAIMS, takeClaim } from "../../../src/approvals/claims.js";
import { StoreUnavailable } from "../../../src/errors.js";
import { processState } from "../../../src/journal/process-state.js";
import { forgetProcess } from "../../support/process.js";

beforeEach(forgetProcess);

const NOW = 1_000_000;
const FAR = 2_000_000;

describe("A5/process: the claim of an answer", () => {
  it("is taken once, in one synchronous step (invariant C1)", () => {
    const token = takeClaim("b", FAR, NOW);
    expect(token).toMatch(/./);
    for (let i = 0; i < 10; i += 1) expect(takeClaim("b", FAR, NOW)).toBeUndefined();
    expect(isClaimed("b")).toBe(true);
  });

  it("of many that arrive at once one gets it, whatever they await before (invariant C1)", async () => {
    const tokens = await Promise.all(
      Array.from({ length: 100 }, async (_one, index) => {
        for (let i = 0; i < index % 7; i += 1) await Promise.resolve();
        return takeClaim("b", FAR, NOW);
      }),
    );
    expect(tokens.filter((token) => token !== undefined)).toHaveLength(1);
  });

  it("is one per binding, and the tokens differ", () => {
    const tokens = ["a", "b", "__proto__", "toString", ""].map((binding) => takeClaim(binding, FAR, NOW));
    expect(tokens).not.toContain(undefined);
    expect(new Set(tokens).size).toBe(5);
    expect(isClaimed("constructor")).toBe(false);
  });

  it("an interrupted one goes on under the same token, for one caller (invariant C2)", () => {
    const token = takeClaim("b", FAR, NOW);
    letClaimBeRetried("b");
    expect(isClaimed("b")).toBe(false);
    expect(takeClaim("b", FAR, NOW)).toBe(token);
    expect(takeClaim("b", FAR, NOW)).toBeUndefined();
    letClaimBeRetried("b");
    letClaimBeRetried("b");
    expect(takeClaim("b", FAR, NOW)).toBe(token);
    expect(takeClaim("b", FAR, NOW)).toBeUndefined();
  });

  it("what nobody claimed cannot be let go (invariant C2)", () => {
    letClaimBeRetried("b");
    expect(processState().claims.size).toBe(0);
    expect(isClaimed("b")).toBe(false);
  });

  it("is shared by every copy of the package: it lies in one structure of the process", () => {
    const token = takeClaim("b", FAR, NOW);
    const shared: unknown = Reflect.get(globalThis, Symbol.for("agent-adapter/process/v1"));
    expect(shared).toBe(processState());
    expect(processState().claims.get("b")).toEqual({ token, state: "held", guardUntil: FAR });
  });
});

/** Claims somebody made before. */
function fill(count: number, guardUntil: number): void {
  const { claims } = processState();
  for (let i = 0; i < count; i += 1) claims.set(`old ${i}`, { token: "t", state: "held", guardUntil });
}

describe("A4/use-records: how long a use is remembered", () => {
  it("to the last millisecond in which a clock elsewhere may think the answer good (invariant C3)", () => {
    takeClaim("b", NOW, NOW);
    fill(20_000, 0);
    takeClaim("x", FAR, NOW + CLOCK_SKEW_MS);
    expect(processState().claims.has("old 0")).toBe(false);
    expect(takeClaim("b", FAR, NOW + CLOCK_SKEW_MS)).toBeUndefined();
    fill(50_000, 0);
    takeClaim("y", FAR, NOW + CLOCK_SKEW_MS + 1);
    expect(processState().claims.has("b")).toBe(false);
  });

  it("uses that may still be needed are never dropped to make room (invariant C3)", () => {
    fill(30_000, FAR);
    fill(5, FAR);
    takeClaim("b", FAR, NOW);
    expect(processState().claims.size).toBe(30_001);
    expect(isClaimed("old 0")).toBe(true);
  });

  it("at the cap a new answer is refused, an old one stays used, and what was claimed here can be retried (invariant C3)", () => {
    takeClaim("mine", FAR, NOW);
    fill(MAX_CLAIMS - 1, FAR);
    expect(processState().claims.size).toBe(MAX_CLAIMS);
    expect(() => takeClaim("new", FAR, NOW)).toThrow(StoreUnavailable);
    expect(isClaimed("new")).toBe(false);
    expect(takeClaim("old 0", FAR, NOW)).toBeUndefined();
    letClaimBeRetried("mine");
    expect(takeClaim("mine", FAR, NOW)).toBeDefined();
    // Once they have expired there is room again.
    expect(takeClaim("new", FAR * 2, FAR + CLOCK_SKEW_MS + 1)).toBeDefined();
    expect(processState().claims.size).toBe(1);
  }, 30_000);
});
