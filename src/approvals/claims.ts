// Claims in this process: the first and always present place in which an answer is used up. Owns the atomic step and how
// long it is remembered.
//   C1  taking is synchronous: of two callers in one process one gets it, whatever they await
//   C2  a claim whose later places failed goes on under the same token; nobody else gets it
//   C3  a use is remembered until every answer it guards has expired; when full, new answers are refused, old uses kept

import { randomId } from "../crypto/random.js";
import { StoreUnavailable } from "../errors.js";
import { processState } from "../journal/process-state.js";

/** How far the clocks of signers and this process may differ, in milliseconds. */
export const CLOCK_SKEW_MS = 60_000;
/** Used answers remembered at once. */
export const MAX_CLAIMS = 1_000_000;
const FIRST_SWEEP = 4096;
let sweepAt = FIRST_SWEEP;

/**
 * Take the claim of a binding. `undefined`: somebody in this process has it or had it.
 *
 * @throws StoreUnavailable when too many unexpired uses are remembered
 */
export function takeClaim(binding: string, guardUntil: number, now: number): string | undefined {
  const { claims } = processState();
  const known = claims.get(binding);
  if (known?.state === "held") return undefined;
  if (known !== undefined) {
    known.state = "held";
    return known.token;
  }
  makeRoom(claims, now);
  const token = randomId();
  claims.set(binding, { token, state: "held", guardUntil });
  return token;
}

/** The claim could not be written everywhere: the next attempt in this process goes on with the same token. */
export function letClaimBeRetried(binding: string): void {
  const known = processState().claims.get(binding);
  if (known !== undefined) known.state = "retry";
}

/** Was this binding's answer used in this process? */
export function isClaimed(binding: string): boolean {
  return processState().claims.get(binding)?.state === "held";
}

function makeRoom(claims: ReturnType<typeof processState>["claims"], now: number): void {
  if (claims.size < sweepAt && claims.size < MAX_CLAIMS) return;
  for (const [binding, claim] of claims) {
    if (claim.guardUntil + CLOCK_SKEW_MS < now) claims.delete(binding);
  }
  sweepAt = Math.max(FIRST_SWEEP, claims.size * 2);
  if (claims.size >= MAX_CLAIMS) {
    throw new StoreUnavailable("too many used approvals are remembered; new answers are refused until old ones expire");
  }
}
