// What a reviewer is shown, and the ledger as a table.

import { toReviewRequest, type Ledger, type PendingInterrupt } from "agent-adapter";
import { heading, line, table } from "./page.js";

/** Every field of a request is signed; these are the ones a person reads first. */
export function showReviewed(pause: PendingInterrupt): void {
  const { binding, request } = toReviewRequest(pause);
  line("tool", `${request.tool} (${request.effects})`);
  line("description", request.description);
  line("arguments", JSON.stringify(request.arguments));
  line("call, thread", `${request.callId}, ${request.threadId ?? "none"}`);
  line("binding", `${binding.slice(0, 16)}... (SHA-256 of everything in the request)`);
}

export async function showLedger(ledger: Ledger): Promise<number> {
  heading("The ledger: one entry per call, whatever happened to it");
  const entries = await ledger.entries();
  const rows = entries.map((entry) => [
    entry.threadId ?? "",
    entry.tool,
    entry.status,
    String(entry.attempts),
    entry.decidedBy ?? "",
    entry.editDigest?.slice(0, 8) ?? "",
    entry.errorKind ?? "",
  ]);
  table(["thread", "tool", "status", "runs", "decided by", "edit", "error"], rows);
  return entries.length;
}
