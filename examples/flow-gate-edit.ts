// A gate whose reviewer changes the state: whoever comes after it, siblings of the gated node included, sees the change. The answer
// comes in another program, from the sealed checkpoint alone. Checks itself.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { approve, deny, Executor, Registry } from "agent-adapter";
import { Flow, Merge, resumeFlow, runFlow } from "agent-adapter/flow";
import { z } from "zod";

const ran: string[] = [];

// region: gate
const payout = new Flow("payout", {
  state: z.object({ to: z.string(), euros: z.number().max(1000), log: z.array(z.string()).default([]) }),
  merge: { log: Merge.append },
})
  .node("check", () => ({}))
  .node("pay", ({ to, euros }) => act(`pay ${to} ${euros}`), { pause: ({ to, euros }) => ({ to, euros }) })
  .node("tell", ({ to, euros }) => act(`tell ${to} about ${euros}`))
  .edge("check", "pay")
  .edge("check", "tell")
  .end("pay")
  .end("tell");
// endregion
console.log(payout.toMermaid());

function act(what: string) {
  ran.push(what);
  return { log: [what] };
}

/** Each time as in another process: nothing is shared but the flow and the secret. */
const program = () => ({
  executor: new Executor(new Registry(), { secret: "load me from your secret store, 32 bytes" }),
});

const paused = await runFlow(payout, { to: "ana", euros: 900 }, program());
if (paused.status !== "paused") throw new Error("nobody was asked");
console.log(`  asks          ${JSON.stringify(paused.pending.request.arguments)}; nothing ran: ${JSON.stringify(ran)}`);

// region: edit
// Fields of the state, each checked by its schema before anything is used up.
const tooMuch = approve({ by: "ben", editedArgs: { euros: 5000 } });
await rejects(resumeFlow(payout, paused.checkpoint, tooMuch, program()), { kind: "ToolArgsInvalid" });

const less = approve({ by: "ben", editedArgs: { euros: 90 } });
const done = await resumeFlow(payout, paused.checkpoint, less, program());
// endregion
console.log(`  after an edit ${JSON.stringify(done.state)}`);
deepEqual(done.state, { to: "ana", euros: 90, log: ["pay ana 90", "tell ana about 90"] });

// region: again
const again = await resumeFlow(payout, paused.checkpoint, approve(), program()).catch((error: unknown) => error);
// endregion
console.log(`  a second yes  ${again instanceof Error ? again.name : "went on"}`);
equal(again instanceof Error && again.name, "ApprovalAlreadyDecided");

const other = await runFlow(payout, { to: "mallory", euros: 1000 }, program());
if (other.status !== "paused") throw new Error("nobody was asked");
const denied = await resumeFlow(payout, other.checkpoint, deny({ reason: "who is that?" }), program());
console.log(`  a no          ${denied.status}, the log is ${JSON.stringify(denied.state.log)}`);
equal(denied.status, "denied");
deepEqual(ran.toSorted(), ["pay ana 90", "tell ana about 90"]);
