// A store that takes decisions of approvers only: whoever can write to its tables still decides nothing. Checks itself.

import { rejects } from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import {
  approve,
  DeferredApproval,
  defineTool,
  Executor,
  Registry,
  signDecision,
  toReviewRequest,
} from "agent-adapter";
import { openSqlite } from "agent-adapter/sqlite";
import { finish, heading, tried } from "./support/page.js";

const { publicKey, privateKey } = generateKeyPairSync("ed25519", {
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const pay = defineTool({
  name: "pay",
  description: "Pay an invoice.",
  inputSchema: { type: "object", properties: { invoice: { type: "string" } }, required: ["invoice"] },
  confirm: true,
  execute: () => "paid",
});
const secret = "seals what is paused; approves nothing";

// region: stores
const approvers = [{ id: "ana", publicKey }];
const stores = await openSqlite(":memory:", { approvers });
const { approvals } = stores;
const executor = new Executor(new Registry([pay]), {
  approval: new DeferredApproval(approvals, { approvers }),
  secret,
});
// endregion

const context = executor.context({ runId: "invoice-7" });
const run = () => executor.run(pay, { invoice: "7" }, { context, callId: "pay" });

heading("A store with approvers");
await rejects(run(), { kind: "ApprovalPending" });
const [waiting] = await approvals.list({ status: "pending" });
if (waiting === undefined) throw new Error("nothing waits");
await rejects(approvals.decide(waiting.id, approve({ by: "ana" })), { kind: "ToolUsageError" });
tried("a decision that nobody signed", (await approvals.get(waiting.id))?.status ?? "", "pending");
// region: decide
// In the approver's process, from the record that was shown: its binding is computed again.
const shown = toReviewRequest(waiting);
const answer = signDecision(shown, approve(), { privateKey, id: "ana" });
// Wherever the store is:
await approvals.decide(waiting.id, answer);
// endregion
tried("signed by ana", await run(), "paid");
tried("decided by", (await approvals.get(waiting.id))?.decidedBy ?? "", "ana");
finish();
await stores.close();
