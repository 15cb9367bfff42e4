// The request about a call that a store holds already. A request with an end has the time it was asked at in it, so a process that
// knows nothing of it would make another one, and the decision about the first would never be found.

import { sameJson } from "../crypto/canonical-json.js";
import { isApprovalRequest, type ApprovalRequest } from "./request.js";
import type { ApprovalStore } from "./store.js";

const PAGE = 100;

/**
 * The newest that asks for the same, made earlier, one that was decided before one that waits: a clock that was set back must not
 * lose a decision. `undefined` when there is none.
 *
 * @throws what the store throws
 */
export async function storedRequest(
  store: ApprovalStore,
  request: ApprovalRequest,
): Promise<ApprovalRequest | undefined> {
  const { runId } = request;
  let before: string | undefined;
  for (;;) {
    const records = await store.list({ runId, limit: PAGE, ...(before === undefined ? {} : { before }) });
    const same = records.filter((record) => isApprovalRequest(record.request) && asksTheSame(record.request, request));
    const found = same.find(({ status }) => status === "approved" || status === "denied") ?? same[0];
    if (found !== undefined) return found.request;
    before = records.at(-1)?.id;
    if (before === undefined || records.length < PAGE) return undefined;
  }
}

/** All but the end is the same, and that is not later than it would be now. */
function asksTheSame(stored: ApprovalRequest, request: ApprovalRequest): boolean {
  if (stored.expiresAt === null || request.expiresAt === null || stored.expiresAt > request.expiresAt) return false;
  return sameJson({ ...stored, expiresAt: null }, { ...request, expiresAt: null });
}
