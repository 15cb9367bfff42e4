// An approver with a key of her own, in a process of her own: the process that runs tools holds her public key and can approve
// nothing. Run as a child it is the approver: it reads a pause on stdin and writes a signed answer. Checks itself.

import { equal, throws } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { approve, Executor, Registry, signDecision, toReviewRequest, type Answer } from "agent-adapter";
import { LangGraphApproval, oneUse, pendingApprovals, resume } from "agent-adapter/langgraph";
import { z } from "zod";

if (process.argv[2] === "approver") {
  // ---- the approver: sees the request, holds the private key
  let input = "";
  for await (const chunk of process.stdin) input += String(chunk);
  // region: approver
  const shown = toReviewRequest(JSON.parse(input));
  const privateKey = process.env["ANA_PRIVATE_KEY"] ?? "";
  const answer = signDecision(shown, approve(), { privateKey, id: "ana" });
  // endregion
  process.stdout.write(JSON.stringify(answer));
} else {
  await runTools();
}

/** The process that runs tools: it never sees the private key. */
async function runTools(): Promise<void> {
  const keys = generateKeyPairSync("ed25519", {
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const registry = new Registry();
  const send = registry.tool({
    name: "send_statement",
    description: "Send the account statement for a period (needs approval).",
    inputSchema: z.object({ period: z.string() }),
    confirm: true,
    execute: ({ period }) => `sent ${period}`,
  });
  // region: port
  const port = new LangGraphApproval({
    approvers: [{ id: "ana", publicKey: keys.publicKey, mayDecide: ({ effects }) => effects !== "destructive" }],
  });
  const executor = new Executor(registry, { approval: port, secret: "seals what is paused; approves nothing" });
  // endregion
  const State = Annotation.Root({ receipt: Annotation<string>() });
  const node = async () => ({ receipt: await executor.run(send, { period: "2026-10" }, { callId: "send" }) });
  const app = new StateGraph(State)
    .addNode("send", oneUse(node, { executor }))
    .addEdge(START, "send")
    .addEdge("send", END)
    .compile({ checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "statement" } };

  await app.invoke({}, config);
  const [pending] = await pendingApprovals(app, config);
  if (pending === undefined) throw new Error("nothing asked");
  throws(() => port.resumeValue(pending.interrupt, approve()), /signDecision/);
  console.log("  this process       cannot approve");
  const out = await resume(app, askAna(pending.interrupt, keys.privateKey), config);
  console.log(`  ana's own process  signed; ${out.receipt}`);
  equal(out.receipt, "sent 2026-10");
  const [entry] = await executor.ledger.entries();
  console.log(`  the ledger says    decided by ${entry?.decidedBy}`);
  equal(entry?.decidedBy, "ana");
}

function askAna(interrupt: object, privateKey: string): Answer {
  const child = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), "approver"], {
    input: JSON.stringify(interrupt),
    encoding: "utf8",
    env: { ...process.env, ANA_PRIVATE_KEY: privateKey },
  });
  // Not trusted: the port checks every byte of it.
  return JSON.parse(child.stdout) as Answer;
}
